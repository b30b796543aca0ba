"""What owners and auditors learn of a checked answer."""

import json

import pyarrow as pa
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.answer_evidence import evidence_json

REGIONS, PAYS = ["north"] * 20 + ["south"] * 20, [10.0] * 20 + [1.0] * 19 + [999.0]
PERSONS = [number // 2 for number in range(40)]
PAY = pa.table({"region": REGIONS, "pay": PAYS, "person": PERSONS})
SQL = "SELECT region, SUM(pay) AS s FROM T GROUP BY region"


def evidence(tmp_path, sql, *refinements):
    """Return the evidence of an answer, once it was text."""
    policy = policy_with(("pe:outputCheck", "eq", "sacro"), *refinements)
    ledger = tmp_path / "answers"
    result = query_data(sql, [policy], RESEARCHER, {TABLE: PAY}, output_ledger=ledger)
    document = evidence_json(result.checked, sql, result.decision)
    return json.loads(json.dumps(document, allow_nan=False))


def test_each_cell_has_its_figure_all_reasons_and_their_evidence(tmp_path):
    north, south = evidence(tmp_path, SQL)["cells"]
    assert (north["value"], north["outcome"], north["codes"]) == (200, "suppressed", ["K003"])
    assert (south["value"], south["codes"]) == (1018, ["K002", "K005", "K006"])
    figures = south["evidence"][0]
    assert (figures["units"], figures["largest"], figures["second"]) == (20, 999, 1)
    assert figures["units_of_rarest_value"] == 1


def test_evidence_says_of_what_and_by_which_thresholds(tmp_path):
    document = evidence(tmp_path, SQL, ("pe:minUnits", "gteq", 12))
    assert document["check"]["profile"]["min_units"] == 12
    assert (document["assignee"], document["dataset"]) == (RESEARCHER, TABLE)
    assert len(document["dataDigest"]) > 60
    assert "SUM" in document["aggregates"]["a0"]


def test_answer_of_which_nothing_could_leave_is_in_no_entry(tmp_path):
    document = evidence(tmp_path, "SELECT MAX(pay) AS m FROM T")
    assert (document["ledger"]["number"], document["ledger"]["hash"]) == (0, "")
    assert document["cells"][0]["value"] == "nan"


def test_a_condition_has_the_numbers_by_which_it_was_judged(tmp_path):
    sql = "SELECT region, COUNT(*) FILTER (WHERE pay > 900) AS n, COUNT(*) AS m FROM T GROUP BY 1"
    cells = evidence(tmp_path, sql)["cells"]
    told = {"columns": ["t.pay"], "least": 10, "counted": "rows"}
    assert [cell["condition"] for cell in cells] == [
        {**told, "inside": 0, "outside": 20},
        None,
        {**told, "inside": 1, "outside": 19},
        None,
    ]
    assert "K002" in cells[2]["codes"]


def test_of_several_columns_those_that_are_nearest_to_too_few_are_told(tmp_path):
    sql = "SELECT COUNT(*) AS n FROM T WHERE pay < 5 AND region = 'south'"
    [cell] = evidence(tmp_path, sql)["cells"]
    assert cell["condition"] == {
        "columns": ["t.region"],
        "inside": 19,
        "outside": 0,
        "least": 10,
        "counted": "rows",
    }
    assert cell["codes"] == ["K003"]


def test_persons_are_counted_where_there_are_few_rows(tmp_path):
    sql = "SELECT COUNT(*) AS n FROM T WHERE pay > 5"
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    [cell] = evidence(tmp_path, sql, unit, ("pe:minUnits", "gteq", 11))["cells"]
    assert cell["condition"] == {
        "columns": ["t.pay"],
        "inside": 11,
        "outside": 10,
        "least": 11,
        "counted": "units",
    }
    assert cell["codes"] == ["K003"]
