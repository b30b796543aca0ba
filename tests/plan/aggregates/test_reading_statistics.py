"""What policies ask of statistics: what is missing, contradicts itself, or cannot be private."""

import pytest
from asking_statistics import BY_SEX, DAYS, MEDIAN, UNITS, VISITS, planned, policy_text, step_of

from policy_engine.errors import PlanError, PolicyEngineError
from policy_engine.methods.sanitisations.differential_privacy import (
    MOST_CONTRIBUTIONS,
    MOST_EPSILON,
)
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy
from policy_engine.policy.reading import numbers
from policy_engine.policy.reading.numbers import MOST_RELEASE_EPSILON


def problems(*aggregates, **changes):
    """Return code and message of everything that is wrong with a policy."""
    with pytest.raises(PolicyEngineError) as error:
        make_plan(read_policy(policy_text(*aggregates, **changes)))
    return [(one.code, one.message) for one in error.value.problems]


def test_a_release_has_a_column_for_each_key_and_figure():
    plan = planned(UNITS, DAYS, MEDIAN)
    assert plan.publish.columns == ("sex", "persons", "days", "median")
    assert plan.read.columns == ("sex", "days", "person")
    assert [(b.name, b.asked) for b in plan.bounds()] == [("epsilon", 1.0), ("delta", 0.0)]


def test_a_plan_is_what_is_read_of_its_json():
    plan = planned(UNITS, DAYS, MEDIAN, delta="1e-6")
    assert type(plan).model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize("name", ["lower", "upper", "grid"])
def test_a_sum_without_a_public_bound_is_refused(name):
    [(code, message)] = problems({key: v for key, v in DAYS.items() if key != f"pe:{name}"})
    assert (code, message) == ("M018", f"A sum needs pe:{name}.")


@pytest.mark.parametrize("name", ["privacyUnit", "epsilon", "maxRowsPerGroup", "maxGroupsPerUnit"])
def test_a_parameter_that_is_missing_is_named(name):
    assert [code for code, _ in problems(UNITS, without=[name])] == ["M002"]


def test_the_unit_is_not_in_the_output():
    [(code, message)] = problems(UNITS, by=[{"@id": f"{VISITS}/person", "pe:keys": ["1"]}])
    assert code == "M018"
    assert "'person' is the unit of privacy" in message


def test_groups_without_public_keys_need_a_delta():
    [(code, message)] = problems(UNITS, by=[f"{VISITS}/sex"])
    assert code == "M018"
    assert "need" in message
    step = step_of(UNITS, by=[f"{VISITS}/sex"], delta="1e-6")
    assert step.key_selection.delta <= step.delta
    assert not step.has_public_keys


def test_gaussian_noise_needs_a_delta():
    [(code, message)] = problems(UNITS, mechanism=["discrete-gaussian"])
    assert (code, message.split(".")[0]) == ("M003", "discrete-gaussian needs a delta above 0")


def test_bounds_that_are_no_multiples_of_the_grid_are_refused():
    [(code, message)] = problems({**DAYS, "pe:grid": 3})
    assert (code, message.split(".")[0]) == ("M018", "The bounds are multiples of the grid")


def test_a_grid_so_fine_that_sums_would_overflow_is_refused():
    [(code, message)] = problems({**DAYS, "pe:upper": 10**9, "pe:grid": "0.01"})
    assert code == "M018"
    assert "at most 2,147,483,648 steps" in message


def test_two_figures_of_one_name_are_refused():
    [(code, message)] = problems(UNITS, {**DAYS, "pe:name": "persons"})
    assert code == "P023"
    assert "'persons'" in message


def test_keys_of_one_column_alone_are_refused():
    [(code, message)] = problems(UNITS, by=[*BY_SEX, f"{VISITS}/ward"])
    assert code == "M018"
    assert "keys of 'sex', none of 'ward'" in message


def test_an_unknown_query_is_refused():
    [(code, _)] = problems(UNITS, release={"@id": "http://e.org/other"})
    assert code == "P023"


def test_no_other_method_goes_with_it():
    one = '"mosaicrown:method", "operator": "eq", "rightOperand": "differential-privacy"'
    two = one.replace('"eq"', '"isAllOf"').replace(': "diff', ': ["masking", "diff') + "]"
    with pytest.raises(PolicyEngineError, match="no other method"):
        make_plan(read_policy(policy_text(UNITS).replace(one, two)))


def test_a_quantile_has_a_grid_of_candidates():
    [(code, message)] = problems({**MEDIAN, "pe:candidates": [0, 14, 3]})
    assert code == "P023"
    assert "step" in message


def test_a_duty_to_attack_statistics_is_refused():
    duty = {"action": "pe:recordLinkage", "target": "http://e.org/Statistics"}
    with pytest.raises(PlanError) as error:
        make_plan(read_policy(policy_text(UNITS, rule={"duty": [duty]})))
    assert "M013" in [one.code for one in error.value.problems]


def test_without_groups_all_rows_are_one():
    step = step_of(UNITS, by=())
    assert step.released == ("persons",)
    [(code, _)] = problems(UNITS, by=(), maxGroupsPerUnit=2)
    assert code == "M003"


CAP = {
    "leftOperand": "pe:spentEpsilon",
    "operator": "lteq",
    "rightOperand": 2,
    "unit": "pe:perAssigneeAndPurpose",
}


def test_a_bound_on_spending_that_may_be_avoided_is_refused():
    late = {"leftOperand": "dateTime", "operator": "gt", "rightOperand": "2030-01-01"}
    lab = {"assignee": "http://e.org/lab"}
    [(code, _)] = problems(UNITS, rule={**lab, "constraint": [{"or": [CAP, late]}]})
    assert code == "M018"
    assert planned(UNITS, rule={**lab, "constraint": [{"and": [CAP, CAP]}]})


def test_a_bound_for_each_assignee_needs_one():
    [(code, message)] = problems(UNITS, rule={"constraint": [CAP]})
    assert code == "M018"
    assert "names no assignee" in message


def test_keys_and_candidates_that_are_one_text_are_refused():
    by = [{"@id": f"{VISITS}/sex", "pe:keys": ["5", 5]}]
    [(code, message)] = problems(UNITS, by=by)
    assert (code, message.split(":")[0]) == ("M018", "The key '5' is given 2 times")
    counted = {
        "pe:function": "top-k",
        "pe:of": f"{VISITS}/days",
        "pe:k": 1,
        "pe:candidates": [True, "true"],
    }
    [(code, message)] = problems(counted)
    assert (code, message.split(":")[0]) == ("M018", "The candidate 'true' is given 2 times")


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-17"])
def test_noise_beyond_what_can_be_drawn_is_refused(epsilon):
    with pytest.raises(PolicyEngineError) as error:
        planned(DAYS, epsilon={"@value": epsilon, "@type": "xsd:decimal"})
    assert error.value.problems[0].code in ("M018", "P007")


def test_an_epsilon_is_never_rounded_up():
    written = "0." + "9" * 40
    step = step_of(UNITS, epsilon={"@value": written, "@type": "xsd:decimal"})
    assert str(step.epsilon) == written


def decimal(text):
    """Return a number with more digits than JSON readers keep."""
    return {"@value": text, "@type": "xsd:decimal"}


TINY, HUGE = "0." + "0" * 390 + "1", "1" + "0" * 308


@pytest.mark.parametrize(
    "figure",
    [
        {**DAYS, "pe:upper": decimal(f"{TINY[:-3]}1"), "pe:grid": decimal(TINY)},
        {**DAYS, "pe:function": "mean", "pe:upper": decimal(HUGE), "pe:grid": decimal(HUGE)},
        {**DAYS, "pe:function": "variance", "pe:grid": decimal("0.0000000000001")},
        {**MEDIAN, "pe:candidates": [0, decimal(f"{TINY[:-3]}1"), decimal(TINY)]},
        {**MEDIAN, "pe:candidates": [*map(decimal, (f"-{HUGE}", HUGE, HUGE[:-2]))]},
    ],
)
def test_numbers_that_a_float_takes_for_zero_or_infinite_are_refused(figure):
    [(code, message)] = problems(figure)
    assert code == "M018"
    assert "from -10^15 to 10^15, in steps of at least 10^-12" in message


def test_candidates_far_from_0_in_tiny_steps_are_refused():
    [(code, message)] = problems({**MEDIAN, "pe:candidates": [10**12, 10**12 + 2, 1]})
    assert code == "M018"
    assert "candidates of at most 2,147,483,648 steps" in message


def test_the_unit_in_the_output_is_told_beside_another_fault():
    faulty = {**DAYS, "pe:of": f"{VISITS}/person", "pe:grid": 3}
    messages = [message for _, message in problems(UNITS, faulty)]
    assert any("'person' is the unit of privacy" in one for one in messages)
    assert "The bounds are multiples of the grid. Given: 0 to 14 in steps of 3." in messages


def test_numbers_are_written_without_exponents():
    step = step_of(UNITS, {**DAYS, "pe:upper": 20})
    assert '"upper":"20"' in step.model_dump_json()
    [(_, message)] = problems(UNITS, {**DAYS, "pe:upper": 20, "pe:grid": 7})
    assert message.endswith("Given: 0 to 20 in steps of 7.")


def test_names_have_their_prefix_and_ranges_are_those_that_hold():
    [(_, missing)] = problems(UNITS, without=["epsilon"])
    assert missing == "differential-privacy needs the parameter 'pe:epsilon'."
    [(_, epsilon)] = problems(UNITS, epsilon=101)
    assert epsilon.startswith("pe:epsilon takes a number from 1e-9 to 100,")
    [(_, groups)] = problems(UNITS, maxGroupsPerUnit=2**20 + 1)
    assert groups.startswith("pe:maxGroupsPerUnit takes an integer from 1 to 1,048,576.")
    [(_, neighbours)] = problems(UNITS, neighbours="x")
    assert neighbours.startswith("pe:neighbours takes 'add-or-remove' or 'change-one'.")


def test_what_is_read_is_what_the_method_takes():
    assert (MOST_RELEASE_EPSILON, numbers.MOST_CONTRIBUTIONS) == (MOST_EPSILON, MOST_CONTRIBUTIONS)
