"""What the ledger calls the aggregates of queries, and what it refuses because of it."""

from dataclasses import replace

import pyarrow as pa
import pytest
import sqlglot
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.answer_measures import (
    base_measure,
    is_value_of,
    own_measure,
)
from policy_engine.decision.query.checking.classifying import classify

CHECKED = (
    ("pe:outputCheck", "eq", "sacro"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
)


def people():
    """Return 120 persons; of the column `code`, 48 have 5 and the others 0."""
    numbers = range(120)
    return pa.table(
        {
            "person": [*numbers],
            "part": [n % 3 for n in numbers],
            "code": [5 if n % 5 < 2 else 0 for n in numbers],
            "sex": [1 + n % 2 for n in numbers],
            "age": [20.5 + 7 * n % 41 for n in numbers],
            "pay": [1000.5 + 37 * n % 501 for n in numbers],
        }
    )


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers queries by one ledger, and tells what owners see."""

    def answer(sql, *refinements):
        policies, ledger = [policy_with(*CHECKED, *refinements)], tmp_path / "outputs"
        result = query_data(sql, policies, RESEARCHER, {TABLE: people()}, output_ledger=ledger)
        return result.checked

    return answer


def owner_codes(checked):
    return {reason.value for cell in checked.judged.cells() for reason in cell.reasons}


def coded(text, low="0"):
    """Return a total or a mean of a column that was seen to have two values."""
    aggregate = classify(sqlglot.parse_one(text, dialect="duckdb"))
    return replace(aggregate, kind="binary", low=low)


@pytest.mark.parametrize("low", ["0", "1", "-3"])
@pytest.mark.parametrize(
    ("text", "linear"), [("SUM(Code)", "sum:code"), ("AVG(code)", "mean:code")]
)
def test_total_of_two_values_is_a_count_of_the_higher_one_and_a_total(low, text, linear):
    """That the total is five times the count, or more by the lower values, changes nothing."""
    aggregate = coded(text, low)
    assert own_measure(aggregate) == "count"
    assert base_measure(aggregate) == linear
    assert not is_value_of(aggregate, "count")
    assert is_value_of(aggregate, linear)


def test_total_of_a_condition_is_a_count_and_nothing_else():
    aggregate = classify(
        sqlglot.parse_one("SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END)", dialect="duckdb")
    )
    assert own_measure(aggregate) == "count"
    assert base_measure(aggregate).startswith("condition of ")
    assert is_value_of(aggregate, "count")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("column", ["code", "sex"])
@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_total_of_two_values_and_counts_are_combined(tmp_path, column, function):
    """43 persons have the higher value, 20 each in two parts: the other three are told by neither
    the counts nor the total alone."""
    high = [n % 40 < (20 if n < 80 else 3) for n in range(120)]
    table = people().set_column(1, "part", pa.array(["abc"[n // 40] for n in range(120)]))
    for name, values in (("code", (0, 5)), ("sex", (1, 2))):
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([values[one] for one in high]))
    policies, ledger = [policy_with(*CHECKED)], tmp_path / "outputs"

    def ask(sql):
        return query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger).checked

    counts = f"SELECT part, {column}, COUNT(*) AS n FROM T GROUP BY part, {column}"
    alone = query_data(
        counts, policies, RESEARCHER, {TABLE: table}, output_ledger=tmp_path / "other"
    )
    assert {"a": 20, "b": 20}.items() <= shown(alone.checked, column).items()
    assert ask(f"SELECT {function}({column}) AS s FROM T").is_released
    second = ask(counts)
    assert len(shown(second, column)) < len(shown(alone.checked, column))
    assert "K050" in owner_codes(second)


def shown(checked, column):
    """Return the counts that are shown of the higher value, by the part."""
    rows = checked.table.to_pylist()
    high = max(row[column] for row in rows)
    return {row["part"]: row["n"] for row in rows if row[column] == high and row["n"]}


def test_totals_of_two_values_are_combined_with_totals_of_more(tmp_path):
    """Where three values of the column are asked for, it is a total, and elsewhere a count: the
    total of the three persons of the part "d" follows from all, "a" and "b" together with "c"."""
    parts = ["a"] * 40 + ["b"] * 40 + ["c"] * 60 + ["d"] * 3
    code = [5 * (n % 2) for n in range(80)] + [(0, 5, 9)[n % 3] for n in range(60)] + [5, 0, 5]
    table = pa.table({"person": range(143), "part": parts, "code": code})
    policies, ledger = [policy_with(*CHECKED)], tmp_path / "outputs"

    def ask(sql):
        return query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger).checked

    assert ask("SELECT SUM(code) AS s FROM T").is_released
    assert ask("SELECT SUM(code) AS s FROM T WHERE part = 'c'").is_released
    last = ask("SELECT part, SUM(code) AS s FROM T WHERE part <> 'c' GROUP BY part")
    assert [row["s"] for row in last.table.to_pylist()].count(None) > 1
    assert {"K041", "K043", "K044"} & owner_codes(last)


def test_second_statistic_of_two_columns_is_refused_in_a_later_answer(ask):
    assert ask("SELECT CORR(pay, age) AS c FROM T").is_released
    assert ask("SELECT CORR(age, pay) AS c FROM T WHERE part = 1").is_released
    second = ask("SELECT COVAR_SAMP(pay, age) AS c, COUNT(*) AS n FROM T WHERE part = 2")
    assert second.table.to_pylist() == [{"c": None, "n": 40}]
    assert owner_codes(second) == {"K050"}
    assert second.codes == ("K049",)


def test_statistics_of_other_columns_or_of_other_scopes_are_not_compared(tmp_path):
    ledger, scope = tmp_path / "outputs", ("pe:ledgerScope", "eq", "assignee")
    asked = [
        (RESEARCHER, "CORR(pay, age)"),
        (RESEARCHER, "COVAR_SAMP(pay, part)"),
        ("http://e.org/other", "REGR_SLOPE(pay, age)"),
    ]
    for assignee, text in asked:
        policies = [policy_with(*CHECKED, scope, assignee=assignee)]
        sql = f"SELECT {text} AS c FROM T"
        result = query_data(sql, policies, assignee, {TABLE: people()}, output_ledger=ledger)
        assert result.permitted
