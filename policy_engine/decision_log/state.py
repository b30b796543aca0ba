"""What a log comes to: its history, and how far it was read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from policy_engine.decision.history import History
from policy_engine.decision_log.chain import Chain
from policy_engine.decision_log.entries import START, Entry
from policy_engine.decision_log.places import Row
from policy_engine.decision_log.verification import NoEntryError, entry_of
from policy_engine.errors import LogError, PolicyEngineError


@dataclass(frozen=True)
class Mark:
    """An entry up to which a log was read: its number and hash, and where it stands."""

    number: int = 0
    hash: str = START
    start: int = 0


@dataclass
class State:
    """The history of a log up to a mark; every entry of it was verified as it was read."""

    chain: Chain
    source: str
    history: History = field(default_factory=History)
    mark: Mark = Mark()

    def read(self, rows: Iterator[Row]) -> None:
        """Take up the rows from the mark on, of which the first is the one that was read last.

        Raises LogError (G002) where that is no longer there, or what follows is not its
        continuation: by a log that was cut, rules were exercised less often than they were.
        """
        if self.mark.number:
            self._check_mark(next(rows, None))
        for row in rows:
            self.add(self._entry(row), row.start)

    def add(self, entry: Entry, start: int) -> None:
        """Take up the next entry."""
        if (entry.number, entry.previous) != (self.mark.number + 1, self.mark.hash):
            raise self._broken(f"entry {entry.number} does not follow entry {self.mark.number}")
        record(self.history, entry)
        self.mark = Mark(entry.number, entry.hash, start)

    def _check_mark(self, row: Row | None) -> None:
        found = None if row is None else self._entry(row)
        if found is None or (found.number, found.hash) != (self.mark.number, self.mark.hash):
            raise self._broken(f"entry {self.mark.number}, which was read before, is not there")

    def _entry(self, row: Row) -> Entry:
        try:
            entry = entry_of(row)
        except NoEntryError as error:
            raise self._broken(f"{error}") from None
        for fault in self.chain.own_faults(entry):
            raise self._broken(f"of entry {entry.number}, {fault}")
        return entry

    def _broken(self, why: str) -> PolicyEngineError:
        message = f"How often rules were exercised cannot be told from the log: {why}."
        return LogError.of("G002", message, "`log verify` tells all that is wrong.", self.source)


def record(history: History, entry: Entry) -> None:
    """Add to a history what an entry tells."""
    kept = entry.decision
    asked = kept.request
    if kept.executions:
        history.permit(asked.assignee, asked.action, asked.targets)
    for one in kept.executions:
        rule = one.policy, one.rule
        history.execute(rule, asked.assignee, asked.action, one.targets, kept.policy_digests)
