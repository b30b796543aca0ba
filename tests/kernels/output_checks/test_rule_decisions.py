"""Rules decide as they are written, missing values and unknown types never in favour."""

import numpy as np
import pytest

from policy_engine.kernels.output_checks.rule_conditions import NEVER, RuleComparison, RuleCondition
from policy_engine.kernels.output_checks.rule_decisions import compare_values, decide_by_rules
from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES, FOURTEEN_RULES, PLACES

CONDITIONS = [rule.condition for rule in FOURTEEN_RULES]
NAN = float("nan")
CELL = {"CellUnits": 10, "PercentageRows": 0.1}


def decide(kind, *, confidential=True, **attributes):
    columns = {one.name: np.array([attributes.get(one.name, NAN)], float) for one in ATTRIBUTES}
    rules = np.array([PLACES.get(kind, -1)])
    return bool(decide_by_rules(CONDITIONS, rules, np.array([confidential]), columns)[0])


@pytest.mark.parametrize(
    ("kind", "attributes", "is_released"),
    [
        ("FrequencyTable", {"CellUnits": 10, "PercentageRows": 0.89}, True),
        ("FrequencyTable", {"CellUnits": 9, "PercentageRows": 0.89}, False),
        ("FrequencyTable", {"CellUnits": 10, "PercentageRows": 0.9}, False),
        ("MagnitudeTable", {**CELL, "PercentageCellTotal": 0.5}, True),
        ("MagnitudeTable", {**CELL, "PercentageCellTotal": 0.51}, False),
        ("Percentile", {"SampleSize": 10_000}, False),
        ("Residual", {}, False),
        ("Mode", {"PercentageSampleTotal": 0.89}, True),
        ("Mode", {"PercentageSampleTotal": 0.9}, False),
        ("Mean", {"SampleSize": 10, "PercentageSampleTotal": 0.5}, True),
        ("Ratio", {"SampleSize": 10, "PercentageSampleTotal": 0.6}, False),
        ("ConcentrationRatio", {"SampleSize": 10, "PercentageSampleTotal": 0.6}, True),
        ("HigherMoment", {"DegreesOfFreedom": 9}, False),
        ("RegressionCoefficient", {"Intercept": 0}, True),
        ("RegressionCoefficient", {"Intercept": 1}, False),
        ("RegressionIntercept", {"Intercept": 1}, False),
        ("SummaryStatistic", {"DegreesOfFreedom": 10}, True),
        ("FTest", {"DegreesOfFreedom": 10, "DegreesOfFreedom2": 9}, False),
        ("FTest", {"DegreesOfFreedom": 10, "DegreesOfFreedom2": 10}, True),
        ("Correlation", {"SampleSize": 50, "Output": 1}, False),
        ("Correlation", {"SampleSize": 50, "Output": 0.999}, True),
        ("FactorAnalysis", {"SampleSize": 50, "NumberOfVariables": 2}, True),
        ("CorrespondenceAnalysis", {"SampleSize": 50, "NumberOfVariables": 2}, False),
    ],
)
def test_a_rule_decides_at_its_limits(kind, attributes, is_released):
    assert decide(kind, **attributes) is is_released
    assert decide(kind, confidential=False, **attributes)


@pytest.mark.parametrize("rule", FOURTEEN_RULES, ids=lambda rule: rule.number)
def test_what_is_missing_satisfies_no_rule(rule):
    assert not decide(rule.analysis_types[0])


def test_what_is_of_no_known_type_is_not_released_even_if_not_confidential():
    assert not decide("Sonnet", confidential=False, CellUnits=1000)


def test_a_missing_value_is_not_other_than_those_excluded():
    comparison = RuleComparison("Output", "none of", (0,))
    assert compare_values(comparison, np.array([NAN, 0, 1])).tolist() == [False, False, True]


def test_a_condition_without_comparisons_holds_and_never_does_not():
    rules, secret = np.array([0, 1]), np.array([True, True])
    assert decide_by_rules([RuleCondition(), NEVER], rules, secret, {}).tolist() == [True, False]
