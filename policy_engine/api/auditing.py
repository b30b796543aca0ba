"""Audits from file to folder: read the records, train and attack, write all results."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.auditing import (
    ScoredAudit,
    examine,
    examine_predictions,
)
from policy_engine.audits.membership.binning import bins_of
from policy_engine.audits.membership.caveats import MEMBERS_GIVEN
from policy_engine.audits.membership.conduct import ChunkTime, Timings
from policy_engine.audits.membership.fitted.answer_cache import AnswerCache
from policy_engine.audits.membership.fitted.auditing import audit_fitted
from policy_engine.audits.membership.fitted.questions import read_questions
from policy_engine.audits.membership.fitted.target import FittedModel
from policy_engine.audits.membership.learners import Learner, learner_of
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.manifest import ManifestKeeper, cancellable, keep_manifest
from policy_engine.audits.membership.membership_labels import parse_truths
from policy_engine.audits.membership.predictions import read_predictions
from policy_engine.audits.membership.randomized_response import perturb
from policy_engine.audits.membership.records import (
    Records,
    read_npz,
    read_records,
    records_of_arrays,
    source_table,
)
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.shadows import (
    Chunk,
)
from policy_engine.audits.reports.audit_folder import (
    Sides,
    check_output,
    split_arrays,
    write_audit_files,
    write_tradeoff,
)
from policy_engine.data.places.spelling import source_name
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import AuditError, did_you_mean, join_names
from policy_engine.methods.audits.classifier import Estimator, Network, read_architecture
from policy_engine.plan.lineage import MadeBy
from policy_engine.policy.collecting.files import read_file

if TYPE_CHECKING:
    from policy_engine.audits.membership.tradeoff import Grid, Tradeoff

Model = Any
"""A description or its file, a classifier, or a learner; None for the default network."""
Cancel = Callable[[], bool]
"""Returns whether to cancel an audit; called after every epoch and every model."""


def audit_membership(
    data: Any,
    label: str = "",
    model: Model = None,
    *,
    settings: Settings | None = None,
    members: str = "",
    fitted: Any = None,
    out: Path | None = None,
    report: Path | None = None,
    progress: Progress = silent,
    cancel: Cancel | None = None,
    made_by: MadeBy = "owner",
) -> MembershipAudit:
    """Train a model on a part of some records, and measure how well attackers tell which part.

    `data` is a file (CSV, CSV.gz, Parquet, npz), a frame, or a pair of arrays, features and labels;
    `label` is the column of the classes, by default the last one. `model` is a description or its
    file, a classifier of scikit-learn's kind, or any other Learner, such as a KerasLearner; without
    it, a network with one small layer is trained. `members` names a column, or an array of an npz
    file, that says of each record whether the target is trained on it (1) or not (0).

    With `fitted` nothing is trained: that model is attacked as it is, with the records that
    `members` says it was trained on and the others, in the form it accepts. It is a file, an object
    with predict_proba or predict, a function from features to answers, or a `FittedModel`, which
    says how it is opened and called. `model`, if given, is then the recipe for its shadow models,
    trained on halves of these records.

    The folder `out` gets `manifest.json` at once: the request, and the progress. At the end come
    `splits.npz` (the rows and the seed of every model), `scores.csv` (each attack's score for each
    record, only for the owner), `audit.html` and, last, `audit.json` with all figures; its `cache`
    keeps the models' answers, so that an interrupted audit can be continued. `cancel` is called
    after every epoch or model; if it returns True, AuditError (A018) is raised. An audit of other
    data, settings or another model in the same folder starts again; trained models are reused
    wherever they are the same, and an earlier `audit.json` stays until there is a new one.
    `made_by` is recorded as the party that made the audit; it is not checked whether they may.

    Raises AuditError and DataError for problems of the input, before anything is trained, and
    OutputError if nothing can be written.
    """
    settings = settings or Settings()
    check_output(out, report)
    reporting = cancellable(cancel, progress)
    if fitted is not None:
        source = fitted.model if isinstance(fitted, FittedModel) else fitted
        name = source_name(source) if isinstance(source, str | Path) else type(source).__name__
        with keep_manifest(out, "fitted model", settings, name) as keeper:
            clock = _Clock(keeper)
            cache = AnswerCache(out / "cache" if out else None, clock.note_chunk)
            examined = _audit_fitted(
                data, label, model, members, fitted, settings, reporting, keeper, cache
            )
            audit = examined.report.model_copy(update=clock.report_fields(made_by))
            inputs = _inputs(data, source)
            write_audit_files(audit, out, report, {}, inputs, keeper, examined.scores)
        return audit
    learner, architecture = model_learner(model)
    with keep_manifest(out, "membership", settings, learner.name) as keeper:
        records, inside = _records(data, label, members)
        keeper.set_records(records.digest)
        sides = (None, None) if inside is None else _sides(inside)
        clock = _Clock(keeper)
        examined = examine(
            records,
            learner,
            settings,
            architecture=architecture,
            members=sides[0],
            non_members=sides[1],
            cache=out / "cache" if out else None,
            progress=reporting,
            on_chunk=clock.note_chunk,
        )
        audit = examined.report.model_copy(update=clock.report_fields(made_by))
        if inside is not None:
            audit = audit.model_copy(update={"warnings": (*audit.warnings, MEMBERS_GIVEN)})
        splits = split_arrays(records, learner, settings, sides) if out else {}
        inputs = _inputs(data, model)
        write_audit_files(audit, out, report, splits, inputs, keeper, examined.scores)
    return audit


class _Clock:
    """Measures how long an audit takes, in total and for each of its chunks."""

    def __init__(self, keeper: ManifestKeeper) -> None:
        self._keeper, self._chunks = keeper, list[Chunk]()
        self._begun = time.monotonic(), time.process_time()

    def note_chunk(self, chunk: Chunk) -> None:
        """Record a chunk, here and in the manifest."""
        self._chunks.append(chunk)
        self._keeper.count_models(chunk)

    def report_fields(self, made_by: MadeBy) -> dict[str, Any]:
        """Return the report's fields on the time taken so far, and on who made the audit."""
        return {"timings": self.timings(), "made_by": made_by}

    def timings(self) -> Timings:
        """Return the times measured so far."""
        return Timings(
            seconds=round(time.monotonic() - self._begun[0], 3),
            cpu_seconds=round(time.process_time() - self._begun[1], 3),
            chunks=tuple(
                ChunkTime(models=one.models, seconds=round(one.seconds, 3)) for one in self._chunks
            ),
            trained=sum(one.models for one in self._chunks),
        )


def _audit_fitted(
    data: Any,
    label: str,
    model: Model,
    members: str,
    fitted: Any,
    settings: Settings,
    progress: Progress,
    keeper: ManifestKeeper,
    cache: AnswerCache,
) -> ScoredAudit:
    """Attack a fitted model, and record its records in the manifest."""
    if settings.local_epsilon is not None:
        message = "A fitted model is attacked as it is: no records are perturbed for it."
        raise AuditError.of("A014", message, "Leave the local epsilon out.")
    if settings.targets > 1:
        message = f"A fitted model is one target. Given: {settings.targets} targets."
        raise AuditError.of("A014", message)
    fitted_model = fitted if isinstance(fitted, FittedModel) else FittedModel(fitted)
    questions = read_questions(data, label, members, fitted_model.features)
    recipe = None if model is None else _recipe(model)
    keeper.set_records(questions.digest)
    return audit_fitted(questions, fitted_model, settings, recipe, progress, cache)


def _recipe(model: Model) -> Any:
    """Return what trains shadow models of a fitted model: a learner, or a classifier to clone."""
    if not isinstance(model, Learner) and hasattr(model, "fit"):
        return model
    return model_learner(model)[0]


def audit_predictions_file(
    predictions: Any,
    *,
    settings: Settings | None = None,
    out: Path | None = None,
    report: Path | None = None,
    progress: Progress = silent,
    cancel: Cancel | None = None,
    made_by: MadeBy = "owner",
) -> MembershipAudit:
    """Attack a model known only by its predictions: probabilities, labels, members.

    `read_predictions` describes the contents of the file or frame. `out`, `report`, `cancel` and
    `made_by` are as for `audit_membership`, without splits, since nothing is trained. Raises
    AuditError and DataError for problems of the predictions, OutputError if nothing can be written.
    """
    check_output(out, report)
    settings, reporting = settings or Settings(), cancellable(cancel, progress)
    with keep_manifest(out, "predictions", settings, "known by its predictions alone") as keeper:
        parsed, clock = read_predictions(predictions), _Clock(keeper)
        keeper.set_records(parsed.digest)
        examined = examine_predictions(parsed, settings, reporting)
        audit = examined.report.model_copy(update=clock.report_fields(made_by))
        inputs = _inputs(predictions)
        write_audit_files(audit, out, report, {}, inputs, keeper, examined.scores)
    return audit


def audit_tradeoff(
    data: Any,
    label: str = "",
    model: Model = None,
    *,
    settings: Settings | None = None,
    grid: "Grid | None" = None,
    out: Path | None = None,
    progress: Progress = silent,
    cancel: Cancel | None = None,
    made_by: MadeBy = "owner",
) -> "Tradeoff":
    """Audit a network without privacy and with every privacy of a grid, on the same splits.

    `data`, `label`, `model` and `made_by` are as for `audit_membership`. The folder `out` gets
    `tradeoff.svg`, `tradeoff.png` and, last, `tradeoff.json`; its `cache` keeps the models'
    answers, and `manifest.json` the progress. Raises AuditError (A009) for a model that is not a
    network, and as `audit_membership`.
    """
    from policy_engine.audits.membership.tradeoff import Grid, tradeoff  # noqa: PLC0415 (see above)

    check_output(out, None)
    network = _architecture(model)
    if not isinstance(network, Network):
        message = f"A trade-off needs the training of a network. Given: {network.name}."
        raise AuditError.of(
            "A009", message, "Give the description of a network, or leave the model out."
        )
    settings, grid = settings or Settings(), grid or Grid()
    with keep_manifest(out, "trade-off", settings, network.model_dump_json()) as keeper:
        records, _ = _records(data, label, "")
        keeper.set_records(records.digest)
        _check_noise(grid)
        _check_perturbing(records, grid, settings)
        cache = out / "cache" if out else None
        reporting = cancellable(cancel, progress)
        measured = tradeoff(records, network, settings, grid, cache=cache, progress=reporting)
        tradeoff_result = measured.model_copy(update={"made_by": made_by})
        if out:
            write_tradeoff(tradeoff_result, out, _inputs(data, model))
    return tradeoff_result


def _check_noise(grid: "Grid") -> None:
    """Raise AuditError (A006) for invalid noise multipliers, before the training."""
    negative = [one for one in grid.noise_multipliers if not 0 <= one < math.inf]
    if negative:
        message = f"Noise multipliers must be 0 or more. Given: {', '.join(map(str, negative))}."
        raise AuditError.of("A006", message)


def _check_perturbing(records: Records, grid: "Grid", settings: Settings) -> None:
    """Raise AuditError (A006), before the training, for columns unfit for randomized response."""
    for epsilon in grid.local_epsilons[:1]:
        bins = bins_of(records, settings.bins, settings.ranges)
        perturb(records.features, records.encoding, epsilon, np.random.default_rng(0), bins)


def model_learner(model: Model) -> tuple[Learner, Network | Estimator | str]:
    """Return what trains a model, and a description of the model."""
    if isinstance(model, Learner):
        return model, model.name
    if hasattr(model, "fit") or hasattr(model, "predict"):
        return EstimatorLearner.from_object(model), " ".join(repr(model).split())
    architecture = _architecture(model)
    return learner_of(architecture), architecture


def _architecture(model: Model) -> Network | Estimator:
    if model is None:
        return Network()
    if isinstance(model, Network | Estimator):
        return model
    return read_architecture(read_file(Path(model)), str(model))


# -- who is in ------------------------------------------------------------------------------------


def _records(data: Any, label: str, members: str) -> tuple[Records, NDArray[np.bool_] | None]:
    """Return the records, and which of them are members if a column says so.

    That column is not a feature: it would tell a model what an attacker should find out.
    """
    if isinstance(data, tuple):
        return records_of_arrays(*data), None
    if not members:
        return read_records(data, label), None
    is_file = isinstance(data, str | Path)
    if is_file and str(data).lower().endswith(".npz"):
        return read_records(data, label), parse_truths(_array(Path(data), members), repr(members))
    table = source_table(data)
    if members not in table.column_names:
        raise _missing_members_error(members, table.column_names)
    rows, texts = index_texts(members, table.column(members))
    is_member = parse_truths([texts[row] or "" for row in rows.tolist()], repr(members))
    rest = table.drop_columns([members])
    if not label and members == table.column_names[-1]:
        label = rest.column_names[-1]
    return read_records(rest, label, source_name(data) if is_file else ""), is_member


def _array(path: Path, members: str) -> list[str]:
    arrays = read_npz(path)
    if members not in arrays:
        raise _missing_members_error(members, arrays)
    return list(map(str, arrays[members].ravel().tolist()))


def _missing_members_error(members: str, names: Any) -> Exception:
    message = f"There is no {members!r} to say who is a member. Available are {join_names(names)}."
    return AuditError.of("A011", message, did_you_mean(members, names))


def _sides(is_member: NDArray[np.bool_]) -> Sides:
    return np.flatnonzero(is_member), np.flatnonzero(~is_member)


def _inputs(*sources: Any) -> list[Path]:
    return [Path(one) for one in sources if isinstance(one, str | Path)]


def write_audit(audit: MembershipAudit, folder: Path) -> None:
    """Write all results of an audit into a folder: the page and, last, `audit.json`.

    Raises OutputError if the folder cannot be written, DataError (C011) without matplotlib.
    """
    check_output(folder, None)
    write_audit_files(audit, folder, None, {}, [])
