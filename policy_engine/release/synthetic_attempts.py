"""Attacks on rows that were made up, or on their generator, judged with earlier attempts."""

import hashlib

import numpy as np
import pyarrow as pa

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.overlaps import sketches
from policy_engine.engines.readings import record_marks
from policy_engine.engines.tables import table_digest
from policy_engine.engines.versions import version_of
from policy_engine.methods.generative import GenerativeMeasurement
from policy_engine.plan.plan import Plan
from policy_engine.release.attempts import AttemptedRelease, AttemptHistory, JudgedAttempts


def judged_rows(
    plan: Plan,
    table: pa.Table,
    written: WrittenTable,
    seed: int,
    history: AttemptHistory | None,
    *,
    repeats: bool,
) -> JudgedAttempts[GenerativeMeasurement]:
    """Return what attacks reach on rows as they were written, judged with earlier attempts.

    An attempt begins once there is enough to be attacked. Without a `history` it is judged alone.
    Raises AuditError where there is too little for the attacks, or too many attempts (A020), and
    CertificateError (V007) where the same was refused before, unless it `repeats` that.
    """
    if not plan.synthetic_audits:
        return JudgedAttempts((), ())
    from policy_engine.audits.generative.bounded import measure_synthetic_audits  # noqa: PLC0415

    if history is None:
        return JudgedAttempts(tuple(measure_synthetic_audits(plan, written)), ())
    attempt = attempted_rows(plan, table, seed, repeats=repeats)
    attacks = measure_synthetic_audits(plan, written, lambda: history.begin(attempt))
    return history.judge(attempt, tuple(attacks))


def attempted_rows(plan: Plan, table: pa.Table, seed: int, *, repeats: bool) -> AttemptedRelease:
    """Return everything that decides the figures of attacks on made-up rows.

    Bounds, attacks, the share that is held out, the order of columns and the column of persons are
    not part of the way in which rows are made up, and names of assets of nothing: they must not
    restart the count of attempts. Records are compared by what they mean, in any order and each
    once, for equal ones are attacked once; and by sketches, since a column or a record more or less
    must not restart it either: of the distinct records, and of all with how often each is there,
    for a column less makes records equal.
    """
    step = plan.require_generation()
    learnt = table.select(sorted(step.columns))
    marks, first = np.unique(record_marks(learnt, learnt.column_names), return_index=True)
    distinct = learnt.take(from_numpy(np.sort(first)))
    names = "\n".join(learnt.column_names).encode()
    return AttemptedRelease(
        way="\n".join(
            [
                step.step,
                step.synthesiser.model_dump_json(),
                str(step.rows_measured),
                *learnt.column_names,
            ]
        ),
        data=f"synthetic rows\n{hashlib.sha256(names + marks.tobytes()).hexdigest()}",
        exactly="\n".join(
            [
                step.model_dump_json(),
                str(plan.holdout_share),
                table_digest(table),
                *(f"{name} {version_of(name)}" for name in _DECIDING),
            ]
        ),
        seed=seed,
        audits=tuple(one.method for one in plan.synthetic_audits),
        repeats=repeats,
        records=tuple(dict.fromkeys((*sketches(distinct, ()), *sketches(learnt, ())))),
    )


_DECIDING = ("policy-engine", "numpy", "scipy", "scikit-learn", "pyarrow")
"""The packages whose version decides the rows that are drawn by a seed."""
