"""The problems of a taxonomy's text, collected while it is read."""

import reprlib
from typing import NoReturn

from policy_engine.errors import NOWHERE, DataError, Place, Problem

MAX_BYTES = 50_000_000
MAX_NODES = 1_000_000
MAX_DEPTH = 64
MAX_PROBLEMS = 100

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Problems:
    """The problems of one text; reading stops at MAX_PROBLEMS of them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.noted: list[Problem] = []

    def add(self, code: str, message: str, hint: str = "", place: Place = NOWHERE) -> None:
        """Note a problem. Raises DataError with all of them where they are too many."""
        self.noted.append(Problem(code, message, hint, place))
        if len(self.noted) >= MAX_PROBLEMS:
            self.fail("T012", f"Reading stopped at {MAX_PROBLEMS} problems. There may be more.")

    def fail(self, code: str, message: str, hint: str = "", place: Place = NOWHERE) -> NoReturn:
        """Raise DataError with this problem, after those noted so far."""
        self.noted.append(Problem(code, message, hint, place))
        raise DataError(*self.noted, source=self.source)

    def refuse(self) -> None:
        """Raise DataError where anything was noted."""
        if self.noted:
            raise DataError(*self.noted, source=self.source)

    def check_size(self, nodes: int) -> None:
        """Raise DataError (T003) where there are more nodes than are allowed."""
        if nodes > MAX_NODES:
            self.fail("T003", f"The taxonomy has too many nodes. {MAX_NODES:,} are allowed.")


def quote(label: object) -> str:
    """Return a value quoted for a message, shortened where it is long."""
    return _SHORT.repr(label)
