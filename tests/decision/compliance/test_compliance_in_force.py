"""Policies that are no longer in force: their permissions have no effect, their prohibitions do."""

import pytest
from compliance_texts import PARTS, PREFIXES, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyError, RequestError

REPLACED = ":policy dct:isReplacedBy :newer ."
ENDS = ":policy <https://w3id.org/policy-engine/ns#endsWith> :offer ."
CHILD = f":child a odrl:Set ; odrl:inheritFrom :policy ; odrl:permission [ {PARTS} ] ."


def reports(policy_text, world_text=None):
    found = compliance_report(policy_text, request(), world_text or world()).policies
    return {one.policy.rpartition("/")[2]: one.rules for one in found}


@pytest.mark.parametrize(
    ("more", "told"), [(REPLACED, ""), ("", REPLACED), (REPLACED, REPLACED)], ids=str
)
def test_replaced_policy_permits_nothing_and_still_prohibits(more, told):
    [permission] = reports(policy(PARTS, more=more), world(told))["policy"]
    why = "The policy is no longer in force: it was replaced by http://example.com/newer."
    assert (permission.active, permission.reason) == (False, why)
    [prohibition] = reports(policy(PARTS, "prohibition", more), world(told))["policy"]
    assert (prohibition.active, prohibition.reason) == (True, "")


def test_policy_that_inherits_from_a_replaced_one_permits_nothing():
    found = reports(policy(PARTS, more=f"{REPLACED} {CHILD}"))["child"]
    why = "it inherits from http://example.com/policy, which is no longer in force."
    assert len(found) == 2
    assert not any(one.active for one in found)
    assert all(one.reason.endswith(why) for one in found)


def test_policy_that_ended_with_another_one_permits_nothing():
    [ended] = reports(policy(PARTS, more=ENDS))["policy"]
    assert (ended.active, "it ends with http://example.com/offer" in ended.reason) == (False, True)
    offer = f":offer a odrl:Offer ; odrl:assigner :owner ; odrl:permission [ {PARTS} ] ."
    [standing] = reports(policy(PARTS, more=f"{ENDS} {offer}"))["policy"]
    assert standing.active


def test_replaced_policy_lifts_no_prohibition():
    both = f":policy odrl:prohibition [ {PARTS} ] ; odrl:conflict odrl:perm . {REPLACED}"
    found = {one.kind: one.active for one in reports(policy(PARTS, more=both))["policy"]}
    assert found == {"Permission": False, "Prohibition": True}


def test_policy_that_another_one_claims_to_replace_stays_in_force():
    other = f":newer a odrl:Set ; dct:replaces :policy ; odrl:permission [ {PARTS} ] ."
    assert [one.active for one in reports(policy(PARTS, more=other))["policy"]] == [True]


@pytest.mark.parametrize("what", [":rule", ":pay"])
def test_rule_that_is_replaced_is_refused(what):
    text = f"{PARTS} ; odrl:duty :pay . :pay odrl:action odrl:compensate"
    said = f" {what} dct:isReplacedBy :newer ."
    with pytest.raises(PolicyError, match=r"P006 The rule .* is said to be replaced"):
        reports(policy(text, more=said))
    with pytest.raises(RequestError, match=r"D003 The rule .* is said to be replaced"):
        reports(policy(text), world(said))


def test_rule_that_is_replaced_is_told_where_that_is_said():
    said = ":rule a odrl:Permission ;\n  dct:isReplacedBy :newer ."
    with pytest.raises(PolicyError) as caught:
        reports(policy(PARTS, more=said))
    place = caught.value.problems[0].place
    assert (place.pointer, place.line) == ("", PREFIXES.count("\n") + 2)


def test_policy_is_replaced_by_something():
    with pytest.raises(PolicyError, match=r"P007 .*isReplacedBy may not be an empty list"):
        reports(policy(PARTS, more=":policy dct:isReplacedBy () ."))
