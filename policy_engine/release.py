"""Where the sanitised data lies, and its digest."""

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from policy_engine.engines.engine import Engine, Stored
from policy_engine.plan import Plan


class Release(BaseModel):
    """The output of a plan, not yet measured.

    `output` is where it lies, with the sha-256 of its bytes; `source` the same for the input,
    None where the output is measured without it. `suppressed` rows were left out, and
    `approximated` columns first cut at quantiles.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    output: Stored
    source: Stored | None = None
    suppressed: int = 0
    approximated: tuple[str, ...] = ()


def run_plan(plan: Plan, engine: Engine, destination: Path | str | None = None) -> Release:
    """Carry out a plan: read, leave out, anonymise and write, to a place or into memory.

    The destination is a staging place: nothing may see it before it is certified. Raises
    DataError where the data cannot bear what the plan asks, OutputError where the output
    cannot be written.
    """
    table, source = engine.read(plan.read)
    anonymous = engine.anonymize(table, plan.anonymize, plan.publish)
    source = replace(source, rows=engine.rows)
    return Release(
        plan=plan,
        output=engine.write(anonymous, destination),
        source=source,
        suppressed=engine.suppressed,
        approximated=engine.approximated,
    )
