"""Where the sanitised data lies, and its digest."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from policy_engine.catalog import format_of, is_file
from policy_engine.engines.engine import Engine, Stored
from policy_engine.errors import DataError
from policy_engine.plan import Plan


class Release(BaseModel):
    """The output of a plan, not yet measured.

    `output` is where it lies, with the sha-256 of its bytes; `source` the same for the input,
    None where the output is measured without it. `suppressed` rows were left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    output: Stored
    source: Stored | None = None
    suppressed: int = 0


def run_plan(plan: Plan, engine: Engine, destination: Path | None = None) -> Release:
    """Carry out a plan: read, leave out, anonymise and write, to a file or into memory.

    The destination is a staging place: nothing may see it before it is certified. Raises
    DataError where the data cannot bear what the plan asks, OutputError where the output
    cannot be written.
    """
    table, source = engine.read(plan.read)
    anonymous = engine.anonymize(table, plan.anonymize, plan.publish)
    suppressed, output = engine.suppressed, engine.write(anonymous, destination)
    return Release(plan=plan, output=output, source=source, suppressed=suppressed)


def existing_release(plan: Plan, path: Path) -> Release:
    """Return a file as the release that a plan would have made, to be measured again.

    Raises DataError where there is no such file, or none of a known format.
    """
    if not is_file(path):
        raise DataError.of("C002", f"There is no file {str(path)!r}.")
    format_of(path)
    return Release(plan=plan, output=Stored.of_file(path))
