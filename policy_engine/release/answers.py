"""Releases answers for the records of a table, each randomised by itself."""

from collections.abc import Sequence
from pathlib import Path

from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.release.release import Release, read_inputs, with_rows


def release_answers(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None,
    upstream: Sequence[Upstream] = (),
) -> tuple[Release, WrittenTable]:
    """Return the answers of a plan, drawn once and written, and the table as written.

    No value of a record is looked at for anything but its own answer: there is no error, no warning
    and no figure that follows from one. Raises DataError where the input cannot be read, or its
    types do not fit, or the owner's key is missing that makes answers the same again (C013).
    """
    table, sources = read_inputs(plan, engine, upstream)
    answers = engine.randomise(table, plan.require_randomise())
    written = engine.write(answers, destination)
    rows = written.stored.rows
    release = Release(
        plan=plan,
        output=written.stored,
        sources=with_rows(sources, rows),
        rows_in=rows,
        upstream=tuple(upstream),
    )
    return release, written
