"""Values of keys that a condition excludes by itself."""

import math
from datetime import date
from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.excluded_keys import left_domains
from policy_engine.decision.query.checking.key_domains import key_domains
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.grammar import to_sql

TABLE = pa.table(
    {
        "region": ["north"] * 20 + ["south"] * 15 + ["west"] * 12 + [None] * 11,
        "sector": ["farm", "shop"] * 29,
        "year": [2001, 2002] * 29,
        "day": [date(2020, 1, 1), date(2020, 1, 2)] * 29,
        "is_new": [True, False] * 29,
    }
)


def left(condition, key="region"):
    """Return the values of a key that a condition leaves of those of its column."""
    sql = f"SELECT {key}, COUNT(*) FROM T AS t WHERE {condition} GROUP BY {key}"
    query = read_checked(sqlglot.parse_one(sql, dialect="duckdb"), frozenset(TABLE.column_names))
    return left_domains(query, key_domains(query, {"T": TABLE}, 10))[0].to_pylist()


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("region = 'north'", ["north"]),
        ("t.Region <> 'west' AND sector = 'farm'", ["north", "south"]),
        ("region IN ('south', 'west') AND NOT region = 'west'", ["south"]),
        ("(region = 'west' OR region IS NULL)", ["west", None]),
        ("region = 'east'", []),
    ],
)
def test_a_condition_on_the_key_alone_excludes_the_values_it_does_not_hold_of(condition, values):
    assert left(condition) == values


def test_a_condition_that_reads_other_columns_excludes_nothing():
    every = ["north", "south", "west", None]
    assert left("sector = 'farm'") == every
    assert left("region = 'north' OR sector = 'farm'") == every


@pytest.mark.parametrize(
    ("condition", "key", "values"),
    [
        ("year = 2001", "year", [2001]),
        ("year BETWEEN 2002 AND 2009", "year", [2002]),
        ("NOT year IN (2001, 2005) AND sector = 'farm'", "year", [2002]),
        ("year + 1 > 2002", "year", [2002]),
        ("year >= 2001", "year", [2001, 2002]),
        ("day < DATE '2020-01-02'", "day", [date(2020, 1, 1)]),
        ("day BETWEEN '2020-01-02' AND '2020-01-31'", "day", [date(2020, 1, 2)]),
        ("is_new", "is_new", [True, False]),
    ],
)
def test_so_it_is_of_numbers_and_dates_but_not_of_a_yes_or_no(condition, key, values):
    assert left(condition, key) == values


KEYS = {
    "whole": pa.array([-1, 0, 2, 3, None], pa.int64()),
    "real": pa.array([-0.5, 0.0, 2.0, math.nan, math.inf, None]),
    "exact": pa.array([Decimal("-1.50"), Decimal("0.00"), Decimal("2.00"), None]),
    "day": pa.array([date(2020, 1, 1), date(2020, 1, 2), date(2021, 5, 5), None]),
    "text": pa.array(["a", "b", "10", None]),
}
NUMBERS, DAYS = ("-1", "0", "2", "2.5"), ("'2020-01-01'", "DATE '2020-01-02'", "'2021-06-01'")


def drawn_part(draws, key):
    """Return a random comparison of a key with constants."""
    some = {"day": DAYS, "text": ("'a'", "'b'", "'z'")}.get(key, NUMBERS)
    one, other, last = (str(draws.choice(some)) for _ in range(3))
    forms = [f"{key} {sign} {one}" for sign in ("=", "<>", "<", "<=", ">", ">=")]
    forms += [f"{one} < {key}", f"{key} BETWEEN {one} AND {other}", f"{key} IN ({one}, {other})"]
    forms += [f"NOT {key} IN ({one})", f"{key} IS NULL", f"{key} IS NOT DISTINCT FROM {one}"]
    forms += [f"({key} < {one} OR {key} > {other})", f"{key} NOT BETWEEN {one} AND {last}"]
    return str(draws.choice(forms))


@pytest.mark.one_in(20)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("seed", range(12))
def test_in_no_world_somebody_has_an_excluded_value_and_in_some_each_of_the_others(key, seed):
    """A world is what two persons have, of all values of the key, and in another column."""
    draws = np.random.default_rng(seed)
    parts = [drawn_part(draws, key) for _ in range(draws.integers(1, 4))]
    condition = " AND ".join([*parts, "other = 1"])
    places = range(len(KEYS[key]))
    worlds = [one for world in product(places, (0, 1), places, (0, 1)) for one in batched(world)]
    rows = KEYS[key].take(pa.array([place for place, _ in worlds]))
    table = pa.table({key: rows, "other": [other for _, other in worlds]})
    query = read_checked(
        sqlglot.parse_one(
            f"SELECT {key}, COUNT(*) FROM T AS t WHERE {condition} GROUP BY {key}", dialect="duckdb"
        ),
        frozenset(table.column_names),
    )
    answer = to_sql(EvidenceQueries(query, None).answer((0,)), "duckdb")
    had = run_checked({"": answer}, {"T": table})[""]["k0"].to_pylist()
    assert {*map(str, left_domains(query, {0: KEYS[key]})[0].to_pylist())} == {*map(str, had)}


def batched(world):
    """Return what each of two persons has in a world."""
    return world[:2], world[2:]
