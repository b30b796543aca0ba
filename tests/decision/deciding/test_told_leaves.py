"""What is told of the leaves that a maker lacks, and of those that he has."""

import pytest
from building import permission
from building import policy as text_of
from matched import anonymizing
from owning import CLAIMS, HOSPITAL, INSURER, NOON, REGULATOR, VISITS, lets, makes, policy, rule

from policy_engine.decision import Decider, World
from policy_engine.decision.consents import TransformationCache, given_consent
from policy_engine.decision.history import History
from policy_engine.decision.making_consents import given_consents, missing_consents
from policy_engine.plan.lineage import Consented
from policy_engine.policy import Constraint, Rule, Value, read_policy
from policy_engine.policy.model import ANONYMIZE, COUNT
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

SAFE = "http://e.org/Safe"
STUDY, SALE = "http://e.org/study", "http://e.org/sale"
OWNED = {VISITS: HOSPITAL, SAFE: INSURER}
MADE = makes(SAFE, VISITS, INSURER, purpose=SALE)
NOT_OWNED = f"{INSURER} does not own {VISITS}"
NAME = f"{VISITS}#{INSURER}"


def deciding(*policies):
    return Decider([*policies, MADE], owners=read_owners(OWNED))


def missing(*policies, purpose=""):
    """Return what the maker is told to lack."""
    return [*missing_consents(deciding(*policies), MADE, World(time=NOON), purpose=purpose)]


def leave(action="anonymize", **parts):
    return lets(HOSPITAL, VISITS, INSURER, action=action, **parts)


def asking(k):
    """Return the policy by which the hospital lets the insurer anonymise with a k."""
    action = anonymizing(method="k-anonymity", k=k, quasi=[f"{VISITS}/x"])
    parts = {"target": VISITS, "assignee": INSURER, "purpose": None}
    asked = permission(uid="urn:asks", action=action, **parts)
    text = text_of([asked], uid="urn:asking", assigner=HOSPITAL, profile=None)
    return read_policy(text, source="hospital.jsonld")


OVER = (Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (Value(NOON.replace(year=2025)),)),)
PAY = Rule("duty", uid="urn:pay")


@pytest.mark.parametrize(
    ("parts", "lacks"),
    [
        ({"purposes": (STUDY,)}, f"it is for the purpose {STUDY}, not {SALE}"),
        (
            {"constraints": OVER},
            "its constraint is unsatisfied: dateTime is 2026-06-01T12:00:00Z, not before 2025",
        ),
        ({"duties": (PAY,)}, "its duty urn:pay is outstanding (urn:pay)"),
    ],
    ids=["purpose", "time", "duty"],
)
def test_a_leave_is_told_with_what_it_lacks(parts, lacks):
    assert missing(leave()) == []
    [found] = missing(leave(**parts))
    told = f"{NOT_OWNED}, and {NAME} does not let {INSURER} make it: {lacks}"
    assert found.why.startswith(told)


def test_a_leave_for_another_purpose_that_is_prohibited_as_well_is_told_by_its_purpose():
    never = policy(HOSPITAL, rule("prohibition", VISITS, action="anonymize"), uid="urn:never")
    [found] = missing(leave(purposes=(STUDY,)), never)
    assert found.why.endswith(f"make it: it is for the purpose {STUDY}, not {SALE}")
    [found] = missing(leave(), never)
    assert found.why.endswith(
        f"{NAME} does not let {INSURER} make it: urn:prohibition prohibits it"
    )


@pytest.mark.parametrize(
    "other",
    [
        policy(HOSPITAL, rule("permission", VISITS, action="read", purposes=(STUDY,))),
        policy(HOSPITAL, rule("permission", CLAIMS, action="anonymize", purposes=(STUDY,))),
        policy(REGULATOR, rule("permission", VISITS, action="anonymize", purposes=(STUDY,))),
        leave(purposes=(STUDY,), assignees=[REGULATOR]),
        policy(HOSPITAL, *leave(purposes=(STUDY,)).permissions, kind="Offer"),
        policy(HOSPITAL, *leave(purposes=(STUDY,), output="http://e.org/Theirs").permissions),
    ],
    ids=["action", "target", "owner", "party", "offer", "making"],
)
def test_a_rule_that_would_not_be_a_leave_for_the_purpose_either_is_not_told_as_one(other):
    [found] = missing(other)
    assert found.why == NOT_OWNED


def test_what_falls_short_of_a_leave_is_told_with_its_rule_and_where_that_stands():
    assert missing(asking(2)) == []
    [found] = missing(asking(3))
    told = f"{NOT_OWNED}, and urn:asks does not allow that output: {found.shortfalls[0].message}"
    assert (found.rule.output, found.why) == (SAFE, told)
    assert (found.consent_rule, found.source) == ("urn:asks", "hospital.jsonld")
    assert found.shortfalls[0].message == "The owner asks for k at least 3, and the policy for 2."


def test_the_leave_that_is_nearest_is_told():
    [found] = missing(leave(constraints=OVER), asking(3))
    assert found.consent_rule == "urn:asks"
    [found] = missing(asking(3), leave(purposes=(STUDY,)))
    assert found.consent_rule == "urn:asks"


def test_a_leave_that_is_given_is_told_with_what_it_asks_for():
    world, bounds = World(time=NOON), ("k at least 2",)
    given = Consented(asset=VISITS, policy="urn:asking", rule="urn:asks", bounds=bounds)
    assert given_consents(deciding(asking(2)), MADE, SAFE, world) == (given,)
    assert given_consents(deciding(asking(2)), MADE, "http://e.org/Other", world) == ()
    assert given_consents(deciding(asking(3)), MADE, SAFE, world) == ()


def test_a_leave_that_is_spent_is_not_given_again():
    once = leave(constraints=(Constraint(COUNT, f"{ODRL}lteq", (Value(1),)),))
    history, world = History(), World(time=NOON)
    [given] = given_consents(deciding(once), MADE, SAFE, world, history)
    assert (given.policy, given.rule) == (once.uid, NAME)
    assert [*missing_consents(deciding(once), MADE, world, history)] == []
    history.record_execution((once.uid, NAME), INSURER, ANONYMIZE, [VISITS], [])
    assert given_consents(deciding(once), MADE, SAFE, world, history) == ()
    [found] = missing_consents(deciding(once), MADE, world, history)
    assert found.why.endswith("make it: its constraint is unsatisfied: count is 2, not at most 1")


@pytest.mark.parametrize("ks", [(2, 3), (3, 2)])
def test_what_a_leave_of_two_ways_asks_for_is_told_in_one_order(ks):
    actions = [anonymizing(method="k-anonymity", k=k, quasi=[f"{VISITS}/x"]) for k in ks]
    asked = permission(uid="urn:asks", action=actions, target=VISITS, assignee=INSURER)
    both = read_policy(text_of([asked], uid="urn:asking", assigner=HOSPITAL, profile=None))
    [clause] = Decider([both]).index.permissions.clauses
    found = given_consent(VISITS, clause, TransformationCache())
    assert found.bounds == ("k at least 2", "k at least 3")
