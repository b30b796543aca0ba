import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal

import mypy.api
import pytest
from pydantic import ValidationError
from ruling import ANN, ODRL, is_permitted, policy, rule

from policy_engine.authoring.policy_tests.reading import read_suite
from policy_engine.decision import World, read_world
from policy_engine.errors import RequestError
from policy_engine.policy import Hierarchy

PERFORMED = ("fulfilled", "violated")


def refused(given):
    with pytest.raises(RequestError) as error:
        read_world(given, "w.json")
    return [(one.code, one.place.line, one.message) for one in error.value.problems]


def test_all_that_is_wrong_with_a_world_is_told_at_once_in_our_words_with_places():
    given = {
        "time": "yesterday",
        "values": {"spatial": {"a": 1}},
        "of": 3,
        "counts": {"r": "x", "t": 1.5},
        "duties": {"d": "done"},
        "memberships": {"partie": [["a", "b"]], "party": ["a"]},
        "tim": 3,
    }
    told = refused(json.dumps(given, indent=0))
    assert {code for code, _, _ in told} == {"D003"}
    assert [line for _, line, _ in told] == [2, 4, 8, 10, 11, 14, 17, 24, 27]
    text = " ".join(message for _, _, message in told)
    for pydantic in ("Input should", "Extra inputs", "valid", "Unexpected", "Value error"):
        assert pydantic not in text
    assert "counts.t: a count is an integer of 0 or more" in text
    assert "duties.d: a duty is fulfilled or violated" in text
    assert "'memberships' has no key 'partie'. It has 'party'," in text
    assert "The state of the world has no key 'tim'. It has 'time', 'values'," in text


FACT = "a fact must be a text, a number, a boolean, a time, or a list of these."
COUNT = "a count is an integer of 0 or more; given: "
PAIRS = "lists of pairs, each a narrower name and a wider one."
WRONG = [
    ({"time": 3}, "time: a time is an ISO 8601 text such as 2026-06-01T12:00:00Z; given: 3."),
    ({"values": 3}, "values: it must map left operands to facts."),
    ({"values": {"spatial": {"a": 1}}}, f"values.odrl:spatial: {FACT}"),
    ({"values": {"dateTime": "x"}}, "values: give odrl:dateTime as the time of the world"),
    ({"values": {"purpose": "x"}}, "values: give odrl:purpose as the purpose of the request"),
    ({"values": {"pe:jointly": "x"}}, "values: give pe:jointly as the targets of the request"),
    ({"values": {"count": math.inf}}, "values.odrl:count: a number must be finite; given: inf."),
    ({"values": {"count": [1, -math.inf]}}, "values.odrl:count: a number must be finite; given: -"),
    ({"of": {"urn:a": {"count": Decimal("NaN")}}}, "of.urn:a.odrl:count: a number must be finite"),
    ({"of": 3}, "of: it must map the IRI of a party, an asset or an action to facts by left"),
    ({"of": {"urn:a": 3}}, "of.urn:a: it must map left operands to facts."),
    ({"of": {"urn:a": {"spatial": {}}}}, f"of.urn:a.odrl:spatial: {FACT}"),
    ({"of": {"urn:a": {"purpose": "x"}}}, "of: give odrl:purpose as the purpose of the"),
    ({"counts": 3}, "counts: it must map rules to whole numbers."),
    ({"counts": {"r": -1}}, f"counts.r: {COUNT}-1."),
    ({"counts": {"r": True}}, f"counts.r: {COUNT}True."),
    ({"counts": {"p": {"r": -1}}}, f"counts.p: {COUNT}-1."),
    ({"duties": 3}, "duties: it must map the uids of duties to what became of them."),
    ({"duties": {"d": 3}}, "duties.d: a duty is fulfilled or violated; given: 3."),
    ({"memberships": 3}, f"memberships: it must contain {PAIRS}"),
    (
        {"memberships": {"party": 3}},
        "memberships.party: it must be a list of pairs, each a narrower",
    ),
    ({"memberships": {"party": [3]}}, "memberships.party.0: it must be a pair of a narrower name"),
    (
        {"memberships": {"perhaps": [["urn:a", "urn:b"]]}},
        "memberships: only a vocabulary may leave open",
    ),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[told[:40] for _, told in WRONG])
def test_what_is_wrong_with_a_part_of_a_world_is_told_by_what_is_allowed(given, told):
    [(code, _, message)] = refused(given)
    assert code == "D003"
    assert message.startswith(f"In the state of the world, {told}")


@pytest.mark.parametrize(
    ("given", "nearest"), [({"tim": 3}, "time"), ({"memberships": {"parti": []}}, "party")]
)
def test_a_key_that_is_nearly_one_is_told_the_one(given, nearest):
    with pytest.raises(RequestError) as error:
        read_world(given)
    assert error.value.problems[0].hint == f"Did you mean {nearest!r}?"


@pytest.mark.parametrize("least", [{"counts": {"r": 0}}, {"memberships": {"party": []}}, {}])
def test_the_least_that_a_world_may_say_is_read(least):
    assert read_world(least).model_dump(exclude_unset=True).keys() == least.keys()


@pytest.mark.parametrize("given", ["[1]", "3", "null"])
def test_what_is_no_object_is_no_world(given):
    [(code, line, message)] = refused(given)
    assert (code, line) == ("D003", 1)
    assert message.startswith("A state of the world is an object with the keys 'time', ")


@pytest.mark.parametrize(
    ("given", "line"), [('{"time":\n 3', 2), ('{"counts": {},\n"counts": {}}', 2), ("", 1)]
)
def test_what_is_no_json_is_told_with_its_place(given, line):
    [(code, found, message)] = refused(given)
    assert (code, found) == ("D003", line)
    assert message.startswith("The state of the world is not JSON.")
    with pytest.raises(RequestError, match=r"^w\.json:"):
        read_world(given, "w.json")


def test_a_world_of_python_is_told_without_places():
    assert refused({"counts": {"r": "x"}})[0][:2] == ("D003", 0)


def test_a_day_is_the_moment_at_which_it_begins():
    expected = datetime(2026, 1, 31, tzinfo=UTC)
    assert World(time=date(2026, 1, 31)).time == expected
    assert read_world('{"time": "2026-01-31"}').time == expected


SUITE = """
policies: [p.jsonld]
world: {time: 2026-01-31, values: {spatial: [2026-01-31, x]}}
tests:
  - name: 2026-01-31
    request: {assignee: "http://x.org/a", action: read, target: "http://x.org/T"}
    expect: permit
"""


def test_days_without_quotes_are_read_in_policy_tests():
    [test] = read_suite(SUITE.encode(), "t.yaml").tests
    assert test.name == "2026-01-31"
    assert test.world.time == datetime(2026, 1, 31, tzinfo=UTC)
    assert set(test.world.values.values()) == {(date(2026, 1, 31), "x")}


def test_a_wrong_world_is_told_where_it_stands_in_policy_tests():
    text = SUITE.replace("spatial: [2026-01-31, x]", "spatial: {a: b}")
    with pytest.raises(RequestError) as error:
        read_suite(text.encode(), "t.yaml")
    [problem] = error.value.problems
    assert (problem.code, problem.place.line, problem.place.column) == ("K001", 3, 45)
    assert "values.odrl:spatial" in problem.message


@pytest.mark.nightly
def test_a_moment_written_as_text_is_of_the_type_that_a_world_takes(tmp_path):
    text = 'from policy_engine import World\nWorld(time="2026-06-01T12:00:00Z")\nWorld(time=3)\n'
    (tmp_path / "asking.py").write_text(text)
    told, _, status = mypy.api.run(["--strict", "--no-error-summary", str(tmp_path / "asking.py")])
    assert status == 1
    assert [line.split(":")[1] for line in told.splitlines()] == ["3"]


@pytest.mark.parametrize("pair", [("http://x.org/a", "HTTP://x.org:80/%61"), ("read", "odrl:read")])
@pytest.mark.parametrize(
    ("key", "one", "other"), [("values", 1, 2), ("of", {}, {"spatial": 3}), ("values", 2, 1)]
)
def test_a_fact_that_is_named_twice_is_refused(pair, key, one, other):
    given = {key: dict(zip(pair, (one, other), strict=True))}
    [(code, _, message)] = refused(given)
    assert code == "D003"
    assert "is given twice, under several names for it" in message
    assert refused(json.dumps(given))[0][0] == "D003"
    with pytest.raises(ValidationError, match="given twice"):
        World(**given)


@pytest.mark.parametrize(("key", "one", "other"), [("counts", 1, 2), ("duties", *PERFORMED)])
def test_a_rule_that_is_named_twice_is_refused(key, one, other):
    twice = {"http://x.org/a": one, "HTTP://x.org:80/%61": other}
    for given in ({key: twice}, {key: {"http://x.org/p": twice}}):
        [(_, _, message)] = refused(given)
        assert "twice" in message
        with pytest.raises(ValidationError, match="given twice"):
            World(**given)


def test_facts_within_one_thing_that_are_named_twice_are_refused():
    [(code, _, message)] = refused({"of": {"urn:a": {"spatial": 1, "odrl:spatial": 2}}})
    assert (code, "is given twice" in message) == ("D003", True)


def test_a_world_that_says_what_an_action_implies_may_void_a_policy():
    glance, display = "http://e.org/glance", f"{ODRL}display"
    clashing = rule("permission", action=glance), rule("prohibition", action=display)
    other = rule("permission", "urn:a:U", uid="urn:r:other")
    given = [policy(*clashing, other, conflict="invalid")]
    assert is_permitted(given, "urn:a:U")
    assert not is_permitted(given, "urn:a:U", memberships=Hierarchy(implied=((glance, display),)))


def test_counts_are_found_in_every_spelling_of_a_rule():
    assert World(counts={"HTTP://x.org:80/%61": 2}).counts == {"http://x.org/a": 2}


@pytest.mark.parametrize(
    "stated",
    [
        {"values": {f"{ANN} ": 1}},
        {"of": {f"{ANN}\x85": {"language": "de"}}},
        {"counts": {f"{ANN} ": 1}},
        {"memberships": {"party": [[f"{ANN} ", ANN]]}},
    ],
    ids=str,
)
def test_name_that_no_iri_has_is_refused(stated):
    with pytest.raises(RequestError, match=r"D001 .* not allowed in an IRI"):
        read_world(stated)
    with pytest.raises(ValidationError, match="not allowed in an IRI") as caught:
        World.model_validate(stated)
    assert not caught.value.errors()[0]["msg"].endswith(".")


FINE = "2026-06-01T12:00:00.0000001Z"


@pytest.mark.parametrize(
    "stated",
    [
        {"time": FINE},
        {"time": "20260601T120000,0000001"},
        {"values": {"event": [FINE]}},
        {"of": {ANN: {"event": FINE}}},
    ],
    ids=str,
)
def test_time_finer_than_microseconds_is_refused(stated):
    with pytest.raises(RequestError, match=r"D003 .*: '20\S*0001Z?' is finer than microseconds"):
        read_world(stated)
    assert read_world({"time": "2026-06-01T12:00:00.0000000Z"}).time
