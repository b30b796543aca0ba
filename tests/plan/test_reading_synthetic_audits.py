"""What duties ask for of made-up rows, read and planned without data."""

import json

import pytest
from building import OUTPUT
from synthesising import attacking, synthesising

from policy_engine.errors import PlanError
from policy_engine.methods.generative import DEFAULT_ATTACKS
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy


def planned(**refinements):
    return make_plan(read_policy(attacking(("age", "town"), **refinements)))


def problems(**refinements):
    with pytest.raises(PlanError) as caught:
        planned(**refinements)
    return [(one.code, one.message) for one in caught.value.problems]


def test_a_plan_attacks_what_was_made_up_before_it_is_published():
    plan = planned(auc=0.6, tprAtFpr=0.05, fpr=0.01, setPValue=0.02, excessCopies=0.1)
    steps = ["read", "drop", "synthesise", "synthetic-audit", "publish"]
    assert [step.step for step in plan.steps] == steps
    [audit] = plan.synthetic_audits
    assert [str(one) for one in audit.method.bounds] == [
        "auc at most 0.6",
        "tprAtFpr 0.01 at most 0.05",
        "setPValue at least 0.02",
        "excessCopies at most 0.1",
    ]
    assert audit.method.attacks == DEFAULT_ATTACKS
    assert (audit.asset, plan.holdout_share) == (OUTPUT, 0.5)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_attacks_and_the_share_held_out_are_settings():
    plan = planned(
        auc=0.6, attack=["density-ratio", {"@id": "pe:nearest-sample"}], holdoutShare=0.2
    )
    [audit] = plan.synthetic_audits
    assert audit.method.attacks == ("density-ratio", "nearest-sample")
    assert plan.holdout_share == 0.2


def test_without_a_duty_nothing_is_held_out():
    plan = make_plan(read_policy(synthesising("age")))
    assert (plan.synthetic_audits, plan.holdout_share) == ((), 0)


@pytest.mark.parametrize(
    ("refinements", "expected"),
    [
        ({"holdoutShare": 0.5}, ("M013", "The audit bounds nothing. It may bound 'auc',")),
        ({"auc": 0.5}, ("M011", "auc must be at most 0.5, but guessing reaches that.")),
        ({"auc": 1}, ("M011", "auc must be at most 1, but that bounds nothing.")),
        ({"excessCopies": 0}, ("M011", "but no interval shows that.")),
        ({"setPValue": 0.6}, ("M011", "but chance is below it half of the time.")),
        ({"setPValue": 1e-200}, ("M011", "setPValue must be at least 1e-200, but that bounds")),
        ({"excessCopies": 1e-9}, ("M011", "but no interval shows that.")),
        ({"tprAtFpr": 1e-4, "fpr": 1e-5}, ("M011", "but no interval shows that.")),
        ({"tprAtFpr": 0.01, "fpr": 0.01}, ("M011", "but guessing reaches that.")),
        ({"auc": 0.6, "fpr": 0.01}, ("M013", "fpr is that at which tprAtFpr is measured")),
        ({"auc": 0.6, "holdoutShare": 1}, ("M013", "holdoutShare is above 0 and below 1.")),
        ({"auc": 0.6, "attack": ["lira-offline"]}, ("M013", "on made-up rows is not known.")),
        (
            {"auc": 0.6, "attack": ["exact-copies", "exact-copies"]},
            ("M013", "The attack 'exact-copies' is asked for twice."),
        ),
        ({"auc": 0.6, "shadowModels": 8}, ("M013", "takes no pe:shadowModels.")),
        ({"precision": 0.6}, ("M013", "takes no pe:precision.")),
    ],
)
def test_what_no_attack_shows_is_refused(refinements, expected):
    code, message = expected
    found = problems(**refinements)
    assert any(one == code and message in text for one, text in found), found


def test_the_share_held_out_is_one_for_all_duties():
    facts = json.loads(attacking(("age",), auc=0.6))
    other = json.loads(attacking(("age",), auc=0.7, holdoutShare=0.2))["permission"][1]
    facts["permission"].append({**other, "uid": "http://x.org/other"})
    with pytest.raises(PlanError, match="of the rows would be held out") as caught:
        make_plan(read_policy(json.dumps(facts)))
    assert caught.value.code == "M013"


def with_action(name, refinement):
    facts = json.loads(attacking(("age",), auc=0.6))
    action = {"rdf:value": {"@id": name}, "refinement": [refinement] if refinement else []}
    facts["permission"][1]["duty"]["action"] = action
    return facts


@pytest.mark.parametrize(
    ("name", "refinement", "message"),
    [
        (
            "pe:recordLinkage",
            {"leftOperand": "pe:linked", "operator": "lteq", "rightOperand": 0.1},
            "The audit is by 'record-linkage', and the rows are made up",
        ),
        (
            "pe:audit",
            {"leftOperand": "pe:auc", "operator": "lteq", "rightOperand": 0.6},
            "The audit names no method",
        ),
    ],
)
def test_made_up_rows_are_attacked_by_membership_inference_alone(name, refinement, message):
    with pytest.raises(PlanError, match=message) as caught:
        make_plan(read_policy(json.dumps(with_action(name, refinement))))
    assert caught.value.code == "M013"


def test_a_duty_on_what_is_not_made_is_refused():
    facts = json.loads(attacking(("age",), auc=0.6))
    facts["permission"][1]["target"] = "http://x.org/Other"
    with pytest.raises(PlanError, match="The audit is of 'http://x") as caught:
        make_plan(read_policy(json.dumps(facts)))
    assert caught.value.code == "M013"


def test_rows_that_nothing_bounds_are_hinted_at():
    [hint] = read_policy(synthesising("age")).hints
    assert (hint.code, "pe:membershipInference" in hint.hint) == ("W005", True)
    assert read_policy(attacking(("age",), auc=0.6)).hints == ()
