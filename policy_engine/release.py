"""Where the sanitised data lies, and its digest."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.engines.engine import Engine, Progress, Stored, silent
from policy_engine.errors import OutputError
from policy_engine.methods.membership_inference import AttackMeasurement
from policy_engine.plan import Plan


class Release(BaseModel):
    """The output of a plan, not yet measured.

    `output` is where it lies, with the sha-256 of its bytes; `source` the same for the input,
    None where the output is measured without it. `suppressed` rows were left out, and
    `approximated` columns first cut at quantiles. Of a model, `sanitised` is the table that it
    was trained on, and `held_out` the number of rows kept for its audit. `attacks` are what the
    plan's audits measured, `reports` all that they found; `seed` is the one that was given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    output: Stored
    source: Stored | None = None
    suppressed: int = 0
    approximated: tuple[str, ...] = ()
    sanitised: Stored | None = None
    held_out: int = 0
    attacks: tuple[AttackMeasurement, ...] = ()
    reports: tuple[MembershipAudit, ...] = ()
    seed: int | None = None


def run_plan(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None = None,
    *,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Carry out a plan: read, leave out, anonymise, train, audit and write, to a place or memory.

    The destination is a staging place: nothing may see it before it is certified. A `seed`
    decides who is trained on, and all that audits draw; without one it is drawn and kept secret.
    Raises DataError where the data cannot bear what the plan asks, AuditError where they cannot
    bear its audits, OutputError where the output cannot be written.
    """
    table, source = engine.read(plan.read)
    if plan.train is not None:
        return _model(plan, engine, table, source, destination, seed, progress)
    step = plan.anonymization()
    anonymous = engine.anonymize(table, step, plan.publish)
    release = Release(
        plan=plan,
        output=engine.write(anonymous, destination),
        source=replace(source, rows=engine.rows),
        suppressed=engine.suppressed,
        approximated=engine.approximated,
        seed=seed,
    )
    if not plan.audits:
        return release
    from policy_engine.model_release import audit_table  # noqa: PLC0415 (slow to import)

    attacks, reports = audit_table(plan, engine, table, seed=seed, progress=progress)
    return release.model_copy(update={"attacks": attacks, "reports": reports})


def _model(
    plan: Plan,
    engine: Engine,
    table: Any,
    source: Stored,
    destination: Path | str | None,
    seed: int | None,
    progress: Progress,
) -> Release:
    from policy_engine.model_release import release_model  # noqa: PLC0415 (slow to import)

    if destination is None:
        message = "A model is released into a folder, and none is given."
        raise OutputError.of("O002", message, "Give an output.")
    folder = Path(destination)
    made = release_model(plan, engine, table, folder, seed=seed, progress=progress)
    return Release(
        plan=plan,
        output=Stored.of_folder(folder),
        source=replace(source, rows=table.num_rows),
        suppressed=made.suppressed,
        sanitised=made.sanitised,
        held_out=made.held_out,
        attacks=made.attacks,
        reports=made.reports,
        seed=seed,
    )
