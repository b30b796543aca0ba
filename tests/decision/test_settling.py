"""What became of duties: by hand, against a naive model, and alike in decisions and in lists."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ruling import ANN, ODRL, READ, TABLE, policy, rule, where

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.closures import Closures
from policy_engine.decision.duties import list_dues
from policy_engine.decision.history import Deed, History
from policy_engine.decision.settling import duty_outcome, duty_start
from policy_engine.policy import Action, Hierarchy, Rule
from policy_engine.policy.xsd.literals import Duration

ASKED = Request(assignee=ANN, action=READ, targets=(TABLE,))
START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


def deed(state, number):
    return Deed({"f": "fulfilled", "v": "violated"}[state], ANN, day(number))


def owed(kind, until=None, within=None, **parts):
    """Return a duty with an end on a day, or some days after it came to be owed."""
    ends = []
    if until is not None:
        ends.append(where("dateTime", "lteq", day(until)))
    if within is not None:
        ends.append(where("elapsedTime", "lteq", Duration(0, Decimal(within * 86_400))))
    action = (Action(f"{ODRL}compensate"),)
    return Rule(kind, actions=action, uid=f"urn:{kind}", constraints=tuple(ends), **parts)


def naive(kind, deeds, now, since, until):
    """Go through the days; return the state, the day it was done, and that it was missed first."""
    state, run, missed, met = None, [], [], False
    for today in range(now + 1):
        for place, (what, when) in enumerate(deeds):
            if when != today or (kind != "duty" and since is not None and when < since):
                continue
            met = True
            state = {"f": "fulfilled", "v": "violated"}[what]
            run = [*run, place] if what == "f" else []
            missed += [today] * (what == "v")
    done = deeds[min(run)][1] if run else None
    if until is not None and not met and now > until:
        state, missed = "violated", [until]
    if until is not None and done is not None and done > until:
        missed.append(until)
    return state, done, min(missed, default=None)


DAYS = st.integers(0, 9)
DEEDS = st.lists(st.tuples(st.sampled_from("fv"), DAYS), max_size=5)


@settings(max_examples=examples(80))
@given(st.sampled_from(["duty", "obligation"]), DEEDS, DAYS, st.none() | DAYS, st.none() | DAYS)
def test_a_duty_is_settled_as_a_naive_model_says(kind, deeds, now, since, until):
    found = duty_outcome(
        owed(kind, until),
        [deed(*one) for one in deeds],
        day(now),
        None if since is None else day(since),
    )
    state, done, missed = naive(kind, deeds, now, since, until)
    assert found.state == state
    assert (found.done and found.done.time) == (None if done is None else day(done))
    assert found.missed == (None if missed is None else day(missed))
    assert found.is_late == (done is not None and until is not None and done > until)


@settings(max_examples=examples(80))
@given(DEEDS, DEEDS, DAYS, DAYS, st.none() | DAYS, st.none() | DAYS)
def test_what_a_decision_tells_to_be_owed_is_what_is_listed(paid, fined, now, asked, until, within):
    fine = owed("consequence", None, within)
    pay = owed("duty", until, within, consequences=(fine,))
    mine = policy(rule("permission", duties=(pay,)))
    history = History()
    history.record_refusal((mine.uid, "urn:r:permission", "urn:duty"), ANN, day(asked).isoformat())
    for name, deeds in (("urn:duty", paid), ("urn:consequence", fined)):
        for one in deeds:
            history.record_deed(mine.uid, name, deed(*one))
    decided = Decider([mine]).decide(ASKED, World(time=day(now)), history)
    told = {(one.duty, one.state) for one in decided.duties}
    listed = {(one.duty, one.state) for one in list_dues([mine], history, day(now))}
    assert told == {one for one in listed if one[1] != "fulfilled"}
    assert decided.permitted == (not told)


@pytest.mark.parametrize(
    ("deeds", "now", "state", "is_late"),
    [
        ([("f", 9)], 5, None, False),
        ([("f", 3), ("v", 2)], 5, "fulfilled", False),
        ([("v", 4), ("f", 3)], 5, "violated", False),
        ([("f", 1), ("f", 4)], 5, "fulfilled", False),
        ([("f", 4), ("f", 1)], 5, "fulfilled", True),
    ],
    ids=["to come", "made good", "undone", "done twice", "dated back"],
)
def test_a_deed_counts_from_its_own_time(deeds, now, state, is_late):
    found = duty_outcome(owed("duty", until=3), [deed(*one) for one in deeds], day(now))
    assert (found.state, found.is_late) == (state or "violated", is_late)


def test_a_duty_is_due_since_the_first_of_its_party_and_group_was_permitted():
    mine, group = policy(rule("permission")), "http://org/staff"
    history, within = History(), Closures(Hierarchy(party=((ANN, group),)))
    for number, party in ((2, group), (3, ANN), (1, "http://org/bob")):
        history.record_beginning(mine.uid, party, [TABLE], day(number).isoformat())
    for party, start in ((ANN, 2), (group, 2), ("http://org/bob", 1), ("http://org/eve", None)):
        found = duty_start(owed("obligation"), "", party, mine, history, within)
        assert found == (None if start is None else day(start))


def test_what_was_done_before_anything_was_owed_fulfils_no_obligation():
    early = [deed("f", 1)]
    assert duty_outcome(owed("obligation"), early, day(5), since=day(3)).state is None
    assert duty_outcome(owed("duty"), early, day(5), since=day(3)).state == "fulfilled"
