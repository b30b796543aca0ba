"""What one person has most of is not told by how far values are spread."""

import math

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
SPREADS = (
    *("STDDEV_POP(pay)", "STDDEV(pay)", "VAR_SAMP(pay)", "SKEWNESS(pay)", "KURTOSIS(pay)"),
    *("COVAR_POP(age, pay)", "COVAR_POP(pay, age)", "REGR_SXX(age, pay)", "REGR_SYY(pay, age)"),
)


def suppressed(aggregate, pay, folder, *, visits=1):
    """Return the codes of the answer where person 7 has some pay."""
    table = pa.table(
        {
            "person": [n // visits for n in range(60 * visits)],
            "age": [20.5 + 7 * n % 41 for n in range(60 * visits)],
            "pay": [pay if n == 7 else 1000.5 + 37 * n % 501 for n in range(60 * visits)],
        }
    )
    policies = [policy_with(("pe:outputCheck", "eq", "sacro"), UNIT)]
    sql = f"SELECT {aggregate} AS s FROM T WHERE person < 50"
    answer = query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=folder / "o")
    assert answer.checked is not None
    return answer.checked.codes


@pytest.mark.one_in(18)
@pytest.mark.parametrize("aggregate", SPREADS)
@pytest.mark.parametrize("visits", [1, 2])
def test_spread_is_shown_unless_one_person_has_most(tmp_path, aggregate, visits):
    for name in "ab":
        (tmp_path / name).mkdir()
    assert suppressed(aggregate, 1200.0, tmp_path / "a", visits=visits) == ()
    assert suppressed(aggregate, 1e7, tmp_path / "b", visits=visits) == ("K049",)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("pay", [1e200, -1e200, math.inf])
@pytest.mark.parametrize("aggregate", [*SPREADS, "CORR(age, pay)", "REGR_SLOPE(pay, age)"])
def test_answer_does_not_fail_by_one_value(tmp_path, aggregate, pay):
    assert suppressed(aggregate, pay, tmp_path) == ("K049",)


def test_spread_of_values_of_either_sign_is_shown(tmp_path):
    assert suppressed("STDDEV_POP(pay)", -1200.0, tmp_path) == ()
