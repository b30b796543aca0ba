"""The fourteen rules of output checking, as one table that docs and code share.

J. Domingo-Ferrer and A. Blanco-Justicia, "Using machine learning to assist output checking"
(2021), rewrote the guidelines of Data without Boundaries (deliverable D11.8, 2015) as rules about
records of outputs. The slides give the first rule in full and the attributes of all; the rest is
reconstructed from what is known of the guidelines, and `status` says which is which.
"""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from policy_engine.kernels.output_checks.rule_conditions import NEVER, RuleComparison, RuleCondition

Kind = Literal["value", "count", "share", "answer"]
OutputDomain = Literal["share", "real number", "category", "share of two digits", "correlation"]


class RuleStatus(StrEnum):
    """How much of a rule is the authors' own."""

    VERBATIM = "verbatim"
    PARTLY = "partly"
    RECONSTRUCTED = "reconstructed"


@dataclass(frozen=True)
class OutputAttribute:
    """An attribute of the paper's records: its name there, what kind it is, and what it tells."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True)
class OutputRule:
    """One rule: an output is released if it is not confidential, or the condition holds.

    `paper_number` is that of the class of outputs in the paper, or of several with one decision;
    `context` names the attributes that its records have, all others are blank.
    """

    number: int
    paper_number: str
    analysis_types: tuple[str, ...]
    domain: OutputDomain
    context: tuple[str, ...]
    condition: RuleCondition
    status: RuleStatus
    remark: str


ATTRIBUTES = (
    OutputAttribute("Output", "value", "the result that is to be released"),
    OutputAttribute("CellUnits", "count", "units that the cell is about, at least"),
    OutputAttribute(
        "PercentageRows", "share", "share of the units of its row or column in the cell"
    ),
    OutputAttribute(
        "PercentageCellTotal", "share", "share of the cell's total by its largest unit"
    ),
    OutputAttribute("SampleSize", "count", "units that the statistic is computed from"),
    OutputAttribute(
        "PercentageSampleTotal",
        "share",
        "share of the sample in one value, or of its total by its largest unit",
    ),
    OutputAttribute("Intercept", "answer", "whether the intercept is among what is to be released"),
    OutputAttribute("DegreesOfFreedom", "count", "degrees of freedom"),
    OutputAttribute("DegreesOfFreedom2", "count", "degrees of freedom of the denominator"),
    OutputAttribute("NumberOfVariables", "count", "variables that the analysis is about"),
)
"""What a record tells of an output, beside its type and whether it is confidential."""

_UNITS = RuleComparison("CellUnits", "at least", (10,))
_ROWS = RuleComparison("PercentageRows", "below", (0.9,))
_SAMPLE = RuleComparison("SampleSize", "at least", (10,))
_FREEDOM = RuleComparison("DegreesOfFreedom", "at least", (10,))
_OF_THE_LARGEST = RuleComparison("PercentageSampleTotal", "at most", (0.5,))
_OF_ONE_VALUE = RuleComparison("PercentageSampleTotal", "below", (0.9,))
_NO_INTERCEPT = RuleCondition((RuleComparison("Intercept", "none of", (1,)),))

FOURTEEN_RULES = (
    OutputRule(
        1,
        "1",
        ("FrequencyTable",),
        "share",
        ("CellUnits", "PercentageRows"),
        RuleCondition((_UNITS, _ROWS)),
        RuleStatus.VERBATIM,
        "Applied to each cell; a table is released if all its cells are.",
    ),
    OutputRule(
        2,
        "2",
        ("MagnitudeTable",),
        "real number",
        ("CellUnits", "PercentageRows", "PercentageCellTotal"),
        RuleCondition((_UNITS, _ROWS, RuleComparison("PercentageCellTotal", "at most", (0.5,)))),
        RuleStatus.PARTLY,
        "The attributes are on the slides; that the largest unit may have half is not.",
    ),
    OutputRule(
        3,
        "3, 8, 11",
        ("Maximum", "Minimum", "Percentile", "Graph", "Residual"),
        "real number",
        (),
        NEVER,
        RuleStatus.RECONSTRUCTED,
        "Each may be a value of one person.",
    ),
    OutputRule(
        4,
        "4",
        ("Mode",),
        "category",
        ("PercentageSampleTotal",),
        RuleCondition((_OF_ONE_VALUE,)),
        RuleStatus.RECONSTRUCTED,
        "A value that nearly all have is known of each.",
    ),
    OutputRule(
        5,
        "5",
        ("Mean", "Index", "Ratio", "Indicator"),
        "real number",
        ("SampleSize", "PercentageSampleTotal"),
        RuleCondition((_SAMPLE, _OF_THE_LARGEST)),
        RuleStatus.RECONSTRUCTED,
        "As a cell of a magnitude table.",
    ),
    OutputRule(
        6,
        "6",
        ("ConcentrationRatio",),
        "share of two digits",
        ("SampleSize", "PercentageSampleTotal"),
        RuleCondition((_SAMPLE, _OF_ONE_VALUE)),
        RuleStatus.RECONSTRUCTED,
        "The output has at most two digits.",
    ),
    OutputRule(
        7,
        "7",
        ("HigherMoment",),
        "real number",
        ("DegreesOfFreedom",),
        RuleCondition((_FREEDOM,)),
        RuleStatus.RECONSTRUCTED,
        "Variance, skewness, kurtosis.",
    ),
    OutputRule(
        8,
        "9a, 10a",
        ("RegressionCoefficient",),
        "real number",
        ("Intercept",),
        _NO_INTERCEPT,
        RuleStatus.PARTLY,
        "Linear and other regressions; that Intercept is the whole context is on the slides.",
    ),
    OutputRule(
        9,
        "9b, 10b",
        ("RegressionIntercept",),
        "real number",
        ("Intercept",),
        _NO_INTERCEPT,
        RuleStatus.PARTLY,
        "The second part of what the paper split; that it is the intercept is likely, not known.",
    ),
    OutputRule(
        10,
        "12a",
        ("SummaryStatistic",),
        "real number",
        ("DegreesOfFreedom",),
        RuleCondition((_FREEDOM,)),
        RuleStatus.RECONSTRUCTED,
        "R², χ², t.",
    ),
    OutputRule(
        11,
        "12b",
        ("FTest",),
        "real number",
        ("DegreesOfFreedom", "DegreesOfFreedom2"),
        RuleCondition((_FREEDOM, RuleComparison("DegreesOfFreedom2", "at least", (10,)))),
        RuleStatus.RECONSTRUCTED,
        "No other test has a use for DegreesOfFreedom2.",
    ),
    OutputRule(
        12,
        "13",
        ("Correlation",),
        "correlation",
        ("SampleSize",),
        RuleCondition((_SAMPLE, RuleComparison("Output", "none of", (-1, 0, 1)))),
        RuleStatus.PARTLY,
        "Only that the output is between -1 and 1 is on the slides.",
    ),
    OutputRule(
        13,
        "14",
        ("FactorAnalysis",),
        "real number",
        ("SampleSize", "NumberOfVariables"),
        RuleCondition((_SAMPLE, RuleComparison("NumberOfVariables", "at least", (2,)))),
        RuleStatus.RECONSTRUCTED,
        "A factor of one variable is that variable.",
    ),
    OutputRule(
        14,
        "15",
        ("CorrespondenceAnalysis",),
        "real number",
        ("SampleSize", "NumberOfVariables"),
        RuleCondition((_SAMPLE, RuleComparison("NumberOfVariables", "at least", (3,)))),
        RuleStatus.RECONSTRUCTED,
        "The least certain of all.",
    ),
)
"""The rules, in the order of their numbers."""

PLACES = MappingProxyType(
    {kind: place for place, rule in enumerate(FOURTEEN_RULES) for kind in rule.analysis_types}
)
"""The place in `FOURTEEN_RULES` of the rule that each type of analysis is under."""

_SIGNS = {"at least": "≥", "at most": "≤", "below": "<", "none of": "∉"}
_KINDS = MappingProxyType({one.name: one.kind for one in ATTRIBUTES})


def condition_words(condition: RuleCondition) -> str:
    """Return a condition as it is written: `CellUnits ≥ 10 and Output ∉ {0}`, or `never`."""
    if not condition.can_hold:
        return "never"
    return " and ".join(map(comparison_words, condition.comparisons))


def comparison_words(comparison: RuleComparison) -> str:
    """Return a comparison as it is written: `CellUnits ≥ 10`, `not Intercept`."""
    name = comparison.attribute
    if _KINDS[name] == "answer":
        return f"not {name}"
    if comparison.operator == "none of":
        return f"{name} ∉ {{{', '.join(f'{limit:g}' for limit in comparison.limits)}}}"
    return f"{name} {_SIGNS[comparison.operator]} {value_words(name, comparison.limit)}"


def value_words(attribute: str, value: float) -> str:
    """Return a value of an attribute as it is written: a share in percent, an answer in words."""
    match _KINDS[attribute]:
        case "share":
            return f"{100 * value:.4g}%"
        case "answer":
            return "yes" if value else "no"
        case _:
            return f"{value:g}"
