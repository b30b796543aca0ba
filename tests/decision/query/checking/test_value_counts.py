"""Figures over few values are of enough units for each value."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "sacro"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
)
CODES = {
    "COUNT(DISTINCT person)": (),
    "COUNT(DISTINCT kind)": ("K049",),
    "COUNT(DISTINCT level)": (),
    "SUM(kind)": ("K049",),
    "AVG(kind)": ("K049",),
    "VAR_POP(kind)": ("K049",),
    "SUM(level)": (),
    "SUM(pay)": (),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("aggregate", "codes"), CODES.items())
def test_each_of_few_values_is_that_of_enough_units(tmp_path, aggregate, codes):
    """Three persons have the kind 99, and forty or so each of the three levels."""
    table = pa.table(
        {
            "person": range(123),
            "kind": [99] * 3 + [12 + n % 2 for n in range(120)],
            "level": [5 + n % 3 for n in range(123)],
            "pay": [100 + n for n in range(123)],
        }
    )
    sql = f"SELECT {aggregate} AS x FROM T"
    ledger = tmp_path / "outputs"
    result = query_data(
        sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: table}, output_ledger=ledger
    )
    assert result.checked is not None
    assert result.checked.codes == codes


@pytest.mark.parametrize("stay", [10, 400], ids=["among others", "far from others"])
def test_a_mean_of_few_values_is_withheld_where_one_person_has_another(tmp_path, stay):
    """In the north, thirty persons each stay one to three days, and one stays longer."""
    days = [1 + n % 3 for n in range(90)] + [stay] + [*range(120)]
    table = pa.table({"person": range(211), "area": ["north"] * 91 + ["south"] * 120, "days": days})
    sql = "SELECT area, AVG(days) AS days FROM T GROUP BY area"
    ledger = tmp_path / "outputs"
    policies = [policy_with(*CHECK)]
    result = query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger)
    assert result.checked is not None
    assert result.checked.codes == ("K049",)


def test_key_that_is_no_number_is_a_key_like_others(tmp_path):
    table = pa.table({"person": range(80), "part": [n % 2 for n in range(80)]})
    key = "CASE WHEN part = 1 THEN 'nan'::DOUBLE ELSE 1 END"
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM T GROUP BY k"
    ledger = tmp_path / "outputs"
    policies = [policy_with(*CHECK)]
    result = query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger)
    assert result.table is not None
    assert result.table["n"].to_pylist() == [40, 40]
