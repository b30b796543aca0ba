from datetime import UTC, datetime

from building import ANALYST, DATASET, permission, policy

from policy_engine.cli.tables.decisions import decision_lines, explanation
from policy_engine.decision import Decider, World, read_request
from policy_engine.policy import read_policy

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2027-01-01T00:00:00Z"}
READ = permission(uid="http://x.org/r", action="read", constraint=BEFORE)
SECRET = {"uid": "http://x.org/p", "target": f"{DATASET}/name", "action": "use"}


def decided(*prohibitions, target="age", who=ANALYST):
    other = permission(uid="http://x.org/q", action="print", target=f"{DATASET}/age")
    decider = Decider([read_policy(policy([READ, other], prohibitions))])
    request = read_request(who, "read", [f"{DATASET}/{target}"], "marketing")
    return decider.decide(request, World(time=NOW))


def explained(*prohibitions, target="age"):
    return list(explanation(decided(*prohibitions, target=target)))


def test_a_denial_tells_each_near_miss_once():
    reason, *others = decision_lines(decided(who="http://x.org/eve"))
    assert "The nearest, http://x.org/r: it is for" in reason
    [other] = others
    assert other.startswith("  - http://x.org/q: it is for")


def test_a_permit_tells_each_condition_once():
    lines = explained()
    assert sum("dateTime is 2026-01-01T00:00:00Z" in line for line in lines) == 1
    assert "http://x.org/r of http://x.org/policy permits it." in lines


def test_a_prohibition_tells_how_it_covers_the_request():
    lines = explained(SECRET, target="name")
    assert "  - odrl:read is included in odrl:use" in lines


def test_a_rule_that_lost_tells_its_ways_and_conditions():
    at = explained(SECRET, target="name").index
    lines = explained(SECRET, target="name")
    lost = at("http://x.org/r of http://x.org/policy permits it.")
    assert lines[lost + 1] == f"  - {DATASET}/name is part of {DATASET}"
    assert lines[lost + 2].startswith("  - satisfied: dateTime is 2026-01-01T00:00:00Z")
