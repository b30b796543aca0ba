"""Budgets that bound nothing that their policy lets anybody make."""

import pytest
from policy_texts import RULE, read

BUDGET = {"pe:epsilon": "10", "pe:scope": "allAssignees"}
MAKES = {**RULE, "target": "ex:T", "action": "anonymize", "output": "ex:Out"}
READS = {**RULE, "target": "ex:Out"}


def warnings(over, *rules):
    """Return the hints of the warnings about a budget over something."""
    budget = {**BUDGET, "pe:over": over}
    hints = read(permission=[*(rules or (MAKES, READS))], **{"pe:budget": budget}).hints
    return [one.hint for one in hints if one.code == "W010"]


@pytest.mark.parametrize(
    ("over", "target"),
    [
        ("ex:T", "ex:T"),
        ("ex:All", {"@id": "ex:T", "partOf": "ex:All"}),
        ("ex:T", "ex:T/age"),
        ("ex:Part", [{"@id": "ex:Part", "partOf": "ex:T"}, "ex:T"]),
    ],
)
def test_a_budget_over_what_is_charged_is_as_it_should_be(over, target):
    assert warnings(over, {**MAKES, "target": target}) == []


@pytest.mark.parametrize(
    ("over", "hint"),
    [
        ("ex:T/", "Did you mean 'http://e.org/T'?"),
        ("ex:TT", "Did you mean 'http://e.org/T'?"),
        ("ex:T/age", "A budget is over a whole dataset: 'http://e.org/T'."),
        ("ex:Out", "It is an output. Name what that is made of: 'http://e.org/T'."),
        ("urn:other", "Leave it, if it is for the rules of other policies."),
    ],
)
def test_a_budget_over_something_else_is_valid_and_gives_a_warning(over, hint):
    assert warnings(over) == [hint]


def test_a_part_of_what_is_charged_may_have_a_budget():
    part = {**READS, "action": "read", "target": {"@id": "ex:Part", "partOf": "ex:T"}}
    assert warnings("ex:Part", MAKES, part) == []


def test_an_output_of_which_something_is_made_may_have_a_budget():
    again = {**MAKES, "target": "ex:Out", "output": "ex:Further"}
    assert warnings("ex:Out", MAKES, again) == []
