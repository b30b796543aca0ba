"""One policy with several ways of forming classes: which of them trains the best model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple, Unpack

from policy_engine.api.binding import bind_plans, choose_product, permitted_makers
from policy_engine.api.chosen_policy import PolicyChoice
from policy_engine.api.class_methods import (
    FORMING,
    RAW,
    ClassForming,
    MethodName,
    permitted_methods,
)
from policy_engine.api.exploring import combine_settings
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.api.model_comparison import (
    MethodRun,
    ModelComparison,
    ModelOutcome,
    with_choice,
)
from policy_engine.audits.utility.comparing import measure_losses
from policy_engine.audits.utility.learning_trials import (
    TESTED,
    LearningFigures,
    LearningTrial,
    RowSplit,
)
from policy_engine.audits.utility.masking import Masked
from policy_engine.audits.utility.matching import encoded
from policy_engine.audits.utility.repeated_splits import SplitFigure, mean_over_splits
from policy_engine.data.column_names import column_name
from policy_engine.data.keys import Key
from policy_engine.engines import tables
from policy_engine.engines.engine import Engine, Progress, silent
from policy_engine.engines.launching import check_limit, launch_engine
from policy_engine.errors import (
    CertificateError,
    DataError,
    PlanError,
    PolicyEngineError,
    did_you_mean,
    join_names,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize
from policy_engine.plan.varying import Setting, change_parameters, check_settings, part_of
from policy_engine.policy import Source
from policy_engine.release.guiding import features_of
from policy_engine.release.release import read_inputs

MODEL_K = (10, 20, 50, 100, 200, 500, 1000)
"""The values of k that are tried where nothing is said to vary."""
DEFAULT_SPLITS, FEWEST_SPLITS, MOST_SPLITS = 5, 2, 1_000
BOOSTED = "gradient-boosted trees of scikit-learn"
"""The model that learns where none is described."""


class _Measured(NamedTuple):
    """What one release of the rows of one split shows; `lost` by how much less right a model of it
    is than one of the raw rows."""

    right: SplitFigure
    lost: SplitFigure
    auc: SplitFigure
    tpr: SplitFigure
    classes: "_ClassFigures | None" = None


class _ClassFigures(NamedTuple):
    """What the classes of one release are, as it was written."""

    classes: int
    smallest: int
    one_label: float
    query_error: float | NotApplicable
    keeps_bounds: bool


class _Released(NamedTuple):
    """A release, and what its classes are."""

    table: Any
    figures: _ClassFigures


def explore_models(
    plan: Plan,
    engine: Engine,
    label: str,
    settings: Sequence[Setting],
    progress: Progress = silent,
    upstream: Sequence[Upstream] = (),
    *,
    model: Network | Estimator | None = None,
    draws: int = DEFAULT_SPLITS,
) -> tuple[ModelComparison, Anonymize | None]:
    """Return how right models are that learn a label from releases of a plan's table, and the step
    that makes the best release that a policy can ask for, None where none keeps its bounds.

    In each of so many `draws`, rows are split: some are released by every way of forming classes
    with every setting, and a `model` (by default gradient-boosted trees) learns from the release;
    the others are tested as they are, and neither guide nor model ever sees them. Raises PlanError
    for settings as `explore` does, where the plan has no classes (M004), for a label that is not
    released as it is (M004), for too few draws (M003), and for Spark (M009); DataError where the
    table cannot be read, or nothing can be learnt from it (R017, R018).
    """
    _check(plan, settings, label, draws)
    table, _ = read_inputs(plan, engine, upstream)
    step = plan.require_anonymize()
    own = step.recoding.guide
    architecture = own.architecture if own else None
    ordered = [
        name
        for name in step.columns.quasi_names
        if encoded(name, table.schema.field(name), table.column(name)).is_ordered
    ]
    forming = [ClassForming(name, label, architecture, ordered) for name in FORMING]
    features = features_of(forming[0].step(step), plan.publish)
    trial = LearningTrial(table, features, label, model, step.columns.privacy_unit)
    trial.check()
    splits = list(trial.splits(draws))
    trials = ModelTrials(plan, engine, table, trial, tuple(forming), tuple(settings))
    for split in splits:
        trials.measure(split, progress, draws)
    runs = with_choice(trials.runs(), _own_parameters(step), permitted_methods(step))
    comparison = ModelComparison(
        label=label,
        measure=trial.measure,
        model=model or BOOSTED,
        rows=len(splits[0].learnt),
        tested=len(splits[0].tested),
        splits=draws,
        guessed=fmean([trial.guessed(split) for split in splits]),
        runs=runs,
    )
    run = comparison.chosen
    if run is None:
        return comparison, None
    best = next(one for one in forming if one.method == run.method)
    return comparison, best.step(change_parameters(step, run.setting))


def _own_parameters(step: Anonymize) -> dict[str, float]:
    """Return the numbers that a policy asks for, by parameter."""
    values = [one.model_dump(by_alias=True) for one in step.methods.values()]
    return {name: value for part in values for name, value in part.items()}


@dataclass(frozen=True)
class ModelTrials:
    """Releases of the rows of splits, by several ways of `forming` classes with several settings,
    and what models show that learnt from them."""

    plan: Plan
    engine: Engine
    table: Any
    trial: LearningTrial
    forming: tuple[ClassForming, ...]
    settings: tuple[Setting, ...]
    _raw: list[_Measured] = field(default_factory=list)
    _made: dict[tuple[MethodName, int], list[_Measured]] = field(default_factory=dict)
    _refused: dict[tuple[MethodName, int], str] = field(default_factory=dict)

    def measure(self, split: RowSplit, progress: Progress, draws: int) -> None:
        """Measure every way with every setting on one split of so many."""
        total = len(self.forming) * len(self.settings)
        done = len(self._raw) * total
        raw = self.trial.original_figures(split)
        self._raw.append(_learnt(raw, raw))
        part = self.table.take(split.learnt)
        masked = self.engine.mask(part, self.plan.mask)[0] if self.plan.mask else part
        guided: dict[str, Any] = {"": masked}
        for place, forming in enumerate(self.forming):
            for number, setting in enumerate(self.settings):
                progress("exploring", done + place * len(self.settings) + number, draws * total)
                key = forming.method, number
                if key in self._refused:
                    continue
                try:
                    step = forming.step(change_parameters(self.plan.require_anonymize(), setting))
                    fitting = forming.fitting(step, self.trial.features)
                    if fitting is not None and forming.taught not in guided:
                        guided[forming.taught] = self.engine.guide(masked, fitting)
                    release = self._released(part, guided[forming.taught], step)
                    cells = () if step.is_permuted else step.columns.quasi_names
                    learnt = self.trial.figures(split, release.table, cells)
                except (PlanError, DataError, CertificateError) as error:
                    self._refused[key] = _reason(error)
                    continue
                self._made.setdefault(key, []).append(_learnt(learnt, raw, release.figures))

    def _released(self, part: Any, guided: Any, step: Anonymize) -> _Released:
        made = self.engine.anonymize(guided, step, self.plan.publish)
        written = self.engine.write(made, None)
        # The classes of all ways are measured alike, and what they disclose of the label is, too.
        alike = ClassForming("soft-guided", self.trial.label).step(step)
        alike = step if step.is_permuted else alike
        measured = self.engine.measure(written, alike)
        totals, labels = measured.totals, measured.label
        if totals is None or labels is None or isinstance(labels, NotApplicable):
            raise PlanError.of("M004", "The release has no classes to compare.")
        release = self.engine.output(written)
        losses = measure_losses(
            tables.infer_types(part),
            release,
            step,
            self.engine.taxonomies,
            Masked(self.plan.mask.columns if self.plan.mask else ()),
        )
        figures = _ClassFigures(
            totals.classes,
            totals.smallest,
            labels.mostly_one / totals.rows,
            losses.query_error,
            all(one.holds for one in measured.measurements),
        )
        return _Released(release, figures)

    def runs(self) -> tuple[MethodRun, ...]:
        """Return what all splits showed together, the raw table first."""
        raw = MethodRun(method=RAW, setting={}, outcome=_outcome(self._raw))
        formed = [
            MethodRun(method=one.method, setting=setting, outcome=self._result(one.method, number))
            for one in self.forming
            for number, setting in enumerate(self.settings)
        ]
        return (raw, *formed)

    def _result(self, method: MethodName, number: int) -> ModelOutcome | NotApplicable:
        key = method, number
        if key in self._refused:
            return NotApplicable(reason=self._refused[key])
        made = self._made[key]
        classes = [one.classes for one in made if one.classes is not None]
        return _outcome(made).model_copy(
            update={
                "classes": fmean([one.classes for one in classes]),
                "smallest": min(one.smallest for one in classes),
                "one_label": fmean([one.one_label for one in classes]),
                "query_error": _mean_error([one.query_error for one in classes]),
                "keeps_bounds": all(one.keeps_bounds for one in classes),
            }
        )


def _learnt(
    own: LearningFigures, raw: LearningFigures, classes: _ClassFigures | None = None
) -> _Measured:
    lost = SplitFigure.of(raw.right - own.right)
    return _Measured(SplitFigure.of(own.right), lost, own.auc, own.tpr, classes)


def _outcome(made: Sequence[_Measured]) -> ModelOutcome:
    return ModelOutcome(
        right=mean_over_splits([one.right for one in made], TESTED),
        lost=mean_over_splits([one.lost for one in made], TESTED),
        auc=mean_over_splits([one.auc for one in made], TESTED),
        tpr=mean_over_splits([one.tpr for one in made], TESTED),
    )


def _mean_error(errors: Sequence[float | NotApplicable]) -> float | NotApplicable:
    lacking = [one for one in errors if isinstance(one, NotApplicable)]
    figures = [one for one in errors if not isinstance(one, NotApplicable)]
    return lacking[0] if lacking else fmean(figures)


def _reason(error: PolicyEngineError) -> str:
    return " ".join(problem.message for problem in error.problems)


def _check(plan: Plan, settings: Sequence[Setting], label: str, draws: int) -> None:
    """Raise PlanError for what cannot be compared."""
    step = plan.require_anonymize()
    if step.is_in_buckets or not step.models:
        message = "The policy asks for no classes of rows: there is nothing to form in other ways."
        raise PlanError.of("M004", message, "Ask for k-anonymity, or another model of classes.")
    if plan.engine != "local":
        message = f"The {plan.engine} engine does not compare ways of forming classes by models."
        raise PlanError.of("M009", message, "Explore them with the local engine.")
    if plan.sample is not None:
        message = "The policy releases a sample of its rows, and models are tested on the others."
        raise PlanError.of("M004", message, "Explore the whole table: leave the sample out.")
    check_settings(plan, settings)
    for name in dict.fromkeys(name for one in settings for name in one):
        if part_of(plan, name) != "classes":
            message = f"{name!r} is not a parameter of classes, which alone are compared."
            raise PlanError.of("M004", message)
    released = (*step.columns.sensitive_names, *step.columns.insensitive)
    if label not in released:
        message = f"{label!r} is not released as it is, so that no model can learn it from the "
        message += f"release. What is released so: {join_names(released) if released else 'none'}."
        raise PlanError.of("M004", message, did_you_mean(label, released))
    if not FEWEST_SPLITS <= draws <= MOST_SPLITS:
        message = f"draws is not allowed to be {draws!r}. Allowed is an integer from "
        message += f"{FEWEST_SPLITS} to {MOST_SPLITS:,}: one split has no interval."
        raise PlanError.of("M003", message)


def explore_policy_for_model(
    policy: Source,
    data: Mapping[str, Any],
    label: str,
    choices: Mapping[str, Sequence[float]] | None = None,
    *,
    model: Network | Estimator | None = None,
    key: Key = None,
    draws: int | None = None,
    progress: Progress = silent,
    time_limit: float | None = None,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> tuple[ModelComparison, PolicyChoice | None]:
    """Return how right models of a `label` are that learn from a policy's release, by several ways
    of forming classes, and the policy of the best; None where none keeps its bounds.

    The label is a column's name or its IRI. Everything else is as for `explore_policy`; `draws` are
    the splits of the rows, by default 5. Raises as `explore_models` does.
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy)
    check_limit(time_limit, inputs.engine)
    with launch_engine(inputs.engine) as launcher:
        product = choose_product(making.policy, asset)
        permitted_makers(making, [product], launcher, inputs)
        [bound] = bind_plans(making.policy, [product], launcher, inputs)
        run = launcher.engine(bound.catalog, progress, key, time_limit)
        try:
            comparison, step = explore_models(
                bound.plan.without_audits(),
                run,
                _column_of(bound.plan, label),
                combine_settings({"k": MODEL_K} if choices is None else choices),
                progress,
                bound.upstream,
                model=model,
                draws=DEFAULT_SPLITS if draws is None else draws,
            )
        finally:
            run.close()
    if step is None or product.transformation is None:
        return comparison, None
    choice = PolicyChoice(product.transformation, step, comparison.label, product.asset)
    return comparison.model_copy(update={"refinements": choice.refinements}), choice


def _column_of(plan: Plan, label: str) -> str:
    """Return the name of a column that is given by it or by its IRI."""
    names = (column_name(read.asset, label) for read in plan.reads)
    return next((name for name in names if name is not None), label)
