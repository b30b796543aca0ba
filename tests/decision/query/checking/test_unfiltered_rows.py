"""The conditions of a query as one, over the columns of its tables."""

import pytest
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.unfiltered_rows import unfiltered_rows
from policy_engine.decision.query.scope import DATASET

COLUMNS = {"t": ("id", "ill", "town"), "u": ("town", "size")}


def read(sql):
    """Return the rows of a query over t and u."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    for table in tree.find_all(exp.Table):
        if table.name in COLUMNS:
            table.meta[DATASET] = table.name
    return unfiltered_rows(tree, COLUMNS)


def texts(sql):
    rows = read(sql)
    condition = "" if rows.condition is None else rows.condition.sql("duckdb")
    source = rows.source.sql("duckdb").replace('"', "").removeprefix("SELECT ")
    return source, condition.replace('"', "")


READ = {
    "SELECT 1 FROM t WHERE ill": ("FROM t AS t", "t.ill"),
    "SELECT 1 FROM t AS a WHERE a.ill AND id > 1": ("FROM t AS t", "t.ill AND t.id > 1"),
    "SELECT 1 FROM (SELECT id FROM t WHERE ill) AS s WHERE s.id > 1": (
        "FROM t AS t",
        "t.ill AND t.id > 1",
    ),
    "SELECT 1 FROM (SELECT id > 1 AS f, id FROM t) AS s WHERE NOT f": (
        "FROM t AS t",
        "NOT (t.id > 1)",
    ),
    "WITH s AS (SELECT id, ill AS f FROM t), v AS (SELECT id, f FROM s WHERE f) "
    "SELECT 1 FROM v WHERE id = 3": ("FROM t AS t", "t.ill AND t.id = 3"),
    "SELECT 1 FROM t JOIN u ON t.town = u.town WHERE size > 3": (
        "FROM t AS t JOIN u AS u ON t.town = u.town",
        "u.size > 3",
    ),
    "SELECT 1 FROM t JOIN u USING (town) WHERE town = 'a'": (
        "FROM t AS t JOIN u AS u ON t.town = u.town",
        "t.town = 'a'",
    ),
    "SELECT 1 FROM t RIGHT JOIN u USING (town) WHERE town = 'a'": (
        "FROM t AS t RIGHT JOIN u AS u ON t.town = u.town",
        "COALESCE(t.town, u.town) = 'a'",
    ),
    "SELECT 1 FROM t JOIN (SELECT town FROM u WHERE size > 3) AS v ON t.town = v.town": (
        "FROM t AS t JOIN u AS u ON t.town = u.town",
        "u.size > 3",
    ),
    "SELECT 1 FROM t LEFT JOIN (SELECT town, size FROM u) AS v ON t.town = v.town "
    "WHERE v.size > 3": (
        "FROM t AS t LEFT JOIN u AS u ON t.town = u.town",
        "u.size > 3",
    ),
    "SELECT 1 FROM u JOIN u AS w ON u.town = w.town WHERE w.size > u.size": (
        "FROM u AS u JOIN u AS u 2 ON u.town = u 2.town",
        "u 2.size > u.size",
    ),
}


@pytest.mark.parametrize(("sql", "expected"), READ.items())
def test_conditions_of_all_depths_are_one_over_columns_of_tables(sql, expected):
    assert texts(sql) == expected


REFUSED = [
    "SELECT 1 FROM t LEFT JOIN (SELECT town FROM u WHERE size > 3) AS v ON t.town = v.town",
    "SELECT 1 FROM (SELECT town FROM u WHERE size > 3) AS v RIGHT JOIN t ON t.town = v.town",
    "SELECT 1 FROM t FULL JOIN (SELECT town, size > 3 AS f FROM u) AS v ON t.town = v.town WHERE f",
    "SELECT 1 FROM t JOIN (SELECT u.town FROM u JOIN u AS w USING (town)) AS v USING (town)",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_subqueries_that_cannot_be_taken_apart_are_refused(sql):
    with pytest.raises(NotCheckableError) as caught:
        read(sql)
    assert caught.value.problem.code == "K017"
