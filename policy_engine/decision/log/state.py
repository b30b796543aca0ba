"""The state of a log: its history, and how far it has been read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from policy_engine.data.chain.reading import Mark, Plain, entries_after
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import InvalidEntryError
from policy_engine.decision.history import Deed, History, MadeFrom
from policy_engine.decision.log.chain import LOG, Chain
from policy_engine.decision.log.entries import Entry
from policy_engine.errors import LogError, PolicyEngineError


@dataclass
class LogState:
    """The history of a log up to a mark; every entry was verified when it was read.

    `saved` is the number of the entry up to which the state is saved beside the log.
    """

    chain: Chain
    source: str
    history: History = field(default_factory=History)
    mark: Mark = field(default_factory=Mark)
    saved: int = 0

    def read(self, rows: Iterator[Row]) -> None:
        """Add the rows from the mark on; the first is the one that was read last.

        Raises LogError (G002) if that row is gone, or what follows does not continue it: a log that
        was truncated would show too few executions of rules.
        """
        try:
            if self.mark.number and not self.mark.is_in(next(rows, None), self.chain, LOG):
                raise self._truncated_log()
            for entry, start in entries_after(self.mark, rows, self.chain, LOG):
                record_entry(self.history, entry)
                self.mark = Mark(entry["number"], entry["hash"], start)
        except InvalidEntryError as error:
            raise self._broken_log(f"{error}") from None

    def add(self, entry: Entry, start: int) -> None:
        """Add the next entry, as this process has just written it."""
        record_entry(self.history, entry.to_json())
        self.mark = Mark(entry.number, entry.hash, start)

    def _truncated_log(self) -> PolicyEngineError:
        message = f"The log no longer contains entry {self.mark.number}. It "
        snapshot = Path(f"{self.source}.state")
        remedy = f"remove {snapshot.name} and " if snapshot.exists() else ""
        hint = f"If that was intended, {remedy}open the log again, which a service does when it is "
        hint += "restarted; counting starts again."
        return LogError.of("G002", f"{message}was truncated or replaced.", hint, self.source)

    def _broken_log(self, why: str) -> PolicyEngineError:
        message = f"The log does not show how often rules were exercised: {why}."
        return LogError.of("G002", message, "`log verify` lists every problem.", self.source)


def record_entry(history: History, entry: Plain) -> None:
    """Add an entry to a history."""
    if "deed" in entry:
        _record_deed(history, entry["deed"], entry.get("number", 0))
        return
    decision = entry["decision"]
    request, time = decision["request"], decision["time"] or entry["logged"]
    party, action = request["assignee"], request["action"]
    if decision["effect"] != "permit":
        for duty in decision["duties"]:
            history.record_refusal((duty["policy"], duty["rule"], duty["duty"]), party, time)
        return
    executions = decision.get("counted")
    if executions is None:
        executions = [{**decision, "targets": request["targets"]}]
    if executions:
        history.record_permit(party, action, request["targets"], _origins(decision))
        history.record_in_force(decision["policy_digests"], time)
    for one in executions:
        rule, exerciser = (one["policy"], one["rule"]), one.get("party") or party
        history.record_beginning(
            one["policy"], exerciser, (*one["targets"], *request["targets"]), time
        )
        history.record_execution(
            rule, exerciser, action, one["targets"], decision["policy_digests"]
        )


def _origins(record: Plain) -> Iterator[MadeFrom]:
    for one in record.get("made_from", ()):
        yield MadeFrom(one["asset"], tuple(one["by"]), tuple(one["sources"]))


def _record_deed(history: History, event: Plain, number: int) -> None:
    time = datetime.fromisoformat(event["time"])
    evidence, meaning = event.get("evidence", ""), event.get("meaning", "")
    recorded = Deed(event["state"], event["by"], time, event["digest"], evidence, number, meaning)
    history.record_deed(event["policy"], event["duty"], recorded)
