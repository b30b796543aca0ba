"""What a duty asks for of a model's columns, and what is wrong with it."""

import json

import pytest
from building import DATASET, refinement
from modelled import CITY, anonymised, bound, learned, of_raw, policy, train, use, with_secrets

from policy_engine.api.planning import plan_policy
from policy_engine.errors import PlanError
from policy_engine.plan.plan import Plan


def test_a_duty_attacks_columns_of_the_model_at_an_upper_bound():
    plan = plan_policy(with_secrets(of_raw(), bound("advantage", 0.05), CITY))
    assert [step.step for step in plan.steps][-3:] == ["audit", "secret-audit", "publish"]
    [step] = plan.secret_audits
    assert str(step.method) == "advantage at most 0.05 of city"
    assert len(step.method.keys) == 12  # six attacks, over all values and of the worst
    assert step.values_read == ("city",)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_the_method_may_be_named():
    method = refinement("mosaicrown:method", "attribute-inference")
    parts = (method, bound("advantage", 0.05, "lt"), CITY)
    plan = plan_policy(with_secrets(of_raw(), *parts, action="pe:audit"))
    assert str(plan.secret_audits[0].method) == "advantage below 0.05 of city"


def test_sensitive_features_are_secret_by_default():
    features = [f"{DATASET}/age", f"{DATASET}/city"]
    rules = [anonymised(), train(feature=features), use()]
    rules[0]["action"]["refinement"][-1]["rightOperand"] = [f"{DATASET}/disease"]
    text = with_secrets(policy(rules), bound("advantage", 0.05))
    with pytest.raises(PlanError, match="No sensitive column is a feature of the model"):
        plan_policy(text)


def test_a_plan_without_such_a_duty_has_no_such_step():
    assert plan_policy(of_raw()).secret_audits == ()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([CITY], "bounds nothing. It bounds advantage"),
        ([bound("advantage", 0), CITY], "no interval of an advantage ends there"),
        ([bound("advantage", 1), CITY], "that bounds nothing"),
        ([bound("advantage", 0.1, "gteq"), CITY], "takes the operator"),
        ([bound("advantage", 0.1), learned("disease")], "'disease' is not a feature of the model"),
        ([bound("advantage", 0.1), learned("name")], "'name' is not a feature of the model"),
        ([bound("advantage", 0.1), bound("inferred", 0.1), CITY], "takes no pe:inferred"),
        ([bound("advantage", 0.1)], "not said what nobody should learn"),
    ],
)
def test_what_bounds_nothing_or_is_no_feature_is_refused(parts, message):
    with pytest.raises(PlanError, match=message):
        plan_policy(with_secrets(of_raw(), *parts))


def test_without_membership_inference_no_attempts_would_be_counted():
    document = json.loads(with_secrets(of_raw(), bound("advantage", 0.1), CITY))
    for rule in document["permission"]:
        if "duty" in rule:
            rule["duty"] = rule["duty"][1]
    with pytest.raises(PlanError, match="the model that membership inference attacks"):
        plan_policy(json.dumps(document))
