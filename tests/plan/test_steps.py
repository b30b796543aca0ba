"""The steps of plans: which there are, in which order, and what is asked of any of them."""

import json

import pytest
from applying import asking
from building import ANALYST, OUTPUT, anonymize, column, permission, policy
from modelled import audit
from pydantic import ValidationError

from policy_engine import terms
from policy_engine.errors import PlanError
from policy_engine.methods import privacy_model_class
from policy_engine.methods.masking import masking_class
from policy_engine.methods.sampling import Sampling
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import check_plannable
from policy_engine.plan.steps import _MAKERS
from policy_engine.policy import read_policy

PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}
PAY = column("pay", masking="rounding", base=10)
CAP = column("cap", masking="top-coding", threshold=7.5)


def planned(**parts):
    return make_plan(read_policy(asking(**{**PLAIN, **parts})))


def refusal(**parts):
    with pytest.raises(PlanError) as caught:
        planned(**parts)
    return [(one.code, one.message) for one in caught.value.problems]


def test_every_method_says_which_step_it_makes_and_steps_there_are():
    kinds = [
        *map(privacy_model_class, terms.privacy_models()),
        *map(masking_class, terms.maskings()),
    ]
    assert {*(kind.step for kind in kinds), Sampling.kind} == set(_MAKERS)


def test_masked_columns_are_a_step_of_their_own_before_classes_are_formed():
    plan = planned(masked=[PAY, CAP], insensitive=["note"])
    assert [one.step for one in plan.steps] == ["read", "drop", "mask", "anonymize", "publish"]
    assert (
        sorted(plan.publish.columns) == sorted(plan.read.columns) == ["age", "cap", "note", "pay"]
    )
    assert set(plan.values_read) == {"age", "cap", "pay"}
    assert plan.anonymize.columns.released == ("age", "note")
    assert set(plan.bounds()) == {
        ("k", "", 2, "at least"),
        ("rounding", "pay", 0, "at most"),
        ("top-coding", "cap", 0, "at most"),
    }
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert plan.public().mask == plan.mask


def test_without_masked_columns_there_is_no_such_step():
    assert [one.step for one in planned().steps] == ["read", "drop", "anonymize", "publish"]
    assert planned().mask is None


def changed(change):
    """Return the JSON of a plan that masks a column, with its steps changed."""
    plan = json.loads(planned(masked=[PAY]).model_dump_json())
    plan["steps"] = change(plan["steps"])
    return json.dumps(plan)


@pytest.mark.parametrize(
    "change",
    [
        lambda steps: [steps[i] for i in (0, 1, 3, 2, 4)],
        lambda steps: [steps[i] for i in (0, 1, 2, 2, 3, 4)],
        lambda steps: [steps[i] for i in (0, 1, 2, 4)],
        lambda steps: [steps[i] for i in (0, 1, 3, 4)],  # pay is published, and nobody made it
        lambda steps: [*steps[:2], {"step": "mask", "columns": []}, *steps[3:]],
        lambda steps: [*steps[:2], {"step": "mask", "columns": [{"name": "pay"}]}, *steps[3:]],
    ],
)
def test_a_plan_that_masks_otherwise_is_none(change):
    with pytest.raises(ValidationError):
        Plan.model_validate_json(changed(change))


def test_a_misspelt_masking_is_told_what_is_meant():
    [(_, said)] = refusal(masked=[column("pay", masking="rankswap")])
    assert said.endswith("Did you mean 'rank-swapping'?")


@pytest.mark.parametrize(
    ("settings", "code", "message"),
    [
        ({}, "M002", "'pay': masked needs the parameter 'pe:masking'."),
        ({"masking": "mean"}, "M003", "'pay': masking is not allowed to be 'mean'."),
        (
            {"masking": "top-coding"},
            "M002",
            "'pay': top-coding needs the parameter 'pe:threshold' or 'pe:tail'.",
        ),
        ({"masking": "rounding", "base": 0}, "M003", "'pay': base is not allowed to be 0."),
        ({"masking": "rounding", "base": 1e16}, "M003", "'pay': base is not allowed to be 1"),
        (
            {"masking": "rounding", "base": 2, "threshold": 3},
            "M004",
            "'pay': rounding has no parameter 'threshold'.",
        ),
    ],
)
def test_a_masking_without_what_it_needs_is_refused_when_it_is_planned(settings, code, message):
    [(found, said)] = refusal(masked=[column("pay", **settings)])
    assert (found, said[: len(message)]) == (code, message)


@pytest.mark.parametrize("role", ["quasi", "identifier", "insensitive"])
def test_a_masked_column_has_no_other_role(role):
    given = ["age", "pay"] if role == "quasi" else ["pay"]
    [(code, message)] = refusal(masked=[PAY], **{role: given})
    assert code == "M005"
    assert message.endswith("and masked. A column has one role.")


def test_persons_are_not_counted_by_a_masked_column():
    assert [code for code, _ in refusal(masked=[PAY], privacyUnit="pay")] == ["M005"]


def test_a_table_with_masked_columns_is_not_audited():
    made = permission(action=anonymize(**PLAIN, sensitive=["ill"], masked=[PAY]), output=OUTPUT)
    duty = {"action": audit(label=f"{OUTPUT}/ill", model="GaussianNB")}
    use = permission(assignee=ANALYST, target=OUTPUT, action="read", duty=duty)
    with pytest.raises(PlanError, match=r"M013 .*where columns are masked: 'pay'"):
        check_plannable(read_policy(policy([made, use])))


def test_a_sample_is_not_audited():
    asked = anonymize(**PLAIN, sensitive=["ill"], sampleShare=0.5)
    made = permission(action=asked, output=OUTPUT)
    duty = {"action": audit(label=f"{OUTPUT}/ill", model="GaussianNB")}
    use = permission(assignee=ANALYST, target=OUTPUT, action="read", duty=duty)
    with pytest.raises(PlanError, match=r"M013 .*where rows are sampled"):
        check_plannable(read_policy(policy([made, use])))
