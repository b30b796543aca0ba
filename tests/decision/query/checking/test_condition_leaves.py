"""Conditions as expressions of parts that read one column each."""

import pytest
import sqlglot

from policy_engine.decision.query.checking.condition_leaves import ConditionLeaves, is_presence


def parsed(sql):
    return sqlglot.parse_one(sql, dialect="duckdb")


CONDITIONS = {
    "a > 1 AND b": ["a > 1", "b"],
    "a > 1 AND a < 5 AND b": ["a > 1 AND a < 5", "b"],
    "a > b": ["a", "b"],
    "a + 1 > LENGTH(b) OR a + 1 > 7": ["a + 1", "LENGTH(b)", "a + 1 > 7"],
    "CASE WHEN a = 1 THEN b ELSE c IN (1, 2) END": ["a = 1", "b", "c IN (1, 2)"],
    "NOT (a IS NULL OR b LIKE 'x%')": ["a IS NULL", "b LIKE 'x%'"],
}


@pytest.mark.parametrize(("sql", "leaves"), CONDITIONS.items())
def test_leaves_are_the_largest_parts_that_read_one_column(sql, leaves):
    reader = ConditionLeaves()
    condition = reader.condition(parsed(sql))
    assert [one.sql("duckdb") for one in reader.by_name().values()] == leaves
    assert sorted(condition.leaves) == sorted(f"l{number}" for number in range(len(leaves)))


def test_parts_that_and_or_and_not_join_may_be_assumed():
    reader = ConditionLeaves()
    condition = reader.condition(parsed("NOT (a AND b > c) OR 1 = 1"))
    assert [sorted(one.columns) for one in condition.atoms] == [["a"], ["b", "c"]]
    text = condition.expression.sql("duckdb").replace('"', "")
    assert text == "((NOT (COALESCE(o0, l0) AND COALESCE(o1, l1 > l2))) OR (1 = 1))"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [("a IS NOT NULL", True), ("(a IS NULL)", True), ("a + 1 IS NULL", False), ("NOT a", False)],
)
def test_presence_of_a_column_is_known(sql, expected):
    assert is_presence(parsed(sql)) is expected
