"""One plan with several settings: the cost of each, without writing a release."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import BaseModel, ConfigDict

from policy_engine.api.binding import bind_plans, choose_product, permitted_makers
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.audits.reports.charts import line_chart, need_matplotlib
from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.data.atomic_file import write_file
from policy_engine.engines.engine import EarlyStop, Engine, Progress, StoredData, silent
from policy_engine.engines.launching import check_limit, launch_engine
from policy_engine.engines.samples import SampleEvidence
from policy_engine.errors import (
    CertificateError,
    DataError,
    OutputError,
    PlanError,
    PolicyEngineError,
    Problem,
    did_you_mean,
    join_names,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Finding, Measurement, Method, parameters
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize
from policy_engine.policy import Source
from policy_engine.release.release import (
    MaskedTable,
    Release,
    anonymize_rows,
    mask_rows,
    read_inputs,
    sample_figures,
    sample_rows,
    with_rows,
)

if TYPE_CHECKING:
    pass


Setting = Mapping[str, float]


"""Parameters of privacy models by their names in policies, as in {"k": 10, "l": 3}."""


_BOUND_CODES = {"R002", "R003", "R008", "R009"}


"""The codes of errors that another setting may avoid."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Outcome(_Frozen):
    """What a release with some setting would be: see `Utility` for the meaning of its figures.

    `seconds` is the time for forming and measuring it, without reading. `ended` describes the
    search if its time limit ended it.
    """

    classes: int
    average_class_ratio: float
    global_certainty_penalty: float | None
    discernability: int
    suppressed: int
    measurements: tuple[Measurement, ...]
    seconds: float
    ended: EarlyStop | None = None


class Run(_Frozen):
    """One setting and its outcome, or why the table cannot be released with it."""

    setting: Mapping[str, int | float]
    outcome: Outcome | NotApplicable


def combine_settings(choices: Mapping[str, Sequence[float]]) -> tuple[Setting, ...]:
    """Return every combination of the values of parameters; those without values are left out."""
    varied = {name: values for name, values in choices.items() if values}
    return tuple(dict(zip(varied, values, strict=True)) for values in product(*varied.values()))


def explore(
    plan: Plan,
    engine: Engine,
    settings: Sequence[Setting],
    progress: Progress = silent,
    upstream: Sequence[Upstream] = (),
) -> tuple[Run, ...]:
    """Return the outcome of the plan's release for each setting, in the given order.

    The table is read once. A parameter is set in every model that has it. `upstream` gives the
    releases that the inputs are: one that was changed since is refused (V013). Raises PlanError
    (M004) if no model has a parameter, or no model is asked for, DataError if the table cannot be
    read, or is refused for the same reason with every setting.
    """
    _check_names(plan.anonymization(), settings)
    table, sources = read_inputs(plan, engine, upstream)
    table, sample = sample_rows(plan, engine, table)
    suppresses = plan.anonymization().recoding.max_suppression > 0
    once = None if suppresses else mask_rows(plan, engine, table)

    def masked(varied: Plan) -> MaskedTable:
        # The rows that are suppressed depend on the setting, and are not masked with the others.
        return once or mask_rows(varied, engine, table)

    runs, refusals = [], []
    for done, setting in enumerate(settings):
        progress("exploring", done, len(settings))
        try:
            outcome: Outcome | NotApplicable = _outcome(
                plan, engine, setting, masked, sources, sample
            )
        except (PlanError, DataError, CertificateError) as error:
            outcome = NotApplicable(reason=_reason(error))
            refusals.append(error)
        runs.append(Run(setting=setting, outcome=outcome))
    if len(refusals) == len(runs):
        _check_varied(refusals)
    return tuple(runs)


def _check_varied(refusals: Sequence[PolicyEngineError]) -> None:
    """Raise the reason that refuses the table with every setting, if it depends on none of them.

    Reasons that depend on a setting name it, and differ for another one.
    """
    is_same = len({one.problems for one in refusals}) == 1
    if not is_same or not isinstance(refusals[0], DataError):
        return
    if len(refusals) > 1 or not {one.code for one in refusals[0].problems} & _BOUND_CODES:
        raise refusals[0]


def _check_names(step: Anonymize, settings: Sequence[Setting]) -> None:
    if not step.models:
        message = "masking alone bounds nothing: there is no setting to explore."
        raise PlanError.of("M004", message, "Ask for a privacy model as well.")
    if step.is_in_buckets:
        message = "A release by buckets has no classes whose cost could be explored."
        raise PlanError.of("M004", message, "Explore another algorithm.")
    parameters_known = sorted(
        {name for method in step.methods.values() for name in parameters(type(method))}
    )
    unknown = {name: None for one in settings for name in one if name not in parameters_known}
    problems = [
        Problem(
            "M004",
            f"{join_names(step.methods)} has no parameter {name!r}. "
            f"It has {join_names(parameters_known)}.",
            did_you_mean(name, parameters_known),
        )
        for name in unknown
    ]
    if problems:
        raise PlanError(*problems)


def _outcome(
    plan: Plan,
    engine: Engine,
    setting: Setting,
    masked: Callable[[Plan], MaskedTable],
    sources: tuple[StoredData, ...],
    sample: SampleEvidence | None,
) -> Outcome:
    step = change_parameters(plan.anonymization(), setting)
    steps = tuple(step if isinstance(s, Anonymize) else s for s in plan.without_audits().steps)
    varied = plan.model_copy(update={"steps": steps})
    start = time.perf_counter()
    anonymized = replace(anonymize_rows(varied, engine, masked(varied)), sample=sample)
    rows_in = sample.rows_in if sample else anonymized.rows
    written = engine.write(anonymized, None)
    release = Release(
        plan=varied,
        output=written.stored,
        sources=with_rows(sources, rows_in),
        rows_in=rows_in,
        sample=sample_figures(plan, sample),
        suppressed=anonymized.suppressed,
    )
    certified = certify(release, engine, written=written)
    check_bounds(certified)
    seconds = time.perf_counter() - start
    return _outcome_figures(certified, seconds).model_copy(update={"ended": anonymized.early_stop})


def change_parameters(step: Anonymize, setting: Setting) -> Anonymize:
    """Return the step with parameters set in every model that has them.

    Raises PlanError with every problem of the new parameters.
    """
    values_by_method = {
        notation: _method_values(method, setting) for notation, method in step.methods.items()
    }
    problems = [
        _problem(finding)
        for notation, values in values_by_method.items()
        for finding in parameter_findings(type(step.methods[notation]), values, notation)
    ]
    if problems:
        raise PlanError(*dict.fromkeys(problems))
    methods = {
        notation: type(step.methods[notation])(**v) for notation, v in values_by_method.items()
    }
    return step.model_copy(update={"methods": methods})


def _method_values(method: Method, setting: Setting) -> dict[str, Any]:
    values = method.model_dump(by_alias=True)
    return values | {name: value for name, value in setting.items() if name in values}


def _problem(finding: Finding) -> Problem:
    return Problem(finding.code, finding.message)


def _outcome_figures(certified: CertifiedRelease, seconds: float) -> Outcome:
    utility = certified.utility
    assert isinstance(utility, Utility)  # noqa: S101 (a privacy model is asked for)
    return Outcome(
        classes=utility.classes,
        average_class_ratio=utility.average_class_ratio,
        global_certainty_penalty=utility.global_certainty_penalty,
        discernability=utility.discernability,
        suppressed=certified.known_record.suppressed,
        measurements=certified.certificate.measurements,
        seconds=seconds,
    )


def _reason(error: PolicyEngineError) -> str:
    return " ".join(problem.message for problem in error.problems)


def trade_off_chart(runs: Sequence[Run], path: Path) -> None:
    """Draw the loss against k, a line for each setting of the others, as `.svg` or `.png`.

    Raises OutputError (O002) if the file cannot be written or has another suffix, DataError (C011)
    without matplotlib.
    """
    need_matplotlib()
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        message = f"The ending of {path.name!r} is not known. Known are '.svg' and '.png'."
        raise OutputError.of("O002", message)
    lines = trade_off_lines(runs)
    if not lines:
        message = "There is nothing to draw: the table cannot be released at any of the settings."
        raise OutputError.of("O002", message)
    axis = "k" if any("k" in run.setting for run in runs) else next(iter(runs[0].setting), "")
    write_file(path, line_chart(lines, (axis, "global certainty penalty"), kind))


def trade_off_lines(runs: Sequence[Run]) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the loss against k by the setting of all others; without k, against the first one."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        loss = run.outcome.global_certainty_penalty if isinstance(run.outcome, Outcome) else None
        if loss is not None and run.setting:
            axis = "k" if "k" in run.setting else next(iter(run.setting))
            rest = {name: value for name, value in run.setting.items() if name != axis}
            label = ", ".join(f"{name} = {value:g}" for name, value in rest.items())
            lines.setdefault(label, []).append((run.setting[axis], loss))
    return {label: tuple(sorted(points)) for label, points in lines.items()}


def explore_policy(
    policy: Source,
    data: Mapping[str, Any],
    choices: Mapping[str, Sequence[float]],
    *,
    key: str | Path | bytes | None = None,
    progress: Progress = silent,
    time_limit: float | None = None,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> "tuple[Run, ...]":
    """Return the outcome of a policy's release for every combination of `choices`.

    `choices` has values by parameter, as in {"k": (2, 5, 10), "l": (2, 3)}; everything else is as
    for `apply_policy`, with a `time_limit` for each combination. Nothing is written. Raises
    PlanError if no model of the policy has a parameter.
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy)
    check_limit(time_limit, inputs.engine)
    with launch_engine(inputs.engine) as launcher:
        product = [choose_product(making.policy, asset)]
        permitted_makers(making, product, launcher, inputs)
        [bound] = bind_plans(making.policy, product, launcher, inputs)
        run = launcher.engine(bound.catalog, progress, key, time_limit)
        try:
            settings = combine_settings(choices)
            return explore(bound.plan, run, settings, progress, bound.upstream)
        finally:
            run.close()
