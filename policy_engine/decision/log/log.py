"""The decision log: open, decide by it, append, read, verify."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from policy_engine.decision import Decider
from policy_engine.decision.history import History
from policy_engine.decision.log import snapshots
from policy_engine.decision.log.chain import Chain, Key, read_key
from policy_engine.decision.log.entries import Entry, LoggedDeed
from policy_engine.decision.log.lines import LinesFile
from policy_engine.decision.log.places import Row, Store, Tail
from policy_engine.decision.log.state import LogState
from policy_engine.decision.log.table import LogTable
from policy_engine.decision.log.verification import (
    Head,
    InvalidEntryError,
    Verification,
    parse_entry,
    verify,
)
from policy_engine.decision.model import Decision, Request, World
from policy_engine.errors import DataError, LogError, Place, Problem, join_names

_Identity: TypeAlias = tuple[int, int] | None
LINES = (".jsonl", ".ndjson")
TABLES = (".sqlite", ".sqlite3", ".db")


@dataclass(frozen=True)
class Transaction:
    """A log that nobody else reads or writes, until what is decided by it stands in it."""

    log: "DecisionLog"
    state: LogState
    _tail: Tail

    @property
    def history(self) -> History:
        """What was done by all that stands in the log."""
        return self.state.history

    def append(self, content: Decision | LoggedDeed) -> Entry:
        """Add a decision, or a deed. Raises as `DecisionLog.append` does."""
        last = self.state.mark
        entry = self.log.chain.following(last.number, last.hash, content)
        self.state.add(entry, self._tail.add(entry))
        return entry


@dataclass
class _LogMemo:
    """What a process has read of a log so far, and of which file: another one may have its name.

    Both are one value, since several threads set it.
    """

    reading: tuple[LogState, _Identity] | None = None


@dataclass(frozen=True)
class DecisionLog:
    """A log that decisions are appended to, by any number of threads and processes at once."""

    store: Store
    chain: Chain
    _memo: _LogMemo = field(default_factory=_LogMemo, repr=False, compare=False)

    @classmethod
    def open(cls, path: str | Path, key: Key = None) -> "DecisionLog":
        """Return the log in a file of lines or in a table, by the ending of its name.

        It is begun where it is not there, readable for its owner alone. With a key, bytes or a
        file that holds it, the chain is one of HMACs, which nobody can make anew without it.
        Raises DataError for another ending (C004) or a key that is none (C013), OutputError
        (O002) where the log cannot be written, and LogError (G002) where its last entry is not
        whole or not of this chain.
        """
        log = cls(_store(path), Chain(read_key(key)))
        with log.store.appending() as tail:
            log._last_entry(tail.last)
        return log

    @property
    def path(self) -> Path:
        """Where the log lies."""
        return self.store.path

    def decide(self, decider: Decider, request: Request, world: World | None = None) -> Decision:
        """Return the answer to a request by what the log holds, once it stands in the log, too.

        Nobody decides by the log meanwhile: of two who ask for the last use, one has it. Raises as
        `Decider.decide` and `append` do, and LogError (G002) where the log is not whole.
        """
        with self.transaction() as log:
            decision = decider.decide(request, world, log.history)
            log.append(decision)
        return decision

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Return the state of the log, alone with it: nobody else decides by it meanwhile.

        What is appended within counts once the context is left, and then is on the disk.
        """
        memo = self._memo
        if memo.reading is None and self.path.exists():
            file = _file_identity(self.path)
            memo.reading = self._read(), file
        with self.store.appending() as tail:
            self._last_entry(tail.last)
            earlier, memo.reading = memo.reading, None
            # A log is ended by renaming its file: what has its name now is another one.
            file = _file_identity(self.path)
            is_same = earlier is not None and earlier[1] == file
            state = earlier[0] if earlier and is_same else snapshots.load(self.path, self.chain)
            state.read(tail.rows(state.mark.start))
            snapshots.save(state)
            yield Transaction(self, state, tail)
        # Only now is it in the log: a commit that fails, on a full disk say, leaves none of it.
        memo.reading = state, file

    def history(self) -> History:
        """Return what was done by all that stands in the log now.

        Raises LogError: G001 where it cannot be read, G002 where it is not whole.
        """
        return self._read().history

    def _read(self) -> LogState:
        state = snapshots.load(self.path, self.chain)
        state.read(self.store.rows(state.mark.start))
        return state

    def append(self, content: Decision | LoggedDeed) -> Entry:
        """Log a decision, or a deed; once the entry is returned, it is on the disk.

        Raises OutputError (O002) and LogError (G002) as `open` does; then nothing was written.
        """
        with self.store.appending() as tail:
            entry = self.chain.next(self._last_entry(tail.last), content)
            tail.add(entry)
        return entry

    def _last_entry(self, row: Row | None) -> Entry | None:
        """Return the last entry, which the next one is to vouch for."""
        if row is None:
            return None
        try:
            entry = parse_entry(row)
        except InvalidEntryError as error:
            message = f"The last entry of the log is broken: {error}."
            hint = "Nothing is appended to it. Keep a copy, and go on without that entry."
            raise LogError.of("G002", message, hint, str(self.path)) from None
        if self.chain.key is None and entry.chain == "hmac-sha-256":
            message = "The log is chained with a key, and none is given."
            raise DataError.of(
                "C013", message, "Give the key that it is chained with.", str(self.path)
            )
        for fault in self.chain.entry_faults(entry):
            message = f"The last entry of the log cannot be built upon: {fault}."
            raise LogError.of("G002", message, source=str(self.path))
        return entry


def read_log(path: str | Path) -> Iterator[Entry]:
    """Yield the entries of a log, each valid by itself; whether they are a chain is not looked at.

    Raises DataError (C004) for a file with another ending, LogError (G001) where it cannot be
    read, or where a line is not an entry.
    """
    return _entries(_store(path).rows(), str(path))


def last_entries(path: str | Path, count: int) -> list[Entry]:
    """Return the last entries of a log, in order. Raises as `read_log` does."""
    return list(_entries(deque(_store(path).rows(), maxlen=count), str(path)))


def read_history(path: str | Path, key: Key = None) -> History:
    """Return what was done by all that stands in a log. Raises as `DecisionLog.history` does.

    And DataError: C004 for another ending, C013 for a key that is none.
    """
    return DecisionLog(_store(path), Chain(read_key(key))).history()


def verify_log(
    path: str | Path, key: Key = None, expect: str | int | Head | None = None
) -> Verification:
    """Return whether a log is whole: what it holds, its head, and every break of its chain.

    A changed, missing, moved or inserted entry shows by itself. What was cut off at the end
    does not, and neither does a chain that somebody made anew, as anybody can where it has no
    key. Both show with `expect`: a head that was kept elsewhere, which the log still has to
    hold, be it the last entry or not.

    Raises DataError for another ending (C004), for a key that is none or that the log needs
    (C013), LogError (G001) where it cannot be read, RequestError (U001) for what is not a head.
    """
    expected = Head.of(str(expect)) if isinstance(expect, str | int) else expect
    return verify(_store(path).rows(), Chain(read_key(key)), expected)


def _file_identity(path: Path) -> _Identity:
    """Return what tells a file from others, whatever it is called; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _store(path: str | Path) -> Store:
    path = Path(path)
    ending = path.suffix.lower()
    if ending in LINES:
        return LinesFile(path)
    if ending in TABLES:
        return LogTable(path)
    message = f"{str(path)!r} is not a decision log by its ending. Allowed are "
    raise DataError.of("C004", f"{message}{join_names((*LINES, *TABLES), 'and')}.")


def _entries(rows: Iterable[Row], source: str) -> Iterator[Entry]:
    for row in rows:
        try:
            yield parse_entry(row)
        except InvalidEntryError as error:
            place = Place(line=row.line, column=1)
            problem = Problem("G001", f"This is not an entry: {error}.", place=place)
            raise LogError(problem, source=source) from None
