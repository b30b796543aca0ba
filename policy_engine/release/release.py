"""The release: where the sanitised data lies, and its digest."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.gate import ModelFigures
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.engines.engine import (
    EarlyStop,
    Engine,
    Progress,
    StoredData,
    WrittenTable,
    silent,
)
from policy_engine.errors import OutputError, join_names
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.plan.chaining import looks_generalised
from policy_engine.plan.lineage import MadeBy, Upstream, check_read
from policy_engine.plan.plan import Plan
from policy_engine.plan.training import FilesMeasured
from policy_engine.release.attempts import Attempt, AttemptHistory, JudgedAttempts

if TYPE_CHECKING:
    from policy_engine.release.trained_model import AuditedModel


class Release(BaseModel):
    """The output of a plan, not yet measured.

    `output` is where it lies, with the sha-256 of its bytes; `sources` the same for the inputs,
    none where the output is measured without them; `rows_in` is how many rows were anonymised, or
    learnt from. `suppressed` rows were left out, and
    `approximated` columns first cut at quantiles; `ended` tells how the search was, where its time
    was over. Of a model, `sanitised` is the table that it
    was trained on, and `held_out` the number of rows kept for its audit. `attacks` are what the
    plan's audits measured, `reports` all that they found, `models` what they tell everybody of
    the models that were attacked, `attempts` what was made of the same
    data in the same way, this one the last; `files` what the files of a model give away; `seed`
    is the one that was given, `salt` what the pseudonyms are the release's own by, None where it
    has none, or shares them with others.
    `upstream` is the certified release that the input is, if it is one, `made_by` who made it;
    `doubts` are what the owner is warned of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    output: StoredData
    sources: tuple[StoredData, ...] = ()
    rows_in: int = 0
    suppressed: int = 0
    approximated: tuple[str, ...] = ()
    ended: EarlyStop | None = None
    sanitised: StoredData | None = None
    held_out: int = 0
    attacks: tuple[AttackMeasurement, ...] = ()
    reports: tuple[MembershipAudit, ...] = ()
    models: tuple[ModelFigures, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    files: FilesMeasured | None = None
    seed: int | None = None
    salt: Annotated[str | None, Field(repr=False)] = None
    upstream: tuple[Upstream, ...] = ()
    made_by: MadeBy = None
    doubts: tuple[str, ...] = ()

    def with_audits(
        self, judged_attempts: JudgedAttempts, reports: tuple[MembershipAudit, ...]
    ) -> "Release":
        """Return the release with what the audits of its plan measured."""
        from policy_engine.release.attack_measurements import model_figures  # noqa: PLC0415 (slow to import)

        figures = {
            "attacks": judged_attempts.attacks,
            "attempts": judged_attempts.attempts,
            "reports": reports,
        }
        figures["models"] = tuple(map(model_figures, reports))
        return self.model_copy(update=figures)


def run_plan(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None = None,
    *,
    seed: int | None = None,
    progress: Progress = silent,
    history: AttemptHistory | None = None,
    repeats: bool = False,
    allow_pickle: bool = False,
    upstream: tuple[Upstream, ...] = (),
) -> tuple[Release, WrittenTable]:
    """Carry out a plan: read, leave out, anonymise, train, audit and write, to a place or memory.

    Returns the release, and the table that is measured of it as it was written: the output, or
    what a model learnt from. The destination is a staging place: nothing may see it before it is
    certified. A `seed` decides who is trained on, and all that audits draw; without one it is drawn
    and kept secret.
    The `history` keeps every attempt at a model; one that was refused `repeats` only where asked.
    With `allow_pickle` a model of scikit-learn is written by joblib, a warning beside it.
    `upstream` tells which release the input is: one that was changed since is refused (V013).
    Raises DataError where the data cannot satisfy what the plan asks, AuditError where they do
    not suffice for its audits, OutputError where the output cannot be written.
    """
    table, sources = read_inputs(plan, engine, upstream)
    doubts = tuple(_warnings(plan, engine, table))
    if plan.train is not None:
        from policy_engine.release.trained_model import release_model  # noqa: PLC0415 (slow to import)

        folder = _folder(destination)
        model = release_model(
            plan,
            engine,
            table,
            folder,
            seed=seed,
            progress=progress,
            history=history,
            repeats=repeats,
            allow_pickle=allow_pickle,
        )
        source_of_rows = replace(sources[0], rows=table.num_rows)
        release = _model_release(model, plan, source_of_rows, folder, seed, upstream)
        return release.model_copy(update={"doubts": doubts}), model.sanitised
    anonymous = engine.anonymize(
        mask_columns(plan, engine, table), plan.anonymization(), plan.publish
    )
    stored = engine.write(anonymous, destination)
    release = Release(
        plan=plan,
        output=stored.stored,
        sources=with_rows(sources, anonymous.rows),
        rows_in=anonymous.rows,
        suppressed=anonymous.suppressed,
        approximated=anonymous.approximated,
        ended=anonymous.early_stop,
        seed=seed,
        salt=anonymous.salt,
        upstream=upstream,
        doubts=doubts,
    )
    if not plan.audits:
        return release, stored
    from policy_engine.release.trained_model import audit_table  # noqa: PLC0415 (slow to import)

    judged_attempts, reports = audit_table(
        plan, engine, table, seed=seed, progress=progress, history=history, repeats=repeats
    )
    return release.with_audits(judged_attempts, reports), stored


def read_inputs(
    plan: Plan, engine: Engine, upstream: Sequence[Upstream]
) -> tuple[Any, tuple[StoredData, ...]]:
    """Return the table that a plan is about, joined where its inputs are several, and these.

    `upstream` tells which releases they are. Raises CertificateError (V013) where one was changed
    since, DataError where one cannot be read or joined.
    """
    tables, sources = [], []
    for step in plan.reads:
        table, source = engine.read(step)
        releases = [one for one in upstream if one.asset == step.asset]
        check_read(releases, source.digest, source.location)
        tables.append(table)
        sources.append(source)
    if plan.join is None:
        return tables[0], tuple(sources)
    joined, counts = engine.join(tables, plan.join)
    with_counts = zip(sources, counts, strict=True)
    return joined, tuple(replace(source, rows=rows) for source, rows in with_counts)


def mask_columns(plan: Plan, engine: Engine, table: Any) -> Any:
    """Return a table with the columns masked that a plan masks.

    Masked before classes are formed: rows of a class are ordered by their released values.
    """
    return engine.mask(table, plan.mask) if plan.mask else table


def with_rows(sources: tuple[StoredData, ...], rows: int) -> tuple[StoredData, ...]:
    """Return inputs with the number of rows of the only one, which its engine may have counted
    on the way."""
    return (replace(sources[0], rows=rows),) if len(sources) == 1 else sources


def _warnings(plan: Plan, engine: Engine, table: Any) -> Iterator[str]:
    """Yield a warning about columns that look generalised and have no certificate."""
    known = {one.name for one in plan.generalised}
    names = [name for name in plan.values_read if name not in known]
    texts = engine.texts(table, names)
    doubtful = [name for name in names if looks_generalised(texts[name])]
    if doubtful:
        yield (
            f"Many cells of {join_names(doubtful)} are ranges or sets, as of an earlier release, "
            f"and "
            "each is taken for one value: what is lost, and what is alike, is told of the cells "
            "alone. With the certificate of that release they are known for what they are."
        )


def _folder(destination: Path | str | None) -> Path:
    if destination is None:
        message = "A model is released into a folder, and none is given."
        raise OutputError.of("O002", message, "Give an output.")
    return Path(destination)


def _model_release(
    model: "AuditedModel",
    plan: Plan,
    source: StoredData,
    folder: Path,
    seed: int | None,
    upstream: tuple[Upstream, ...],
) -> Release:
    release = Release(
        plan=plan,
        output=StoredData.from_folder(folder),
        sources=(source,),
        rows_in=source.rows,
        suppressed=model.suppressed,
        sanitised=model.sanitised.stored,
        held_out=model.held_out,
        files=model.files,
        seed=seed,
        upstream=upstream,
    )
    return release.with_audits(model.judged_attempts, model.reports) if plan.audits else release
