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


SAYS = "The state of the world says that"


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ({"counts": {"urn:r": 3}}, f"{SAYS} urn:r was exercised 3 times, the log 2 times."),
        ({"counts": {"p": {"urn:r": 0}}}, f"{SAYS} urn:r was exercised 0 times, the log 2"),
        ({"counts": {"urn:other": 1}}, f"{SAYS} urn:other was exercised 1 times, the log 0"),
        ({"duties": {"urn:d": "violated"}}, f"{SAYS} urn:d is violated, the log"),
        (
            {"values": {COUNT: 1}},
            "The state of the world gives odrl:count, which comes from the log",
        ),
        ({"of": {ANN: {BY_ASSET: 1}}}, "The state of the world gives pe:countByAsset"),
        ({"values": {READ_SO_FAR: TABLE}}, "The state of the world gives pe:readSoFar"),
    ],
    ids=str,
)
def test_a_world_that_says_otherwise_is_refused(world, told):
    [found] = problems(**world)
    assert found.startswith(f"D005 {told}")


def test_of_a_duty_what_each_party_did_last_by_then_counts():
    late = {"time": NOON + timedelta(days=2)}
    fulfilled = f"D005 {SAYS} urn:d is fulfilled, the log violated."
    assert problems(**late, duties={"urn:d": "fulfilled"}) == [fulfilled]
    violated = f"D005 {SAYS} urn:d is violated, the log fulfilled."
    assert problems(**late, duties={"urn:d": "violated"}) == [violated]
    assert problems(time=NOON - timedelta(days=1.5), duties={"urn:d": "violated"}) == []


def test_all_that_disagrees_is_told():
    world = {"counts": {"urn:r": 3, "urn:other": 1}, "duties": {"urn:d": "violated"}}
    assert len(problems(**world, values={COUNT: 1})) == 4
