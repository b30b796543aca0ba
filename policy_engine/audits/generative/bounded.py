"""What a policy bounds of made-up rows, measured on those that were written."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.calibrated import FEWEST_REFERENCES
from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.drawing import drawn_model
from policy_engine.audits.generative.material import Ints, Material, RecordSet
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.released_material import coded_release
from policy_engine.audits.generative.result import GenerativeAttack, GenerativeAudit
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.synthesising.equal_cells import rows_of
from policy_engine.engines.synthesising.tables import SyntheticSource
from policy_engine.engines.written_tables import read_written
from policy_engine.errors import AuditError, format_count
from policy_engine.kernels.components import components, first_numbers
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.generative import (
    MOST_ATTACKED,
    GenerativeBound,
    GenerativeKey,
    GenerativeMeasurement,
)
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import SyntheticAuditStep

_MOST = MOST_ATTACKED
_MOST_ROWS = 5 * MOST_ATTACKED
_CALIBRATED = "calibrated-model-density"
_BY_REFERENCES = {"density-ratio", _CALIBRATED}


def begin_nothing() -> None:
    """Begin without anybody to be told."""


def measure_synthetic_audits(
    plan: Plan, written: WrittenTable, begin: Callable[[], object] = begin_nothing
) -> Iterator[GenerativeMeasurement]:
    """Yield what every attack of a plan reaches on made-up rows, or on their generator and rows
    drawn from it, as they were written.

    At most 10,000 of the distinct rows that were learnt, and as many of those held out, are
    attacked, each once: equal rows are learnt or held out together. Where a column tells persons
    apart, it is so many persons, with all their rows, of whom those with an equal row count as one:
    they are on one side together, and their score is the greatest of their rows'. Half of those
    held out are references where an attack uses some. Raises AuditError where there are too few
    (A021, A031), where one is on both sides (A030), and then calls `begin`; raises after it as
    `audit_generator` does.
    """
    reads = [_attacked(plan, step, written) for step in plan.synthetic_audits]
    begin()
    for step, read in zip(plan.synthetic_audits, reads, strict=True):
        attacks = step.method.attacks_run
        rates = {one.fpr for one in step.method.bounds if one.fpr is not None}
        # Who is learnt is drawn at random: a shift that a test finds there is one of chance.
        settings = GenerativeSettings(attacks=attacks, fprs=sorted(rates), allow_shift=True)
        audit, _ = audit_generator(read, settings)
        for key in step.method.keys:
            yield GenerativeMeasurement.of(key, _reached(audit, key))


def _attacked(plan: Plan, step: SyntheticAuditStep, written: WrittenTable) -> ReadMaterial:
    source: SyntheticSource = written.made_here().engine_state
    attacks, unit = step.method.attacks_run, plan.unit
    has_references = bool(_BY_REFERENCES & {*attacks})
    read = _material(source, read_written(written), unit, has_references=has_references)
    _check_references(attacks, read)
    _check_breakable(step.method.bounds, read)
    return read


def _material(
    source: SyntheticSource, made: pa.Table, unit: str = "", *, has_references: bool
) -> ReadMaterial:
    generator = np.random.default_rng([source.seed, _STREAM])
    coded = coded_release(source.learnt, source.held_out, made)
    marks = rows_of(coded.exact)
    ends = np.cumsum([source.learnt.num_rows, source.held_out.num_rows])
    own, other, rows = np.split(np.arange(len(marks)), ends)
    learnt = _Attackable.of(own, marks, source.learnt_persons)
    others = _Attackable.of(other, marks, source.held_out_persons)
    _check_apart(marks[learnt.rows], marks[others.rows])
    _check_persons_apart(source)
    half = others.size // 2 if has_references else others.size
    _check_sizes(learnt.size, half, counts_persons=bool(unit))
    members = learnt.some(np.arange(learnt.size), generator)
    order = generator.permutation(others.size)
    holdout = others.some(order[:half], generator)
    whole = pa.concat_tables([source.learnt, source.held_out])

    def records(name: str, side: _Attackable, first: int) -> RecordSet:
        # Numbered on, since nobody is on two sides.
        persons = side.group_of + first if unit else None
        densities = None
        if source.generator is not None:
            densities = source.generator.log_density(whole.take(from_numpy(side.rows)))
        coded_records = coded.records(name, side.rows)
        return replace(coded_records, persons=persons, densities=densities)

    reference = others.taken(order[half:]) if has_references else None
    material = Material(
        members=records("the rows learnt", members, 0),
        holdout=records("the rows held out", holdout, learnt.size),
        synthetic=coded.records("the rows made up", rows),
        reference=records("the references", reference, learnt.size) if reference else None,
        columns=coded.columns,
        model=None if source.generator is None else drawn_model(source.generator),
        seed=int(generator.integers(2**31)),
        unit=unit,
        is_drawn=True,
    )
    return ReadMaterial(material, digests={}, warnings=())


@dataclass(frozen=True, eq=False)
class _Attackable:
    """The places of the distinct rows of a side, and the group of each, (rows,): that of its
    person, who counts as one with whoever has an equal row, or the row alone. The groups are
    numbered from 0 on."""

    rows: Ints
    group_of: Ints
    size: int

    @classmethod
    def of(cls, rows: Ints, marks: NDArray[Any], persons: Ints | None) -> "_Attackable":
        """Return the rows of a side at some places, of all of which the `marks` are given."""
        numbers = first_numbers(marks[rows])
        _, first = np.unique(numbers, return_index=True)
        groups = np.arange(len(first)) if persons is None else components(persons, numbers)[first]
        return cls(rows[first], groups, int(groups.max(initial=-1)) + 1)

    def taken(self, groups: Ints) -> "_Attackable":
        """Return the rows of some groups, in the order of these."""
        places = np.full(self.size, self.size)
        places[groups] = np.arange(len(groups))
        order = np.argsort(places[self.group_of], kind="stable")
        rows = order[: np.count_nonzero(places[self.group_of] < self.size)]
        return _Attackable(self.rows[rows], self.group_of[rows], self.size)

    def some(self, groups: Ints, generator: np.random.Generator) -> "_Attackable":
        """Return the rows of at most 10,000 of some groups, and at most 50,000 rows."""
        if len(groups) > _MOST:
            groups = groups[np.sort(generator.choice(len(groups), _MOST, replace=False))]
        sizes = np.bincount(self.group_of, minlength=self.size)[groups]
        if sizes.sum() > _MOST_ROWS:
            order = generator.permutation(len(groups))
            groups = groups[np.sort(order[np.cumsum(sizes[order]) <= _MOST_ROWS])]
        return self.taken(groups)


def _check_breakable(bounds: Sequence[GenerativeBound], read: ReadMaterial) -> None:
    """Raise AuditError (A021) where so few rows can have no p-value that breaks a bound."""
    subjects = read.material.subjects
    records = min(_SET, subjects.members, subjects.others)
    least = 1 / comb(2 * records, records)
    for one in bounds:
        if one.measure == "setPValue" and not least < one.asked:
            counted = "persons" if read.material.counts_persons else "rows"
            message = (
                f"{one} cannot be broken by sets of {records:,} {counted}, whose least p-value is "
            )
            raise AuditError.of("A021", f"{message}{least:.2g}.", "Bound a greater one.")


_SET = GenerativeSettings().records


def _check_references(attacks: Sequence[str], read: ReadMaterial) -> None:
    """Raise AuditError (A031) where what is expected of rows cannot be fitted on references."""
    references = len(read.material.reference or ())
    if _CALIBRATED in attacks and references < FEWEST_REFERENCES:
        message = (
            f"{_CALIBRATED} needs {FEWEST_REFERENCES} distinct rows of reference, half of those"
        )
        hint = "Name other attacks, or hold out more rows: pe:attack, pe:holdoutShare."
        raise AuditError.of("A031", f"{message} held out. There are {references:,}.", hint)


def _check_apart(learnt: NDArray[np.void], held_out: NDArray[np.void]) -> None:
    # The split sees to it: without it, attacks would find nothing where copies are released.
    equal = int(np.isin(held_out, learnt).sum())
    if equal:
        message = f"{format_count(equal, 'row')} held out equal rows that the generator learnt."
        raise AuditError.of("A030", message, "Whoever is on both sides was seen by the generator.")


def _check_persons_apart(source: SyntheticSource) -> None:
    if source.learnt_persons is None or source.held_out_persons is None:
        return
    both = len(np.intersect1d(source.learnt_persons, source.held_out_persons))
    if both:
        message = f"{format_count(both, 'person')} of the rows held out had rows learnt as well."
        raise AuditError.of("A030", message, "Whoever is on both sides was seen by the generator.")


def _check_sizes(learnt: int, attacked: int, *, counts_persons: bool) -> None:
    """Raise AuditError (A031) where too few are learnt, or attacked beside these."""
    if min(learnt, attacked) < _FEWEST:
        counted = "person" if counts_persons else "distinct row"
        message = f"{format_count(learnt, counted)} were learnt, and {attacked:,} of those "
        message += f"held out are attacked beside them. Needed are at least {_FEWEST} of each."
        hint = "Equal rows count once, and some are references."
        if counts_persons:
            hint = "Persons with an equal row count as one, and some are references."
        raise AuditError.of("A031", message, hint)


_FEWEST = 10
_STREAM = 79
"""A stream of random numbers of its own."""


def _reached(audit: GenerativeAudit, key: GenerativeKey) -> Estimate | NotApplicable:
    if key.bound.measure == "excessCopies":
        return audit.copies if isinstance(audit.copies, NotApplicable) else audit.copies.excess
    for one in audit.attacks:
        if one.attack == key.attack:
            return _figure(one, key)
    reasons = [one.reason for one in audit.not_run if one.attack == key.attack]
    return NotApplicable(reason=next(iter(reasons), "it was not made"))


def _figure(attack: GenerativeAttack, key: GenerativeKey) -> Estimate:
    if key.bound.measure == "auc":
        return attack.auc
    if key.bound.measure == "setPValue":
        p = attack.set_evidence.p
        return Estimate(value=p, low=p, high=p)
    # A generator that keeps away from the rows that it learnt tells of them, too.
    rates = (*attack.tpr_at_fpr, *attack.tpr_turned_round)
    return max((one.tpr for one in rates if one.fpr == key.bound.fpr), key=lambda one: one.high)
