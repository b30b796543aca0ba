"""What a delegate does by leave: how often, and what it makes."""

from dataclasses import replace

import pytest
from certifying import certified
from owning import ANN, HOSPITAL, INSURER, NOON, STAFF, VISITS, lets, makes, policy, rule

from policy_engine.api.acting import ActingParty, making_request
from policy_engine.certificate.sources import as_upstream
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.decision.log import DecisionLog
from policy_engine.errors import PlanError
from policy_engine.policy import Constraint, Hierarchy, LogicalConstraint, Party, Reading, Rule
from policy_engine.policy.model import ANONYMIZE, BY_ASSET, BY_PARTY, COUNT, Value
from policy_engine.policy.owners import read_owners
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
    acting = ActingParty(party=INSURER, policies=[given], **acting)
    found = making_request(LAB, Reading(), OWNED, None, acting)
    found.check_consents([MADE])
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


# -- what an owner lets be anonymised -------------------------------------------------------------

LATER = NOON.replace(year=2027)
THIS_YEAR = bound("dateTime", "lt", LATER)
OVER = bound("dateTime", "lt", NOON.replace(month=5))
FURTHER = "http://e.org/Further"
MAKES = makes(MADE, VISITS, INSURER, assignee=[STAFF, INSURER])


def joined(operator, *conditions):
    return (
        LogicalConstraint(f"{ODRL}{operator}", tuple(one for some in conditions for one in some)),
    )


def consenting(**parts):
    """Return the policy by which the hospital lets the insurer anonymise the visits."""
    return lets(HOSPITAL, VISITS, INSURER, action="anonymize", **parts)


BOUNDED = {
    "and": {"constraints": joined("and", ONCE, THIS_YEAR)},
    "in sequence": {"constraints": joined("andSequence", THIS_YEAR, ONCE)},
    "within": {"constraints": joined("and", joined("and", ONCE), THIS_YEAR)},
    "or": {"constraints": joined("or", OVER, ONCE)},
    "alone": {"constraints": ONCE},
}


@pytest.mark.parametrize("case", BOUNDED)
def test_what_was_made_by_a_consent_is_read_after_its_count_is_spent(tmp_path, case):
    policies, proofs = [consenting(**BOUNDED[case]), MAKES], [certified(MAKES)]
    asks = tmp_path / "log.jsonl", policies
    spent = [logged(*asks, VISITS, INSURER, "anonymize") for _ in range(2)]
    assert spent == [True, False]
    assert [logged(*asks, MADE, STAFF, proofs=proofs) for _ in range(2)] == [True, True]


def test_what_was_made_by_a_consent_is_read_where_its_count_is_a_refinement(tmp_path):
    [leave] = consenting().permissions
    policies = [consenting(), MAKES]
    policies[0] = replace(
        policies[0], permissions=(replace(leave, assignees=(Party(INSURER, ONCE),)),)
    )
    asks = tmp_path / "log.jsonl", policies
    assert logged(*asks, VISITS, INSURER, "anonymize")
    assert not logged(*asks, VISITS, INSURER, "anonymize")
    assert logged(*asks, MADE, STAFF, proofs=[certified(MAKES)])


@pytest.mark.parametrize("operator", ["and", "andSequence"])
def test_what_was_made_by_a_consent_is_not_read_when_its_time_is_over(operator):
    proofs, owners = [certified(MAKES)], read_owners(OWNED)
    asked = Request(assignee=STAFF, action=f"{ODRL}read", targets=(MADE,))
    for time, effect in ((NOON, "permit"), (LATER, "deny")):
        consent = consenting(constraints=joined(operator, ONCE, THIS_YEAR))
        found = Decider([consent, MAKES], proofs, owners=owners)
        assert found.decide(asked, World(time=time)).effect == effect


def test_a_count_that_was_exceeded_keeps_no_release_after_its_alternative_is_over(tmp_path):
    both = joined("or", OVER, ONCE)
    asks = tmp_path / "log.jsonl", [consenting(), MAKES]
    assert all(logged(*asks, VISITS, INSURER, "anonymize") for _ in range(2))
    now = tmp_path / "log.jsonl", [consenting(constraints=both), MAKES]
    assert not logged(*now, MADE, STAFF, proofs=[certified(MAKES)])


@pytest.mark.parametrize(("times", "stands"), [(0, True), (1, True), (2, False)])
def test_what_was_made_within_a_count_stands_as_the_log_tells(times, stands):
    consent = consenting(constraints=joined("or", OVER, ONCE))
    decider = Decider([consent, MAKES], [certified(MAKES)], owners=read_owners(OWNED))
    history, world = History(), World(time=NOON)
    for _ in range(times):
        rule_of_it = consent.uid, consent.permissions[0].label()
        history.record_execution(rule_of_it, INSURER, ANONYMIZE, [VISITS], [])
    release = as_upstream(certified(MAKES))
    assert (decider.release_end_reason(release, world, history) == "") == stands
    assert "may no longer be made" in decider.release_end_reason(release, world)


def test_a_consent_that_is_spent_lets_more_be_made_of_what_was_made_by_it(tmp_path):
    further = makes(FURTHER, MADE, INSURER, assignee=[INSURER])
    asks = tmp_path / "log.jsonl", [consenting(constraints=ONCE), MAKES, further]
    assert logged(*asks, VISITS, INSURER, "anonymize")
    assert logged(*asks, MADE, INSURER, "anonymize", proofs=[certified(MAKES)])


def test_a_bound_on_making_does_not_prohibit_what_was_made_within_it(tmp_path):
    more = rule("prohibition", VISITS, action="anonymize", constraints=bound("count", "gt", 1))
    policies = [consenting(), MAKES, policy(HOSPITAL, more, uid="urn:no")]
    asks = tmp_path / "log.jsonl", policies
    spent = [logged(*asks, VISITS, INSURER, "anonymize") for _ in range(2)]
    assert spent == [True, False]
    assert logged(*asks, MADE, STAFF, proofs=[certified(MAKES)])
