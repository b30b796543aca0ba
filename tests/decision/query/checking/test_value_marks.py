"""Counts by the values of a column, and totals of it that would tell those that are withheld."""

import pyarrow as pa
import pytest
from asking_people import ask

VALUES = [*range(1, 16)]
COMMON = [value for value in VALUES for _ in range(6)]


def people(*rare):
    """Return six persons with each of fifteen scores, and one with each rare one."""
    scores = [*COMMON, *rare]
    return pa.table(
        {
            "person": range(len(scores)),
            "region": ["a" if n % 2 else "c" for n in range(len(scores))],
            "score": scores,
            "pay": [1000.0 + 7 * n for n in range(len(scores))],
        }
    )


BY_SCORE = "SELECT score, COUNT(*) AS n FROM T GROUP BY score"
TOTALS = ["SUM(score)", "AVG(score)", "STDDEV(score)", "AVG(score) FILTER (WHERE region = 'a')"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("total", TOTALS)
def test_counts_of_two_rare_values_are_not_told_by_a_total(tmp_path, total):
    """The total is 57 more than that of the counts that are shown: 22 + 35, and of no others of
    the two."""
    table, sql = people(22, 35), f"SELECT {total} AS x FROM T"
    alone, reasons = ask(tmp_path / "alone", sql, table=table)
    assert alone[0]["x"] is not None
    shown, _ = ask(tmp_path / "l", BY_SCORE, table=table)
    assert [row["n"] for row in shown] == [6] * 15 + [None] * 2
    rows, reasons = ask(tmp_path / "l", sql, table=table)
    assert (rows[0]["x"], reasons) == (None, {"K050"})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("total", TOTALS)
def test_counts_of_values_are_withheld_after_a_total(tmp_path, total):
    sql = f"SELECT {total} AS x FROM T"
    rows, reasons = ask(tmp_path / "l", sql, BY_SCORE, table=people(22, 35))
    assert not any(row["n"] for row in rows)
    assert "K050" in reasons


@pytest.mark.one_in(4)
@pytest.mark.parametrize("key", ["score", "score * 2", "CAST(score AS VARCHAR)", "region, score"])
def test_values_are_told_by_whatever_key_has_one_of_each(tmp_path, key):
    table = people(*[22] * 3, *[35] * 3) if "region" in key else people(22, 35)
    sql = f"SELECT {key}, COUNT(*) AS n FROM T GROUP BY ALL"
    _, reasons = ask(tmp_path / "l", sql, "SELECT SUM(score) AS x FROM T", table=table)
    assert "K050" in reasons


def test_bands_go_with_totals(tmp_path):
    bands, table = "SELECT score // 5 AS band, COUNT(*) AS n FROM T GROUP BY band", people(22, 35)
    rows, _ = ask(tmp_path / "l", bands, "SELECT SUM(score) AS x FROM T", table=table)
    assert rows[0]["x"] == sum(table["score"].to_pylist())


@pytest.mark.parametrize("is_counted_first", [True, False])
def test_counts_all_of_which_are_shown_are_a_total(tmp_path, is_counted_first):
    """Less another one, of all but one, it would be the score of that one."""
    queries = [BY_SCORE, "SELECT SUM(score) AS x FROM T"]
    _, reasons = ask(
        tmp_path / "l", *(queries if is_counted_first else queries[::-1]), table=people()
    )
    assert "K050" in reasons


def test_table_of_which_many_counts_are_withheld_goes_with_a_total(tmp_path):
    rows, _ = ask(
        tmp_path / "l", BY_SCORE, "SELECT SUM(score) AS x FROM T", table=people(*range(40, 51))
    )
    assert rows[0]["x"] is not None


def test_totals_of_other_columns_are_given(tmp_path):
    rows, _ = ask(tmp_path / "l", BY_SCORE, "SELECT SUM(pay) AS x FROM T", table=people(22, 35))
    assert rows[0]["x"] is not None


CHOSEN = [
    "score NOT IN (22, 35)",
    "score < 20",
    "score BETWEEN 1 AND 15",
    "score * 2 <= 30",
    "score IN (1, 2, 3, 4, 5, 6, 7, 8)",
]


@pytest.mark.nightly
@pytest.mark.one_in(8)
@pytest.mark.parametrize("condition", CHOSEN)
def test_counts_of_values_that_a_condition_excludes_are_not_told_by_a_total(tmp_path, condition):
    """Excluded values are no cells, but what is left of a total tells their counts all the same."""
    by_score = f"SELECT score, COUNT(*) AS n FROM T WHERE {condition} GROUP BY score"
    shown, _ = ask(tmp_path / "l", by_score, table=people(22, 35))
    assert [row["n"] for row in shown] == [6] * (8 if " IN (1" in condition else 15)
    total = "SELECT SUM(score) AS x FROM T"
    rows, reasons = ask(tmp_path / "l", total, table=people(22, 35))
    assert (rows[0]["x"], reasons) == (None, {"K050"})
    rows, reasons = ask(tmp_path / "first", total, by_score, table=people(22, 35))
    assert not any(row["n"] for row in rows)
    assert "K050" in reasons


def test_so_it_is_where_the_values_of_a_column_are_not_listed(tmp_path):
    """Of twelve values, seven are of one person each: more than half."""
    rare = [number * number for number in range(20, 27)]
    table = pa.table({"person": range(37), "score": [*VALUES[:5]] * 6 + rare})
    by_score = "SELECT score, COUNT(*) AS n FROM T WHERE score < 9 GROUP BY score"
    rows, reasons = ask(tmp_path / "l", by_score, "SELECT SUM(score) AS x FROM T", table=table)
    assert (rows[0]["x"], reasons) == (None, {"K050"})


def test_a_total_is_not_told_where_a_condition_excludes_many_values(tmp_path):
    """It would be that of those few, where others of them are told by another total."""
    by_score = "SELECT score, COUNT(*) AS n FROM T WHERE score < 4 GROUP BY score"
    total = "SELECT SUM(score) AS x FROM T"
    rows, reasons = ask(tmp_path / "l", by_score, total, table=people(22, 35))
    assert (rows[0]["x"], reasons) == (None, {"K050"})
