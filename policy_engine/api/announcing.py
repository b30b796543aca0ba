"""Releases that a ledger has before anybody can read them, and whether they were published."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from policy_engine.api.binding import BoundPlan
from policy_engine.api.verified_release import ProvenRelease, is_published
from policy_engine.certificate.beside import find_certificate
from policy_engine.certificate.certifying import CertifiedRelease
from policy_engine.certificate.publication import AnyPublication
from policy_engine.certificate.record import absolute_name
from policy_engine.data.catalog import TABLE
from policy_engine.data.storage import Location, is_remote
from policy_engine.engines.engine import Engine, StoredData, WrittenTable
from policy_engine.errors import PolicyEngineError
from policy_engine.release.budget.charging import Chargeable
from policy_engine.release.budget.entries import AnnouncedRelease
from policy_engine.release.budget.ledger import BudgetLedger
from policy_engine.release.composition.composing import Composing
from policy_engine.release.composition.figures import Composition
from policy_engine.release.composition.needed_ledger import ledger_needed
from policy_engine.release.composition.release_ledger import DataOfRelease, ReleaseLedger
from policy_engine.release.staging import check_publication


def composing_of(
    chargeable: Chargeable, bound: BoundPlan, ledger: BudgetLedger | None
) -> Composing | None:
    """Return what looks at a plan's release together with earlier ones in a ledger; None where no
    row is released, or no ledger is given.

    Raises LedgerError (B014) where the policy bounds releases together and no ledger is given.
    """
    plan = bound.plan
    if ledger is None:
        if (error := ledger_needed(plan)) is not None:
            raise error
        return None
    if plan.aggregate is not None:
        return None
    data = DataOfRelease(plan.assets, tuple(chargeable.links), tuple(chargeable.made))
    columns: tuple[str, ...] = ()
    if len(plan.reads) == 1:
        columns = bound.catalog.dataset(plan.read.asset).columns
    return Composing(
        ReleaseLedger(ledger),
        plan,
        data,
        columns,
        is_derived=bool(bound.upstream),
        for_owner=not chargeable.party,
    )


@dataclass
class Announcements:
    """The releases of one run that the ledger has, by the entries that announced them."""

    made: list[tuple[Composing, int, ProvenRelease | None]] = field(default_factory=list)

    def announcer(
        self, composing: Composing | None, engine: Engine, written: WrittenTable, staged: str
    ) -> Callable[[CertifiedRelease], CertifiedRelease] | None:
        """Return what announces a release that was written, once its bounds hold; None where no
        ledger is given."""
        if composing is None:
            return None

        def announce(certified: CertifiedRelease) -> CertifiedRelease:
            composing.measure(engine, written)
            record, certificate = certified.known_record, certified.certificate
            output = StoredData(record.place, record.release)
            entry = composing.entry(output, certificate.rows_out, record.place, staged)

            def complete(composition: Composition) -> tuple[CertifiedRelease, str | None]:
                made = certified.with_composition(composition)
                commitment = made.certificate.commitment
                return made, commitment.value if commitment else None

            number, made = composing.announce(entry, complete)
            self.made.append((composing, number, None))
            certified_release: CertifiedRelease = made
            return certified_release

        return announce

    def is_of(self, proven: ProvenRelease) -> None:
        """Note which release the last announcement is of, if it is of it."""
        if self.made and self.made[-1][2] is None:
            composing, number, _ = self.made[-1]
            self.made[-1] = (composing, number, proven)

    @contextmanager
    def settling(self, publication: AnyPublication | None = None) -> Iterator[None]:
        """Say of each whether it was published: all were if nothing is raised inside, and otherwise
        those that are there, or may be."""
        try:
            yield
        except BaseException:
            for composing, number, proven in self.made:
                is_there = proven is not None and (
                    publication is not None and is_published(proven, publication)
                )
                with suppress(PolicyEngineError):
                    settle = composing.ledger.confirm if is_there else composing.ledger.withhold
                    settle([number])
            raise
        for composing, number, _ in self.made:
            # What was announced counts as published, whether or not this can be said.
            with suppress(PolicyEngineError):
                composing.ledger.confirm([number])


def settle_abandoned(composings: Sequence[Composing | None]) -> None:
    """Say of releases whose runs were killed whether they were published, where that shows."""
    for composing in composings:
        if composing is not None:
            composing.ledger.settle(_was_published)
            return


def _was_published(announced: AnnouncedRelease) -> bool | None:
    """Tell whether an announced release is where it was to be, None where nobody can know.

    It was if its certificate is there, whoever moved it there; it was not while it is still in the
    staging folder, and no journal says that it is to be moved. Of a release in memory nobody
    can know to whom its process gave it before it ended.
    """
    if announced.place is None:
        return None
    if announced.place.startswith(TABLE) or is_remote(announced.place):
        return None
    place = Path(announced.place)
    try:
        check_publication(place.parent)
        beside = find_certificate(place)
        commitment = beside[1].commitment if beside is not None else None
        if commitment is not None and commitment.value == announced.commitment:
            return True
        return False if announced.staged and Path(announced.staged).exists() else None
    except (OSError, PolicyEngineError):
        return None


def staged_name(staged: Location | None) -> str:
    """Return where a release is staged, as a ledger names it; empty for one in memory."""
    return absolute_name(staged) if staged is not None else ""
