"""What owners and auditors learn of a checked answer."""

import json

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.answer_evidence import evidence_json
from policy_engine.decision.query.checking.released_json import checked_json
from policy_engine.release.output_ledger import checking

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


BRANCHES = pa.table(
    {
        "person": range(120),
        "branch": ["north"] * 70 + ["south"] * 44 + ["west"] * 6,
        "pay": [1800.0 + 13 * number % 977 for number in range(120)],
    }
)
TABLE_OF_TWO = "SELECT branch, COUNT(*) AS n, SUM(pay) AS total FROM T GROUP BY branch"


def asked_in_turn(tmp_path, *queries):
    """Return the last of several answers about branches under one ledger."""
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    policy = policy_with(("pe:outputCheck", "eq", "sacro"), unit)
    ledger = tmp_path / "answers"
    for sql in queries:
        result = query_data(sql, [policy], RESEARCHER, {TABLE: BRANCHES}, output_ledger=ledger)
    return result


def findings(result, sql):
    document = json.loads(json.dumps(evidence_json(result.checked, sql, result.decision)))
    return [cell["ledger"] for cell in document["cells"]]


def test_owners_read_what_earlier_answers_would_tell_with_a_cell_and_of_how_many(tmp_path):
    sql = "SELECT SUM(pay) AS s FROM T"
    [[total]] = findings(asked_in_turn(tmp_path, TABLE_OF_TWO, sql), sql)
    assert (total["code"], total["told"]["kind"]) == ("K044", "withheld")
    west = sum(BRANCHES["pay"].to_pylist()[114:])
    told = [total["told"][name] for name in ("units", "low", "high", "more")]
    assert told == [6, west, west, 0]
    assert [(one["entry"], one["rows"]) for one in total["told"]["with"]] == [
        (2, 70),
        (2, 44),
        (0, 120),
    ]
    assert total["told"]["with"][0]["where"] == ['"t"."branch" IS NOT DISTINCT FROM \'north\'']
    assert {one["measure"] for one in total["told"]["with"]} == {"sum:pay"}


def test_owners_read_what_a_count_would_tell_with_the_number_of_all(tmp_path):
    found = findings(asked_in_turn(tmp_path, TABLE_OF_TWO), TABLE_OF_TWO)
    [count] = found[2]
    assert (count["code"], count["told"]["kind"]) == ("K044", "withheld")
    assert [count["told"][name] for name in ("units", "low", "high")] == [6, 6, 6]
    assert sorted(one["rows"] for one in count["told"]["with"]) == [44, 70, 120]


def test_owners_read_by_whom_two_answers_differ(tmp_path):
    first, sql = (f"SELECT SUM(pay) AS s FROM T WHERE person >= {least}" for least in (20, 23))
    [[found]] = findings(asked_in_turn(tmp_path, first, sql), sql)
    told, pays = found["told"], BRANCHES["pay"].to_pylist()
    assert (found["code"], told["kind"]) == ("K041", "difference")
    assert (told["units"], told["rows"]) == (3, 3)
    assert told["low"] == told["high"] == sum(pays[20:23])
    assert [(one["entry"], one["rows"]) for one in told["with"]] == [(2, 100)]


def asked_of_changed_data(tmp_path):
    """Return an answer about data of which there was an answer before they changed."""
    asked_in_turn(tmp_path, TABLE_OF_TWO)
    changed = BRANCHES.set_column(2, "pay", pa.array([1.0] * BRANCHES.num_rows))
    policy = policy_with(("pe:outputCheck", "eq", "sacro"))
    ledger = tmp_path / "answers"
    return query_data(OF_ALL, [policy], RESEARCHER, {TABLE: changed}, output_ledger=ledger)


OF_ALL = "SELECT COUNT(*) AS n FROM T"


def test_owners_read_of_which_other_data_earlier_answers_were_and_who_asked_does_not(tmp_path):
    earlier = asked_in_turn(tmp_path, TABLE_OF_TWO).checked.recorded.scope.data
    result = asked_of_changed_data(tmp_path)
    [[found]] = findings(result, OF_ALL)
    assert (found["code"], found["told"]["kind"]) == ("K047", "data")
    assert (found["told"]["names"], found["told"]["limit"]) == ([earlier], None)
    told = checked_json(result.checked, with_rows=True)
    assert {*told["reasons"]} == {"K047"}
    assert earlier not in json.dumps(told) + repr(result)


@pytest.mark.nightly
def test_owners_read_which_limit_of_the_ledger_is_met(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "MOST_ATOMS", 1)
    found = findings(asked_in_turn(tmp_path, TABLE_OF_TWO), TABLE_OF_TWO)[0][0]
    assert found["code"] == "K046"
    assert found["told"]["limit"] == {"of": "atoms", "size": None, "most": 1}


def test_who_asked_reads_nothing_of_what_the_ledger_found(tmp_path):
    sql = "SELECT COUNT(*) AS n, SUM(pay) AS s FROM T"
    result = asked_in_turn(tmp_path, TABLE_OF_TWO, sql)
    assert any(findings(result, sql))
    told = checked_json(result.checked, with_rows=True)
    assert {*told["reasons"]} == {"K049"}
    text = json.dumps(told) + repr(result)
    assert not any(word in text for word in ("K044", "14025", "units=6", "ToldFigures", "entry"))


def test_the_same_answer_is_given_whatever_the_ledger_found(tmp_path):
    """That a cell is withheld by itself, or for what it tells with others, reads the same."""
    small, telling = (
        checked_json(asked_in_turn(tmp_path / name, *queries).checked, with_rows=True)
        for name, queries in (
            ("alone", ["SELECT COUNT(*) AS n FROM T WHERE branch = 'west'"]),
            ("beside", [TABLE_OF_TWO, "SELECT COUNT(*) AS n FROM T WHERE branch <> 'south'"]),
        )
        if not (tmp_path / name).mkdir()
    )
    assert [small[name] for name in ("suppressed", "reasons", "rows")] == [
        telling[name] for name in ("suppressed", "reasons", "rows")
    ]
