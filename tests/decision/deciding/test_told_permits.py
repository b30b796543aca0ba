"""What a permit by leave tells: by whose rules, which executions, and what is owed."""

import pytest
from certifying import certified
from owning import (
    ANN,
    CLAIMS,
    HOSPITAL,
    INSURER,
    NOON,
    OWNED,
    STAFF,
    VISITS,
    decided,
    lets,
    makes,
    policy,
    rule,
)

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.decision.model import CarriedOutRule, Counted
from policy_engine.policy import Asset, Constraint, Party, Rule, Value
from policy_engine.policy.model import ANONYMIZE, COUNT, READ
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

SAFE, STUDY = "http://e.org/Safe", "http://e.org/study"
MADE = makes(SAFE, VISITS, INSURER, assignee=[STAFF, INSURER])
READS = policy(INSURER, rule("permission", VISITS, action="read", uid="urn:reads"), uid="urn:mine")
GRANTS, ANONYMIZES = (
    lets(HOSPITAL, VISITS, INSURER, action=action, uid=f"urn:{action}")
    for action in ("grantUse", "anonymize")
)


def often(operator, number):
    return (Constraint(COUNT, f"{ODRL}{operator}", (Value(number),)),)


def asked(*policies, action=READ, assignee=ANN, history=None, target=VISITS, proofs=()):
    request = Request(assignee=assignee, action=action, targets=(target,))
    decider = Decider(policies, proofs, owners=read_owners({**OWNED, SAFE: INSURER}))
    return decider.decide(request, World(time=NOON), history)


def counted(found):
    return [(one.rule, one.targets, one.party) for one in found.counted]


def test_a_permit_by_leave_to_grant_use_is_an_execution_of_the_leave_by_who_granted():
    found = asked(READS, GRANTS)
    assert f"urn:grantUse lets {INSURER} grant the use of {VISITS}" in found.derivation
    by = GRANTS.uid
    assert found.counted == (
        Counted(policy="urn:mine", rule="urn:reads", targets=(VISITS,)),
        Counted(policy=by, rule="urn:grantUse", targets=(VISITS,), party=INSURER),
    )


def test_leave_to_anonymize_lets_nobody_permit_reading():
    found = asked(READS, ANONYMIZES)
    assert found.near_misses[0].missing == (f"{INSURER} does not own {VISITS}",)


def test_a_permit_of_ones_own_is_an_execution_of_no_leave():
    own = policy(HOSPITAL, rule("permission", VISITS, uid="urn:own"), uid="urn:h")
    found = asked(own, GRANTS)
    assert counted(found) == [("urn:own", (VISITS,), "")]
    assert not [line for line in found.derivation if " lets " in line]


def test_a_prohibition_of_granting_too_often_is_executed_with_the_leave():
    bars = rule(
        "prohibition", VISITS, action="grantUse", uid="urn:bars", constraints=often("gt", 2)
    )
    found = asked(READS, GRANTS, policy(HOSPITAL, bars, uid="urn:b"), history=History())
    assert counted(found) == [
        ("urn:reads", (VISITS,), ""),
        ("urn:grantUse", (VISITS,), INSURER),
        ("urn:bars", (VISITS,), INSURER),
    ]


def test_granting_as_often_as_is_not_prohibited_is_permitted():
    bars = rule(
        "prohibition", VISITS, action="grantUse", uid="urn:bars", constraints=often("gt", 1)
    )
    policies, history = [READS, GRANTS, policy(HOSPITAL, bars, uid="urn:b")], History()
    assert asked(*policies, history=history).permitted
    history.record_execution(("urn:b", "urn:bars"), INSURER, READ, [VISITS], [])
    assert not asked(*policies, history=history).permitted


@pytest.mark.parametrize("leave", [ANONYMIZES, GRANTS])
def test_making_by_leave_is_an_execution_of_the_leave_on_what_is_the_owners(leave):
    found = asked(MADE, leave, action=ANONYMIZE, assignee=INSURER)
    is_granted, [made] = leave is GRANTS, MADE.permissions
    what = f"grant the use of {VISITS}" if is_granted else f"anonymize {VISITS}"
    told = f"{leave.permissions[0].uid} lets {INSURER} {what}"
    assert [line for line in found.derivation if " lets " in line] == [told]
    executed = (leave.permissions[0].uid, (VISITS,), INSURER if is_granted else "")
    assert counted(found) == [(made.label(), (VISITS,), ""), executed]


def test_who_is_to_make_what_another_has_leave_for_needs_leave_as_well():
    found = asked(MADE, ANONYMIZES, action=ANONYMIZE, assignee=STAFF)
    assert found.near_misses[0].missing == (
        f"{INSURER} does not own {VISITS}, and its owner does not let {STAFF} make anything of it",
    )
    theirs = lets(HOSPITAL, VISITS, STAFF, action="anonymize", uid="urn:theirs")
    both = asked(MADE, ANONYMIZES, theirs, action=ANONYMIZE, assignee=STAFF)
    assert [rule for rule, _, _ in counted(both)[1:]] == ["urn:anonymize", "urn:theirs"]
    late = lets(HOSPITAL, VISITS, STAFF, action="anonymize", uid="urn:theirs", purposes=(STUDY,))
    found = asked(MADE, ANONYMIZES, late, action=ANONYMIZE, assignee=STAFF)
    told = f", and urn:theirs does not let {STAFF} make it: it is for the purpose {STUDY}"
    assert told in found.near_misses[0].missing[0]


def test_what_is_made_on_the_way_needs_no_certificate_yet():
    further = makes("http://e.org/Further", SAFE, INSURER, assignee=[INSURER])
    request = Request(assignee=INSURER, action=ANONYMIZE, targets=(SAFE,))
    decider = Decider([MADE, ANONYMIZES, further], owners=read_owners({**OWNED, SAFE: INSURER}))
    for on_the_way, is_permitted in (({SAFE}, True), ({"http://e.org/Further"}, False)):
        carried = CarriedOutRule(further.uid, further.permissions[0].label(), frozenset(on_the_way))
        found = decider.decide(request, World(time=NOON), carried=carried)
        assert found.permitted == is_permitted
        assert ("no certificate" in found.reason) != is_permitted


def test_what_was_made_by_leave_is_read_without_another_execution_of_it():
    found = asked(MADE, ANONYMIZES, assignee=STAFF, target=SAFE, proofs=[certified(MADE)])
    assert counted(found) == [(MADE.permissions[0].label(), (SAFE,), "")]
    assert f"urn:anonymize lets {INSURER} anonymize {VISITS}" in found.derivation


def test_a_permit_by_leave_comes_with_what_the_policy_of_the_leave_obliges_to():
    tidy = Rule("obligation", uid="urn:tidy", assignees=(Party(ANN),), targets=(Asset(VISITS),))
    other = Rule("obligation", uid="urn:other", assignees=(Party(INSURER),))
    given = policy(HOSPITAL, *GRANTS.permissions, tidy, other, uid="urn:given")
    own = Rule("obligation", uid="urn:own")
    mine = policy(INSURER, *READS.permissions, own, uid="urn:mine")
    unrelated = policy(INSURER, rule("permission", CLAIMS), tidy, uid="urn:unrelated")
    found = asked(mine, given, unrelated)
    assert [(one.policy, one.duty, one.by) for one in found.duties] == [
        ("urn:mine", "urn:own", ()),
        ("urn:given", "urn:tidy", (ANN,)),
    ]


@pytest.mark.parametrize(
    ("parts", "is_owed"),
    [
        ({}, True),
        ({"assignees": (Party(ANN),)}, True),
        ({"assignees": (Party(STAFF),)}, False),
        ({"targets": (Asset(VISITS),)}, True),
        ({"targets": (Asset(f"{VISITS}/Name"),)}, True),
        ({"targets": (Asset(CLAIMS),)}, False),
        ({"targets": (Asset(CLAIMS), Asset(VISITS))}, True),
        ({"assignees": (Party(STAFF),), "targets": (Asset(VISITS),)}, False),
    ],
    ids=str,
)
def test_an_obligation_is_owed_by_its_assignees_for_its_targets(parts, is_owed):
    tidy = Rule("obligation", uid="urn:tidy", **parts)
    found = decided([policy(HOSPITAL, rule("permission", VISITS), tidy)])
    assert found.permitted
    assert [one.duty for one in found.duties] == (["urn:tidy"] if is_owed else [])
