"""Whether anybody still waits for a text to be read."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar


def _somebody_waits() -> bool:
    return True


_IS_AWAITED: ContextVar[Callable[[], bool]] = ContextVar("is_awaited", default=_somebody_waits)


@contextmanager
def awaited_while(is_awaited: Callable[[], bool]) -> Iterator[None]:
    """Let what is read within end once nobody waits for it, as `check_awaited` finds."""
    token = _IS_AWAITED.set(is_awaited)
    try:
        yield
    finally:
        _IS_AWAITED.reset(token)


def check_awaited() -> None:
    """Raise CancelledError once nobody waits for what is being read; asked for each rule."""
    if not _IS_AWAITED.get()():
        raise CancelledError
