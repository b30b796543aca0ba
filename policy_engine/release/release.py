"""The release: where the sanitised data is, and its digest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.gate import ModelFigures
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.engines.engine import (
    AnonymizedTable,
    EarlyStop,
    Engine,
    Progress,
    StoredData,
    WrittenTable,
    silent,
)
from policy_engine.engines.origins import rows_at, with_origins
from policy_engine.engines.samples import SampleEvidence, SampleFigures
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.errors import DataError, OutputError, Problem
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.methods.generative import GenerativeMeasurement
from policy_engine.methods.model_secrets import SecretMeasurement
from policy_engine.plan.lineage import MadeBy, Upstream, check_read
from policy_engine.plan.plan import Plan
from policy_engine.plan.training import FilesMeasured
from policy_engine.release.attempts import Attempt, AttemptHistory, JudgedAttempts
from policy_engine.release.guiding import guide_rows
from policy_engine.release.text_warnings import text_warnings

if TYPE_CHECKING:
    from policy_engine.engines.masking.evidence import MaskingEvidence
    from policy_engine.plan.steps import Anonymize
    from policy_engine.release.composition.composing import Composing
    from policy_engine.release.statistics import Charging
    from policy_engine.release.trained_model import AuditedModel


class Release(BaseModel):
    """The output of a plan, not yet measured.

    `output` is its location, with the sha-256 of its bytes; `sources` are the same for the inputs,
    none if an existing output is measured without them; `rows_in` is the number of rows that were
    anonymised, or trained on, before the `sample` was drawn, if there is one. `suppressed` rows
    were left out, for the `gain` where that is known, and `suppressed_cells` nulled, by column,
    where single ones are; `approximated`
    columns were first cut at quantiles; `ended` describes the search if its time limit ended it.
    For a model, `sanitised` is its training table, and `held_out` the number of rows kept for its
    audit. `attacks` are the measurements of the plan's audits, `synthetic_attacks` those of attacks
    on made-up rows, `secret_attacks` those of attacks on the columns of a model, `reports` the full
    results of audits, `models` the public facts about the attacked models, `attempts` the attempts
    on the same data, this one last; `files` are figures of the model's files; `seed` is the given
    one, or what synthetic rows were drawn by; `salt` is the release's own salt for pseudonyms, None
    if it has none or shares them with others. `upstream` is the certified release that the input
    is, if it is one, `made_by` the party that made it; `doubts` are warnings for the owner.
    `uncovered` are other releases of the same data, of which no epsilon says anything.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    output: StoredData
    sources: tuple[StoredData, ...] = ()
    rows_in: int = 0
    sample: SampleFigures | None = None
    suppressed: int = 0
    gain: SuppressionGain | None = None
    suppressed_cells: Mapping[str, int] = Field(default_factory=dict)
    approximated: tuple[str, ...] = ()
    ended: EarlyStop | None = None
    sanitised: StoredData | None = None
    held_out: int = 0
    attacks: tuple[AttackMeasurement, ...] = ()
    synthetic_attacks: tuple[GenerativeMeasurement, ...] = ()
    reports: tuple[MembershipAudit, ...] = ()
    models: tuple[ModelFigures, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    files: FilesMeasured | None = None
    secret_attacks: tuple[SecretMeasurement, ...] = ()
    seed: int | None = None
    salt: Annotated[str | None, Field(repr=False)] = None
    upstream: tuple[Upstream, ...] = ()
    made_by: MadeBy = None
    doubts: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    def with_audits(
        self,
        judged_attempts: JudgedAttempts[AttackMeasurement],
        reports: tuple[MembershipAudit, ...],
    ) -> "Release":
        """Return the release with the measurements of its plan's audits."""
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
    charging: "Charging | None" = None,
    composing: "Composing | None" = None,
) -> tuple[Release, WrittenTable]:
    """Carry out a plan: read, leave out, anonymise, train, audit and write, to a place or memory.

    Returns the release, and the table to be measured, as it was written: the output, the
    training table of a model, or rows that a generator makes up. The destination is a staging
    place, which must stay hidden until the release is certified. A `seed` decides who is trained
    on, and everything that audits, and generators of rows, draw; without one, it is drawn and kept
    secret. The `history` keeps every attempt at a model; a refused one is repeated only if
    `repeats` asks for it. With `allow_pickle`
    a scikit-learn model is written by joblib, with a warning beside it. `upstream` gives the
    releases that the inputs are: one that was changed since is refused (V013). What draws on a
    budget is charged by `charging` before it is drawn. Classes are looked at together with those of
    earlier releases by `composing`, and formed jointly where that is asked. Raises DataError if the
    data cannot satisfy the plan, AuditError if there is too little of it for the audits,
    OutputError if the output cannot be written.
    """
    if plan.aggregate is not None:
        from policy_engine.release.statistics import release_statistics  # noqa: PLC0415 (imports this)

        return release_statistics(plan, engine, destination, charging, upstream)
    if plan.randomise is not None:
        from policy_engine.release.answers import release_answers  # noqa: PLC0415 (imports this)

        return release_answers(plan, engine, destination, upstream)
    if plan.generation is not None:
        return _release_generation(
            plan, engine, destination, seed, upstream, history=history, repeats=repeats
        )
    if composing is None or plan.train is not None:
        table, sources = read_inputs(plan, engine, upstream)
    else:
        table, sources = composing.read(engine, upstream, read_inputs)
    doubts = tuple(text_warnings(plan, engine, table))
    if plan.train is not None:
        from policy_engine.release.trained_model import release_model  # noqa: PLC0415 (slow to import)

        folder = model_folder(destination)
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
        made = model.sanitised.anonymized
        doubts += made.doubts if made else ()
        return release.model_copy(update={"doubts": doubts}), model.sanitised
    table = with_origins(table) if plan.disclosures else table
    sampled, sample = sample_rows(plan, engine, table)
    masked, anonymous = _anonymized(plan, engine, sampled, composing)
    anonymous = replace(anonymous, sample=sample)
    rows_in = sample.rows_in if sample else anonymous.rows
    k = plan.require_anonymize().k
    doubts += (*(masked.evidence.doubts(k) if masked.evidence else ()), *anonymous.doubts)
    doubts += (*_emptied_columns(anonymous), *_whole_sample(plan, sample))
    if anonymous.origins is not None:
        before = rows_at(table, plan.compared, anonymous.origins)
        anonymous = replace(anonymous, before=before)
    stored = engine.write(anonymous, destination)
    release = Release(
        plan=plan,
        output=stored.stored,
        sources=with_rows(sources, rows_in),
        rows_in=rows_in,
        sample=sample_figures(plan, sample),
        suppressed=anonymous.suppressed,
        gain=anonymous.gain,
        suppressed_cells=anonymous.suppressed_cells,
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


def _release_generation(
    plan: Plan,
    engine: Engine,
    destination: Path | str | None,
    seed: int | None,
    upstream: tuple[Upstream, ...],
    *,
    history: AttemptHistory | None,
    repeats: bool,
) -> tuple[Release, WrittenTable]:
    """Return the rows that a generator makes up, or the generator itself, as they were written."""
    if plan.train_generator is not None:
        from policy_engine.release.trained_generator import release_generator  # noqa: PLC0415 (imports this)

        return release_generator(
            plan,
            engine,
            model_folder(destination),
            seed,
            upstream,
            history=history,
            repeats=repeats,
        )
    from policy_engine.release.synthetic_rows import release_synthetic  # noqa: PLC0415 (likewise)

    return release_synthetic(
        plan, engine, destination, seed, upstream, history=history, repeats=repeats
    )


def _whole_sample(plan: Plan, sample: SampleEvidence | None) -> Iterator[str]:
    """Yield that a sample leaves nobody out, and so hides nobody among those who are not in it."""
    if sample is not None and sample.units == sample.units_in:
        units = plan.sampling().units
        yield f"The sample has all {sample.units:,} {units}: it leaves none out, and hides nobody."


def _emptied_columns(table: AnonymizedTable) -> Iterator[str]:
    """Yield the columns of which local suppression leaves nothing, or next to nothing."""
    for name, cells in table.suppressed_cells.items():
        if cells >= _NEARLY_ALL * table.rows:
            yield (
                f"The column {name!r} tells nothing or next to nothing: {cells:,} of its "
                f"{table.rows:,} cells were suppressed. Leave it out, generalise it, or limit its "
                "share with pe:maxSuppression."
            )


_NEARLY_ALL = 0.95


def read_inputs(
    plan: Plan, engine: Engine, upstream: Sequence[Upstream]
) -> tuple[Any, tuple[StoredData, ...]]:
    """Return the table of a plan, joined if it has several inputs, and the inputs.

    `upstream` gives the releases that they are. Raises CertificateError (V013) if one was changed
    since, DataError if one cannot be read or joined.
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


def sample_rows(plan: Plan, engine: Engine, table: Any) -> tuple[Any, SampleEvidence | None]:
    """Return the rows of a table that a plan samples, all if it samples none, and what is known of
    the sample.

    Rows are sampled first: what is masked and formed into classes is what is released. Raises
    DataError with what is wrong with the columns to be masked, too, where no sample can be drawn.
    """
    if plan.sample is None:
        return table, None
    try:
        return engine.sample(table, plan.sample)
    except DataError as error:
        others = _masking_problems(plan, engine, table)
        raise DataError(*error.problems, *others, source=error.source) from None


def _masking_problems(plan: Plan, engine: Engine, table: Any) -> tuple[Problem, ...]:
    """Return what is wrong with the columns of a whole table that are to be masked."""
    try:
        if plan.mask is not None:
            engine.mask(table, plan.mask)
    except DataError as error:
        return error.problems
    return ()


def sample_figures(plan: Plan, sample: SampleEvidence | None) -> SampleFigures | None:
    """Return what is certified of a sample, None where all rows are released."""
    return sample.figures(plan.sample.units) if sample and plan.sample else None


class MaskedTable(NamedTuple):
    """A table with its columns masked, what was seen of them, how many rows were left out, and what
    that gained."""

    table: Any
    evidence: "MaskingEvidence | None" = None
    suppressed: int = 0
    gain: SuppressionGain | None = None


def mask_rows(
    plan: Plan, engine: Engine, table: Any, step: "Anonymize | None" = None
) -> MaskedTable:
    """Return a table with the columns masked that the plan masks.

    Columns are masked before classes are formed, since rows of a class are ordered by released
    values. Rows that are suppressed then are left out before: what masked values tell of others,
    such as the mean of a tail, they tell of released rows.
    """
    if plan.mask is None:
        return MaskedTable(table)
    step = step or plan.require_anonymize()
    left = engine.released_rows(table, step, plan.publish)
    return MaskedTable(*engine.mask(left.table, plan.mask), left.suppressed, left.gain)


def _anonymized(
    plan: Plan, engine: Engine, table: Any, composing: "Composing | None"
) -> tuple[MaskedTable, AnonymizedTable]:
    """Return a table with its columns masked, and its release, made jointly where that is asked and
    the table as a whole allows it."""
    if composing is not None:
        joint, step = composing.joint(engine, table)
        if composing.is_joint:
            try:
                masked = mask_rows(plan, engine, joint, step)
                return masked, anonymize_rows(plan, engine, masked, step)
            except DataError as error:
                if {one.code for one in error.problems} != {"R003"}:
                    raise
                composing.is_joint = False
    masked = mask_rows(plan, engine, table)
    return masked, anonymize_rows(plan, engine, masked)


def anonymize_rows(
    plan: Plan, engine: Engine, masked: MaskedTable, step: "Anonymize | None" = None
) -> AnonymizedTable:
    """Return the release of a table whose columns are masked, by the step of its plan or another
    one like it."""
    step, suppressed = step or plan.require_anonymize(), masked.suppressed
    # A second choice among the rows that are left could leave out more than allowed.
    step = step.keeping_rows() if plan.mask is not None else step
    table = guide_rows(step, plan.publish, engine, masked.table)
    anonymous = engine.anonymize(table, step, plan.publish)
    rows, left_out = anonymous.rows + suppressed, anonymous.suppressed + suppressed
    gain = masked.gain or anonymous.gain
    return replace(anonymous, masked=masked.evidence, rows=rows, suppressed=left_out, gain=gain)


def with_rows(sources: tuple[StoredData, ...], rows: int) -> tuple[StoredData, ...]:
    """Return inputs with the number of rows of a single one, which may be counted late."""
    return (replace(sources[0], rows=rows),) if len(sources) == 1 else sources


def model_folder(destination: Path | str | None) -> Path:
    """Return the folder of a model. Raises OutputError (O002) where none is given."""
    if destination is None:
        message = "A model must be released into a folder, but no output was given."
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
        suppressed_cells=model.suppressed_cells,
        sanitised=model.sanitised.stored,
        held_out=model.held_out,
        files=model.files,
        secret_attacks=model.secret_attacks,
        seed=seed,
        upstream=upstream,
    )
    return release.with_audits(model.judged_attempts, model.reports) if plan.audits else release
