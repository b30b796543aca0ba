import json

import pytest
from places import POLICIES

from policy_engine import World, decider
from policy_engine.api.batch_deciding import decide_batch

READ = {"assignee": "http://ex.com/A", "target": "http://ex.com/T"}
POLICY = (
    "policy: http://ex.com/p\ntarget: http://ex.com/T\nassignee: http://ex.com/A\naction: read\n"
)


@pytest.fixture(scope="module")
def market():
    return decider([POLICY])


def answers(market, *requests, world=None):
    lines = [one if isinstance(one, str) else json.dumps(one) for one in requests]
    return list(decide_batch(market, lines, world))


def test_each_line_is_answered_in_its_order(market):
    asked = [{**READ, "id": "x"}, {**READ, "assignee": "http://ex.com/B"}, READ]
    effects = [(one["line"], one["effect"], one.get("id")) for one in answers(market, *asked)]
    assert effects == [(1, "permit", "x"), (2, "deny", None), (3, "permit", None)]


def test_answers_are_those_of_single_decisions():
    market = decider([POLICIES / "customer.jsonld"])
    request = {"assignee": "http://org/user", "target": "http://example/anonCustomer"}
    [one] = answers(market, {**request, "purpose": "marketing"})
    assert one["effect"] == "deny"
    assert "has no certificate" in one["reason"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "Infinity", "NaN"])
def test_a_number_that_json_does_not_have_is_not_written(number, market):
    line = f'{{"assignee": "http://x.org/a", "target": "http://x.org/t", "id": {number}}}'
    [answer] = decide_batch(market, [line])
    assert answer == {"line": 1, "error": {"code": "D001", "message": "The line is not JSON."}}


def test_all_lines_are_decided_as_of_one_moment():
    text = POLICY + "constraint: {dateTime: {lt: 2030-01-01}}\n"
    market = decider([text])
    before, after = (World(time=f"{year}-06-01T00:00:00Z") for year in (2029, 2031))
    assert answers(market, READ, world=before)[0]["effect"] == "permit"
    assert answers(market, READ, world=after)[0]["effect"] == "deny"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nope", "not JSON"),
        ("[1]", "an object of JSON"),
        ({"assignee": "http://ex.com/A"}, "has a 'target'"),
        ({**READ, "asignee": "x"}, "not a part of a request"),
        ('{"assignee": "http://ex.com/B", "assignee": "http://ex.com/A"}', "appears twice"),
        ({**READ, "purpose": 3}, "'purpose' is a text"),
        ({**READ, "target": [1]}, "a list of texts"),
        ({**READ, "target": []}, "at least one target"),
        ({**READ, "action": "reed"}, "neither a whole IRI nor a term"),
        ({**READ, "assignee": "\ud800"}, "cannot be encoded"),
        ("[" * 100_000, "not JSON"),
        ('"' + "x" * 1_000_001, "characters"),
    ],
)
def test_what_is_no_request_is_an_error_of_its_line_alone(line, message, market):
    first, second = answers(market, line, READ)
    assert (first["error"]["code"], message in first["error"]["message"]) == ("D001", True)
    assert second["effect"] == "permit"
