"""A ledger and its state, of which only what was not read before is read again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Generic, Protocol, TypeVar

from policy_engine.data.chain.entries import ChainEntry
from policy_engine.data.chain.reading import Mark
from policy_engine.data.chain.rows import Chained, Row
from policy_engine.data.chain.verification import InvalidEntryError
from policy_engine.errors import PolicyEngineError
from policy_engine.release.ledger_chain import LedgerChain
from policy_engine.release.ledger_file import LedgerStore, StoredLedger


class ReadState(Protocol):
    """What the entries of a ledger say together, up to the `mark` that they are read to."""

    @property
    def mark(self) -> Mark:
        """The last entry that is read."""

    def read(self, rows: Iterator[Row]) -> None:
        """Read entries, of which the first is the last that was read, if any was.

        Raises InvalidEntryError for one that is not valid.
        """


State = TypeVar("State", bound=ReadState)


class RememberedLedger(Generic[State, Chained]):
    """A stored ledger, with the state of what was read of it between calls; threads may share it.

    The state begins as `empty` makes it; `broken` makes the error of an entry that is not valid.
    """

    def __init__(
        self,
        store: LedgerStore,
        reader: LedgerChain[Chained],
        empty: Callable[[], State],
        broken: Callable[[InvalidEntryError], PolicyEngineError],
    ) -> None:
        """Remember nothing yet."""
        self.store, self.latest = store, Mark()
        self._reader, self._empty, self._broken = reader, empty, broken
        self._known: State | None = None
        self._lock = RLock()

    def begin(self, first: Callable[[], ChainEntry]) -> None:
        """Make the ledger with its first entry, unless there is one."""
        if not self.store.exists():
            self.store.create(first())

    @contextmanager
    def appending(self) -> Iterator[tuple[StoredLedger, State]]:
        """Return the ledger held exclusively: what is appended is on the disk at the end."""
        with self._lock:
            with self.store.appending() as stored:
                state = self._read(stored)
                # What is appended counts once it is on the disk: a failed commit leaves nothing.
                self._known, before = None, state.mark
                try:
                    yield stored, state
                finally:
                    if state.mark == before:
                        self._known = state
            self._known, self.latest = state, state.mark

    @contextmanager
    def reading(self) -> Iterator[tuple[StoredLedger, State]]:
        """Return the ledger as it is now."""
        with self._lock, self.store.reading() as stored:
            state = self._read(stored)
            self._known = state
            yield stored, state

    def _read(self, stored: StoredLedger) -> State:
        """Return the state of a ledger: of what was read before, only the last entry is read."""
        state, self._known = self._known or self._empty(), None
        try:
            state.read(self._reader.unread_rows(stored, state.mark, self.latest))
        except InvalidEntryError as error:
            raise self._broken(error) from None
        self.latest = state.mark
        return state
