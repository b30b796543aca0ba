"""The state of a log: its history, and how far it was read."""

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
"""An entry as JSON has it."""
_HASH, _SIZE = b',"hash":"', 64


@dataclass(frozen=True)
class Mark:
    """An entry up to which a log was read: its number and hash, and where it stands."""

    number: int = 0
    hash: str = START
    start: int = 0


@dataclass
class LogState:
    """The history of a log up to a mark; every entry of it was verified as it was read.

    `saved` is the number of the entry up to which it is kept beside the log.
    """

    chain: Chain
    source: str
    history: History = field(default_factory=History)
    mark: Mark = Mark()
    saved: int = 0

    def read(self, rows: Iterator[Row]) -> None:
        """Take up the rows from the mark on, of which the first is the one that was read last.

        Raises LogError (G002) where that is no longer there, or what follows is not its
        continuation: by a log that was cut, rules were exercised less often than they were.
        """
        if self.mark.number:
            self._check_mark(next(rows, None))
        for row in rows:
            self._add(self._entry(row), row.start)

    def add(self, entry: Entry, start: int) -> None:
        """Take up the next entry."""
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
            message = f"The log does not hold entry {self.mark.number}, which it held before. It "
            snapshot = f"{self.source}.state"
            remedy = (
                f"remove {Path(snapshot).name}" if Path(snapshot).exists() else "open the log again"
            )
            hint = f"If that is meant, {remedy}; counts begin anew."
            raise LogError.of("G002", f"{message}was cut, or replaced.", hint, self.source)

    def _entry(self, row: Row) -> Plain:
        """Return an entry that has the hash of what it says."""
        parsed = _parse_entry(row, self.chain)
        if parsed is not None:
            return parsed
        try:
            entry = parse_entry(row)
        except InvalidEntryError as error:
            raise self._broken_log(f"{error}") from None
        for fault in self.chain.entry_faults(entry):
            raise self._broken_log(f"of entry {entry.number}, {fault}")
        return entry.to_json()

    def _broken_log(self, why: str) -> PolicyEngineError:
        message = f"How often rules were exercised cannot be told from the log: {why}."
        return LogError.of("G002", message, "`log verify` tells all that is wrong.", self.source)


def _parse_entry(row: Row, chain: Chain) -> Plain | None:
    """Return an entry as JSON has it, where its hash is right; to validate it takes ten times that.

    The hash is of the text without it, so that what has the right one is as it was written.
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
    """Add to a history what an entry tells."""
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


def _origins(kept: Plain) -> Iterator[MadeFrom]:
    for one in kept.get("made_from", ()):
        yield MadeFrom(one["asset"], tuple(one["by"]), tuple(one["sources"]))


def _record_deed(history: History, deed: Plain, number: int) -> None:
    time = datetime.fromisoformat(deed["time"])
    evidence, meaning = deed.get("evidence", ""), deed.get("meaning", "")
    recorded = Deed(deed["state"], deed["by"], time, deed["digest"], evidence, number, meaning)
    history.record_deed(deed["policy"], deed["duty"], recorded)
