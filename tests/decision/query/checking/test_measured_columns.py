"""Which columns are measures, so that a statistic of them gives nobody a weight."""

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.answer_measures import own_measure
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.classifying import classify
from policy_engine.decision.query.checking.measured_columns import (
    check_identifiers,
    check_pairs,
    check_unit_is_no_measure,
    pair_statistic,
)


def aggregates(*texts):
    return [classify(sqlglot.parse_one(text, dialect="duckdb")) for text in texts]


def code_of(check, *arguments):
    with pytest.raises(NotCheckableError) as raised:
        check(*arguments)
    return raised.value.problem.code


def test_one_statistic_of_two_columns_is_allowed_and_no_second_one():
    check_pairs(aggregates("CORR(a, b)", "CORR(a, c)", "CORR(a, b) FILTER (WHERE c > 1)"))
    assert code_of(check_pairs, aggregates("COVAR_POP(a, b)", "REGR_SXY(B, a)")) == "K018"
    second = "REGR_SLOPE(a, b) FILTER (WHERE c > 1)"
    assert code_of(check_pairs, aggregates("REGR_SLOPE(b, a)", second)) == "K018"


def test_correlation_is_the_same_statistic_either_way_and_a_slope_is_not():
    one, other = aggregates("CORR(a, B)", "CORR(b, a)")
    assert pair_statistic(one) == pair_statistic(other)
    one, other = aggregates("REGR_SLOPE(a, b)", "REGR_SLOPE(b, a)")
    assert pair_statistic(one)[0] == pair_statistic(other)[0] == ("a", "b")
    assert pair_statistic(one)[1] != pair_statistic(other)[1]


@pytest.mark.parametrize("text", ["REGR_SYY(pay, age)", "REGR_SXX(age, Pay)"])
def test_deviation_of_one_column_beside_another_is_of_that_column(text):
    [one] = aggregates(text)
    assert own_measure(one).startswith('shape:["pay"]:')
    assert one.condition.sql() == "NOT age IS NULL"


@pytest.mark.parametrize("name", ["COVAR_POP", "REGR_SXY", "REGR_SYY", "CORR"])
def test_statistic_of_two_columns_is_of_different_ones(name):
    assert code_of(aggregates, f"{name}(pay, t.PAY)") == "K018"


@pytest.mark.parametrize("text", ["SUM(Id)", "AVG(id)", "MEDIAN(id)", "CORR(pay, t.id)"])
def test_unit_of_privacy_is_counted_and_not_summed_up(text):
    check_unit_is_no_measure(aggregates("COUNT(DISTINCT id)", "COUNT(id)", "SUM(pay)"), "ID")
    assert code_of(check_unit_is_no_measure, aggregates(text), "ID") == "K018"


def test_identifiers_are_no_part_of_a_pair():
    table = pa.table(
        {
            "id": range(50),
            "name": [f"p{n // 1.05:.0f}" for n in range(50)],
            "age": [n % 30 for n in range(50)],
            "pay": [n * 1.5 for n in range(50)],
        }
    )
    check_identifiers(aggregates("CORR(pay, age)", "SUM(id)"), {"T": table})
    assert code_of(check_identifiers, aggregates("CORR(pay, ID)"), {"T": table}) == "K018"
    assert code_of(check_identifiers, aggregates("CORR(name, age)"), {"T": table}) == "K018"


def known_and_unknown():
    """Return 200 persons with nine known columns, and pay, which is not."""
    random = np.random.default_rng(3)
    known = {f"x{j}": random.normal(50, 15, 200).round(1) for j in range(9)}
    return pa.table({"id": range(200), **known, "pay": random.lognormal(8, 0.4, 200).round()})


@pytest.mark.nightly
def test_covariances_with_known_columns_do_not_tell_everybody(tmp_path):
    """A mean and nine covariances are ten equations in the pays of ten persons."""
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
    policy = policy_with(("pe:outputCheck", "eq", "sacro"), unit)
    statistics = ", ".join(f"COVAR_POP(x{j}, pay) AS c{j}" for j in range(9))
    sql = f"SELECT AVG(pay) AS m, {statistics} FROM T WHERE id BETWEEN 40 AND 51"
    data = {TABLE: known_and_unknown()}
    result = query_data(sql, [policy], RESEARCHER, data, output_ledger=tmp_path / "outputs")
    [row] = result.table.to_pylist()
    assert [name for name, value in row.items() if value is not None] == ["m", "c0"]
    assert result.checked.codes == ("K049",)


def test_statistics_of_large_groups_are_answered(tmp_path):
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
    policy = policy_with(("pe:outputCheck", "eq", "sacro"), unit)
    data, ledger = {TABLE: known_and_unknown()}, tmp_path / "outputs"
    for sql in (
        "SELECT id % 2, CORR(x0, pay), CORR(x1, pay), AVG(pay), STDDEV(pay) FROM T GROUP BY id % 2",
        "SELECT id % 6, AVG(pay), STDDEV(pay) FROM T GROUP BY id % 6",
        "SELECT AVG(pay), STDDEV(pay) FROM T",
    ):
        result = query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger)
        assert all(None not in row.values() for row in result.table.to_pylist())


UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
PAIRED = ("COVAR_POP(pay, age)", "CORR(age, pay)", "REGR_SLOPE(pay, age)", "REGR_SXY(age, pay)")


def asked(path, table, *queries):
    """Return the rows of the last of some queries, asked one after another."""
    policies = [policy_with(("pe:outputCheck", "eq", "sacro"), UNIT)]
    for sql in queries:
        given = query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=path)
    return given.checked.table.to_pylist()


def overlapping():
    """Return 161 persons: of those in one of two groups alone, person 0 has pay, and 30 have 0."""
    random = np.random.default_rng(7)
    pay = random.lognormal(5, 0.3, 161).round(2)
    pay[71:101] = 0.0
    groups = ["a"] * 71 + ["b"] * 90, ["b"] + ["a"] * 100 + ["b"] * 60
    columns = {"age": random.integers(18, 66, 161), "pay": pay}
    return pa.table({"id": range(161), "g": groups[0], "h": groups[1], **columns})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("statistic", PAIRED)
def test_statistic_of_two_columns_does_not_tell_of_one_person_by_two_groups(tmp_path, statistic):
    first, second = (f"SELECT {name}, {statistic} AS c FROM T GROUP BY {name}" for name in "gh")
    rows = asked(tmp_path / "outputs", overlapping(), first)
    assert None not in [row["c"] for row in rows]
    rows = asked(tmp_path / "outputs", overlapping(), second)
    assert [row["c"] for row in rows] == [None, None]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("statistic", ["VAR_POP(pay)", "REGR_SYY(pay, age)", *PAIRED[:2]])
def test_deviations_of_a_column_and_statistics_with_others_are_withheld(tmp_path, statistic):
    """One of 81 persons has a pay of its own; all others one of two."""
    pay = [137.77, *[0.0] * 40, *[200.0] * 40]
    table = pa.table({"id": range(81), "age": [20 + n % 45 for n in range(81)], "pay": pay})
    sql = f"SELECT {statistic} AS c, REGR_SYY(age, pay) AS d FROM T"
    [row] = asked(tmp_path / "outputs", table, sql)
    assert row["c"] is None
    assert row["d"] == pytest.approx(80 * np.var(table["age"].to_numpy(), ddof=1))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("first", "second"),
    [("pay, age", "annual, age"), ("annual, age", "pay, weeks"), ("age, pay", "weeks, annual")],
)
def test_statistics_of_columns_in_other_units_are_those_of_the_same_ones(tmp_path, first, second):
    table = overlapping()
    for name, own, factor in (("annual", "pay", 12.0), ("weeks", "age", 52.0)):
        table = table.append_column(name, pa.array(table[own].to_numpy() * factor))
    queries = [
        f"SELECT {group}, COVAR_POP({pair}) AS c FROM T GROUP BY {group}"
        for group, pair in (("g", first), ("h", second))
    ]
    rows = asked(tmp_path / "outputs", table, *queries)
    assert [row["c"] for row in rows] == [None, None]


def test_share_that_a_line_explains_is_not_all(tmp_path):
    ages, rest = [n % 30 for n in range(50)], [n**2 % 37 + 0.5 for n in range(50)]
    born = [2000.5 - age for age in ages]
    table = pa.table({"id": range(50), "age": ages, "rest": rest, "born": born})
    for place, (other, is_shown) in enumerate((("rest", True), ("born", False))):
        sql = f"SELECT REGR_R2({other}, age) AS c FROM T"
        [row] = asked(tmp_path / f"{place}", table, sql)
        assert (row["c"] is not None) == is_shown
