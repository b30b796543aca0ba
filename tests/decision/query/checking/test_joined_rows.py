"""Joins that leave a person out, or would if the person's secret were another one."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CODES = "http://example.com/C"
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
POLICY = policy_with(("pe:outputCheck", "eq", "sacro"), UNIT, target=[TABLE, CODES])


def answer(sql, folder, flags, *, is_ill=True):
    ill = [n % 3 == 0 for n in range(200)]
    ill[10] = is_ill
    people = pa.table({"id": range(200), "ill": ill, "region": ["n", "s"] * 100})
    codes = pa.table({"flag": flags, "name": ["yes", "no"][: len(flags)]})
    data = {TABLE: people, CODES: codes}
    return query_data(sql, [POLICY], RESEARCHER, data, output_ledger=folder / f"outputs-{is_ill}")


@pytest.mark.parametrize("counted", ["*", "C.flag"])
@pytest.mark.parametrize("side", ["", "LEFT"])
@pytest.mark.parametrize("is_ill", [True, False])
def test_joins_with_a_table_that_lacks_values_are_refused(tmp_path, counted, side, is_ill):
    sql = f"SELECT COUNT({counted}) AS n FROM T {side} JOIN C ON T.ill = C.flag WHERE id < 40"
    assert [one.code for one in answer(sql, tmp_path, [True], is_ill=is_ill).reasons] == ["K019"]


def test_joins_with_a_table_of_all_values_are_answered(tmp_path):
    sql = "SELECT C.name, COUNT(*) AS n FROM T JOIN C ON T.ill = C.flag GROUP BY C.name"
    rows = answer(sql, tmp_path, [True, False]).table.to_pylist()
    assert rows == [{"name": "no", "n": 132}, {"name": "yes", "n": 68}]
