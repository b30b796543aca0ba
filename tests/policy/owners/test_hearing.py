"""Rules that are told not to count, because an owner's leave is missing."""

import pytest
from owning import CLAIMS, HOSPITAL, INSURER, VISITS, policy, rule

from policy_engine.policy.owners import read_owners
from policy_engine.policy.owners.hearing import unheard

LAB, LABS = "http://e.org/Lab", "http://e.org/Labs"
JOINS = policy(
    LAB, rule("permission", VISITS, CLAIMS, action="anonymize", output="http://e.org/Joined")
)


def lets(owner, asset, who=LAB, action="anonymize", uid="", **edges):
    given = rule("permission", asset, action=action, assignees=[who])
    return policy(owner, given, uid=uid, **edges)


def told(*policies):
    owners = read_owners({VISITS: HOSPITAL, CLAIMS: INSURER})
    return [problem.message for _, problem in unheard([*policies, JOINS], owners)]


@pytest.mark.parametrize(
    "leave",
    [
        lets(HOSPITAL, VISITS),
        lets(HOSPITAL, VISITS, action="grantUse"),
        lets(HOSPITAL, VISITS, LABS, party=((LAB, LABS),)),
    ],
)
def test_who_has_the_leave_of_each_owner_is_heard(leave):
    assert told(lets(INSURER, CLAIMS), leave) == []


@pytest.mark.parametrize(
    "other",
    [
        [],
        [lets(HOSPITAL, VISITS, HOSPITAL)],
        [lets(HOSPITAL, CLAIMS)],
        [lets(INSURER, VISITS, uid="urn:other")],
        [lets(HOSPITAL, VISITS, action="read")],
    ],
)
def test_one_owners_leave_does_not_silence_that_anothers_is_missing(other):
    found = told(lets(INSURER, CLAIMS), *other)
    assert any(line.endswith(f"{LAB} does not own {VISITS}.") for line in found)


def test_a_hint_names_whose_leave_is_missing():
    owners = read_owners({VISITS: HOSPITAL, CLAIMS: INSURER})
    [(_, problem)] = unheard([lets(INSURER, CLAIMS), JOINS], owners)
    assert f"by which {HOSPITAL} lets {LAB} anonymize {VISITS}" in problem.hint
