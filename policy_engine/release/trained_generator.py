"""Releases a generator itself, once it has learnt a share of a table's rows."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from policy_engine.engines.engine import Engine, StoredData, WrittenTable
from policy_engine.errors import InternalError
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.release.attempts import AttemptHistory
from policy_engine.release.release import Release, read_inputs, with_rows
from policy_engine.release.synthetic_attempts import judged_rows

_SEED_BITS = 128
"""A seed tells which rows of given data were learnt: nobody is to find it by trying."""


def release_generator(
    plan: Plan,
    engine: Engine,
    folder: Path,
    seed: int | None = None,
    upstream: Sequence[Upstream] = (),
    *,
    history: AttemptHistory | None = None,
    repeats: bool = False,
) -> tuple[Release, WrittenTable]:
    """Return the generator of a plan, written into a new folder, and rows that were drawn from what
    was written, to be measured.

    Without a `seed`, the operating system gives one; either is for the owner alone. The `history`
    keeps the attempt, and judges it with those before it; a refused one is repeated only if
    `repeats` asks for it. Raises as `judged_rows` does, DataError where the input cannot be read,
    or has columns of a type that generators do not learn or files do not hold (C009), OutputError
    where the folder cannot be written.
    """
    step = plan.train_generator
    if step is None:
        raise InternalError.of("X001", "The plan trains no generator.")
    table, sources = read_inputs(plan, engine, upstream)
    rows_in = engine.row_number(table)
    drawn_by = secrets.randbits(_SEED_BITS) if seed is None else seed
    folder.mkdir(0o700)
    made = engine.train_generator(table, step, plan.publish, drawn_by, plan.holdout_share, folder)
    written = engine.write(made, None)
    judged = judged_rows(plan, table, written, drawn_by, history, repeats=repeats)
    release = Release(
        plan=plan,
        output=StoredData.from_folder(folder),
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
