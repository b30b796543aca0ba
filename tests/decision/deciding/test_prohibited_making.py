"""Prohibitions of others to do what a rule does reach what it makes of what was derived."""

from dataclasses import replace

import pytest
from certifying import certified
from owning import HOSPITAL, INSURER, NOON, REGULATOR, STAFF, VISITS, decided, lets, makes, policy
from owning import rule as rule_of

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.decision.making_consents import missing_consents
from policy_engine.policy import Action, Constraint
from policy_engine.policy.model import ANONYMIZE, COUNT, DERIVED, READ, TRAIN, Value
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

SAFE, MODEL = "http://e.org/Safe", "http://e.org/Model"
OWNED = {VISITS: {"owner": HOSPITAL, "regulators": [REGULATOR], "delegates": []}}
EXEMPT = (Constraint(DERIVED, f"{ODRL}eq", (Value("exempt"),)),)


def trained():
    """Return the policy by which the insurer trains a model on what it made of the visits."""
    made = makes(MODEL, SAFE, INSURER)
    [one] = made.permissions
    return replace(made, permissions=(replace(one, actions=(Action(TRAIN),)),))


def told(prohibiting, action=TRAIN, **parts):
    """Return why the model is not to be made, and whether it is for this that nobody reads it."""
    never = replace(rule_of("prohibition", VISITS, **parts), actions=(Action(action),))
    made = trained()
    policies = [
        lets(HOSPITAL, VISITS, INSURER),
        makes(SAFE, VISITS, INSURER),
        made,
        policy(prohibiting, never, uid="urn:never"),
    ]
    decider = Decider(policies, owners=read_owners(OWNED))
    making = [one.why for one in missing_consents(decider, made, World(time=NOON))]
    reading = decided(policies, MODEL, owners=OWNED, assignee=STAFF).reason
    return making, f"{MODEL} may not be made" in reading


@pytest.mark.parametrize("prohibiting", [HOSPITAL, REGULATOR])
def test_a_prohibition_to_train_reaches_what_is_derived(prohibiting):
    why = f"urn:prohibition prohibits it: {SAFE} was made from {VISITS}"
    assert told(prohibiting) == ([why], True)


@pytest.mark.parametrize(
    ("prohibiting", "parts"),
    [
        (HOSPITAL, {"constraints": EXEMPT}),
        (REGULATOR, {"constraints": EXEMPT}),
        (INSURER, {}),  # it made what it trains on
        (HOSPITAL, {"assignees": ["http://e.org/Other"]}),
    ],
)
def test_a_prohibition_to_train_goes_no_further_than_it_says(prohibiting, parts):
    assert told(prohibiting, **parts) == ([], False)


def test_what_a_maker_may_not_use_at_all_is_not_made_nor_read_by_others():
    why = f"urn:prohibition prohibits it: {SAFE} was made from {VISITS}"
    assert told(REGULATOR, f"{ODRL}use", assignees=[INSURER]) == ([why], True)


def test_what_is_prohibited_to_readers_too_is_judged_by_what_they_read():
    why = f"urn:prohibition prohibits it: {SAFE} was made from {VISITS}"
    assert told(REGULATOR, f"{ODRL}use") == ([why], False)


def test_a_prohibition_of_the_table_alone_keeps_even_its_owner_from_making_anything_of_it():
    made = makes(SAFE, VISITS, HOSPITAL)
    exempt = replace(rule_of("prohibition", VISITS), actions=(Action(f"{ODRL}use"),))
    exempt = replace(exempt, constraints=EXEMPT)
    never = policy(REGULATOR, exempt, uid="urn:never")
    read = Request(assignee=STAFF, action=READ, targets=(SAFE,))
    alone, barred = (
        Decider(policies, [certified(made)], owners=read_owners(OWNED)).decide(
            read, World(time=NOON)
        )
        for policies in ([made], [made, never])
    )
    assert alone.permitted
    assert f"{SAFE} may not be made" in barred.reason
    assert "urn:prohibition prohibits it" in barred.reason


@pytest.mark.parametrize("conflict", ["perm", "prohibit"])
def test_what_was_made_by_leave_stays_although_its_count_is_spent(conflict):
    made, once = makes(SAFE, VISITS, INSURER), (Constraint(COUNT, f"{ODRL}lteq", (Value(1),)),)
    leave = rule_of(
        "permission", VISITS, action="anonymize", assignees=[INSURER], constraints=once, uid="urn:l"
    )
    never = rule_of("prohibition", VISITS, action="anonymize")
    owners = policy(HOSPITAL, leave, never, uid="urn:owners", conflict=conflict)
    history = History()
    for _ in range(2):
        history.record_execution(("urn:owners", "urn:l"), INSURER, ANONYMIZE, [VISITS], [])
    decider = Decider([owners, made], [certified(made)], owners=read_owners(OWNED))
    read = Request(assignee=STAFF, action=READ, targets=(SAFE,))
    found = decider.decide(read, World(time=NOON), history)
    assert found.permitted == (conflict == "perm")
    world = World(time=NOON)
    assert [one.rule.output for one in missing_consents(decider, made, world, history)] == [SAFE]
