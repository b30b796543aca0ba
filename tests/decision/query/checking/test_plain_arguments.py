"""Which values of a row an aggregate may be of, where its answer is checked."""

import pytest
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.plain_arguments import (
    computed_names,
    is_measured,
    is_rounded,
    measured_column,
    without_choice,
)

MEASURED = {
    "pay": True,
    "t.pay": True,
    "(pay)": True,
    "-pay": False,
    "2 * pay": False,
    "pay / -12": False,
    "CAST(pay AS DOUBLE)": False,
    "CAST(pay AS BOOLEAN)": False,
    "CAST(pay AS FLOAT)": False,
    "CAST(pay AS DECIMAL(18, 2))": False,
    "pay / 1e308 / 1e15 / 3": False,
    "pay + 1": False,
    "pay * age": False,
    "12 / pay": False,
    "ABS(pay)": False,
    "ROUND(pay, -2)": False,
    "COALESCE(pay, 0)": False,
    "CASE WHEN id = 7 THEN pay END": False,
    "1": False,
}


def parsed(text):
    return sqlglot.parse_one(text, dialect="duckdb")


@pytest.mark.parametrize(("text", "expected"), MEASURED.items())
def test_measured_values_are_columns_as_they_are(text, expected):
    assert is_measured(parsed(text)) is expected


def test_measured_column_is_named_in_lower_case():
    assert measured_column(parsed("(T.Pay)")) == "pay"


def test_ranks_may_be_of_rounded_values():
    assert is_rounded(parsed("ROUND(pay, -2)"))
    assert is_rounded(parsed("FLOOR(pay)"))
    assert not is_rounded(parsed("ROUND(pay, age)"))
    assert not is_rounded(parsed("ROUND(pay + age)"))


CHOICES = {
    "CASE WHEN id > 7 THEN pay END": ("pay", "id > 7"),
    "CASE WHEN id > 7 THEN pay ELSE NULL END": ("pay", "id > 7"),
    "CASE WHEN id > 7 THEN pay ELSE 0 END": ("pay", "id > 7"),
    "IF(id > 7, pay, 0)": ("pay", "id > 7"),
    "CASE WHEN id > 7 THEN pay ELSE 1 END": ("CASE WHEN id > 7 THEN pay ELSE 1 END", None),
    "CASE id WHEN 7 THEN pay END": ("CASE id WHEN 7 THEN pay END", None),
    "pay": ("pay", None),
}


@pytest.mark.parametrize(("text", "expected"), CHOICES.items())
def test_choice_of_one_branch_is_a_condition(text, expected):
    value, condition = without_choice(parsed(text), has_zero=True)
    assert (value.sql("duckdb"), condition and condition.sql("duckdb")) == expected


def test_zeros_count_in_all_but_totals():
    node = parsed("CASE WHEN id > 7 THEN pay ELSE 0 END")
    assert without_choice(node, has_zero=False) == (node, None)


def test_columns_that_subqueries_compute_or_rename_are_told():
    tree = parsed("WITH c AS (SELECT a AS b, A, x + 1 AS y FROM t) SELECT b AS z FROM c")
    assert isinstance(tree, exp.Select)
    assert computed_names(tree) == {"b", "y"}
    with pytest.raises(NotCheckableError) as raised:
        computed_names(parsed("SELECT b FROM (SELECT a FROM t) AS s(b)"))
    assert raised.value.problem.code == "K017"
