"""Releases rows that a generator makes up."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.release.attempts import AttemptHistory
from policy_engine.release.release import Release, read_inputs, with_rows
from policy_engine.release.synthetic_attempts import judged_rows

_SEED_BITS = 128
"""A seed tells which rows were made of given data: nobody is to find it by trying."""


def release_synthetic(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None,
    seed: int | None = None,
    upstream: Sequence[Upstream] = (),
    *,
    history: AttemptHistory | None = None,
    repeats: bool = False,
) -> tuple[Release, WrittenTable]:
    """Return the rows that a plan has made up, drawn by a seed and written, and the table as
    written.

    Without a `seed`, the operating system gives one; either is for the owner alone. The owner is
    warned of rows that are copies. Where the rows are attacked, the `history` keeps the attempt,
    and judges it with those before it; a refused one is repeated only if `repeats` asks for it.
    Raises DataError where the input cannot be read, or has columns of a type that generators do not
    learn (C009), AuditError where there is too little for the attacks, or too many attempts, and
    CertificateError (V007) where the same rows were refused before.
    """
    table, sources = read_inputs(plan, engine, upstream)
    rows_in = engine.row_number(table)
    drawn_by = secrets.randbits(_SEED_BITS) if seed is None else seed
    share = plan.holdout_share
    made = engine.synthesise(table, plan.require_synthesise(), plan.publish, drawn_by, share)
    written = engine.write(made, destination)
    judged = judged_rows(plan, table, written, drawn_by, history, repeats=repeats)
    release = Release(
        plan=plan,
        output=written.stored,
        sources=with_rows(sources, rows_in),
        rows_in=rows_in,
        suppressed=made.suppressed,
        held_out=made.engine_state.held_out.num_rows,
        synthetic_attacks=judged.attacks,
        attempts=judged.attempts,
        seed=drawn_by,
        upstream=tuple(upstream),
        doubts=made.doubts,
    )
    return release, written
