"""Where a log is stored: what a writer and a reader use."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from policy_engine.data.chain.rows import ChainTail, Row, reason
from policy_engine.decision.log.entries import Entry
from policy_engine.errors import LogError, OutputError

LogTail: TypeAlias = ChainTail[Entry]


class Store(Protocol):
    """A file of lines, or a table."""

    @property
    def path(self) -> Path:
        """Where it is stored."""

    def appending(self) -> AbstractContextManager[LogTail]:
        """Return the log's end, held exclusively; a missing log is created.

        Raises OutputError (O002) if it cannot be written.
        """

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the rows in order, starting at a position.

        Raises LogError (G001) if they cannot be read.
        """

    def last(self) -> Row | None:
        """Return the last row, None where there is none. Raises LogError (G001) as `rows` does."""

    def latest(
        self,
        before: int | None = None,
        texts: Sequence[bytes] = (),
        after: int | None = None,
    ) -> Iterator[Row]:
        """Yield the rows from the last one backwards, those with each of some texts.

        `before` and `after` are numbers that their entries are between, as far as the store knows
        numbers.
        Raises LogError (G001) if they cannot be read.
        """


@contextmanager
def writing(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn errors inside into OutputError (O002) on one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be written: {reason(error)}."
        raise OutputError.of("O002", message, source=str(path)) from None


@contextmanager
def reading(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn errors inside into LogError (G001) on one line."""
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, *more)
    try:
        yield
    except kinds as error:
        message = f"The decision log cannot be read: {reason(error)}."
        raise LogError.of("G001", message, source=str(path)) from None
