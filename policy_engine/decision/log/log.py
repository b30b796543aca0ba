"""The decision log: open, decide with it, append, read, verify."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_core import from_json

from policy_engine.data.chain.connections import KeptConnection, WatchedFile
from policy_engine.data.chain.entries import canonical
from policy_engine.data.chain.reading import Plain
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import (
    Head,
    InvalidEntryError,
    Verification,
    key_error,
    parse_entry,
    verify,
)
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.decision import Decider
from policy_engine.decision.history import History
from policy_engine.decision.log import snapshots
from policy_engine.decision.log.chain import LOG, Chain
from policy_engine.decision.log.entries import Entry, LoggedDeed
from policy_engine.decision.log.lines import LinesFile
from policy_engine.decision.log.places import LogTail, Store
from policy_engine.decision.log.state import LogState
from policy_engine.decision.log.table import LogTable
from policy_engine.decision.model import Decision, Request, World
from policy_engine.errors import DataError, LogError, Place, Problem, join_names

LINES = (".jsonl", ".ndjson")
TABLES = (".sqlite", ".sqlite3", ".db")


@dataclass(frozen=True)
class Transaction:
    """A log held exclusively, from reading its history to appending a decision based on it."""

    log: "DecisionLog"
    state: LogState
    _tail: LogTail

    @property
    def history(self) -> History:
        """The history of all entries in the log."""
        return self.state.history

    def append(self, content: Decision | LoggedDeed) -> Entry:
        """Add a decision or a duty event. Raises as `DecisionLog.append` does."""
        last = self.state.mark
        entry = self.log.chain.following(last.number, last.hash, content)
        self.state.add(entry, self._tail.add(entry))
        return entry


@dataclass
class _LogMemo:
    """How much of a log a process has read, and of which file, since another may take its name.

    Both are a single value because several threads set it.
    """

    reading: tuple[LogState, WatchedFile] | None = None


@dataclass(frozen=True)
class DecisionLog:
    """A log that any number of threads and processes can append decisions to at once."""

    store: Store
    chain: Chain
    _memo: _LogMemo = field(default_factory=_LogMemo, repr=False, compare=False)

    @classmethod
    def open(cls, path: str | Path, key: Key = None, *, stays_open: bool = False) -> "DecisionLog":
        """Return the log in a file of lines or in a table, chosen by the ending of the file name.

        It is created if it does not exist, readable for its owner alone. With a key, given as bytes
        or as a file, the chain uses HMACs, which nobody can recreate without the key. A table that
        `stays_open` between transactions, until `close`, is faster; others can write to it all the
        same. Raises DataError for another ending (C004) or an invalid key (C013), OutputError
        (O002) if the log cannot be written, and LogError (G002) if its last entry is incomplete or
        does not belong to this chain.
        """
        kept = KeptConnection() if stays_open else None
        log = cls(_store(path, kept), Chain(read_chain_key(key)))
        with log.store.appending() as tail:
            log._last_entry(tail.last)
        return log

    @property
    def path(self) -> Path:
        """The path of the log."""
        return self.store.path

    def close(self) -> None:
        """Let go of a file that stays open, and forget what was read of it."""
        self._memo.reading = None
        if isinstance(self.store, LogTable):
            self.store.close()

    def decide(self, decider: Decider, request: Request, world: World | None = None) -> Decision:
        """Return the answer to a request, based on the log, after appending it to the log.

        Nobody else decides with the log in between: if two ask for the last use, one gets it.
        Raises as `Decider.decide` and `append` do, and LogError (G002) if the chain of the log is
        broken.
        """
        with self.transaction() as log:
            decision = decider.decide(request, world, log.history)
            log.append(decision)
        return decision

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Return the state of the log, held exclusively: nobody else decides with it meanwhile.

        What is appended inside is on the disk, and counts, once the context has ended.
        """
        memo = self._memo
        if memo.reading is None and self.path.exists():
            file = WatchedFile(self.path)
            memo.reading = self._read(), file
        with self.store.appending() as tail:
            state, file = self._known()
            if state is None or not self._is_end(state, tail):
                self._last_entry(tail.last)
                state = state or snapshots.load(self.path, self.chain)
                state.read(tail.rows(state.mark.start))
            snapshots.save(state)
            memo.reading = None  # what is appended counts in the state before it is on the disk
            yield Transaction(self, state, tail)
        # Only now is it in the log: a failed commit, on a full disk for example, leaves nothing.
        memo.reading = state, file

    def _known(self) -> tuple[LogState | None, WatchedFile]:
        """Return what was read before of the log at the path, if anything, and its file.

        A log is closed by renaming its file: the file of that name is then another log. One that
        was deleted is not closed: what takes its place has to contain what was read of it.
        """
        reading = self._memo.reading
        if reading is None:
            return None, WatchedFile(self.path)
        state, file = reading
        if file.is_at(self.path):
            return state, file
        return state if file.is_deleted() else None, WatchedFile(self.path)

    def _is_end(self, state: LogState, tail: LogTail) -> bool:
        """Return whether the log ends where it was read to before, with an entry as it was then."""
        last, mark = tail.last, state.mark
        if last is None or last.start != mark.start:
            return False
        with suppress(InvalidEntryError):
            return mark.is_in(last, self.chain, LOG)
        return False

    def history(self) -> History:
        """Return the history of all entries in the log.

        Raises LogError: G001 if it cannot be read, G002 if its chain is broken.
        """
        return self._read().history

    def _read(self) -> LogState:
        state = snapshots.load(self.path, self.chain)
        state.read(self.store.rows(state.mark.start))
        return state

    def append(self, content: Decision | LoggedDeed) -> Entry:
        """Log a decision or a duty event; once the entry is returned, it is on the disk.

        Raises OutputError (O002) and LogError (G002) as `open` does; then nothing was written.
        """
        with self.store.appending() as tail:
            entry = self.chain.next(self._last_entry(tail.last), content)
            tail.add(entry)
        return entry

    def _last_entry(self, row: Row | None) -> Entry | None:
        """Return the last entry, which the next one is chained to."""
        if row is None:
            return None
        try:
            entry = parse_entry(row, LOG)
        except InvalidEntryError as error:
            message = f"The last entry of the log is broken: {error}."
            hint = "Nothing was appended. Keep a copy of the log, then remove that entry to go on."
            raise LogError.of("G002", message, hint, str(self.path)) from None
        if self.chain.key is None and entry.chain == "hmac-sha-256":
            raise key_error(LOG.writer, str(self.path))
        for fault in self.chain.entry_faults(entry):
            message = f"Nothing can be appended to the log. Its last entry is not valid: {fault}."
            raise LogError.of("G002", message, source=str(self.path))
        return entry


def read_log(path: str | Path) -> Iterator[Entry]:
    """Yield the entries of a log, each valid by itself; the chain between them is not checked.

    Raises DataError (C004) for a file with another ending, LogError (G001) if it cannot be read or
    a line is not an entry.
    """
    return _entries(_store(path).rows(), str(path))


def last_entries(path: str | Path, count: int) -> list[Entry]:
    """Return the last entries of a log, in order. Raises as `read_log` does."""
    return list(_entries(deque(_store(path).rows(), maxlen=count), str(path)))


def log_lines(path: str | Path) -> Iterator[bytes]:
    """Yield the entries of a log as they were written, as lines: a log in a file of lines, whose
    chain is verified as that of the log itself, with its key. They are those that there are at
    first; a table is not locked between them. Raises as `read_log` does, but for lines that are not
    entries."""
    return (row.text + b"\n" for row in _store(path).rows())


def latest_entries(
    path: str | Path,
    is_wanted: Callable[[Plain], bool],
    before: int | None = None,
    texts: Sequence[str] = (),
    after: int | None = None,
) -> Iterator[Entry]:
    """Yield the entries of a log from the last one backwards, of those between two numbers.

    `is_wanted` judges an entry as JSON has it; those alone are looked at that have each of some
    `texts` as a value. Of a table, little more is read than is taken. Raises as `read_log` does,
    but for what is not an entry and has none of these texts.
    """
    rows = _store(path).latest(before, [*map(canonical, texts)], after)
    return (
        entry
        for row in rows
        if _is_wanted(row, is_wanted, str(path))
        for entry in _entries([row], str(path))
        if (before is None or entry.number < before) and (after is None or entry.number > after)
    )


def last_number(path: str | Path) -> int:
    """Return the number of the last entry of a log, 0 where it has none. Raises as `read_log`."""
    row = _store(path).last()
    return 0 if row is None else next(_entries([row], str(path))).number


def _is_wanted(row: Row, is_wanted: Callable[[Plain], bool], source: str) -> bool:
    """Return whether an entry is wanted, before it is validated: that takes ten times as long.

    What cannot be judged is shown to nobody. Raises LogError (G001) for it.
    """
    try:
        return is_wanted(from_json(row.text, cache_strings="keys"))
    except (ValueError, KeyError, TypeError, AttributeError):
        for entry in _entries([row], source):  # which raises for what is not an entry
            message = f"Entry {entry.number} does not say what it has to."
            raise LogError.of("G001", message, source=source) from None
        raise


def read_history(path: str | Path, key: Key = None) -> History:
    """Return the history of all entries in a log. Raises as `DecisionLog.history` does.

    And DataError: C004 for another ending, C013 for an invalid key.
    """
    return DecisionLog(_store(path), Chain(read_chain_key(key))).history()


def verify_log(
    path: str | Path, key: Key = None, expect: str | int | Head | None = None
) -> Verification:
    """Return whether a log is intact: its entries, its head, and every break of its chain.

    A changed, missing, moved or inserted entry is always detected. Entries cut off at the end are
    not, nor is a chain that was recreated as a whole, which anybody can do if it has no key. Both
    are detected with `expect`: a head that was kept elsewhere, and that the log must still contain,
    as its last entry or an earlier one.

    Raises DataError for another ending (C004) or for an invalid or missing key (C013), LogError
    (G001) if the log cannot be read, RequestError (U001) if `expect` is not a head.
    """
    expected = Head.of(str(expect)) if isinstance(expect, str | int) else expect
    return verify(_store(path).rows(), Chain(read_chain_key(key)), LOG, expected)


def _store(path: str | Path, kept: KeptConnection | None = None) -> Store:
    path = Path(path)
    ending = path.suffix.lower()
    if ending in LINES:
        return LinesFile(path)
    if ending in TABLES:
        return LogTable(path, kept)
    message = f"{str(path)!r} does not have the ending of a decision log. Allowed are "
    raise DataError.of("C004", f"{message}{join_names((*LINES, *TABLES), 'and')}.")


def _entries(rows: Iterable[Row], source: str) -> Iterator[Entry]:
    for row in rows:
        try:
            yield parse_entry(row, LOG)
        except InvalidEntryError as error:
            place = Place(line=row.line, column=1)
            problem = Problem("G001", f"This is not an entry: {error}.", place=place)
            raise LogError(problem, source=source) from None
