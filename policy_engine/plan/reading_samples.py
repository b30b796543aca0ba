"""What is wrong with the sample that a policy asks for."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policy_engine.data.column_names import fold_name
from policy_engine.errors import PlanError, Problem
from policy_engine.methods import Finding
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.sampling import Sampling, sampling_conflicts
from policy_engine.plan.joins import STRATA
from policy_engine.policy import Condition, Value

if TYPE_CHECKING:
    from policy_engine.data.catalog import Catalog

WEIGHT = "weightColumn"
_ENDS = ("", "_low", "_high")
"""What the columns of the output add to the names of those of the input."""


def uncounted(unit: str, sample: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield that persons are neither counted nor sampled (M004)."""
    if unit and not sample:
        message = "masking has no parameter 'privacyUnit' where rows are not sampled: masking "
        message += "alone bounds nothing. Ask for a privacy model as well."
        yield Finding("M004", "privacyUnit", message)


def sample_problems(
    sample: Mapping[str, Any],
    strata: Sequence[tuple[str, Value]],
    used: Collection[str],
    visible: Collection[str],
    named: Collection[str],
    unit: str,
) -> Iterator[tuple[Finding, Value | None]]:
    """Yield what is wrong with the parameters of a sample, each with its place where it has one.

    `used` are the columns of the table, `visible` those whose values a released row has as they
    are, `named` all that the policy names; `unit` is the column that tells persons apart, or empty.
    """
    if not sample:
        return
    values = {name: value for name, value in sample.items() if name != STRATA}
    findings = [*sampling_conflicts(sample), *parameter_findings(Sampling, values, "a sample")]
    yield from ((one, None) for one in findings)
    for place, (name, value) in enumerate(strata):
        if name in [one for one, _ in strata[:place]]:
            yield Finding("M003", STRATA, f"{name!r} is named twice under {STRATA}."), value
        elif name == unit:
            message = f"Rows are stratified by {name!r}, which is the unit of privacy."
            yield Finding("M003", STRATA, message), value
        elif name not in used:
            message = f"Rows are stratified by {name!r}, a column without a role. Name it, such "
            yield Finding("M006", STRATA, f"{message}as under insensitive."), value
        elif values.get(WEIGHT) and name not in visible:
            message = f"The weight of a row would tell its value of {name!r}, by which rows are "
            message += "stratified, and which is not published beside it as it is. Leave "
            yield Finding("M003", STRATA, f"{message}{WEIGHT} or the stratum out."), value
    message = _name_problem(str(values.get(WEIGHT, "")), named)
    if message:
        yield Finding("M005", WEIGHT, message), None


def check_weight_name(
    sampling: Sampling | None,
    parameters: Mapping[str, Condition],
    catalog: "Catalog | None",
    assets: Iterable[str],
    source: str,
) -> None:
    """Raise PlanError (M005) where the data have a column with the name of that of weights.

    `parameters` are the parameters of the policy from `source`, by name.
    """
    if sampling is None or not sampling.weight_column or catalog is None:
        return
    columns = [name for asset in assets for name in catalog.dataset(asset).columns]
    message = _name_problem(sampling.weight_column, columns)
    if message:
        problem = Problem("M005", message, "Give another name.", parameters[WEIGHT].place)
        raise PlanError(problem, source=source)


def _name_problem(weight: str, names: Iterable[str]) -> str:
    """Return that a column of weights has a name that is taken, or is none; empty if it may be."""
    if weight.strip() in (".", ".."):
        return f"The column of weights may not have the name {weight!r}."
    folded = fold_name(weight)
    for name in names if weight else ():
        if folded in [fold_name(f"{name}{end}") for end in _ENDS]:
            return f"The column of weights would have the name of a column made of {name!r}."
    return ""
