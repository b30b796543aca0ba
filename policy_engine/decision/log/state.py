"""The state of a log: its history, and how far it has been read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from policy_engine.decision.history import Deed, History, MadeFrom
from policy_engine.decision.log.chain import Chain
from policy_engine.decision.log.entries import START, Entry
from policy_engine.decision.log.places import Row
from policy_engine.decision.log.verification import InvalidEntryError, parse_entry
from policy_engine.errors import LogError, PolicyEngineError

Plain = Mapping[str, Any]
"""An entry as a JSON object."""
_HASH, _SIZE = b',"hash":"', 64


@dataclass(frozen=True)
class Mark:
    """The entry up to which a log was read: its number, its hash, and its position."""

    number: int = 0
    hash: str = START
    start: int = 0


@dataclass
class LogState:
    """The history of a log up to a mark; every entry was verified when it was read.

    `saved` is the number of the entry up to which the state is saved beside the log.
    """

    chain: Chain
    source: str
    history: History = field(default_factory=History)
    mark: Mark = Mark()
    saved: int = 0

    def read(self, rows: Iterator[Row]) -> None:
        """Add the rows from the mark on; the first is the one that was read last.

        Raises LogError (G002) if that row is gone, or what follows does not continue it: a log that
        was truncated would show too few executions of rules.
        """
        if self.mark.number:
            self._check_mark(next(rows, None))
        for row in rows:
            self._add(self._entry(row), row.start)

    def add(self, entry: Entry, start: int) -> None:
        """Add the next entry."""
        self._add(entry.to_json(), start)

    def _add(self, entry: Plain, start: int) -> None:
        number, before = entry["number"], self.mark
        if (number, entry["previous"]) != (before.number + 1, before.hash):
            raise self._broken_log(f"entry {number} does not follow entry {before.number}")
        record_entry(self.history, entry)
        self.mark = Mark(number, entry["hash"], start)

    def _check_mark(self, row: Row | None) -> None:
        entry = None if row is None else self._entry(row)
        if entry is None or (entry["number"], entry["hash"]) != (self.mark.number, self.mark.hash):
            message = f"The log no longer contains entry {self.mark.number}. It "
            snapshot = f"{self.source}.state"
            remedy = (
                f"remove {Path(snapshot).name}" if Path(snapshot).exists() else "open the log again"
            )
            hint = f"If that was intended, {remedy}; counting starts again."
            raise LogError.of("G002", f"{message}was truncated or replaced.", hint, self.source)

    def _entry(self, row: Row) -> Plain:
        """Return an entry whose hash matches its content."""
        parsed = _parse_entry(row, self.chain)
        if parsed is not None:
            return parsed
        try:
            entry = parse_entry(row)
        except InvalidEntryError as error:
            raise self._broken_log(f"{error}") from None
        for fault in self.chain.entry_faults(entry):
            raise self._broken_log(f"in entry {entry.number}, {fault}")
        return entry.to_json()

    def _broken_log(self, why: str) -> PolicyEngineError:
        message = f"The log does not show how often rules were exercised: {why}."
        return LogError.of("G002", message, "`log verify` lists every problem.", self.source)


def _parse_entry(row: Row, chain: Chain) -> Plain | None:
    """Return an entry as a JSON object if its hash is right; validating it takes ten times as long.

    The hash covers the rest of the text, so an entry with the right hash is as it was written.
    """
    text = row.text
    start = text.rfind(_HASH)
    end = start + len(_HASH) + _SIZE + 1
    if (
        row.fault
        or start < 0
        or chain.text_hash(text[:start] + text[end:]) != _hash_at(text, start)
    ):
        return None
    entry: Plain = from_json(text)
    is_same = row.columns in (None, (entry["number"], entry["hash"]))
    return entry if is_same and entry["chain"] == chain.kind else None


def _hash_at(text: bytes, start: int) -> str:
    return text[start + len(_HASH) :][:_SIZE].decode(errors="replace")


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
