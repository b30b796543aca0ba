"""Finished tables: how they are read, and what can be known of them."""

from zipfile import ZipFile

import numpy as np
import openpyxl
import pytest
from openpyxl.comments import Comment

from policy_engine.audits.outputs import finished_files
from policy_engine.audits.outputs.finished_tables import (
    check_totals,
    judged_alone,
    known_shares,
)
from policy_engine.audits.outputs.model import TOTAL, Statbarn
from policy_engine.audits.outputs.reading_tables import read_finished, read_tables
from policy_engine.data.csv_format import telling
from policy_engine.errors import DataError

TABLE = "region,agr,ind,All\nA,30,40,70\nB,.,33,58\nAll,,,128\n"


def written(tmp_path, text, name="t.csv", kind="counts"):
    (tmp_path / name).write_text(text)
    return read_finished(tmp_path / name, kind=kind)


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
    table = written(tmp_path, 'region,sum\nA,"1,234.50"\nB,2e3\n', kind="totals")
    assert table.values.tolist() == [1234.5, 2000]
    assert table.slack.tolist() == [0.005, 500]


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
    for text in (b"no", (tmp_path / "t.xlsx").read_bytes()[:900]):
        (tmp_path / "no.xlsx").write_bytes(text)
        with pytest.raises(DataError, match="C010"):
            read_finished(tmp_path / "no.xlsx")
    monkeypatch.setattr(finished_files, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        read_finished(tmp_path / "t.xlsx")


def test_totals_are_checked_where_all_their_cells_are_shown(tmp_path):
    check_totals(written(tmp_path, TABLE))
    with pytest.raises(DataError, match="K026 2 totals are"):
        check_totals(written(tmp_path, TABLE.replace("70", "71")))
    rounded = written(tmp_path, "region,a,b,All\nA,1.24,1.24,2.5\n", kind="totals")
    check_totals(rounded)


def test_a_reader_knows_shares_by_whole_lines_or_their_totals(tmp_path):
    table = written(tmp_path, TABLE)
    shares, rests = known_shares(table, np.nan_to_num(table.values).astype(int))
    assert shares[:2] == pytest.approx([30 / 70, 40 / 70])
    assert shares[4] == pytest.approx(33 / 58)
    assert (rests[1], rests[4]) == (30, 25), "of the row"
    alone = written(tmp_path, "region,agr,ind\nA,.,40\nB,25,33\n")
    shares, rests = known_shares(alone, np.array([0, 40, 25, 33]))
    assert shares[1:3] == pytest.approx([40 / 73, 25 / 58])
    assert rests[1:3].tolist() == [33, 33]
    lone = written(tmp_path, "region,agr,ind\nA,.,40\n")
    shares, rests = known_shares(lone, np.array([0, 40]))
    assert (shares[1], rests[1]) == (1, 0), "of its column, not of its row"


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
        {Statbarn.FREQUENCIES, Statbarn.OTHER},
        {Statbarn.FREQUENCIES, Statbarn.OTHER},
        {Statbarn.OTHER},
    ]


def test_counts_are_of_the_same_cells_and_whole(tmp_path):
    table = written(tmp_path, "region,sum\nA,1.5\nB,2.5\n", kind="totals")
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


def hidden_sheet(book):
    book.create_sheet("persons").append(["name", "ill"])
    book["persons"].sheet_state = "hidden"


def commented_sheet(book):
    book.create_sheet("more")["A1"].comment = Comment("3 of them ill", "ann")


def hidden_row(book):
    book.active.row_dimensions[3].hidden = True


def hidden_column(book):
    book.active.column_dimensions["B"].hidden = True


def commented(book):
    book.active["B2"].comment = Comment("3 of them ill", "ann")


def computed(book):
    book.active["B2"] = "=1+2"


def charted(book):
    book.create_chartsheet("chart")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (hidden_sheet, "the hidden sheet 'persons' in sheet 'persons'"),
        (commented_sheet, "a comment at A1 in sheet 'more'"),
        (hidden_row, "the hidden row 3"),
        (hidden_column, "the hidden column B"),
        (commented, "a comment at B2"),
        (computed, "a formula without a value at B2"),
        (charted, "not an Excel workbook"),
    ],
)
def test_what_is_not_seen_of_a_workbook_is_refused_by_its_name(tmp_path, change, what):
    book = openpyxl.Workbook()
    for row in (["region", "agr", "ind"], ["A", 30, 40], ["B", 12, 33]):
        book.active.append(row)
    change(book)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=f"C010.*{what}"):
        read_finished(tmp_path / "t.xlsx")


def test_each_sheet_of_a_workbook_is_a_table(tmp_path):
    book = openpyxl.Workbook()
    for row in (["region", "agr", "ind"], ["A", 30, 40], ["B", 12, 33]):
        book.active.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "t.xlsx")
    assert [one.name for one in read_tables(tmp_path / "t.xlsx")] == ["t"]
    for row in (["region", "n"], ["A", 70], ["B", 45]):
        book["empty"].append(row)
    book.save(tmp_path / "t.xlsx")
    tables = read_tables(tmp_path / "t.xlsx")
    assert [(one.name, len(one.values)) for one in tables] == [("t Sheet", 4), ("t empty", 2)]
    with pytest.raises(DataError, match=r"C010 One table.* 2, 't Sheet' and 't empty'"):
        read_finished(tmp_path / "t.xlsx")
    book["empty"]["B2"] = "many"
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"t.xlsx#t empty: C010 .*'many'"):
        read_tables(tmp_path / "t.xlsx")


def test_rows_beyond_what_a_workbook_says_of_its_size_are_read(tmp_path):
    book = openpyxl.Workbook()
    for row in (["region", "agr"], ["A", 30], ["B", 3]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with ZipFile(tmp_path / "t.xlsx") as old, ZipFile(tmp_path / "u.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:B3"', b'ref="A1:B2"'))
    assert len(read_finished(tmp_path / "u.xlsx").values) == 2


def test_a_count_that_is_withheld_is_one_of_few(tmp_path):
    table = written(tmp_path, "region,pay\nA,3000\nB,1234\n", kind="totals")
    counts = written(tmp_path, "region,n\nA,30\nB,\n", "c.csv")
    assert judged_alone(table, "totals", counts, is_of_units=True).units.tolist() == [30, 1]


def test_one_rough_figure_does_not_excuse_totals_elsewhere(tmp_path):
    table = written(tmp_path, "region,a,b,All\nA,20,21,99\nB,1e2,0,100\n", kind="totals")
    with pytest.raises(DataError, match="K026 1 total is"):
        check_totals(table)


def test_shares_are_those_of_the_next_total(tmp_path):
    rows = "World,99,180\nEurope,61,100\nGermany,55,40\nSpain,6,60\n"
    table = written(tmp_path, f"place,f,m\n{rows}Asia,38,80\nChina,20,30\nIndia,18,50\n")
    shares, _ = known_shares(table, table.values.astype(int))
    assert shares[4] == pytest.approx(max(55 / 61, 55 / 95))


@pytest.mark.parametrize(
    "text",
    [
        b"a;b\nx;30\ny;40\n",
        b"a\tb\nx\t30\ny\t40\n",
        "a,b\nx,30\ny,40\n".encode("utf-16"),
    ],
)
def test_other_separators_and_encodings_are_read(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text)
    with telling(lambda _line: None):
        table = read_finished(tmp_path / "t.csv")
    assert table.values.astype(int).tolist() == [30, 40]
