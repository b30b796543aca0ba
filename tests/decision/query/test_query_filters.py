"""Filters in SQL against the same conditions worked out row by row in Python."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from building import ANALYST
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from query_samples import NOW, PEOPLE, policy, rule, where
from sqlglot import exp

from policy_engine import terms
from policy_engine.data.catalog import make_catalog
from policy_engine.decision import World
from policy_engine.decision.query import logic
from policy_engine.decision.query.answering import query
from policy_engine.errors import QueryError
from policy_engine.policy.model import (
    Action,
    Asset,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)

ODRL = terms.ODRL
TYPES = {
    "whole": pa.int8(),
    "exact": pa.decimal128(4, 1),
    "near": pa.float64(),
    "text": pa.string(),
    "flag": pa.bool_(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
}
MOMENT = datetime(2020, 1, 1)  # noqa: DTZ001 (columns without a time zone)
SMALL = st.integers(-3, 3)
CELLS = {
    "whole": SMALL,
    "exact": SMALL.map(lambda n: Decimal(n) / 2),
    "near": SMALL.map(lambda n: n / 2),
    "text": st.sampled_from(["", "a", "A", "b ", "ä", "'", "\\"]),
    "flag": st.booleans(),
    "day": SMALL.map(lambda n: date(2020, 1, 10) + timedelta(days=n)),
    "at": SMALL.map(lambda n: MOMENT + timedelta(hours=n)),
}
NUMBERS = st.one_of(
    SMALL,
    SMALL.map(str),
    SMALL.map(lambda n: n / 2),
    SMALL.map(lambda n: f"{n}.25"),
    st.sampled_from(
        [10**30, -1e300, Decimal("0.10"), "1e2", 127, 128, -128, -129, "999.9", 999.95]
    ),
)
VALUES = {
    "whole": NUMBERS,
    "exact": NUMBERS,
    "near": NUMBERS,
    "text": CELLS["text"],
    "flag": st.sampled_from([True, False, "true", "0"]),
    "day": CELLS["day"].flatmap(lambda day: st.sampled_from([day, day.isoformat()])),
    "at": CELLS["at"].flatmap(
        lambda at: st.sampled_from(
            [at, at.isoformat(), at.replace(tzinfo=UTC), f"{at.isoformat()}Z"]
        )
    ),
}
ORDERED = ("lt", "lteq", "gt", "gteq")
EQUAL = ("eq", "neq", "isAnyOf", "isNoneOf", "isAllOf")


@st.composite
def constraints(draw):
    name = draw(st.sampled_from([*TYPES, "dateTime", "unknown"]))
    if name == "dateTime":
        value = Value(NOW.time + timedelta(days=draw(st.sampled_from([-1, 1]))))
        return Constraint(f"{ODRL}dateTime", f"{ODRL}{draw(st.sampled_from(ORDERED))}", (value,))
    if name == "unknown":
        return Constraint(f"{ODRL}industry", f"{ODRL}eq", (Value("x"),))
    operators = EQUAL if name in ("text", "flag") else (*EQUAL, *ORDERED)
    operator = draw(st.sampled_from(operators))
    most = 3 if operator in ("isAnyOf", "isNoneOf") else 1
    values = draw(st.lists(VALUES[name], min_size=1, max_size=most))
    return Constraint(f"{PEOPLE}/{name}", f"{ODRL}{operator}", tuple(map(Value, values)))


def logical(parts):
    operators = st.sampled_from([f"{ODRL}{name}" for name in ("and", "or", "xone", "andSequence")])
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.builds(LogicalConstraint, operators, several)


CONDITIONS = st.recursive(constraints(), logical, max_leaves=6)
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | cells for name, cells in CELLS.items()}),
    min_size=1,
    max_size=12,
)


@st.composite
def policies(draw, number):
    def rules(kind, most):
        return tuple(
            Rule(
                kind,
                (Asset(PEOPLE),),
                (Action(f"{ODRL}read"),),
                uid=f"http://x.org/{number}/{kind}{n}",
                assignees=(Party(ANALYST),),
                constraints=tuple(draw(st.lists(CONDITIONS, max_size=2))),
            )
            for n in range(draw(st.integers(0, most)))
        )

    conflict = draw(st.sampled_from(["perm", "prohibit"]))
    permissions, prohibitions = rules("permission", 2), rules("prohibition", 2)
    uid = f"http://x.org/{number}"
    return Policy(uid, "Set", conflict, "", permissions=permissions, prohibitions=prohibitions)


# -- the same by hand --------------------------------------------------------------------------


def literal(value, name):
    if name in ("whole", "exact", "near"):
        return Fraction(str(value))
    if name == "flag":
        return value if isinstance(value, bool) else value == "true"
    if name == "day":
        return value if isinstance(value, date) else date.fromisoformat(value)
    if name == "at":
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return moment.replace(tzinfo=None)
    return value


def compared(operator, cell, values):
    found = {
        "eq": cell == values[0],
        "isAllOf": cell == values[0],
        "neq": cell != values[0],
        "isAnyOf": cell in values,
        "isNoneOf": cell not in values,
    }
    if operator in ORDERED:
        sign = (cell > values[0]) - (cell < values[0])
        return sign in {"lt": (-1,), "lteq": (-1, 0), "gt": (1,), "gteq": (0, 1)}[operator]
    return found[operator]


def truth(condition, row):
    operator = condition.operator.removeprefix(ODRL)
    if isinstance(condition, LogicalConstraint):
        return joined(operator, [truth(part, row) for part in condition.operands])
    name = terms.local_name(condition.left_operand)
    if name == "industry":
        return None
    if name == "dateTime":
        return compared(operator, NOW.time, [condition.right_operands[0].value])
    if row[name] is None:
        return None
    cell = Fraction(str(row[name])) if name in ("whole", "exact", "near") else row[name]
    return compared(operator, cell, [literal(v.value, name) for v in condition.right_operands])


def joined(operator, truths):
    if operator == "or":
        return True if True in truths else None if None in truths else False
    if operator == "xone":
        if truths.count(True) > 1:
            return False
        return None if None in truths else truths.count(True) == 1
    return False if False in truths else None if None in truths else True


def holds(rule, row):
    return joined("and", [truth(one, row) for one in rule.constraints])


def is_readable(given, row):
    permits = {one.uid: any(holds(r, row) is True for r in one.permissions) for one in given}
    for one in given:
        prohibits = any(holds(r, row) is not False for r in one.prohibitions)
        if prohibits and not (one.conflict == "perm" and permits[one.uid]):
            return False
    return any(permits.values())


@settings(max_examples=examples(40), deadline=None)
@given(ROWS, policies(1), policies(2))
def test_rows_are_those_that_the_policies_permit_row_by_row(rows, one, other):
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()}
    data = make_catalog({PEOPLE: pa.table({"n": list(range(len(rows))), **columns})})
    expected = [n for n, row in enumerate(rows) if is_readable([one, other], row)]
    result = query("SELECT n FROM People ORDER BY n", [one, other], ANALYST, data, world=NOW)
    assert (result.table["n"].to_pylist() if result.permitted else []) == expected


# -- literals by the type of their column --------------------------------------------------------


def kept(kind, cells, operator, value, world=NOW):
    """Return the cells that a constraint keeps."""
    data = make_catalog({PEOPLE: pa.table({"c": pa.array(cells, kind), "n": range(len(cells))})})
    read = policy([rule(PEOPLE, where("c", operator, value))])
    result = query("SELECT c FROM People ORDER BY n", [read], ANALYST, data, world=world)
    return result.table["c"].to_pylist() if result.permitted else None


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("gt", "9223372036854775806.5", [2**63 - 1]),
        ("lteq", "9223372036854775806", [2**53 + 1]),
        ("eq", "9007199254740993.0", [2**53 + 1]),
        ("eq", "9007199254740992", []),
        ("lt", "1e30", [2**53 + 1, 2**63 - 1]),
    ],
)
def test_whole_numbers_are_compared_without_rounding(operator, value, expected):
    assert kept(pa.int64(), [2**53 + 1, 2**63 - 1, None], operator, value) == expected


def test_decimals_are_compared_beyond_their_own_digits():
    cells = [Decimal("1.25"), Decimal("1.26")]
    kind = pa.decimal128(38, 2)
    assert kept(kind, cells, "lt", "1.255") == cells[:1]
    assert kept(kind, cells, "lt", "1" + "0" * 37) == cells
    assert kept(kind, cells, "neq", "1.250") == cells[1:]


def test_single_floats_are_compared_as_such():
    assert len(kept(pa.float32(), [0.1, 0.2], "eq", "0.1")) == 1


def test_a_number_may_be_written_as_xsd_double_has_it():
    assert kept(pa.float64(), [1.5, 2000.0], "gt", "1e3") == [2000.0]


def test_moments_without_a_zone_are_in_that_of_the_world():
    ahead = World(time=datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5))))
    noon = [datetime(2020, 1, 1, 12)]  # noqa: DTZ001
    assert kept(pa.timestamp("us"), noon, "eq", "2020-01-01T07:00:00Z", ahead) == noon
    assert kept(pa.timestamp("us"), noon, "eq", "2020-01-01T12:00:00Z", ahead) == []


def test_moments_are_compared_in_their_zones():
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC)
    zoned = pa.timestamp("us", "UTC")
    assert len(kept(zoned, [noon], "eq", "2020-01-01T13:00:00+01:00")) == 1
    assert len(kept(zoned, [noon], "lt", "2020-01-01T12:00:00.000001")) == 1
    local = [noon.replace(tzinfo=None)]
    one_ahead = {"@value": "2020-01-01T13:00:00+01:00", "@type": "xsd:dateTime"}
    assert kept(pa.timestamp("us"), local, "eq", one_ahead) == local
    assert kept(pa.timestamp("ns"), local, "lt", "9999-01-01T00:00:00") == local
    assert noon.astimezone(timezone(timedelta(hours=1))).hour == 13


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int64(), "eighteen"),
        (pa.int64(), True),
        (pa.int64(), "INF"),
        (pa.int64(), {"@value": "2020-01-01", "@type": "xsd:date"}),
        (pa.float32(), "1e39"),
        (pa.float64(), "1e400"),
        (pa.string(), 10),
        (pa.bool_(), "yes"),
        (pa.bool_(), 1),
        (pa.date32(), "2020-01-01T00:00:00"),
        (pa.date32(), 20200101),
        (pa.timestamp("us"), "2020-01-01"),
        (pa.timestamp("us"), "2020-01-01 10:00:00"),
        (pa.time64("us"), "10:00"),
        (pa.time64("us"), "10:00:00Z"),
    ],
)
def test_a_literal_that_is_no_value_of_its_column_is_refused(kind, value):
    with pytest.raises(QueryError, match="Q007"):
        kept(kind, [None], "eq", value)


def test_a_column_of_lists_is_not_understood():
    assert kept(pa.list_(pa.int64()), [[1]], "eq", 1) is None


def test_all_of_several_is_not_understood():
    assert kept(pa.int64(), [1], "isAllOf", [1, 2]) is None
    assert kept(pa.int64(), [1], "isAnyOf", [1, 2]) == [1]


def test_rules_that_are_too_many_to_run_are_refused(monkeypatch):
    monkeypatch.setattr(logic, "_MOST_PARTS", 400)
    data = make_catalog({PEOPLE: pa.table({"c": [1]})})
    many = [rule(PEOPLE, where("c", "isAnyOf", list(range(n, n + 100)))) for n in range(5)]
    assert query("SELECT c FROM People", [policy(many[:1])], ANALYST, data, world=NOW).permitted
    with pytest.raises(QueryError, match="Q007"):
        query("SELECT c FROM People", [policy(many)], ANALYST, data, world=NOW)


def test_an_unknown_is_what_it_is_taken_for():
    assert logic.is_false(logic.coalesce(exp.null(), logic.false()))
    assert logic.is_true(logic.coalesce(exp.null(), logic.true()))
    assert logic.is_true(logic.negation(logic.false()))
