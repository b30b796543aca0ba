import json
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from policy_engine import terms
from policy_engine.decision.verdict import Verdict
from policy_engine.policy.model import IRI, READ_SO_FAR, Constraint, LogicalConstraint, Value
from policy_engine.policy.xsd.literals import Duration, ZonedDate

ODRL, XSD = terms.ODRL, terms.XSD
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class Holder(BaseModel):
    verdicts: tuple[Verdict, ...]


def on(operand, operator, *rights, **more):
    rights = tuple(one if isinstance(one, Value) else Value(one) for one in rights)
    return Constraint(ODRL + operand, ODRL + operator, rights, **more)


def name(iri):
    return Value(iri, type=IRI)


REASONS = [
    (
        Verdict(on("dateTime", "lt", datetime(2025, 1, 1, tzinfo=UTC)), "unsatisfied", (NEW_YEAR,)),
        "dateTime is 2026-01-01T00:00:00Z, not before 2025-01-01T00:00:00Z",
    ),
    (Verdict(on("spatial", "eq", "x"), "unknown", None), "spatial is not known"),
    (Verdict(on("count", "lteq", 5), "satisfied", (3,)), "count is 3, at most 5"),
    (Verdict(on("count", "neq", 3), "unsatisfied", (3,)), "count is 3, equal to 3"),
    (Verdict(on("count", "isNoneOf", 1, 2), "satisfied", (3,)), "count is 3, not one of 1 and 2"),
    (
        Verdict(on("payAmount", "gt", 5, unit="http://ex/EUR"), "satisfied", (6, 7)),
        "payAmount is 6 and 7, greater than 5 (in http://ex/EUR)",
    ),
    (
        Verdict(on("purpose", "eq", name(f"{terms.DPV}Purpose")), "satisfied", ("http://ex/mail",)),
        "purpose is http://ex/mail, included in dpv:Purpose",
    ),
    (
        Verdict(on("count", "eq", references=("http://ex/limit",)), "unknown", (3,)),
        "count is 3; whether that is equal to what http://ex/limit stands for is not known",
    ),
    (
        Verdict(on("count", "isAnyOf", 1, 2, 3, 4, 5), "satisfied", (1,)),
        "count is 1, one of 1, 2, 3 and 2 more",
    ),
    (Verdict(on("count", "eq"), "unknown", (3,)), "count is 3, compared with nothing"),
    (
        Verdict(on("count", "isAllOf", 1, 2, 3), "satisfied", (3,)),
        "count is 3, all of 1, 2 and 3",
    ),
    (Verdict(on("count", "gteq", 3), "unsatisfied", (2,)), "count is 2, not at least 3"),
    (Verdict(on("count", "lt", 3), "satisfied", (2,)), "count is 2, less than 3"),
    (
        Verdict(on("timeInterval", "gt", time(11), time(12)), "unknown", (time(11),)),
        "timeInterval is 11:00:00; whether that is after 11:00:00 and 12:00:00 is not known",
    ),
    (
        Verdict(on("dateTime", "lteq", date(2026, 1, 1)), "satisfied", (NEW_YEAR,)),
        "dateTime is 2026-01-01T00:00:00Z, at or before 2026-01-01",
    ),
    (
        Verdict(on("timeInterval", "gteq", time(12)), "unsatisfied", (time(11),)),
        "timeInterval is 11:00:00, not at or after 12:00:00",
    ),
    (
        Verdict(on("timeInterval", "lt", time(12), 3), "unknown", (time(11),)),
        "timeInterval is 11:00:00; whether that is less than 12:00:00 and 3 is not known",
    ),
    (Verdict(on("spatial", "isA", "x"), "satisfied", ("y",)), "spatial is y, a kind of x"),
    (Verdict(on("spatial", "isPartOf", "x"), "satisfied", ("y",)), "spatial is y, part of x"),
    (Verdict(on("spatial", "hasPart", "x"), "satisfied", ("y",)), "spatial is y, inclusive of x"),
    (
        Verdict(on("spatial", "eq", name("http://ex/x"), "y"), "unknown", ("z",)),
        "spatial is z; whether that is equal to http://ex/x and y is not known",
    ),
    (
        Verdict(on("spatial", "eq", "x" * 80), "satisfied", ("y" * 81,)),
        f"spatial is {'y' * 80}..., equal to {'x' * 80}",
    ),
    (
        Verdict(Constraint(READ_SO_FAR, f"{ODRL}eq", (Value("x"),)), "unknown", None),
        "pe:readSoFar is not known without a decision log",
    ),
    (
        Verdict(on("count", "eq", 1, references=("http://ex/limit",)), "unknown", (3,)),
        "count is 3; whether that is equal to 1 and what http://ex/limit stands for is not known",
    ),
    (
        Verdict(on("count", "near", 5), "unknown", (3,)),
        "count is 3; whether that is odrl:near 5 is not known",
    ),
]


@pytest.mark.parametrize(("verdict", "reason"), REASONS)
def test_the_reason_is_short_and_plain(verdict, reason):
    assert verdict.reason == reason


COUNT, PLACE = on("count", "eq", 3), on("spatial", "eq", "here")
HOLDS = Verdict(COUNT, "satisfied", (3,))
FAILS = Verdict(COUNT, "unsatisfied", (4,))
OPEN = Verdict(PLACE, "unknown", None)


def joined(operator, state, *parts):
    operands = tuple(part.condition for part in parts)
    return Verdict(LogicalConstraint(ODRL + operator, operands), state, None, parts)


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (joined("and", "unsatisfied", HOLDS, FAILS, OPEN), "count is 4, not equal to 3"),
        (joined("and", "unknown", HOLDS, OPEN), "spatial is not known"),
        (joined("or", "satisfied", OPEN, HOLDS), "count is 3, equal to 3"),
        (
            joined("xone", "unsatisfied", HOLDS, OPEN, HOLDS),
            "more than one holds: count is 3, equal to 3; count is 3, equal to 3",
        ),
        (joined("xone", "unknown", HOLDS, OPEN), "count is 3, equal to 3; spatial is not known"),
        (joined("or", "unknown", FAILS, joined("and", "unknown", OPEN)), "spatial is not known"),
        (joined("and", "unknown"), "it has no operands"),
    ],
)
def test_the_reason_of_a_logical_constraint_is_what_decided_it(verdict, reason):
    assert verdict.reason == reason


def test_the_reason_of_many_parts_is_cut():
    wide = joined("and", "unsatisfied", *[FAILS] * 100)
    assert wide.reason == "; ".join(["count is 4, not equal to 3"] * 3) + "; ..."


def test_a_long_value_is_cut_in_the_reason():
    assert len(Verdict(PLACE, "unsatisfied", ("x" * 10_000,)).reason) < 200


def test_a_verdict_is_json_that_reads_back():
    verdict = joined("xone", "unknown", HOLDS, joined("or", "unknown", FAILS, OPEN))
    holder = Holder(verdicts=(verdict, HOLDS))
    assert Holder.model_validate_json(holder.model_dump_json()) == holder
    assert Holder.model_validate(json.loads(json.dumps(holder.model_dump(mode="json")))) == holder


def test_the_json_of_a_verdict_says_what_was_compared():
    assert Verdict(on("dateTime", "lt", NEW_YEAR), "unsatisfied", (NEW_YEAR,)).to_json() == {
        "left_operand": f"{ODRL}dateTime",
        "operator": f"{ODRL}lt",
        "right_operands": [
            {"value": {"@value": "2026-01-01T00:00:00Z", "@type": f"{XSD}dateTime"}}
        ],
        "state": "unsatisfied",
        "seen": [{"@value": "2026-01-01T00:00:00Z", "@type": f"{XSD}dateTime"}],
        "reason": "dateTime is 2026-01-01T00:00:00Z, not before 2026-01-01T00:00:00Z",
    }


def test_every_part_of_a_constraint_is_in_the_json():
    constraint = on(
        "count",
        "lt",
        Value(3, settings={"weight": Value(2)}, type=f"{XSD}integer"),
        references=("http://ex/limit",),
        data_type=f"{XSD}integer",
        unit="http://ex/kg",
        status=Value(1),
        uid="http://ex/c",
    )
    read = Verdict.from_json(Verdict(constraint, "unknown", (3,)).to_json())
    assert read.condition == constraint
    assert read.condition.right_operands[0].type == f"{XSD}integer"


LITERALS = (
    st.text()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=st.sampled_from([None, UTC]))
    | st.dates()
    | st.times()
    | st.sampled_from([Duration(-1, Decimal("-0.5")), ZonedDate(2026, 1, 1, UTC), time(1)])
)


@given(st.lists(LITERALS, max_size=3).map(tuple), LITERALS)
def test_every_value_reads_back(seen, value):
    verdict = Verdict(on("count", "eq", value), "unknown", seen)
    read = Verdict.from_json(json.loads(json.dumps(verdict.to_json())))
    assert read == verdict
    assert list(map(type, read.seen)) == list(map(type, seen))


@pytest.mark.parametrize(
    "given_value",
    [
        None,
        "satisfied",
        [],
        {},
        {"state": "satisfied"},
        HOLDS.to_json() | {"state": "perhaps"},
        HOLDS.to_json() | {"seen": 3},
        HOLDS.to_json() | {"seen": [{"@value": "x"}]},
        HOLDS.to_json() | {"seen": [{"@value": "x", "@type": f"{XSD}decimal"}]},
        HOLDS.to_json() | {"right_operands": [3]},
        HOLDS.to_json() | {"parts": [3]},
    ],
)
def test_what_is_no_verdict_is_refused(given_value):
    with pytest.raises(ValidationError):
        Holder.model_validate({"verdicts": [given_value]})


def test_a_verdict_has_a_json_schema():
    assert TypeAdapter(Verdict).json_schema() is not None


def test_verdicts_are_equal_that_say_the_same():
    assert Verdict(on("count", "eq", date(2026, 1, 1)), "unknown") == Verdict(
        on("count", "eq", date(2026, 1, 1)), "unknown"
    )
