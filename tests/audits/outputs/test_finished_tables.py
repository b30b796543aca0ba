"""Finished tables: how they are read, and what can be known of them."""

import numpy as np
import openpyxl
import pytest

from policy_engine.audits.outputs import finished_files
from policy_engine.audits.outputs.finished_tables import (
    check_totals,
    judged_alone,
    known_shares,
    read_finished,
)
from policy_engine.audits.outputs.model import TOTAL, Statbarn
from policy_engine.errors import DataError

TABLE = "region,agr,ind,All\nA,30,40,70\nB,.,33,58\nAll,,,128\n"


def written(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text)
    return read_finished(tmp_path / name)


def test_a_table_has_labels_on_two_sides_totals_and_blanks(tmp_path):
    table = written(tmp_path, TABLE)
    assert table.keys == ("region", "column")
    assert table.labels == (("A", "B"), ("agr", "ind"))
    assert table.codes[2].tolist() == [0, TOTAL]
    assert np.flatnonzero(table.is_blank).tolist() == [3, 6, 7]
    assert (table.has_totals, table.total) == (True, "All")


def test_several_columns_of_words_are_labels(tmp_path):
    table = written(tmp_path, "region,sex,n\nA,f,12\nA,m,14\nTotal,,26\n")
    assert table.keys == ("region", "sex")
    assert table.codes.tolist() == [[0, 0], [0, 1], [TOTAL, TOTAL]]


def test_figures_may_be_grouped_and_have_decimals(tmp_path):
    table = written(tmp_path, 'region,sum\nA,"1,234.50"\nB,2e3\n')
    assert table.values.tolist() == [1234.5, 2000]
    assert table.decimals.tolist() == [2, -3]


@pytest.mark.parametrize(
    "text",
    ["a,b\n", "a\n1\n", "region,n\nA,many\n", "region,n\nA,1\nA,2\n", "region,n,n2\nA,1,x y\n"],
)
def test_what_is_not_a_table_of_results_is_refused(tmp_path, text):
    with pytest.raises(DataError, match="C010"):
        written(tmp_path, text)


@pytest.mark.parametrize("mark", ["2*", "1 030", "<5", "many", "(7)", "7a"])
@pytest.mark.parametrize("others", ["2", "3*"])
def test_figures_are_not_taken_for_labels_because_of_a_mark(tmp_path, mark, others):
    rows = f"region,f,m\nA,30,12\nB,{mark},1\nC,{others},40\n".replace("30", others)
    with pytest.raises(DataError, match=r"C010 Column 'f'.*row [12]"):
        written(tmp_path, rows)
    assert read_finished(tmp_path / "t.csv", keys=2).left == 2


def test_ranges_are_labels(tmp_path):
    assert written(tmp_path, "region,age,n\nA,18-24,12\nA,65 or more,14\n").left == 2


def test_a_sheet_is_read_as_a_file_is(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    for row in (["region", "agr", "ind"], ["A", 30, None], ["B", 12, 33]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert np.isnan(read_finished(tmp_path / "t.xlsx").values[1])
    (tmp_path / "no.xlsx").write_text("no")
    with pytest.raises(DataError, match="C010"):
        read_finished(tmp_path / "no.xlsx")
    monkeypatch.setattr(finished_files, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        read_finished(tmp_path / "t.xlsx")


def test_totals_are_checked_where_all_their_cells_are_shown(tmp_path):
    check_totals(written(tmp_path, TABLE), is_count=True)
    with pytest.raises(DataError, match="K026 2 totals are"):
        check_totals(written(tmp_path, TABLE.replace("70", "71")), is_count=True)
    rounded = written(tmp_path, "region,a,b,All\nA,1.24,1.24,2.5\n")
    check_totals(rounded, is_count=False)


def test_a_reader_knows_shares_by_whole_lines_or_their_totals(tmp_path):
    table = written(tmp_path, TABLE)
    shares = known_shares(table, np.nan_to_num(table.values).astype(int))
    assert shares[:2] == pytest.approx([30 / 70, 40 / 70])
    assert shares[4] == pytest.approx(33 / 58)
    alone = written(tmp_path, "region,agr,ind\nA,.,40\nB,25,33\n")
    assert known_shares(alone, np.array([0, 40, 25, 33]))[1:3] == pytest.approx([40 / 73, 25 / 58])
    lone = written(tmp_path, "region,agr,ind\nA,.,40\n")
    assert known_shares(lone, np.array([0, 40]))[1] == 1, "of its column, not of its row"


def test_what_no_rule_can_judge_is_for_a_person(tmp_path):
    table = written(tmp_path, "region,n\nA,70\nB,58\n")
    barns = []
    for kind, beside, units in (
        ("counts", None, True),
        ("counts", None, False),
        ("totals", table, True),
        ("totals", None, True),
    ):
        [measure] = judged_alone(table, kind, beside, is_of_units=units).table.measures
        barns.append({one.statbarn for one in measure.statistics})
    assert barns == [
        {Statbarn.FREQUENCIES},
        {Statbarn.FREQUENCIES, Statbarn.CLUSTERS},
        {Statbarn.FREQUENCIES, Statbarn.CLUSTERS},
        {Statbarn.CLUSTERS},
    ]


def test_counts_are_of_the_same_cells_and_whole(tmp_path):
    table = written(tmp_path, "region,sum\nA,1.5\nB,2.5\n")
    for text in (
        "region,sum\nA,30\nC,40\n",
        "region,sum\nA,3.5\nB,40\n",
        "region,sum\nA,-3\nB,40\n",
    ):
        with pytest.raises(DataError, match="C010"):
            judged_alone(table, "totals", written(tmp_path, text, "c.csv"), is_of_units=True)


@pytest.mark.parametrize("count", ["1e300", "9007199254740992", "1.5", "-1"])
def test_what_is_no_count_is_refused_before_totals_are_summed(tmp_path, count):
    table = written(tmp_path, f"region,a,b,All\nA,30,{count},{count}\n")
    with pytest.raises(DataError, match="C010 Counts are whole numbers"):
        judged_alone(table, "counts", None, is_of_units=True)
