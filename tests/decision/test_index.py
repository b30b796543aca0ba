"""Rules are found among very many, and with very many names, as among few."""

import pytest
from ruling import ANN, LAKE, NOON, ODRL, READ, STAFF, TABLE, policy, rule

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.index import MOST_KEYS, group_by_prefix
from policy_engine.policy import Action, Asset, Hierarchy, Party, Rule

MANY = 70
NAMES = [f"http://e.org/many/{number}" for number in range(MANY)]
EVERYBODY = [f"http://org/many/{number}" for number in range(MANY)]
ANYTHING = Rule("permission", (), (Action(f"{ODRL}use"),), "urn:any")
KNOWN = Hierarchy(party=((ANN, STAFF),), asset=((f"{TABLE}/Name", "http://e.org/Names"),))


def large(kind, **parts):
    """Return a rule of as many targets and assignees as no index has room for."""
    assert MANY * MANY > MOST_KEYS
    usual = {
        "targets": tuple(map(Asset, (*NAMES, TABLE))),
        "assignees": tuple(map(Party, (*EVERYBODY, STAFF))),
        "actions": (Action(f"{ODRL}use"),),
        "uid": f"urn:large:{kind}",
    }
    return Rule(kind, **{**usual, **parts})


def decided(*rules, assignee=ANN, target=f"{TABLE}/Name", purpose="", given=KNOWN, **world):
    asked = Request(assignee=assignee, action=READ, targets=(target,), purpose=purpose)
    return Decider([policy(*rules)], hierarchy=given).decide(asked, World(time=NOON, **world))


ASKED = [
    ({}, True),
    ({"assignee": EVERYBODY[-1], "target": NAMES[0]}, True),
    ({"assignee": "http://org/other"}, False),
    ({"target": "http://e.org/other"}, False),
    ({"given": None}, False),
    ({"given": None, "memberships": KNOWN}, True),
]


@pytest.mark.parametrize(("asked", "is_covered"), ASKED, ids=str)
def test_a_rule_with_very_many_names_covers_what_it_names(asked, is_covered):
    assert decided(large("permission"), **asked).permitted == is_covered
    assert decided(ANYTHING, large("prohibition"), **asked).permitted != is_covered


@pytest.mark.parametrize("purposes", [(), ("http://p/study",)])
def test_a_rule_with_very_many_names_is_for_its_purposes(purposes):
    for purpose, is_covered in (("http://p/study", True), ("http://p/sale", not purposes)):
        given = large("permission", purposes=purposes)
        assert decided(given, purpose=purpose).permitted == is_covered
        barred = large("prohibition", purposes=purposes)
        assert decided(ANYTHING, barred, purpose=purpose).permitted != is_covered


def test_a_prohibition_stands_under_all_that_includes_its_target_or_might():
    barred = rule("prohibition", f"{TABLE}/Name")
    for target, permitted in (
        (TABLE, False),
        ("http://e.org/Names", False),
        (f"{TABLE}/Name/first", False),
        (f"{TABLE}/Age", True),
        (LAKE, True),
    ):
        assert decided(ANYTHING, barred, target=target).permitted == permitted


def test_among_many_permissions_those_of_the_target_or_the_assignee_are_near():
    others = [
        rule("permission", name, assignees=(Party(one),), uid=f"urn:other:{one[-2:]}")
        for name, one in zip(NAMES, EVERYBODY, strict=True)
    ]
    mine = rule("permission", NAMES[0], assignees=(Party(STAFF),), uid="urn:mine")
    near = rule("permission", TABLE, assignees=(Party(EVERYBODY[0]),), uid="urn:near")
    found = decided(*others[1:], mine, near).near_misses
    assert {one.rule for one in found} == {"urn:mine", "urn:near"}
    found = decided(*others[1:10], mine, near).near_misses
    assert {one.rule for one in found[:2]} == {"urn:mine", "urn:near"}
    assert len(found) == 3


def test_names_stand_under_all_that_they_may_be_a_part_of():
    found = group_by_prefix([f"{TABLE}/Name", TABLE, f"{TABLE}/Name"])
    assert found[TABLE] == [f"{TABLE}/Name"]
    assert found["http://e.org/"] == [f"{TABLE}/Name", TABLE]
    assert f"{TABLE}/Name" not in found
