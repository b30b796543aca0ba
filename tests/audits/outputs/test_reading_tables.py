"""Finished tables as they are read: labels that are none, and totals whatever they are called."""

import numpy as np
import pytest

from policy_engine.audits.outputs.model import TOTAL
from policy_engine.audits.outputs.reading_tables import read_finished
from policy_engine.errors import DataError


def read(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text)
    return read_finished(tmp_path / "t.csv", **options)


@pytest.mark.parametrize("label", ["Grand Total", "Summe", "Somme", "total*", "Everybody", "zzz"])
def test_a_column_that_is_the_sum_of_the_others_is_a_total_whatever_its_name(tmp_path, label):
    table = read(tmp_path, f"region,farm,shop,{label}\nA,30,40,70\nB,,38,44\nC,25,33,58\n")
    assert table.labels[1] == ("farm", "shop")
    assert table.codes[2::3, 1].tolist() == [TOTAL] * 3
    assert table.totals == ("", label)


def test_a_row_that_is_the_sum_of_the_others_is_one_for_each_of_the_other_keys(tmp_path):
    rows = "A,f,30\nB,f,12\nzzz,f,42\nA,m,40\nB,m,15\nzzz,m,55\n"
    table = read(tmp_path, f"region,sex,n\n{rows}")
    assert table.labels == (("A", "B"), ("f", "m"))


def test_a_total_may_be_off_by_rounding(tmp_path):
    rows = "A,30,45,80\nB,10,35,40\nC,25,30,50\n"
    assert read(tmp_path, f"region,a,b,x\n{rows}").labels[1] == ("a", "b")
    decimals = "A,1.24,1.24,2.5\nB,3.14,2.11,5.2\n"
    assert read(tmp_path, f"region,a,b,x\n{decimals}", kind="totals").labels[1] == ("a", "b")
    assert read(tmp_path, f"region,a,b,x\n{decimals}", kind="means").labels[1] == ("a", "b", "x")


def test_totals_may_be_within_totals(tmp_path):
    rows = "World,99,180\nEurope,61,100\nGermany,30,40\nFrance,6,35\nSpain,25,25\n"
    table = read(tmp_path, f"place,f,m\n{rows}Asia,38,80\nChina,20,30\nIndia,18,50\n")
    assert table.labels[0] == ("Europe", "Germany", "France", "Spain", "Asia", "China", "India")
    assert table.parents[0] == (-1, 0, 0, 0, -1, 4, 4)
    assert table.totals[0] == "World"


def test_a_total_without_a_name_of_withheld_cells_is_in_doubt(tmp_path):
    assert not read(tmp_path, "place,n\nGermany,30\nFrance,\nSpain,25\nItaly,31\n").doubt
    assert read(tmp_path, "place,n\n,30\nB,20\nC,\n").doubt


def test_one_figure_that_is_the_sum_of_two_by_chance_is_no_total(tmp_path):
    assert not read(tmp_path, "place,n\nA,50\nB,20\nC,30\nD,44\nE,9\n").has_totals


def test_row_numbers_are_not_labels(tmp_path):
    table = read(tmp_path, ",region,n\n0,A,30\n1,B,\n2,C,25\n3,Total,61\n")
    assert (table.keys, table.labels) == (("region",), (("A", "B", "C"),))
    assert read(tmp_path, ",region,n\n0,A,30\n1,B,25\n", keys=2).keys == ("region",)
    assert read(tmp_path, ",n\n0,30\n1,20\n").labels == (("0", "1"),)


@pytest.mark.parametrize(
    "label",
    [
        *("n=3", "3 persons", "3 of 40", "3/40", "ca. 3", "3-4", "3 (r)", "three", "III", "True"),
        *("2020-01-01", "\u00b3", "drei", "inf"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_numbers_in_words_beside_a_key_are_in_doubt(tmp_path, label, is_first):
    rows = [("region", "ill", "n"), ("A", label, "30"), ("B", label.lower(), "40")]
    order = (1, 0, 2) if is_first else (0, 1, 2)
    text = "\n".join(",".join(row[one] for one in order) for row in rows) + "\n"
    [doubt] = read(tmp_path, text).doubt
    assert doubt.startswith("Column 'ill' may be of figures")


def test_numbers_that_tell_rows_apart_are_labels(tmp_path):
    assert not read(tmp_path, "year,n\n2019,30\n2020,40\n").doubt
    rows = "A,18-24,30\nA,65 or more,12\nB,18-24,14\nB,65 or more,18\n"
    assert not read(tmp_path, f"region,age,n\n{rows}").doubt


def test_decimal_commas_are_those_of_the_whole_table(tmp_path):
    table = read(tmp_path, 'region,a,b\nA,"1.030,5","2.000"\nB,"3,0",4\n', kind="totals")
    assert table.values.tolist() == [1030.5, 2000, 3, 4]
    with pytest.raises(DataError, match=r"C010.*decimal commas and points"):
        read(tmp_path, 'region,a,b\nA,"30,5",2.5\n')
    assert read(tmp_path, 'region,a\nA,"1,234"\n').values.tolist() == [1234]


def test_merged_labels_are_those_above(tmp_path):
    table = read(tmp_path, "region,sex,n\nA,f,30\n,m,12\nB,f,14\n,m,18\n")
    assert table.codes.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_exponents_do_not_make_a_figure_rougher_than_it_is_large(tmp_path):
    table = read(tmp_path, "region,a\nA,0e999999999\nB,1e2\nC,0.5e1\n", kind="totals")
    assert table.slack.tolist() == [0.5, 50, 0.5]


def test_sparse_tables_are_not_laid_out(tmp_path):
    rows = "".join(f"a{n},b{n},c{n},{20 + n}\n" for n in range(300))
    table = read(tmp_path, f"a,b,c,n\n{rows}")
    assert table.size == 301**3
    assert np.unique(table.codes[:, 0]).size == 300
