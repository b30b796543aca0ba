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


SPENT = {
    "leftOperand": "pe:spentEpsilon",
    "operator": "lteq",
    "rightOperand": {"@value": "1", "@type": "xsd:decimal"},
    "unit": "pe:perAssigneeAndPurpose",
}
COUNT = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}


def statistics(method="differential-privacy", **parts):
    """Return a permission to make statistics of something."""
    named = {"leftOperand": "mosaicrown:method", "operator": "eq", "rightOperand": method}
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": [named]}
    return {**MAKES, "action": [action], **parts}


def unbounded(over="", *others, **parts):
    """Return the warnings about a permission to make statistics of something."""
    budgets = {"pe:budget": {**BUDGET, "pe:over": over}} if over else {}
    hints = read(permission=[statistics(**parts), *others], **budgets).hints
    return [one for one in hints if one.code == "W011"]


def test_statistics_that_nothing_bounds_give_a_warning():
    [warning] = unbounded()
    assert "what all of 'http://e.org/T' lose together" in warning.message
    assert "pe:budget over 'http://e.org/T'" in warning.hint
    assert unbounded("ex:Other")
    assert unbounded(constraint=[COUNT])
    assert unbounded(constraint=[{"or": [SPENT, COUNT]}])


def test_statistics_are_bounded_by_a_budget_or_by_what_may_be_spent():
    part = {"@id": "ex:T", "partOf": "ex:All"}
    assert not unbounded("ex:T")
    assert not unbounded("ex:All", target=part)
    assert not unbounded(constraint=[SPENT])
    assert not unbounded(constraint=[{"and": [SPENT, COUNT]}])
    assert not unbounded(method="k-anonymity")


def test_statistics_of_an_output_are_bounded_by_the_budget_of_what_it_is_made_from():
    assert not unbounded("ex:T", MAKES, target="ex:Out", output="ex:Further")
    assert unbounded("ex:Further", MAKES, target="ex:Out", output="ex:Further")


def exact(leftOperand, number, operator="lteq"):  # noqa: N803 (a key of policies)
    """Return a refinement with an exact number."""
    value = {"@value": number, "@type": "xsd:decimal"}
    return {"leftOperand": leftOperand, "operator": operator, "rightOperand": value}


def never(over="ex:T", budget=(), group=(), target="ex:T", **numbers):
    """Return the messages about releases that lose more than a budget over something ever has."""
    rule = statistics(target=target)
    query = {"uid": "ex:Q", "pe:aggregate": [{"pe:function": "count-units"}], **dict(group)}
    release = {"leftOperand": "pe:release", "operator": "eq", "rightOperand": {"@id": "ex:Q"}}
    rule["action"][0]["refinement"] += [
        release,
        *(exact(f"pe:{name}", number) for name, number in numbers.items()),
    ]
    parts = {"pe:budget": {**BUDGET, "pe:over": over, **dict(budget)}, "pe:queries": [query]}
    return [one.message for one in read(permission=[rule], **parts).hints if one.code == "W012"]


def test_a_release_that_loses_more_than_its_budget_gives_a_warning():
    part = {"@id": "ex:T", "partOf": "ex:All"}
    said = "A release loses an epsilon of 11, and the budget over '{}' has 10: it is never made."
    assert never(epsilon="11") == [said.format("http://e.org/T")]
    assert never("ex:All", target=part, epsilon="11") == [said.format("http://e.org/All")]
    assert never(epsilon="10") == []
    assert never("ex:Other", epsilon="11") == []


def test_a_release_that_needs_a_delta_of_a_budget_without_one_gives_a_warning():
    selected = {"pe:groupBy": [{"@id": "ex:T/age"}]}
    [sure] = never(epsilon="1", delta="0.000001", group=selected)
    assert sure.startswith("A release loses a delta of 0.000001, and the budget over")
    [perhaps] = never(epsilon="1", delta="0.000001")
    assert perhaps.startswith("A release may lose a delta of 0.000001")
    assert never(epsilon="1", delta="0.000001", budget={"pe:delta": "0.000001"}) == []
