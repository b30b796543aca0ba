"""Which parts of a request a rule includes, and by what ways."""

import pytest
from ruling import ANN, ODRL, READ, STAFF, TABLE, policy, rule

from policy_engine.decision import Request
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.inclusion import (
    ExpandedRequest,
    count_uncovered,
    derivation_steps,
    overlaps_request,
    possible_datasets,
)
from policy_engine.decision.members import RefinedMembers
from policy_engine.policy import Hierarchy, Party

NAME, OTHER, PRESS = f"{TABLE}/Name", "http://e.org/Other", "http://org/press"
STUDY, TRIAL = "http://p/study", "http://p/trial"
CLOSURES = Closures(Hierarchy(party=((ANN, STAFF),), purpose=((TRIAL, STUDY),)))


def expanded(**parts):
    """Return a request of Ann to read a column for a trial, unless it says otherwise."""
    usual = {"assignee": ANN, "action": READ, "targets": (NAME,), "purpose": TRIAL}
    asked = Request(**{**usual, **parts})
    return ExpandedRequest(asked, CLOSURES, RefinedMembers({}))


def clause(kind="permission", target=TABLE, party="", purpose="", action="use"):
    parts = {"assignees": (Party(party),)} if party else {}
    parts |= {"purposes": (purpose,)} if purpose else {}
    made = rule(kind, target, action=f"{ODRL}{action}", **parts)
    return Clause.of(0, policy(made), made, CLOSURES)


@pytest.mark.parametrize(
    ("parts", "targets", "uncovered"),
    [
        ({}, [NAME], 0),
        ({"party": STAFF}, [NAME], 0),
        ({"party": PRESS}, [NAME], 1),
        ({"purpose": STUDY}, [NAME], 0),
        ({"purpose": "http://p/sale"}, [NAME], 1),
        ({"action": "print"}, [NAME], 1),
        ({"target": OTHER}, [NAME, TABLE], 2),
        ({"target": NAME}, [NAME, TABLE], 1),
        ({"party": PRESS, "purpose": "http://p/sale", "action": "print"}, [OTHER], 4),
    ],
    ids=str,
)
def test_the_parts_that_a_permission_does_not_cover_are_counted(parts, targets, uncovered):
    assert count_uncovered(clause(**parts), expanded(targets=targets)) == uncovered


@pytest.mark.parametrize(
    ("parts", "asked", "overlaps"),
    [
        ({}, {}, True),
        ({"target": OTHER}, {}, False),
        ({"target": NAME}, {"targets": [TABLE]}, True),
        ({"action": "print"}, {}, False),
        ({"party": STAFF}, {}, True),
        ({"party": ANN}, {"assignee": STAFF}, True),
        ({"party": PRESS}, {}, False),
        ({"purpose": STUDY}, {}, True),
        ({"purpose": TRIAL}, {"purpose": STUDY}, True),
        ({"purpose": "http://p/sale"}, {}, False),
        ({"purpose": "http://p/sale"}, {"purpose": ""}, True),
    ],
    ids=str,
)
def test_a_prohibition_overlaps_what_it_includes_or_is_included_in(parts, asked, overlaps):
    assert overlaps_request(clause("prohibition", **parts), expanded(**asked), [READ]) == overlaps


@pytest.mark.parametrize(
    ("parts", "asked", "up", "down"),
    [
        ({"party": STAFF}, {}, (ANN, STAFF), ()),
        ({"party": ANN}, {"assignee": STAFF}, (), (ANN, STAFF)),
        ({"purpose": STUDY}, {}, (TRIAL, STUDY), ()),
        ({"purpose": TRIAL}, {"purpose": STUDY}, (), (TRIAL, STUDY)),
        ({"purpose": TRIAL}, {"purpose": ""}, (), ()),
        ({"target": TABLE}, {}, (NAME, TABLE), ()),
        ({"target": NAME}, {"targets": [TABLE]}, (), (NAME, TABLE)),
    ],
    ids=str,
)
def test_a_prohibition_tells_the_way_from_either_end_and_a_permission_that_from_the_request(
    parts, asked, up, down
):
    [part] = ["asset" if name == "target" else name for name in parts]
    for kind, from_rule, path in (("permission", False, up), ("prohibition", True, up or down)):
        steps = derivation_steps(clause(kind, **parts), expanded(**asked), from_rule=from_rule)
        assert [one.path for one in steps if one.part == part] == [path] * bool(path)


def test_a_target_may_be_a_dataset_or_a_column_of_one():
    assert possible_datasets([NAME, "urn:a"]) == {NAME, TABLE, "urn:a"}
