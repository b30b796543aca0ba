"""What a policy bounds of made-up rows, measured on those that were written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa

from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.reading import GivenRecords, ReadMaterial, read_material
from policy_engine.audits.generative.result import GenerativeAttack, GenerativeAudit
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.data.catalog import MEMORY
from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.synthesising.holding_out import distinct_rows
from policy_engine.engines.synthesising.tables import SyntheticSource
from policy_engine.errors import AuditError, format_count
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.generative import (
    MOST_ATTACKED,
    GenerativeBound,
    GenerativeKey,
    GenerativeMeasurement,
)
from policy_engine.plan.plan import Plan

_MOST = MOST_ATTACKED
_RATIO = "density-ratio"


def measure_synthetic_audits(plan: Plan, written: WrittenTable) -> Iterator[GenerativeMeasurement]:
    """Yield what every attack of a plan reaches on made-up rows as they were written.

    At most 10,000 of the distinct rows that were learnt, and as many of those held out, are
    attacked, each once: equal rows are learnt or held out together. Half of those held out are
    references where an attack uses some. Raises AuditError where there are too few rows (A021,
    A031), where one is on both sides (A030), or as `audit_generator` does.
    """
    source: SyntheticSource = written.made_here().engine_state
    for step in plan.synthetic_audits:
        attacks = step.method.attacks_run
        read = _material(source, _read(written), has_references=_RATIO in attacks)
        _check_breakable(step.method.bounds, read)
        rates = {one.fpr for one in step.method.bounds if one.fpr is not None}
        # Who is learnt is drawn at random: a shift that a test finds there is one of chance.
        settings = GenerativeSettings(attacks=attacks, fprs=sorted(rates), allow_shift=True)
        audit, _ = audit_generator(read, settings)
        for key in step.method.keys:
            yield GenerativeMeasurement.of(key, _reached(audit, key))


def _read(written: WrittenTable) -> pa.Table:
    if written.stored.location == MEMORY:
        return written.table
    return tables.read_table(Path(written.stored.location))


def _material(source: SyntheticSource, made: pa.Table, *, has_references: bool) -> ReadMaterial:
    generator = np.random.default_rng([source.seed, _STREAM])
    learnt, others = distinct_rows(source.learnt), distinct_rows(source.held_out)
    _check_apart(learnt, others)
    _check_sizes(learnt.num_rows, others.num_rows // 2 if has_references else others.num_rows)
    members = _some(learnt, generator)
    held_out = others.take(from_numpy(generator.permutation(others.num_rows)))
    half = held_out.num_rows // 2 if has_references else held_out.num_rows
    records = GivenRecords(
        members=members,
        holdout=_some(held_out.slice(0, half), generator),
        synthetic=made,
        reference=held_out.slice(half) if has_references else None,
    )
    return replace(read_material(records, seed=int(generator.integers(2**31))), warnings=())


def _check_breakable(bounds: Sequence[GenerativeBound], read: ReadMaterial) -> None:
    """Raise AuditError (A021) where so few rows can have no p-value that breaks a bound."""
    records = min(_SET, len(read.material.members), len(read.material.holdout))
    least = 1 / comb(2 * records, records)
    for one in bounds:
        if one.measure == "setPValue" and not least < one.asked:
            message = f"{one} cannot be broken by sets of {records:,} rows, whose least p-value is "
            raise AuditError.of("A021", f"{message}{least:.2g}.", "Bound a greater one.")


_SET = GenerativeSettings().records


def _check_apart(learnt: pa.Table, held_out: pa.Table) -> None:
    # The split sees to it: without it, attacks would find nothing where copies are released.
    both = distinct_rows(pa.concat_tables([learnt, held_out], promote_options="default"))
    equal = learnt.num_rows + held_out.num_rows - both.num_rows
    if equal:
        message = f"{format_count(equal, 'row')} held out equal rows that the generator learnt."
        raise AuditError.of("A030", message, "Whoever is on both sides was seen by the generator.")


def _check_sizes(learnt: int, attacked: int) -> None:
    """Raise AuditError (A031) where too few distinct rows are learnt, or attacked beside these."""
    if min(learnt, attacked) < _FEWEST:
        message = f"{format_count(learnt, 'distinct row')} were learnt, and {attacked:,} of those "
        message += f"held out are attacked beside them. Needed are at least {_FEWEST} of each."
        raise AuditError.of("A031", message, "Equal rows count once, and some are references.")


_FEWEST = 10
_STREAM = 79
"""A stream of random numbers of its own."""


def _some(table: pa.Table, generator: np.random.Generator) -> pa.Table:
    if table.num_rows <= _MOST:
        return table
    rows = generator.choice(table.num_rows, _MOST, replace=False)
    return table.take(from_numpy(np.sort(rows)))


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
    return next(one.tpr for one in attack.tpr_at_fpr if one.fpr == key.bound.fpr)
