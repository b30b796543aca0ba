"""A log as an SQLite table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from policy_engine.data.chain.connections import KeptConnection
from policy_engine.data.chain.paging import latest_in_pages, rows_in_pages
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.table import ChainTable, UnfinishedError
from policy_engine.decision.log.locks import PATIENCE
from policy_engine.decision.log.places import LogTail, reading, writing
from policy_engine.errors import LogError


@dataclass(frozen=True)
class LogTable:
    """A table in an SQLite file; with `kept`, writers use one connection after one another."""

    path: Path
    kept: KeptConnection | None = field(default=None, repr=False, compare=False)

    @contextmanager
    def appending(self) -> Iterator[LogTail]:
        """Return the table's end, within a transaction; a missing table is created."""
        import sqlite3  # noqa: PLC0415

        with writing(self.path, sqlite3.Error), self._table().appending() as table:
            yield table.tail()

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the rows that were there when reading began, in pages: nothing is locked between.

        If a writer was interrupted, its unfinished entry is undone first, as the next writer would
        do. Raises LogError (G001) if this reader may not do that.
        """
        import sqlite3  # noqa: PLC0415

        with self._undoing(), reading(self.path, sqlite3.Error):
            yield from rows_in_pages(self._table(), start)

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Raise LogError (G001) where an unfinished entry cannot be undone."""
        try:
            yield
        except UnfinishedError as error:
            message = f"{error} which needs permission to write the log and its folder."
            hint = "Read it once as a user with that permission, or copy both files and read the "
            raise LogError.of("G001", message, f"{hint}copy.", str(self.path)) from None

    def latest(
        self,
        before: int | None = None,
        texts: Sequence[bytes] = (),
        after: int | None = None,
    ) -> Iterator[Row]:
        """Yield the rows from the last one backwards, between two numbers, with each of some texts.

        Little more than what is yielded is read, and what lies between if there are texts. Nothing
        is locked while it is yielded. An unfinished entry is undone first. Raises LogError (G001)
        if this reader may not do that.
        """
        import sqlite3  # noqa: PLC0415

        with self._undoing(), reading(self.path, sqlite3.Error):
            yield from latest_in_pages(self._table(), before, texts, after)

    def last(self) -> Row | None:
        """Return the last row, None where there is none. Raises as `latest` does."""
        import sqlite3  # noqa: PLC0415

        with (
            self._undoing(),
            reading(self.path, sqlite3.Error),
            self._table().reading() as opened,
        ):
            return opened.tail().last if opened is not None else None

    def close(self) -> None:
        """Close the connection that is kept, if there is one."""
        if self.kept is not None:
            self.kept.close()

    def _table(self) -> ChainTable:
        return ChainTable(self.path, "decisions", "decision log", PATIENCE, kept=self.kept)
