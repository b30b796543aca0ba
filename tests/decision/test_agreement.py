"""What a state of the world may say beside a log, and what it may not."""

from datetime import timedelta

import pytest
from ruling import ANN, NOON, ODRL, READ, STAFF, TABLE, policy, rule

from policy_engine.decision import World
from policy_engine.decision.agreement import check_agreement
from policy_engine.decision.history import Deed, History
from policy_engine.errors import RequestError
from policy_engine.policy import Rule
from policy_engine.policy.model import ANONYMIZE, BY_ASSET, COUNT, READ_SO_FAR

DUTY = Rule("duty", uid="urn:d")
MINE = policy(rule("permission", uid="urn:r", duties=(DUTY,)), uid="p")
OTHER = policy(rule("permission", uid="urn:other"), uid="q")


def history():
    """Return a history of two executions of a rule, and of what became of a duty."""
    found = History()
    found.record_execution(("p", "urn:r"), ANN, READ, [TABLE], ["d"])
    found.record_execution(("p", "urn:r"), ANN, ANONYMIZE, [TABLE], ["d"])
    for state, by, day in (("violated", ANN, -2), ("fulfilled", ANN, -1), ("violated", STAFF, 1)):
        found.record_deed("p", "urn:d", Deed(state, by, NOON + timedelta(days=day)))
    return found


def problems(**world):
    try:
        check_agreement(World(**{"time": NOON, **world}), history(), [MINE, OTHER])
    except RequestError as error:
        return [f"{one.code} {one.message}" for one in error.problems]
    return []


@pytest.mark.parametrize(
    "world",
    [
        {},
        {"counts": {"urn:r": 2}},
        {"counts": {"p": {"urn:r": 2}, "urn:other": 0}},
        {"counts": {"urn:unheard": 7}},
        {"duties": {"urn:d": "fulfilled"}},
        {"duties": {"urn:unheard": "violated"}},
        {"values": {f"{ODRL}spatial": "urn:eu"}},
    ],
    ids=str,
)
def test_a_world_that_says_what_the_log_does_or_of_what_it_tells_nothing_agrees(world):
    assert problems(**world) == []


TIMES = "times by the state of the world, and"


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ({"counts": {"urn:r": 3}}, f"urn:r was exercised 3 {TIMES} 2 times by the log."),
        ({"counts": {"p": {"urn:r": 0}}}, f"urn:r was exercised 0 {TIMES} 2 times by"),
        ({"counts": {"urn:other": 1}}, f"urn:other was exercised 1 {TIMES} 0 times by"),
        ({"duties": {"urn:d": "violated"}}, "urn:d is violated by the state of the world"),
        ({"values": {COUNT: 1}}, "The state of the world says what odrl:count is, which the log"),
        ({"of": {ANN: {BY_ASSET: 1}}}, "The state of the world says what pe:countByAsset is"),
        ({"values": {READ_SO_FAR: TABLE}}, "The state of the world says what pe:readSoFar is"),
    ],
    ids=str,
)
def test_a_world_that_says_otherwise_is_refused(world, told):
    [found] = problems(**world)
    assert found.startswith(f"D005 {told}")


def test_of_a_duty_what_each_party_did_last_by_then_counts():
    late = {"time": NOON + timedelta(days=2)}
    fulfilled = "D005 urn:d is fulfilled by the state of the world, and violated by the log."
    assert problems(**late, duties={"urn:d": "fulfilled"}) == [fulfilled]
    violated = "D005 urn:d is violated by the state of the world, and fulfilled by the log."
    assert problems(**late, duties={"urn:d": "violated"}) == [violated]
    assert problems(time=NOON - timedelta(days=1.5), duties={"urn:d": "violated"}) == []


def test_all_that_disagrees_is_told():
    world = {"counts": {"urn:r": 3, "urn:other": 1}, "duties": {"urn:d": "violated"}}
    assert len(problems(**world, values={COUNT: 1})) == 4
