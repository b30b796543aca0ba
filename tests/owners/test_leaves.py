"""What a delegate does by leave: how often, and what it makes."""

import pytest
from certifying import certified
from owning import ANN, HOSPITAL, INSURER, NOON, STAFF, VISITS, lets, makes, policy, rule

from policy_engine.decision import Decider, Request, World
from policy_engine.decision_log import DecisionLog
from policy_engine.errors import PlanError
from policy_engine.making import Acting, asked_by
from policy_engine.owners import read_owners
from policy_engine.policy import Constraint, Hierarchy, Reading, Rule
from policy_engine.policy.model import BY_ASSET, BY_PARTY, COUNT, Value
from policy_engine.terms import ODRL

MADE = "http://e.org/Made"
OWNED = {VISITS: HOSPITAL, MADE: INSURER}
READ = policy(INSURER, rule("permission", VISITS, action="read", assignees=[ANN], uid="urn:reads"))
LAB = makes(MADE, VISITS, INSURER)


def bound(operand, operator, value):
    name = operand if ":" in operand else f"{ODRL}{operand}"
    return (Constraint(name, f"{ODRL}{operator}", (Value(value),)),)


ONCE = bound("count", "lteq", 1)


def logged(log, policies, target, assignee, action="read", proofs=()):
    """Return whether a request is permitted, by what was logged before."""
    decider = Decider(policies, proofs, owners=read_owners(OWNED))
    request = Request(assignee=assignee, action=f"{ODRL}{action}", targets=(target,))
    return DecisionLog.open(log).decide(decider, request, World(time=NOON)).permitted


@pytest.mark.parametrize("operand", [COUNT, BY_PARTY, BY_ASSET])
def test_leave_that_is_given_once_is_spent_by_one_permit(tmp_path, operand):
    once = bound(operand, "lteq", 1)
    policies = [lets(HOSPITAL, VISITS, INSURER, constraints=once), READ]
    log = tmp_path / "log.jsonl"
    assert [logged(log, policies, VISITS, ANN) for _ in range(3)] == [True, False, False]


def test_the_owner_is_not_counted_for_a_leave(tmp_path):
    own = policy(
        HOSPITAL, rule("permission", VISITS, action="read", assignees=[STAFF]), uid="urn:o"
    )
    policies = [own, lets(HOSPITAL, VISITS, INSURER, constraints=ONCE), READ]
    log = tmp_path / "log.jsonl"
    assert [logged(log, policies, VISITS, STAFF) for _ in range(2)] == [True, True]
    assert logged(log, policies, VISITS, ANN)


def test_what_was_made_by_the_one_leave_is_read_as_often_as_it_may_be(tmp_path):
    making = policy(INSURER, rule("permission", VISITS, action="anonymize", assignees=[INSURER]))
    policies = [lets(HOSPITAL, VISITS, INSURER, constraints=ONCE), LAB, making]
    asks = tmp_path / "log.jsonl", policies
    proofs = [certified(LAB)]
    assert logged(*asks, VISITS, INSURER, "anonymize")
    assert not logged(*asks, VISITS, INSURER, "anonymize")
    assert [logged(*asks, MADE, STAFF, proofs=proofs) for _ in range(2)] == [True, True]


PAID = Rule("duty", actions=(), uid="urn:pay")
LABS = "http://e.org/Labs"
LEAVES = {
    "plain": ({}, {}),
    "purpose": ({"purposes": ("http://e.org/study",)}, {"purpose": "http://e.org/study"}),
    "time": (
        {"constraints": bound("dateTime", "lt", NOON.replace(month=7))},
        {"world": World(time=NOON)},
    ),
    "duty": ({"duties": (PAID,)}, {"world": World(duties={"urn:pay": "fulfilled"})}),
    "place": (
        {"constraints": bound("spatial", "eq", "http://e.org/EU")},
        {"world": World(values={f"{ODRL}spatial": ("http://e.org/EU",)})},
    ),
    "group": (
        {"assignees": [LABS]},
        {"world": World(memberships=Hierarchy(party=((INSURER, LABS),)))},
    ),
}


def checked(leave, **acting):
    """Return the policy that a party may carry out by a leave."""
    given = lets(HOSPITAL, VISITS, INSURER, **leave)
    acting = Acting(party=INSURER, policies=[given], **acting)
    found = asked_by(LAB, Reading(), OWNED, None, acting)
    found.check_owned([MADE])
    return found.policy


@pytest.mark.parametrize("name", LEAVES)
def test_a_delegate_makes_what_it_has_leave_for_as_things_are(name):
    leave, acting = LEAVES[name]
    assert checked(leave, **acting) == LAB
    if acting:
        other = {"world": World(time=NOON.replace(year=2027))}
        with pytest.raises(PlanError, match="M014"):
            checked(leave, **other)


def test_a_delegate_makes_what_it_has_leave_for_as_often_as_the_log_lets_it(tmp_path):
    log = tmp_path / "log.jsonl"
    assert checked({"constraints": ONCE}, log=log) == LAB
    assert not log.exists()
    making = policy(INSURER, rule("permission", VISITS, action="anonymize", assignees=[INSURER]))
    policies = [lets(HOSPITAL, VISITS, INSURER, constraints=ONCE), LAB, making]
    assert logged(log, policies, VISITS, INSURER, "anonymize")
    with pytest.raises(PlanError, match="M014"):
        checked({"constraints": ONCE}, log=log)
