"""Answers by keys that lie in others, in tables of their own."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.answer_evidence import evidence_json

PLACES = {"n": {"n1": 30, "n2": 24, "n3": 40}, "s": {"s1": 22, "s2": 26, "s3": 4}}


def people():
    rows = [
        (region, district)
        for region, districts in PLACES.items()
        for district, count in districts.items()
        for _ in range(count)
    ]
    regions, districts = zip(*rows, strict=True)
    pay = [100 + number * 7 % 31 for number in range(len(rows))]
    columns = {"region": regions, "district": districts, "pay": pay}
    return pa.table({"person": range(len(rows)), **columns})


def ask(sql, path, profile="abs"):
    check = ("pe:outputCheck", "eq", profile), ("pe:minUnits", "eq", 10)
    policy = policy_with(*check, ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}))
    return query_data(sql, [policy], RESEARCHER, {TABLE: people()}, output_ledger=path)


@pytest.mark.parametrize("function", ["COUNT(*)", "SUM(pay)"])
def test_a_small_district_is_hidden_by_one_of_its_region(tmp_path, function):
    """Regions less their shown districts would be s3; n2 is smaller than s1 and hides nothing."""
    sets = "GROUPING SETS ((region), (district), ())"
    answer = ask(f"SELECT region, district, {function} AS n FROM T GROUP BY {sets}", tmp_path / "l")
    rows = answer.table.to_pylist()
    assert {row["district"] for row in rows if row["n"] is None} == {"s1", "s3"}
    assert len(rows) == 2 + 6 + 1
    [way] = answer.checked.verdict.suppressions
    assert (way.method, way.cells, way.gap) == ("optimal", 1, 0)
    assert evidence_json(answer.checked, "")["suppressions"] == [way.to_json()]


@pytest.mark.nightly
def test_a_district_of_which_nobody_is_chosen_lies_where_it_lies(tmp_path):
    """The query chooses all of s1, s2 and n1, and nobody of n2, n3 and s3, of which other rows say
    where they are."""
    sets = "GROUPING SETS ((region), (district), ())"
    where = "district IN ('s1', 's2', 'n1') OR pay < 0"
    sql = f"SELECT region, district, COUNT(*) AS n FROM T WHERE {where} GROUP BY {sets}"
    verdict = ask(sql, tmp_path / "l", "sacro").checked.verdict
    table = verdict.table
    labels = [
        (table.labels[0][one], table.labels[1][two]) for one, two in table.joint_codes.tolist()
    ]
    assert labels == [(one[0], one) for one in sorted(PLACES["n"] | PLACES["s"])]
    released = {
        one["district"]
        for one in (table.key_values(row) for row in np.flatnonzero(verdict.released[:, 0]))
        if "district" in one
    }
    # That nobody of s3 is chosen would follow from s, s1 and s2; of n2 and n3 from n and n1.
    assert not {"n1", "n2", "n3", "s3"} & released
    assert not {"s1", "s2"} <= released


def test_nothing_more_is_asked_of_the_data_where_rows_have_all_keys(tmp_path):
    answer = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY ROLLUP (region)", tmp_path / "l")
    assert answer.checked.verdict.table.joint is None
    assert answer.checked.verdict.suppressions == ()
