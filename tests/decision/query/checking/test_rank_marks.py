"""Percentiles of a column, and counts that its values choose."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = ("pe:outputCheck", "eq", "sacro"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
HALF = "PERCENTILE_DISC(0.5) WITHIN GROUP"
MEDIAN = f"SELECT {HALF} (ORDER BY ROUND(pay, -2)) AS n FROM T WHERE region = 'a'"
AGE = f"SELECT {HALF} (ORDER BY ROUND(age, -1)) AS n FROM T WHERE region = 'a'"
BELOW = "SELECT COUNT(*) AS n FROM T WHERE pay <= 1400"
BANDS = "SELECT FLOOR(pay / 1000) AS band, COUNT(*) AS n FROM T GROUP BY band"
MEANS = "SELECT region, AVG(pay) AS n FROM T GROUP BY region"


def people():
    """Return 130 persons: of the region a, half have 1,400 at most, and all of b have more."""
    pay = [1000.0 + 100 * (n // 25 * 4) for n in range(50)] + [
        1500.0 + 100 * (n % 8) for n in range(80)
    ]
    columns = {"id": range(130), "region": ["a"] * 100 + ["b"] * 30, "pay": pay}
    return pa.table({**columns, "age": [20 + 10 * (n % 10) for n in range(130)]})


def ask(path, *queries):
    """Return whether a figure of each query was shown, and the reasons of the last one."""
    shown = []
    for sql in queries:
        answer = query_data(
            sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: people()}, output_ledger=path
        )
        shown.append(any(one is not None for one in answer.table["n"].to_pylist()))
    cells = answer.checked.verdict.cells()
    return shown, {one.value for cell in cells for one in cell.reasons}


@pytest.mark.parametrize("queries", [(MEDIAN, BELOW), (BELOW, MEDIAN), (BANDS, MEDIAN)])
def test_the_second_of_both_is_withheld(tmp_path, queries):
    """If 50 of 130 have 1,400 at most, and half of the hundred of a, nobody of b has."""
    shown, reasons = ask(tmp_path / "l", *queries)
    assert shown == [True, False]
    assert "K050" in reasons


@pytest.mark.parametrize("queries", [(AGE, BELOW), (MEDIAN, MEANS), (BELOW, MEANS)])
def test_of_different_columns_and_of_means_both_are_shown(tmp_path, queries):
    assert ask(tmp_path / "l", *queries)[0] == [True, True]


def test_of_one_answer_counts_are_kept(tmp_path):
    sql = f"SELECT {HALF} (ORDER BY ROUND(pay, -2)) AS m, "
    sql += "COUNT(*) FILTER (WHERE pay <= 1400) AS n FROM T"
    path = tmp_path / "l"
    answer = query_data(
        sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: people()}, output_ledger=path
    )
    assert answer.table.to_pylist() == [{"m": None, "n": 50}]
