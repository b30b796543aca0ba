"""The releases of the same persons that a ledger has: announced, published, and looked at again."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.budget.accounts import Link
from policy_engine.release.budget.entries import AnnouncedRelease
from policy_engine.release.budget.ledger import BudgetLedger, LedgerTransaction
from policy_engine.release.budget.lineage import DataLineage, related, whole_of
from policy_engine.release.budget.processes import current_owner
from policy_engine.release.budget.state import PublishedRelease
from policy_engine.release.budget.verifying import classes_fault, kept_text
from policy_engine.release.composition.kept_classes import KeptClasses

_Found = TypeVar("_Found")
_UNSAID = "the ledger does not have its classes: an earlier version of the engine listed it"


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """A release that a ledger has: its entry, its IRI, its unit of privacy and its classes, or why
    nobody knows them."""

    entry: int
    release: str
    unit: str
    classes: KeptClasses | None
    reason: str = ""


@dataclass(frozen=True)
class DataOfRelease:
    """Whose data a release is: its `datasets`, and what is stated of what they are parts of, and
    what they are made of."""

    datasets: tuple[str, ...]
    links: tuple[Link, ...] = ()
    origins: tuple[Link, ...] = ()

    @property
    def lineage(self) -> DataLineage:
        """What is stated."""
        lineage = DataLineage()
        lineage.add(self.links)
        lineage.add_origins(self.origins)
        return lineage


class ReleaseLedger:
    """The releases in a ledger, beside the charges of those that an epsilon covers.

    Order: make and verify, `announce`, publish, `confirm`. What was announced and not confirmed may
    have been published: it counts, until somebody knows that it was not and says so (`withhold`).
    """

    def __init__(self, ledger: BudgetLedger) -> None:
        """Use the entries of a ledger, which is made if there is none."""
        self.ledger = ledger
        self._known: dict[int, KeptClasses] = {}

    @property
    def key(self) -> bytes:
        """The key by which persons are known again, 16 bytes that follow from the random name of
        the ledger: hashes of persons tell nothing to who does not have the ledger."""
        with self.ledger.transaction(create=True) as ledger:
            name = ledger.state.name
        return hashlib.sha256(b"policy-engine persons\n" + name.encode()).digest()[:16]

    def exists(self) -> bool:
        """Return whether there is a ledger."""
        return self.ledger.store.exists()

    def earlier(self, data: DataOfRelease) -> tuple[EarlierRelease, ...]:
        """Return the releases of the same persons, in the order of their entries.

        Raises LedgerError for a ledger that cannot be used (B001 to B007), or whose classes were
        changed (B004).
        """
        if not self.exists():
            return ()
        with self.ledger.reading() as ledger:
            return self._earlier(ledger, data)

    def announce(
        self,
        announced: AnnouncedRelease,
        classes: bytes | None,
        judge: Callable[[Sequence[EarlierRelease]], tuple[_Found, AnnouncedRelease]],
    ) -> tuple[int, _Found]:
        """Record that something is about to be published, and return the number of the entry.

        `judge` is given all releases of the same persons, while nobody else can add one, and
        returns what it finds and what is recorded; nothing is recorded where it raises an error.
        """
        data = DataOfRelease(announced.datasets, announced.links or (), announced.origins or ())
        with self.ledger.transaction(create=True) as ledger:
            result, recorded = judge(self._earlier(ledger, data))
            number = ledger.state.mark.number + 1
            if classes is not None:
                digest = self.ledger.chain.digest(classes)
                recorded = recorded.model_copy(update={"classes": digest})
                ledger.stored.add_answer(number, classes)
            ledger.append(state="announced", announced=recorded, owner=current_owner())
        return number, result

    def confirm(self, numbers: Iterable[int]) -> None:
        """Record that what some entries announced was published."""
        with self.ledger.transaction() as ledger:
            for number in numbers:
                ledger.append(state="published", of=number)

    def withhold(self, numbers: Iterable[int]) -> None:
        """Record that what some entries announced was not published, and never will be."""
        with self.ledger.transaction() as ledger:
            for number in numbers:
                ledger.append(state="unpublished", of=number)

    def abandoned(self) -> tuple[PublishedRelease, ...]:
        """Return the releases whose processes ended before they said whether they were published.

        They count as published until it is known that they were not. Of a process that cannot be
        looked for, as on another machine, nobody knows that it ended.
        """
        if not self.exists():
            return ()
        with self.ledger.reading() as ledger:
            return tuple(one for one in ledger.state.published.values() if one.is_abandoned)

    def settle(self, is_published: Callable[[AnnouncedRelease], bool | None]) -> None:
        """Record of abandoned releases whether they were published, as far as that can be told."""
        verdicts = {one.number: is_published(one.announced) for one in self.abandoned()}
        if all(verdict is None for verdict in verdicts.values()):
            return
        with self.ledger.transaction() as ledger:
            for number, verdict in verdicts.items():
                held = ledger.state.published.get(number)
                if verdict is not None and held is not None and not held.is_settled:
                    ledger.append(state="published" if verdict else "unpublished", of=number)

    def _earlier(
        self, ledger: LedgerTransaction, data: DataOfRelease
    ) -> tuple[EarlierRelease, ...]:
        lineages = (ledger.state.lineage, data.lineage)
        persons = {*whole_of(data.datasets, *lineages)}

        def is_of_them(release: str) -> bool:
            return not persons.isdisjoint(related(release, *lineages))

        recorded = [
            self._known_release(ledger, one)
            for one in ledger.state.published.values()
            if is_of_them(one.release)
        ]
        unsaid = sorted(one for one in ledger.state.unsaid if is_of_them(one))
        return (*recorded, *(EarlierRelease(0, one, "", None, _UNSAID) for one in unsaid))

    def _known_release(self, ledger: LedgerTransaction, one: PublishedRelease) -> EarlierRelease:
        announced = one.announced
        unit, classes = announced.unit or "", self._known.get(one.number)
        if announced.classes is not None and classes is None:
            text = kept_text(ledger.stored, self.ledger.chain, one)
            if text is None:
                raise self._changed_error(one)
            try:
                classes = self._known[one.number] = KeptClasses.unpacked(text)
            except (ValueError, KeyError, TypeError):
                raise self._changed_error(one) from None
        return EarlierRelease(one.number, announced.release, unit, classes, announced.unknown or "")

    def _changed_error(self, one: PublishedRelease) -> PolicyEngineError:
        hint = "`budget verify` lists every problem."
        return LedgerError.of("B004", classes_fault(one), hint, self.ledger.store.source)
