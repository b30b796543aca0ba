"""Finished tables beside each other: cells with the same labels are one cell."""

import numpy as np
import pytest

from policy_engine.audits.outputs import linked_tables
from policy_engine.audits.outputs.linked_tables import LinkedTables, are_small
from policy_engine.audits.outputs.reading_tables import read_finished

TWO_WAY = "region,agr,ind\nA,30,40\nC,.,78\n"
REGIONS = "region,n\nA,70\nC,84\n"
SECTORS = "column,n\nagr,36\nind,118\n"


def linked(folder, *texts):
    tables = []
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_text(text)
        tables.append(read_finished(folder / f"{number}.csv"))
    return LinkedTables(tables)


def safe(tables):
    displayed = [~one.is_blank for one in tables.tables]
    return [one.tolist() for one in tables.safe_cells(displayed)]


def test_the_total_of_a_region_in_one_table_is_its_cell_in_another(tmp_path):
    both = linked(tmp_path, TWO_WAY, REGIONS)
    # Two by two cells with totals are nine; those of the regions, and of all, are among them.
    assert both.layout.cells == 9
    first, second = both.numbers
    assert np.isin(second, first).all()


def test_a_total_is_withheld_that_gives_a_blank_away(tmp_path):
    # 84 - 78 = 6; of region A nothing is blank.
    assert safe(linked(tmp_path, TWO_WAY, REGIONS)) == [[True, True, False, True], [True, False]]


def test_the_table_that_comes_first_is_shown_and_the_later_one_gives_way(tmp_path):
    assert safe(linked(tmp_path, REGIONS, TWO_WAY)) == [[True, True], [True, True, False, False]]


def test_tables_that_share_only_what_is_shown_stay_as_they_are(tmp_path):
    whole = TWO_WAY.replace(".", "6")
    assert safe(linked(tmp_path, whole, REGIONS)) == [[True] * 4, [True] * 2]


def test_what_three_tables_give_away_together_is_withheld_in_the_last(tmp_path):
    blank = "region,agr,ind\nA,.,40\nC,.,78\n"
    kept = safe(linked(tmp_path, blank, SECTORS, REGIONS))
    assert kept[:2] == [[False, True, False, True], [True, True]]
    assert kept[2] == [False, False]


def test_many_cells_are_not_tried_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(linked_tables, "_ONE_BY_ONE", 1)
    assert safe(linked(tmp_path, TWO_WAY, REGIONS))[1] == [False, False]


@pytest.mark.parametrize(("most", "is_small"), [(12, True), (11, False)])
def test_tables_of_many_cells_are_not_compared(tmp_path, monkeypatch, most, is_small):
    monkeypatch.setattr(linked_tables, "MOST_CELLS", most)
    assert are_small(linked(tmp_path, TWO_WAY, REGIONS).tables) is is_small


def test_what_cannot_be_negative_is_given_away_by_a_total_that_others_make_up(tmp_path):
    # Both blanks are 0: what is shown of them would tell it.
    rows = "A,20,30,.,.,50\nB,21,31,41,51,144\nC,25,33,22,22,102\n"
    [kept] = safe(linked(tmp_path, f"region,a,b,c,d,All\n{rows}"))
    assert not all(kept[place] for place in (0, 1, 4))
    loose = rows.replace("50\n", "59\n")
    assert safe(linked(tmp_path, f"region,a,b,c,d,All\n{loose}")) == [
        [place not in (2, 3) for place in range(15)]
    ]


def test_another_figure_in_the_same_cell_is_found_in_any_letters(tmp_path):
    other = "Region,n\na,69\nc,84\n"
    assert linked(tmp_path, TWO_WAY, REGIONS).clashes == (False, False)
    assert linked(tmp_path, REGIONS, other).clashes == (False, True)


@pytest.mark.parametrize(
    "turned",
    [
        "sector,A,B,All\nagr,.,25,61\nind,40,33,73\n",
        "region,sector,n\nA,ind,40\nB,agr,25\nB,ind,33\n",
    ],
)
def test_a_table_that_is_turned_or_long_is_still_the_same_table(tmp_path, turned):
    wide = "region,agr,ind,All\nA,.,40,.\nB,.,33,.\nAll,61,73,134\n"
    first, second = safe(linked(tmp_path, wide, turned))
    assert first == [not one for one in linked(tmp_path, wide).tables[0].is_blank]
    assert not all(second[place] for place in (1, 2) if place < len(second))
