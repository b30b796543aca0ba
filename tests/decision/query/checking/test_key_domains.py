"""Which values of keys are listed although few have them."""

import pyarrow as pa
import pytest
import sqlglot

from policy_engine.decision.query.checking.key_domains import key_domains
from policy_engine.decision.query.checking.reading_checked import read_checked

TABLE = pa.table({"Sector": ["city"] * 20 + ["farm"] * 3, "pay": list(range(23))})


def domains(sql, **tables):
    names = frozenset({"sector", "pay"})
    query = read_checked(sqlglot.parse_one(sql, dialect="duckdb"), names)
    every = key_domains(query, {"T": TABLE, **tables}, 10)
    return {key: tuple(values.to_pylist()) for key, values in every.items()}


def test_values_of_a_column_are_those_of_its_whole_table():
    sql = "SELECT sector, COUNT(*) FROM T WHERE pay = 7 GROUP BY sector"
    assert domains(sql) == {0: ("city", "farm")}


NONE = [
    "SELECT pay, COUNT(*) FROM T GROUP BY pay",
    "SELECT UPPER(sector), COUNT(*) FROM T GROUP BY 1",
    "SELECT sector, COUNT(*) FROM (SELECT UPPER(sector) AS sector FROM T) AS s GROUP BY sector",
]


@pytest.mark.parametrize("sql", NONE)
def test_values_that_are_computed_or_nearly_unique_are_not_listed(sql):
    assert domains(sql) == {}


def test_values_of_a_column_that_two_tables_have_are_not_listed():
    sql = "SELECT sector, COUNT(*) FROM T GROUP BY sector"
    assert domains(sql, U=TABLE) == {}
