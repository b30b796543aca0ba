import pytest
from output_checked import RESEARCHER, TABLE, policy_with
from pydantic import ValidationError

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.query.checking.permitted_checks import checked_world
from policy_engine.plan.output_checks import checks_of
from policy_engine.policy.model import READ


def decide(policy, world):
    request = Request(assignee=RESEARCHER, action=READ, targets=(TABLE,))
    return Decider([policy]).decide(request, world).permitted


ASKED = [
    [("pe:outputCheck", "eq", "sacro")],
    [("pe:outputCheck", "eq", "dwb-2015"), ("pe:minUnits", "gteq", 20)],
    [("pe:outputCheck", "eq", "abs"), ("pe:maxLargestShare", "lteq", 0.4)],
    [("pe:outputCheck", "eq", "iab"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})],
    [("pe:outputCheck", "eq", "fsrdc"), ("pe:mitigation", "eq", "review")],
    [("pe:outputCheck", "eq", "sacro"), ("pe:zerosDisclosive", "eq", False)],
    [("pe:outputCheck", "eq", "iab")],
    [("pe:outputCheck", "eq", "sacro"), ("pe:percentileLadder", "eq", "0.5:20 0.25:40")],
]


@pytest.mark.parametrize("refinements", ASKED)
def test_a_permission_is_satisfied_by_its_own_check_alone(refinements):
    policy = policy_with(*refinements)
    [check] = checks_of([policy])
    assert decide(policy, checked_world(World(), check))
    assert not decide(policy, World())


def test_a_weaker_check_does_not_satisfy_a_permission():
    strict = policy_with(("pe:outputCheck", "eq", "sacro"), ("pe:minUnits", "gteq", 20))
    [weak] = checks_of([policy_with(("pe:outputCheck", "eq", "sacro"))])
    assert not decide(strict, checked_world(World(), weak))


@pytest.mark.parametrize("name", ["pe:outputCheck", "pe:minUnits", "pe:privacyUnit"])
def test_no_world_states_what_only_a_check_shows(name):
    with pytest.raises(ValidationError, match="a check of the answer shows it"):
        World(values={name: "sacro"})
    with pytest.raises(ValidationError, match="a check of the answer shows it"):
        World(of={"odrl:read": {name: "sacro"}})
