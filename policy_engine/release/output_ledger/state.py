"""What an output ledger says: its answers, and what each of its scopes knows because of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.reading import Mark, Plain, entries_after
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import InvalidEntryError
from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.ledger_file import StoredLedger
from policy_engine.release.output_ledger.contents import AnswerContent, BlockPlace
from policy_engine.release.output_ledger.entries import OUTPUTS
from policy_engine.release.output_ledger.knowledge import Knowledge
from policy_engine.release.output_ledger.populations import BitBlock, LabelBlock

View = tuple[str, str, frozenset[str]]
"""A dataset, the digest of its data, and scopes."""


@dataclass(frozen=True)
class OutputRecord:
    """An answer that was given: the number of its entry, what it is about, and when. It counts
    under its `scopes`, and under all of its `reach`."""

    number: int
    state: str
    dataset: str
    data: str
    scopes: frozenset[str]
    units: int
    released: int
    suppressed: int
    content: str
    logged: str
    is_accepted: bool = False
    reach: frozenset[str] = frozenset()


@dataclass
class _KnownView:
    """What is known of a view, up to some record."""

    knowledge: Knowledge
    records: int = 0


class OutputState:
    """The records of a ledger, read once, and what views of it know, added to as it grows."""

    def __init__(self, chain: HashChain) -> None:
        self.chain = chain
        self.mark = Mark()
        self.logged = ""
        self.secret = ""
        self.records: list[OutputRecord] = []
        self._views: dict[View, _KnownView] = {}
        self._digests: dict[int, str] = {}
        self._blocks: dict[BlockPlace, LabelBlock | BitBlock] = {}

    def read(self, rows: Iterator[Row]) -> None:
        """Add the rows from the mark on; the first is the one that was read last.

        Raises InvalidEntryError if what follows does not continue it; the state is then of no use.
        """
        if self.mark.number:
            next(rows, None)
        for entry, _ in entries_after(self.mark, rows, self.chain, OUTPUTS):
            self.add(entry)
        if not self.mark.number:
            raise InvalidEntryError("it has no entries, not even the first: it was truncated")

    def add(self, entry: Plain) -> None:
        """Add an entry. Raises InvalidEntryError if it is not what a ledger has at its place."""
        number = entry["number"]
        if (number == 1) != (entry["state"] == "opened"):
            raise InvalidEntryError(f"entry {number} is not where the ledger begins")
        if number == 1:
            self.secret = entry["ledger"]
        else:
            record = _record(entry)
            self.records.append(record)
            self._digests[number] = record.content
        self.mark = Mark(number, entry["hash"], number)
        self.logged = entry["logged"]

    def other_data(self, view: View) -> list[str]:
        """Return the digests of other data of the dataset that a scope was given answers about."""
        dataset, data, scopes = view
        return [
            one.data
            for one in self.records
            if one.dataset == dataset and one.data != data and not scopes.isdisjoint(one.reach)
        ]

    def has_reached(self, view: View, reach: frozenset[str]) -> bool:
        """Return whether all answers that are known in a view count under all of some scopes."""
        dataset, data, scopes = view
        return all(
            reach <= one.reach
            for one in self.records
            if (one.dataset, one.data) == (dataset, data)
            and one.content
            and not scopes.isdisjoint(one.reach)
        )

    def knowledge(self, view: View, units: int, stored: StoredLedger | None) -> Knowledge:
        """Return what is known to whoever has one of the scopes; nothing where nothing is stored.

        Raises InvalidEntryError, and LedgerError (K037) if the data has other units.
        """
        dataset, data, scopes = view
        own = self._views.get(view)
        if own is None:
            secret = f"{self.secret}\n{dataset}\n{data}".encode()
            own = _KnownView(Knowledge.of_nothing(units, secret))
        if own.knowledge.units != units:
            raise _units_error(units)
        for record in self.records[own.records :]:
            is_same = (record.dataset, record.data) == (dataset, data)
            if is_same and record.units != units:
                raise _units_error(units)
            if stored and is_same and record.content and not scopes.isdisjoint(record.reach):
                content = replace(
                    self.content(record.number, stored), is_accepted=record.is_accepted
                )
                own.knowledge.add_recorded(content, record.number)
        own.knowledge.name_units()
        own.records = len(self.records)
        self._views = {view: own}
        return own.knowledge

    def remember(self, view: View, knowledge: Knowledge) -> None:
        """Keep what is known once the last record is there, which need not be read again."""
        self._views = {view: _KnownView(knowledge, len(self.records))}

    def content(self, number: int, stored: StoredLedger) -> AnswerContent:
        """Return what was kept of the answer of an entry. Raises InvalidEntryError."""
        text = stored.answer(number)
        digest = self._digests.get(number, "")
        if text is None or self.chain.digest(text) != digest:
            raise InvalidEntryError(f"the answer of entry {number} is missing, or was changed")
        content = AnswerContent.unpacked(text, lambda place: self._block(place, stored))
        self._blocks |= {(number, place): one for place, one in enumerate(content.blocks)}
        return content

    def _block(self, place: BlockPlace, stored: StoredLedger) -> LabelBlock | BitBlock:
        if place not in self._blocks:
            self.content(place[0], stored)
        return self._blocks[place]


def _units_error(units: int) -> PolicyEngineError:
    message = f"The same data had other units in an earlier answer. {units:,} units were given."
    hint = "Units are numbered by the data alone, and its digest changes when they do."
    return LedgerError.of("K037", message, hint)


def _record(entry: Plain) -> OutputRecord:
    output = entry["output"]
    return OutputRecord(
        number=entry["number"],
        state=entry["state"],
        dataset=output["dataset"],
        data=output["data"],
        scopes=frozenset(output["scopes"]),
        units=output["units"],
        released=output["released"],
        suppressed=output["suppressed"],
        content=output.get("content", ""),
        logged=entry["logged"],
        is_accepted="accepted" in output,
        reach=frozenset((*output["scopes"], *output.get("also", ()))),
    )
