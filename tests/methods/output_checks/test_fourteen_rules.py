"""The table of rules says of each what the paper, or its reconstruction, says."""

import pytest

from policy_engine.kernels.output_checks.rule_conditions import RuleComparison
from policy_engine.methods.output_checks.fourteen_rules import (
    ATTRIBUTES,
    FOURTEEN_RULES,
    PLACES,
    RuleStatus,
    comparison_words,
    condition_words,
    value_words,
)

NAMES = {one.name for one in ATTRIBUTES}


def test_there_are_fourteen_rules_by_number_and_each_type_is_under_one():
    assert [rule.number for rule in FOURTEEN_RULES] == list(range(1, 15))
    types = [kind for rule in FOURTEEN_RULES for kind in rule.analysis_types]
    assert len(types) == len(set(types)) == len(PLACES)
    assert all(kind in FOURTEEN_RULES[place].analysis_types for kind, place in PLACES.items())


def test_the_first_rule_is_that_of_the_slides():
    rule = FOURTEEN_RULES[0]
    assert condition_words(rule.condition) == "CellUnits ≥ 10 and PercentageRows < 90%"
    assert rule.context == ("CellUnits", "PercentageRows")
    assert [one.number for one in FOURTEEN_RULES if one.status == RuleStatus.VERBATIM] == [1]


def test_attributes_are_those_of_the_papers_schema():
    """Slide 10, without AnalysisType, Confidential and Decision."""
    schema = "Output CellUnits PercentageRows PercentageCellTotal SampleSize PercentageSampleTotal "
    schema += "Intercept DegreesOfFreedom DegreesOfFreedom2 NumberOfVariables"
    assert [one.name for one in ATTRIBUTES] == schema.split()


@pytest.mark.parametrize("rule", FOURTEEN_RULES, ids=lambda rule: rule.number)
def test_a_condition_is_about_the_context_of_its_rule_or_the_output(rule):
    compared = {one.attribute for one in rule.condition.comparisons}
    assert compared <= {*rule.context, "Output"}
    assert set(rule.context) <= compared
    assert compared <= NAMES


def test_what_may_never_be_released_is_written_so():
    assert condition_words(FOURTEEN_RULES[2].condition) == "never"


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        (RuleComparison("Intercept", "none of", (1,)), "not Intercept"),
        (RuleComparison("Output", "none of", (-1, 0, 1)), "Output ∉ {-1, 0, 1}"),
        (RuleComparison("PercentageCellTotal", "at most", (0.5,)), "PercentageCellTotal ≤ 50%"),
        (RuleComparison("DegreesOfFreedom", "at least", (10,)), "DegreesOfFreedom ≥ 10"),
    ],
)
def test_a_comparison_is_written_with_its_sign(comparison, words):
    assert comparison_words(comparison) == words


def test_a_value_is_written_by_its_kind():
    assert value_words("PercentageRows", 0.905) == "90.5%"
    assert value_words("Intercept", 1) == "yes"
    assert value_words("CellUnits", 1234) == "1234"
