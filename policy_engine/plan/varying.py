"""Plans with other numbers: parameters of their models, their sample and their maskings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from policy_engine.errors import PlanError, Problem, did_you_mean, join_names
from policy_engine.methods import Finding, Method, parameters
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.masking import ColumnMasking, ImageMasking
from policy_engine.methods.perturbation import Perturbation
from policy_engine.methods.recoding import SUPPRESSING, RecodingOptions
from policy_engine.methods.sampling import Sampling
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize, Mask, Sample

Setting = Mapping[str, float]
"""Numbers by the names of their parameters, as in {"k": 10, "sampleShare": 0.2, "age:p": 0.05}."""
Part = Literal["classes", "sample", "masking"]
"""What of a plan has a parameter."""
_SUPPRESSION = "maxSuppression"


def part_of(plan: Plan, name: str) -> Part | None:
    """Return what of a plan has a parameter, None where nothing does.

    A name of its own is a parameter of the models or, if they lack it, of the sample or else of all
    columns that are masked with it; `COLUMN:NAME` is that of one column.
    """
    if name in _class_parameters(plan):
        return "classes"
    if plan.sample and name in _numbers(_sampling_values(plan.sample)):
        return "sample"
    return "masking" if any(_is_meant(plan, name, one) for one in _maskings(plan)) else None


def check_settings(plan: Plan, settings: Sequence[Setting]) -> None:
    """Raise PlanError with every parameter that a plan does not have (M004), and every number that
    its sample or its maskings do not allow (M003).

    What models allow depends on the other numbers, and is for each setting to say.
    """
    names = dict.fromkeys(name for one in settings for name in one)
    unknown = [name for name in names if part_of(plan, name) is None]
    problems = [_unknown(plan, name) for name in unknown]
    singles = dict.fromkeys((name, value) for one in settings for name, value in one.items())
    for name, value in singles:
        if name not in unknown:
            problems += _problems(plan, {name: value})
    if problems:
        raise PlanError(*dict.fromkeys(problems))


def varied_plan(plan: Plan, setting: Setting) -> Plan:
    """Return a plan with the parameters of a setting; those of models are set in each that has
    them, and columns that are masked together stay so.

    Raises PlanError with every problem of the new parameters.
    """
    if problems := [*_problems(plan, setting)]:
        raise PlanError(*dict.fromkeys(problems))
    steps: list[Any] = []
    for step in plan.steps:
        if isinstance(step, Anonymize):
            steps.append(change_parameters(step, setting))
        elif isinstance(step, Sample):
            steps.append(Sample(**_changed(_sampling_values(step), setting), unit=step.unit))
        elif isinstance(step, Mask):
            columns = (_masked(plan, one, setting) for one in step.columns)
            steps.append(step.model_copy(update={"columns": tuple(columns)}))
        else:
            steps.append(step)
    return plan.model_copy(update={"steps": tuple(steps)})


def change_parameters(step: Anonymize, setting: Setting) -> Anonymize:
    """Return the step with parameters set in every model that has them.

    Raises PlanError with every problem of the new parameters.
    """
    values_by_method = {
        notation: _changed(method.model_dump(by_alias=True), setting)
        for notation, method in step.methods.items()
    }
    problems = [
        _problem(finding)
        for notation, values in values_by_method.items()
        for finding in parameter_findings(type(step.methods[notation]), values, notation)
    ]
    recoding = step.recoding
    if _may_suppress(step) and _SUPPRESSION in setting:
        values = recoding.model_dump(by_alias=True) | {_SUPPRESSION: setting[_SUPPRESSION]}
        findings = parameter_findings(RecodingOptions, values, recoding.algorithm)
        problems += map(_problem, findings)
        recoding = recoding if findings else RecodingOptions(**values)
    if problems:
        raise PlanError(*dict.fromkeys(problems))
    methods = {
        notation: type(step.methods[notation])(**v) for notation, v in values_by_method.items()
    }
    return step.model_copy(update={"methods": methods, "recoding": recoding})


def _may_suppress(step: Anonymize) -> bool:
    """Tell whether an algorithm may leave rows out."""
    is_free = step.recoding.dimensionality == "multi" and not step.is_permuted
    return bool(step.models) and step.recoding.algorithm in SUPPRESSING and is_free


def _problem(finding: Finding) -> Problem:
    return Problem(finding.code, finding.message)


def _unknown(plan: Plan, name: str) -> Problem:
    """Return that nothing has a parameter, and which there are."""
    names = [*_class_parameters(plan)]
    owners = join_names(plan.require_anonymize().methods)
    if plan.sample or plan.mask:
        owners = "What the policy makes"
        names += _numbers(_sampling_values(plan.sample)) if plan.sample else []
        by_column = [(one.name, name) for one in _maskings(plan) for name in _numbers_of(one)]
        names += dict.fromkeys(parameter for _, parameter in by_column)
        names += [f"{column}:{parameter}" for column, parameter in by_column]
    has = f"It has {join_names(names)}." if names else "It has none that is a number."
    return Problem("M004", f"{owners} has no parameter {name!r}. {has}", did_you_mean(name, names))


def _class_parameters(plan: Plan) -> tuple[str, ...]:
    """Return the parameters of a plan's models, and of their algorithm."""
    step = plan.require_anonymize()
    methods = [type(one) for one in step.methods.values() if isinstance(one, Method)]
    names = {name for kind in methods for name in parameters(kind)}
    return tuple(sorted(names | ({_SUPPRESSION} if _may_suppress(step) else set())))


def _maskings(plan: Plan) -> Iterator[ColumnMasking]:
    yield from plan.mask.columns if plan.mask else ()


def _numbers(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the values that are numbers."""
    kinds = int | float
    return [n for n, v in values.items() if isinstance(v, kinds) and not isinstance(v, bool)]


def _numbers_of(masking: ColumnMasking) -> list[str]:
    """Return the parameters of a masking that are numbers, but for the shape of images."""
    shape = ImageMasking.model_fields
    names = _numbers(masking.model_dump(by_alias=True, exclude={"name"}))
    return [name for name in names if not (isinstance(masking, ImageMasking) and name in shape)]


def _is_meant(plan: Plan, name: str, masking: ColumnMasking) -> bool:
    """Tell whether a name is that of a parameter of a masking, or of one that is made with it."""
    column, _, parameter = name.rpartition(":")
    if parameter not in _numbers_of(masking):
        return False
    return not column or column in _made_with(plan, masking)


def _made_with(plan: Plan, masking: ColumnMasking) -> set[str]:
    """Return the columns that are masked together with one, its own among them."""
    groups = plan.mask.groups if plan.mask and isinstance(masking, Perturbation) else ()
    together = [group for group in groups if masking in group]
    return {masking.name, *(one.name for group in together for one in group)}


def _problems(plan: Plan, setting: Setting) -> Iterator[Problem]:
    """Yield what is wrong with the numbers of a sample and of maskings."""
    own = {name: value for name, value in setting.items() if part_of(plan, name) == "sample"}
    if plan.sample and own:
        values = _changed(_sampling_values(plan.sample), own)
        yield from map(_problem, parameter_findings(Sampling, values, "a sample"))
    for one in _maskings(plan):
        if changed := _meant(plan, one, setting):
            values = {"name": one.name, **one.parameters, **changed}
            for finding in parameter_findings(type(one), values, one.masking):
                yield Problem(finding.code, f"{one.name!r}: {finding.message}")


def _meant(plan: Plan, masking: ColumnMasking, setting: Setting) -> dict[str, float]:
    """Return the numbers of a setting that are those of a masking, by its parameters."""
    return {
        name.rpartition(":")[2]: value
        for name, value in setting.items()
        if part_of(plan, name) == "masking" and _is_meant(plan, name, masking)
    }


def _masked(plan: Plan, masking: ColumnMasking, setting: Setting) -> ColumnMasking:
    changed = _meant(plan, masking, setting)
    if not changed:
        return masking
    return type(masking)(**{"name": masking.name, **masking.parameters, **changed})


def _sampling_values(sample: Sample) -> dict[str, Any]:
    """Return the parameters of a sample that were given, by the names that policies use."""
    values = sample.model_dump(by_alias=True, exclude={"step", "unit"})
    return {name: value for name, value in values.items() if value is not None}


def _changed(values: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    return {**values, **{name: value for name, value in setting.items() if name in values}}
