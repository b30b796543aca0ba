"""What of a decision is told to who may not read all policies."""

from owning import ANN, HOSPITAL, INSURER, NOON, ODRL, OWNED, VISITS, policy, rule

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.telling import told, unchanged
from policy_engine.policy.owners import read_owners

RESEARCH = {"purposes": ["urn:research"]}
OWN = policy(HOSPITAL, rule("permission", VISITS, action="read", uid="urn:own-rule"), uid="urn:own")
NARROW = policy(
    HOSPITAL, rule("permission", VISITS, action="read", uid="urn:narrow", **RESEARCH), uid="urn:hid"
)
FOREIGN = policy(
    INSURER, rule("permission", VISITS, action="read", uid="urn:foreign"), uid="urn:strange"
)


def decided(*policies, assignee=ANN):
    decider = Decider(policies, owners=read_owners(OWNED))
    return decider.decide(
        Request(assignee=assignee, action=f"{ODRL}read", targets=(VISITS,)), World(time=NOON)
    )


def test_a_denial_names_no_rule_of_policies_that_may_not_be_read():
    denial = decided(NARROW)
    assert "urn:narrow" in denial.reason
    shown = told(denial, lambda _uid: False)
    assert shown.reason == "No rule permits it, and what no rule permits is denied."
    assert (shown.derivation, shown.near_misses, shown.matches) == ((), (), ())
    assert "urn:hid" not in shown.model_dump_json(exclude={"policy_digests"})


def test_who_may_read_a_policy_is_told_what_its_rules_lack():
    denial = decided(NARROW)
    assert told(denial, {"urn:hid"}.__contains__) == denial == unchanged(denial)


def test_a_permit_is_told_with_the_rule_that_decided_and_no_other():
    permit = decided(OWN, FOREIGN)
    assert any("urn:foreign does not count" in line for line in permit.derivation)
    shown = told(permit, lambda _uid: False)
    assert (shown.rule, [one.rule for one in shown.matches]) == ("urn:own-rule", ["urn:own-rule"])
    assert shown.derivation == permit.derivation[: len(shown.derivation)] != ()
    assert "urn:foreign" not in shown.model_dump_json()
