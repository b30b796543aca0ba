"""Whom an aggregate is about: the parts of the condition, and the values that have to be there."""

import pytest
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.population_conditions import (
    PopulationCondition,
    base_condition,
    check_keys,
    key_columns,
    known_parts,
    population_condition,
    settled_keys,
)
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.checking.unfiltered_rows import unfiltered_rows
from policy_engine.decision.query.scope import DATASET

COLUMNS = {"t": ("id", "ill", "pay", "town")}


def taken_apart(sql):
    """Return the queries of the evidence of a query over t, and its rows."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    for table in tree.find_all(exp.Table):
        table.meta[DATASET] = table.name
    query = read_checked(tree, frozenset(COLUMNS["t"]))
    return EvidenceQueries(query, None), unfiltered_rows(query.source, COLUMNS)


def texts(parts):
    return [one.sql("duckdb").replace('"', "").replace("t.", "") for one in parts]


PRESENT = "NOT (pay) IS NULL"


@pytest.mark.parametrize(
    ("sql", "parts", "presence"),
    [
        ("COUNT(*) FROM t WHERE ill AND id > 3", ["ill", "id > 3"], []),
        ("COUNT(*) FROM t", [], []),
        ("SUM(pay) FROM t WHERE ill", ["ill"], [PRESENT]),
        ("COUNT(pay) FROM t", [], ["NOT pay IS NULL"]),
        ("COUNT(*) FILTER (WHERE ill) FROM t WHERE id > 3", ["id > 3", "ill"], []),
        ("SUM(CASE WHEN pay > 9 THEN 1 ELSE 0 END) FROM t", ["pay > 9"], ["NOT (CASE"]),
    ],
)
def test_a_population_satisfies_the_condition_of_the_query_and_of_the_aggregate(
    sql, parts, presence
):
    condition = population_condition(*_first(sql))
    assert texts(condition.parts) == parts
    found = texts(condition.presence)
    assert len(found) == len(presence)
    assert all(one.startswith(start) for one, start in zip(found, presence, strict=True))


def _first(sql):
    queries, rows = taken_apart("SELECT " + sql)
    return queries, 0, rows


def test_the_base_is_without_the_condition_of_an_aggregate():
    base = base_condition(*_first("COUNT(*) FILTER (WHERE ill) FROM t WHERE id > 3"))
    assert texts(base.parts) == ["id > 3"]
    yes = base_condition(*_first("SUM(CASE WHEN pay > 9 THEN 1 ELSE 0 END) FROM t WHERE ill"))
    assert texts(yes.parts) == ["ill"]


def test_conditions_that_differ_in_what_has_to_be_there_are_told_apart():
    ill = exp.column("ill")
    alone, both = PopulationCondition((ill,)), PopulationCondition((ill, exp.column("id")))
    of_pay = PopulationCondition((ill,), (exp.column("id"),))
    assert len({alone.text, both.text, of_pay.text}) == 3
    assert both.whole.sql() == "(ill) AND (id)"


def test_keys_are_columns_by_themselves_or_computed_of_one():
    queries, rows = taken_apart("SELECT town, id % 2 AS k, COUNT(*) FROM t GROUP BY town, k")
    assert key_columns(queries.query.keys) == {"town"}
    check_keys(queries.query.keys, rows)


def test_a_key_of_several_columns_is_refused():
    queries, rows = taken_apart("SELECT id % 2 + pay AS k, COUNT(*) FROM t GROUP BY k")
    with pytest.raises(NotCheckableError) as refused:
        check_keys(queries.query.keys, rows)
    assert refused.value.problem.code == "K017"


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("town = 'x' AND pay > 3", {1}),
        ("ill", {0}),
        ("NOT ill AND 'x' = town", {0, 1}),
        ("town IN ('x', 'y') OR ill", set()),
        ("town = town AND ill = (pay > 3)", set()),
    ],
)
def test_keys_whose_value_a_condition_names_are_settled(where, keys):
    queries, rows = taken_apart(f"SELECT ill, town, COUNT(*) FROM t WHERE {where} GROUP BY 1, 2")
    assert settled_keys(queries.query.keys, rows) == keys


@pytest.mark.parametrize(
    ("yes_or_no", "parts"),
    [
        ("ill", [PRESENT.replace("pay", "ill")]),
        ("pay > 3", [PRESENT]),
        ("FLOOR(pay) = id", ["NOT (id) IS NULL", "NOT (pay) IS NULL"]),
        ("pay IS NULL", []),
        ("CASE WHEN ill THEN 1 ELSE 0 END", []),
        ("NULLIF(ill, id = 1) = ill", ["NOT (NULLIF(ill, id = 1) = ill) IS NULL"]),
        ("ill AND town IS NULL", ["NOT (ill) IS NULL OR NOT (ill) OR NOT (town IS NULL)"]),
        ("NOT ill OR pay = 1", ["(NOT (ill) IS NULL AND NOT (pay) IS NULL) OR NOT ill OR pay = 1"]),
        (
            "CASE WHEN NOT ((pay = 1) IS NULL) THEN CASE WHEN pay = 1 THEN 1 ELSE 0 END END",
            [PRESENT],
        ),
        ("CASE WHEN ill THEN 1 END", ["NOT (CASE WHEN ill THEN 1 END) IS NULL"]),
    ],
)
def test_it_is_a_condition_that_a_yes_or_no_is_known(yes_or_no, parts):
    assert texts(known_parts(sqlglot.parse_one(yes_or_no, dialect="duckdb"))) == parts


def test_the_base_of_a_mean_is_whoever_says_either():
    queries, rows = taken_apart(
        "SELECT AVG(ill AND pay > 3) FILTER (WHERE id > 1) FROM t WHERE town = 'x'"
    )
    base = base_condition(queries, 0, rows)
    known = "(NOT (ill) IS NULL AND NOT (pay) IS NULL) OR NOT (ill) OR NOT (pay > 3)"
    assert (texts(base.parts), base.presence) == (["town = 'x'", "id > 1", known], ())
