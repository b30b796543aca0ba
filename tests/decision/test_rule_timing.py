"""Whether the time of a rule is over, whatever else it asks for."""

from dataclasses import replace
from datetime import timedelta

import pytest
from ruling import ANN, NOON, ODRL, READ, STAFF, TABLE, rule, where

from policy_engine.decision import Request, World
from policy_engine.decision.closures import Closures
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.timing import expiry_reason
from policy_engine.policy import Action, Asset, Constraint, Hierarchy, LogicalConstraint, Party

OVER = where("dateTime", "lt", NOON - timedelta(days=1))
NOT_YET = where("dateTime", "lt", NOON + timedelta(days=1))
ELSEWHERE = where("spatial", "eq", "urn:us")
STATED = Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (), references=("http://e.org/end",))
UNHEARD = Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (), references=("http://e.org/unheard",))


def joined(operator, *parts):
    return LogicalConstraint(f"{ODRL}{operator}", parts)


def parties(*refinements):
    return {
        "assignees": tuple(
            Party(one, some) for one, some in zip((ANN, STAFF), refinements, strict=True)
        )
    }


CASES = [
    ({}, False),
    ({"constraints": (NOT_YET,)}, False),
    ({"constraints": (NOT_YET, OVER)}, True),
    ({"constraints": (ELSEWHERE,)}, False),
    ({"constraints": (joined("and", ELSEWHERE, OVER),)}, True),
    ({"constraints": (joined("or", ELSEWHERE, OVER),)}, False),
    ({"constraints": (joined("and", ELSEWHERE, NOT_YET),)}, False),
    ({"constraints": (STATED,)}, True),
    ({"constraints": (UNHEARD,)}, False),
    (parties((OVER,), (OVER,)), True),
    (parties((OVER,), ()), False),
    (parties((NOT_YET, OVER), (ELSEWHERE, OVER)), True),
    ({"actions": (Action(READ, (OVER,)),)}, True),
    ({"actions": (Action(READ, (OVER,)), Action(f"{ODRL}print"))}, False),
    ({"targets": (Asset(TABLE), Asset("urn:t", (OVER,)))}, True),
    ({"targets": (Asset(TABLE, (NOT_YET,)), Asset("urn:t", (ELSEWHERE,)))}, False),
]


@pytest.mark.parametrize(("parts", "is_over"), CASES)
def test_a_rule_is_over_where_its_time_alone_tells_so(parts, is_over):
    asked = Request(assignee=ANN, action=READ, targets=(TABLE,))
    values = {"spatial": "urn:eu", "http://e.org/end": NOON - timedelta(days=2)}
    facts = RequestFacts(asked, World(values=values), NOON, Closures(Hierarchy()))
    reason = expiry_reason(replace(rule("permission"), **parts), facts)
    assert reason.startswith("dateTime is 2026-06-01T12:00:00Z, not ") == is_over
    assert bool(reason) == is_over
