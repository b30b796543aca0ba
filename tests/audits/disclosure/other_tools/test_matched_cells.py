"""Cells of another tool's release over the values of its original."""

import pytest

from policy_engine.audits.disclosure.other_tools.matching import match_cells
from policy_engine.data.taxonomy.tree import make_tree
from policy_engine.engines import tables


def table(tmp_path, *cells):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
    rows = (f'{row},"{cell}"' if cell else f"{row}," for row, cell in enumerate(cells))
    path.write_text("\n".join(["row,x", *rows]))
    return tables.read_table(path)


def values(tmp_path, known, released, taxonomy=None):
    """Return the values that each released cell may be."""
    original, release = table(tmp_path, *known), table(tmp_path, *released)
    column = match_cells("x", original, release, taxonomy).column
    spread = column.after
    runs = [slice(*spread.starts[[cell, cell + 1]]) for cell in spread.cell_of]
    return [
        [
            column.labels[code]
            for low, high in zip(spread.low[run], spread.high[run], strict=True)
            for code in range(low, high)
        ]
        for run in runs
    ]


@pytest.mark.parametrize(
    ("cell", "covered"),
    [
        ("[20 - 29]", ["20", "25"]),
        ("[20, 30[", ["20", "25"]),
        ("(20, 30]", ["25", "30"]),
        ("20-30", ["20", "25", "30"]),
        ("{20, 30}", ["20", "30"]),
        (">= 30", ["30", "40"]),
        ("<25", ["20"]),
        ("2*", ["20", "25"]),
        ("**", ["20", "25", "30", "40"]),
        ("25", ["25"]),
        ("025", ["25"]),
        ("[50, 60]", ["55"]),
    ],
)
def test_cells_are_the_numbers_of_the_original_in_their_range(tmp_path, cell, covered):
    found = values(tmp_path, ["30", "20", "40", "25"], ["[20 - 29]", cell])
    assert found == [["20", "25"], covered]


def test_equal_cells_in_other_spellings_are_one(tmp_path):
    original, release = (
        table(tmp_path, 20, 25, 30),
        table(tmp_path, "20-29", "[20, 30[", "{20, 25}"),
    )
    found = match_cells("x", original, release, None)
    assert len({*found.column.after.cell_of.tolist()}) == 1


@pytest.mark.parametrize("cell", ["2020-01", "[2020-01-01 - 2020-01-31]", "<2020-02-01", "2020-Q1"])
def test_cells_are_the_days_of_the_original_in_their_period(tmp_path, cell):
    known = ["2020-01-31", "2020-04-01", "2020-01-01"]
    assert values(tmp_path, known, [cell, known[0]]) == [["2020-01-01", "2020-01-31"], [known[0]]]


def test_days_are_all_their_moments(tmp_path):
    known = ["2020-01-01 10:00:00", "2020-01-01 23:59:59", "2020-01-02 00:00:00"]
    assert values(tmp_path, known, ["2020-01-01"]) == [known[:2]]


def test_a_missing_value_may_be_in_a_cell(tmp_path):
    found = values(tmp_path, ["20", "", "30"], ["[20 - 30] or missing", "[20 - 30]", ""])
    assert found == [["", "20", "30"], ["20", "30"], [""]]


@pytest.mark.parametrize(
    ("cell", "covered"),
    [
        ("{Bern, Rome}", ["Bern", "Rome"]),
        ("{Bern,Rome}", ["Bern", "Rome"]),
        ("Be**", ["Bern"]),
        ("*", ["Bern", "Oslo", "Rome"]),
        ("NA", ["Bern", "Oslo", "Rome"]),
        ("south", ["Bern", "Rome"]),
    ],
)
def test_cells_are_categories_of_the_original(tmp_path, cell, covered):
    labels = ("any", "south", "north", "Bern", "Rome", "Oslo")
    tree = make_tree(labels, (-1, 0, 0, 1, 1, 2)) if cell == "south" else None
    assert values(tmp_path, ["Bern", "Oslo", "Rome"], ["Oslo", cell], tree) == [["Oslo"], covered]


def test_labels_that_nobody_can_read_are_told(tmp_path):
    original, release = (
        table(tmp_path, "Bern", "Oslo"),
        table(tmp_path, "south", "Oslo", "{Bern, x}"),
    )
    found = match_cells("x", original, release, None)
    assert found.labels == ("south", "{Bern, x}")
    assert found.column.after.is_exact


def test_a_release_of_values_has_no_cells(tmp_path):
    assert match_cells("x", table(tmp_path, 1, 2), table(tmp_path, 3, 1), None) is None
    assert match_cells("x", table(tmp_path, "a", "b"), table(tmp_path, "b", ""), None) is None
