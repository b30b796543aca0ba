"""Labels and columns that tell figures which no rule would judge."""

import numpy as np
import pytest

from policy_engine.audits.outputs.finished_files import FileCells
from policy_engine.audits.outputs.odd_labels import odd_columns, odd_labels


def labels(name, *texts):
    rows = tuple((one, "30") for one in texts)
    return odd_labels(FileCells((name, "x"), rows), 1)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("count", ("6", "7", "45")),
        ("n", ("1", "2", "3")),
        ("x", ("6", "7", "45")),
        ("persons in all", ("10", "20")),
        ("number", ("6", "7", "more")),
    ],
)
def test_a_first_column_of_counts_is_odd(name, texts):
    assert labels(name, *texts) == [f"Column {name!r} may be of figures: it has {texts[0]!r}."]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("year", ("2011", "2016", "2024")),
        ("x", ("2011", "2016", "2024")),
        ("age", ("16", "18", "25")),
        ("age_group", ("16", "18", "25")),
        ("x", ("10", "20", "30")),
        ("", ("6", "7", "45")),
        ("number of children", ("0", "1", "2")),
        ("x", ("18-24", "65 or more")),
        ("place", ("North", "South")),
    ],
)
def test_codes_years_and_bands_are_labels(name, texts):
    assert labels(name, *texts) == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "south (n=6)",
            "south (6)",
            "south 6",
            "south: 6",
            "south_6",
            "south, 6 persons",
            "N = 6",
        ),
        *("south [6]", "6 of 30", "south six", "south (in all 6)", "south=6", "6/30"),
    ],
)
def test_a_label_that_tells_how_many_there_are_is_odd(text):
    assert labels("region", "north", text, "west") == [
        f"The label {text!r} may tell how many there are."
    ]
    assert "The name" in odd_labels(FileCells(("region", text), (("north", "30"),)), 1)[0]


@pytest.mark.parametrize(
    "texts",
    [
        ("District 1", "District 2", "Abroad"),
        ("Type 1 diabetes", "COVID-19", "Gout"),
        ("18-24", "25 - 64", "65 or more"),
        ("under 18", "18 or more"),
        ("up to 10", "11 to 49"),
        ("Census 2011", "Survey (2016)"),
        ("n (18-24)", "women"),
        ("< 5 employees", "more"),
        ("G20", "EU27", "None"),
    ],
)
def test_numbers_that_are_no_counts_are_not(texts):
    assert labels("x", *texts) == []


@pytest.mark.parametrize("name", ["pct", "%", "Anteil", "share of all", "n_percent"])
def test_shares_are_odd_by_their_names(name):
    figures = np.array([[30.0, 41], [np.nan, 13], [24, 20]])
    assert len(odd_columns(["n", name], [["a", "b", "c"]], figures)) == 1
    assert odd_columns(["n", "m"], [["a", "share croppers", "50% or more"]], figures) == []
    assert len(odd_columns(["n", "m"], [["n", name.split()[0]]], figures)) <= 1


@pytest.mark.parametrize(
    "rows",
    [
        [[30, 48], [np.nan, 13], [24, 39]],
        [[30, 48], [np.nan, np.nan], [24, 39], [10, 16]],
        [[30, 48], [np.nan, 13], [24, 39], [62, 100]],
    ],
)
def test_shares_are_odd_by_their_figures(rows):
    sentence = "'b' may be shares, which tell the counts that they are of."
    assert sentence in odd_columns(["a", "b"], [], np.array(rows, float))


def test_shares_of_rows_are_odd_and_counts_are_not():
    rows = np.array([[30.0, 48, 52], [20, 13, 87], [24, 39, 61]])
    assert len(odd_columns(["n", "a", "b"], [], rows)) == 2
    counts = np.array([[30.0, 48, 40], [20, 13, 87], [24, 39, 12]])
    assert odd_columns(["n", "a", "b"], [], counts) == []
    assert odd_columns(["n", "m"], [], np.array([[30.0, 30], [20, 20], [40, 40]])) == []
