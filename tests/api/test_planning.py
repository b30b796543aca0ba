import pytest
from building import DATASET

from policy_engine import (
    apply_policy,
    certify_output,
    check_policy,
    explore_policy,
    plan_all,
    plan_policy,
)
from policy_engine.plan import reading_anonymization


@pytest.fixture
def derived(monkeypatch):
    """The rules of which it was read what they ask for, each time that it was."""
    found, derive = [], reading_anonymization._transformation

    def counted(policy, rule, action):
        found.append(rule.label())
        return derive(policy, rule, action)

    monkeypatch.setattr(reading_anonymization, "_transformation", counted)
    return found


@pytest.mark.parametrize("is_bound", [False, True])
@pytest.mark.parametrize("verb", [plan_policy, plan_all])
def test_what_a_policy_asks_for_is_derived_once_of_a_plan(people, derived, verb, is_bound):
    verb(people / "policy.jsonld", {DATASET: people / "people.csv"} if is_bound else None)
    assert derived == ["http://x.org/policy/1"]


def test_what_a_policy_asks_for_is_derived_once_of_all_else(people, derived):
    policy, data = people / "policy.jsonld", {DATASET: people / "people.csv"}
    verbs = [
        lambda: check_policy(policy),
        lambda: apply_policy(policy, data, people / "release"),
        lambda: certify_output(people / "release", policy),
        lambda: certify_output(people / "release", policy, data=data),
        lambda: explore_policy(policy, data, {"k": [2, 3]}),
    ]
    for verb in verbs:
        verb()
        assert derived == ["http://x.org/policy/1"]
        derived.clear()
