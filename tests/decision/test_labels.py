"""What a world says of rules and duties, by their labels."""

import json
from datetime import UTC, datetime

import pytest
from ruling import ANN, ODRL, TABLE, USE, is_permitted, policy, rule, where

from policy_engine import load_policy
from policy_engine.decision import Decider, Request, World, read_world
from policy_engine.errors import RequestError
from policy_engine.policy import Action, Rule

ONE, OTHER = "urn:p:one", "urn:p:other"
DUTY = Rule("duty", actions=(Action(f"{ODRL}inform"),), uid="urn:d:1")
ELSEWHERE = policy(rule("permission", "http://e.org/U", duties=(DUTY,)), uid=OTHER)


def asking(**world):
    """Ask one policy with a duty and a limited count, beside one with rules of the same names."""
    limit = where("count", "lt", 3)
    mine = policy(rule("permission", duties=(DUTY,), constraints=(limit,)), uid=ONE)
    return is_permitted([mine, ELSEWHERE], **world)


def test_duty_of_one_policy_is_not_fulfilled_for_another():
    count = {ONE: {"urn:r:permission": 0}}
    assert not asking(counts=count, duties={"urn:d:1": "fulfilled"})
    assert not asking(counts=count, duties={OTHER: {"urn:d:1": "fulfilled"}})
    assert asking(counts=count, duties={ONE: {"urn:d:1": "fulfilled"}})


def test_count_of_one_policys_rule_is_not_anothers():
    done = {ONE: {"urn:d:1": "fulfilled"}}
    assert not asking(duties=done, counts={"urn:r:permission": 0})
    assert not asking(duties=done, counts={OTHER: {"urn:r:permission": 0}})
    assert not asking(duties=done, counts={ONE: {"urn:r:permission": 2}})
    assert asking(duties=done, counts={ONE: {"urn:r:permission": 1}})


def test_a_denial_says_that_a_name_of_several_rules_tells_of_none():
    limit = where("count", "lt", 3)
    given = [policy(rule("permission", duties=(DUTY,)), uid=ONE), ELSEWHERE]
    counted = [policy(rule("permission", constraints=(limit,)), uid=ONE), ELSEWHERE]
    asked = Request(assignee=ANN, action=USE, targets=(TABLE,))

    def missing(policies, **world):
        return Decider(policies).decide(asked, World(**world)).near_misses[0].missing

    [told] = missing(given, duties={"urn:d:1": "fulfilled"})
    assert told.endswith("the value for urn:d:1 does not count, since several rules have that name")
    [told] = missing(counted, counts={"urn:r:permission": 0})
    assert "urn:r:permission does not count, since several rules" in told
    for duties in ({}, {ONE: {"urn:d:1": "violated"}}):
        assert "several" not in missing(given, duties=duties)[0]
    assert missing(counted)[0].endswith("without a decision log")


def test_label_of_one_policy_alone_says_enough():
    mine = policy(rule("permission", TABLE, duties=(DUTY,)))
    for duties in ({"urn:d:1": "fulfilled"}, {"urn:p:0": {"urn:d:1": "fulfilled"}}):
        assert is_permitted([mine], duties=duties)
    violated = {"urn:d:1": "fulfilled", "urn:p:0": {"urn:d:1": "violated"}}
    assert not is_permitted([mine], duties=violated)


@pytest.mark.parametrize("count", [-1, 1.5, "2", True, None, {"urn:r": -1}, [1]])
def test_count_is_an_integer_of_0_or_more(count):
    with pytest.raises(RequestError, match="a count is an integer of 0 or more") as error:
        read_world({"counts": {"urn:p": count}})
    assert len(error.value.problems) == 1


def test_world_comes_back_from_its_json():
    world = World(
        time=datetime(2026, 6, 1, tzinfo=UTC),
        counts={"urn:r": 2, "urn:p": {"urn:r": 0}},
        duties={"urn:d": "violated", "urn:p": {"urn:d": "fulfilled"}},
    )
    assert read_world(world.model_dump_json()) == world


PREFIXED = """{
  "@context": ["http://www.w3.org/ns/odrl.jsonld", {"ex": "http://bank.example/"}],
  "@type": "Set", "uid": "ex:policy/q",
  "permission": {"uid": "ex:policy/q#dia", "target": "ex:Loans", "action": "read",
    "duty": {"uid": "ex:policy/q#tell", "action": "inform"}}
}"""
WHOLE = "http://bank.example/policy/q"


@pytest.mark.parametrize("part", ["counts", "duties"])
def test_rules_are_named_by_the_prefixes_of_policies(part):
    said = 1 if part == "counts" else "fulfilled"
    policies = [load_policy(PREFIXED)]
    for given in (
        {"ex:policy/q#dia": said},
        {"ex:policy/q": {"ex:policy/q#dia": said}},
        {"permission /permission/0": said, "#dia": said},
    ):
        world = read_world(json.dumps({part: given}), policies=policies)
        whole = json.loads(json.dumps(given).replace("ex:policy/q", WHOLE))
        assert getattr(world, part) == whole
        assert read_world({part: given}, policies=policies) == world


@pytest.mark.parametrize(
    "names",
    [("nope:policy/q#dia",), ("ex:policy/q#dia", f"{WHOLE}#dia")],
    ids=["undeclared", "twice"],
)
def test_rules_by_names_that_are_not_clear_are_refused(names):
    policies = [load_policy(PREFIXED)]
    for given in (dict.fromkeys(names, 1), {WHOLE: dict.fromkeys(names, 1)}):
        with pytest.raises(RequestError, match="D001"):
            read_world({"counts": given}, policies=policies)
