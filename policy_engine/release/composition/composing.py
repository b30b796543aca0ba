"""Looks at a release together with those before it while it is made, and records it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.engine import Engine, StoredData, WrittenTable
from policy_engine.engines.identified import Respelt, words_of_persons
from policy_engine.engines.persons import TEXT
from policy_engine.errors import LedgerError, Problem, format_count
from policy_engine.kernels.intersections import (
    TooManyPairsError,
    distinct_words,
    intersections,
)
from policy_engine.plan.joint import can_be_joint, joint_step, valued
from policy_engine.plan.lineage import Upstream, check_read
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize
from policy_engine.release.budget.entries import AnnouncedRelease
from policy_engine.release.composition.figures import (
    ComparedReleases,
    Composition,
    DisagreeingVersions,
    UnknownRelease,
)
from policy_engine.release.composition.invariance import Version, disagreements
from policy_engine.release.composition.kept_classes import NOBODY, KeptClasses
from policy_engine.release.composition.measuring import (
    MeasuredRelease,
    persons_written_anew,
    unknown_persons,
)
from policy_engine.release.composition.release_ledger import (
    DataOfRelease,
    EarlierRelease,
    ReleaseLedger,
)

_AS_WRITTEN = (
    "an earlier version of the engine kept its persons as they are written: those whose text has "
    "blanks around it, or other characters for the same letters, may not be known again"
)
_TOO_MANY = "persons are in too many classes to look at all their intersections"


@dataclass
class Composing:
    """One release, looked at together with the earlier ones of the same persons.

    `columns` are all columns of its input, by which rows are known again where no column tells
    persons apart. Figures are for the owner: a refusal has them only where it is `for_owner`.
    """

    ledger: ReleaseLedger
    plan: Plan
    data: DataOfRelease
    columns: tuple[str, ...]
    is_derived: bool = False
    for_owner: bool = True
    is_joint: bool = False
    measured: MeasuredRelease | None = None
    _everybody: NDArray[np.uint64] | None = field(default=None, repr=False)
    _respelt: Respelt = field(default=(NOBODY, NOBODY), repr=False)
    _unit_type: str = ""
    _nameless: int = 0
    _repeated: bool = False
    _is_lost: bool = False
    _classes: KeptClasses | None = field(default=None, repr=False)

    @property
    def step(self) -> Anonymize:
        """The step that forms classes."""
        return self.plan.require_anonymize()

    @property
    def bound(self) -> str:
        """What the policy says of several releases together, empty where it says nothing."""
        composition = self.plan.anonymize.recoding.composition if self.plan.anonymize else None
        return composition or ""

    @property
    def unknown(self) -> str:
        """Why it cannot be known who is in which class of it, empty where it can."""
        return next(self._obstacles(), "")

    def _obstacles(self) -> Iterator[str]:
        plan, anonymize = self.plan, self.plan.anonymize
        if self._is_lost:
            yield "its algorithm does not tell which rows are whose"
        if self._nameless:
            rows = format_count(self._nameless, "row")
            yield f"{plan.unit!r} is missing in {rows} of it, so that nobody knows whose they are"
        if plan.releases_model:
            yield "it is a model"
        elif anonymize is None:
            yield "its rows are not those of persons"
        elif not anonymize.models:
            yield "no privacy model forms classes of its rows"
        elif anonymize.is_in_buckets or anonymize.is_permuted:
            yield "it publishes quasi-identifiers as they are"
        elif anonymize.recoding.has_overlapping_classes:
            yield "its classes overlap"
        if not plan.unit and len(plan.reads) > 1:
            yield "inputs are joined, and no column tells persons apart"
        if not plan.unit and self.is_derived:
            yield "its input is a release itself, and no column tells persons apart"

    def read(
        self, engine: Engine, upstream: Sequence[Upstream], read_inputs: Callable[..., Any]
    ) -> tuple[Any, tuple[StoredData, ...]]:
        """Return the table of the plan, with who each row is of in a hidden column, and the inputs.

        `read_inputs` reads them as they are. Raises as it does.
        """
        plan = self.plan
        if self.unknown:
            made: tuple[Any, tuple[StoredData, ...]] = read_inputs(plan, engine, upstream)
            return made
        names = plan.join.columns if plan.join else plan.read.columns
        if plan.unit:
            table, sources = read_inputs(plan, engine, upstream)
        else:
            table, source = engine.read(plan.read.model_copy(update={"columns": self.columns}))
            releases = [one for one in upstream if one.asset == plan.read.asset]
            check_read(releases, source.digest, source.location)
            sources = (source,)
        key = self.ledger.key
        as_read = table
        table, self._unit_type = engine.identify(table, plan.unit, key, names)
        if self._unit_type == TEXT:
            self._respelt = engine.respelt(as_read, plan.unit, key)
        persons = engine.everybody(table)
        if plan.unit:
            nobody = words_of_persons(pa.nulls(1, pa.string()), key)
            self._nameless = int((persons == nobody).sum())
        self._everybody = distinct_words(persons)
        self._repeated = len(self._everybody) < len(persons)
        return table, sources

    def joint(self, engine: Engine, table: Any) -> tuple[Any, Anonymize]:
        """Return a table and the step that forms its classes: jointly with those of the earlier
        releases, where the policy asks for that and the method can."""
        step, everybody = self.step, self._everybody
        is_asked = self.bound == "intersected" and can_be_joint(step) and not self.plan.sample
        earlier = [*self._comparable(self.ledger.earlier(self.data))] if is_asked else []
        if not earlier or everybody is None:
            return table, step
        try:
            met = intersections([one.persons for one in earlier])
        except TooManyPairsError:
            return table, step
        if len(met.person) > len(met.persons):
            return table, step  # who is in several earlier classes has no single intersection
        cells = np.zeros(len(everybody), np.int64)
        place = np.searchsorted(met.persons, everybody)
        is_known = np.append(met.persons, 0)[place] == everybody
        is_known &= place < len(met.persons)
        cells[is_known] = met.cell[place[is_known]] + 1
        keeps_values = not (self.plan.unit and self._repeated)
        own = joint_step(step, keeps_values=keeps_values)
        pairs = valued(step) if keeps_values else []
        self.is_joint = True
        return engine.with_earlier(table, everybody, cells, pairs), own

    def measure(self, engine: Engine, written: WrittenTable) -> None:
        """Read the output back, and remember who is in which of its classes."""
        if self._everybody is not None and not self.unknown:
            released = engine.released_persons(written, self.step)
            if released is None:
                self._is_lost = True
                return
            self.measured = MeasuredRelease(released, self._everybody, self.step, engine.taxonomies)
            self._classes = KeptClasses.of(
                released, self._everybody, self.ledger.key, self._unit_type, self._respelt
            )

    def look(self) -> Composition:
        """Return what it tells together with the earlier releases; nothing is recorded."""
        return self.judge(self.ledger.earlier(self.data))

    def judge(self, earlier: Sequence[EarlierRelease]) -> Composition:
        """Return what it tells together with earlier releases."""
        unknown = [*self._unknown(earlier), *self._unknown_itself()]
        compared: list[ComparedReleases] = []
        entries = {one.entry for one in unknown if one.entry}
        classes = []
        together = None
        for one in earlier:
            if self.measured is None or one.classes is None or one.entry in entries:
                continue
            try:
                compared.append(
                    self.measured.compare([one.classes.persons], one.release, one.entry)
                )
                classes.append(one.classes.persons)
            except TooManyPairsError:
                unknown.append(_unknown(one, _TOO_MANY))
        not_unique = None
        disagreeing: tuple[DisagreeingVersions, ...] = ()
        if self.bound == "m-invariant" and self._classes is not None:
            own = Version(self._classes)
            versions = {one.entry: Version(one.classes) for one in earlier if one.classes}
            disagreeing = _disagreeing(compared, versions)
            m = self.step.least_values
            not_unique = own.not_unique(m)
            not_unique += sum(versions[one.entry].not_unique(m) for one in compared)
            compared = [
                one.model_copy(update={"changed": own.changed(versions[one.entry])})
                for one in compared
            ]
        if self.measured is not None and classes:
            try:
                together = self.measured.compare(classes) if len(classes) > 1 else compared[0]
                together = together.model_copy(update={"release": "", "entry": 0})
            except TooManyPairsError:
                unknown.append(UnknownRelease(release="all earlier releases", reason=_TOO_MANY))
        return Composition(
            bound=self.bound,
            k=self.step.k if self.plan.anonymize else 1,
            joint=self.is_joint,
            not_unique=not_unique,
            disagreeing=disagreeing,
            earlier=tuple(compared),
            together=together,
            unknown=tuple(unknown),
        )

    def check(self, composition: Composition) -> None:
        """Raise LedgerError (B013) where releases together break what the policy asks for."""
        if not composition.is_refused:
            return
        message = f"The release {self.plan.publish.asset!r} tells too much of persons together "
        message += "with earlier ones of the same persons, which its policy does not allow."
        hint = "Ask for larger classes, or release what was released before."
        values = tuple(composition.sentences()) if self.for_owner else ()
        raise LedgerError(Problem("B013", message, hint, values=values))

    def announce(
        self,
        entry: AnnouncedRelease,
        complete: Callable[[Composition], tuple[Any, str | None]],
    ) -> tuple[int, Any]:
        """Record that the release is about to be published, and return the entry's number.

        `complete` is given what was found, and returns what becomes of the release, and its
        commitment. Raises as `check` does; nothing is recorded then.
        """
        classes = self._classes.packed() if self._classes is not None else None

        def judge(earlier: Sequence[EarlierRelease]) -> tuple[Any, AnnouncedRelease]:
            composition = self.judge(earlier)
            self.check(composition)
            made, commitment = complete(composition)
            figures = composition.model_dump(mode="json")
            return made, entry.model_copy(update={"commitment": commitment, "figures": figures})

        return self.ledger.announce(entry, classes, judge)

    def entry(self, output: StoredData, rows: int, place: str, staged: str) -> AnnouncedRelease:
        """Return what is recorded of the release."""
        plan = self.plan
        return AnnouncedRelease(
            datasets=plan.assets,
            release=plan.publish.asset,
            policy=plan.policy_digest,
            plan=hashlib.sha256(plan.public().model_dump_json().encode()).hexdigest(),
            output=output.digest,
            rows=rows,
            assignees=plan.assignees,
            purposes=plan.purposes,
            place=place or None,
            staged=staged or None,
            unit=plan.unit or None,
            unknown=self.unknown or None,
            links=self.data.links or None,
            origins=self.data.origins or None,
        )

    def _comparable(self, earlier: Sequence[EarlierRelease]) -> Iterator[KeptClasses]:
        unknown = {one.entry for one in self._unknown(earlier)}
        yield from (one.classes for one in earlier if one.classes and one.entry not in unknown)

    def _unknown(self, earlier: Sequence[EarlierRelease]) -> Iterator[UnknownRelease]:
        """Yield the releases that this one cannot be compared with."""
        for one in earlier:
            reason = self.unknown or one.reason or self._unlike(one)
            if reason:
                yield _unknown(one, reason)

    def _unknown_itself(self) -> Iterator[UnknownRelease]:
        """Yield this release where it has to be known, or is not all of named persons."""
        if self._nameless or (self.bound == "m-invariant" and self._classes is None):
            asset, reason = self.plan.publish.asset, self.unknown or "nobody has measured it"
            yield UnknownRelease(release=asset, reason=reason)

    def _unlike(self, one: EarlierRelease) -> str:
        if one.unit != self.plan.unit:
            units = (f"by {name!r}" if name else "as rows" for name in (one.unit, self.plan.unit))
            before, now = units
            return f"persons were counted {before}, and are counted {now}"
        if one.classes is None or self._everybody is None:
            return ""
        kept, unit = one.classes, self.plan.unit
        if unit and kept.unit_type != self._unit_type:
            return _other_type(unit, kept.unit_type, self._unit_type)
        if self.bound == "m-invariant" and self._classes is not None:
            own, others = self._classes.types or {}, kept.types or {}
            for name in sorted({*own, *others, *kept.signatures}):
                if name not in others or own.get(name) != others[name]:
                    return _other_type(name, others.get(name), own.get(name))
        unknown = unknown_persons(self._everybody, kept.persons, unit)
        if self._unit_type == TEXT and not unknown:
            return self._written_anew(kept)
        return unknown

    def _written_anew(self, kept: KeptClasses) -> str:
        """Return why persons whom texts tell apart may not be known again."""
        if kept.as_written or self._everybody is None:
            return _AS_WRITTEN
        return persons_written_anew(
            self._everybody, self._respelt, kept.persons, kept.respelt, self.plan.unit
        )


def _other_type(name: str, before: str | None, now: str | None) -> str:
    """Say that the values of a column may be written another way in two releases."""
    was, is_now = before or "of an unknown type", now or "of an unknown type"
    return f"{name!r} was {was}, and is {is_now}: equal values may not be known again"


def _disagreeing(
    compared: Sequence[ComparedReleases], versions: Mapping[int, Version]
) -> tuple[DisagreeingVersions, ...]:
    """Return which earlier versions are not m-invariant with each other: a new version without the
    persons of whom they tell something would not show it."""
    return tuple(
        DisagreeingVersions(
            release=compared[pair.first].release,
            entry=compared[pair.first].entry,
            other=compared[pair.second].release,
            other_entry=compared[pair.second].entry,
            persons=pair.persons,
        )
        for pair in disagreements([versions[one.entry] for one in compared])
    )


def _unknown(one: EarlierRelease, reason: str) -> UnknownRelease:
    return UnknownRelease(release=one.release, entry=one.entry, reason=reason)
