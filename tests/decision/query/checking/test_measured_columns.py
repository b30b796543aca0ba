"""Which columns are measures, so that a statistic of them gives nobody a weight."""

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
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
