"""Values of keys that a condition excludes by itself."""

import pyarrow as pa
import pytest
import sqlglot

from policy_engine.decision.query.checking.excluded_keys import left_domains
from policy_engine.decision.query.checking.key_domains import key_domains
from policy_engine.decision.query.checking.reading_checked import read_checked

TABLE = pa.table(
    {
        "region": ["north"] * 20 + ["south"] * 15 + ["west"] * 12 + [None] * 11,
        "sector": ["farm", "shop"] * 29,
        "year": [2001, 2002] * 29,
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


def test_values_of_numbers_stay_for_totals_would_tell_their_counts():
    assert left("year = 2001", "year") == [2001, 2002]
