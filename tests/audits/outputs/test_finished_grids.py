"""Finished tables with subtotals, and what is withheld of them so that these tell nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from policy_engine import check_tables
from policy_engine.audits.outputs.finished_grids import finished_grids
from policy_engine.audits.outputs.reading_tables import read_finished

PLACES = {"North": ("n1", "n2", "n3"), "South": ("s1", "s2")}
COUNTS = {"n1": (4, 20), "n2": (30, 25), "n3": (50, 52), "s1": (40, 41), "s2": (60, 66)}


def lines(counts):
    """Return the rows of a table by place and sex, each region before its districts."""
    parts = {place: (place,) for place in counts} | PLACES | {"Total": tuple(counts)}
    order = [one for region, some in PLACES.items() for one in (region, *some)]
    sums = {place: np.sum([counts[one] for one in parts[place]], axis=0) for place in parts}
    rows = [(place, *sums[place], sums[place].sum()) for place in (*order, "Total")]
    return pd.DataFrame(rows, columns=["place", "f", "m", "Total"])


def written(counts, path):
    lines(counts).to_csv(path / "t.csv", index=False)
    return path / "t.csv"


def blanks(counts):
    """Return the place and the sex of each cell that is withheld."""
    [checked] = check_tables([lines(counts)], profile="abs", kind="counts").outputs
    return {
        (one["keys"].get("place", "Total"), one["keys"].get("column", "Total"))
        for one in checked.suppressed
    }


def test_subtotals_are_a_grid_with_totals_of_their_own(tmp_path):
    [grid] = finished_grids(read_finished(written(COUNTS, tmp_path)))
    assert grid.shape == (8, 3)
    assert grid.is_part.sum() == 10


@pytest.mark.parametrize("mark", [".", "31"])
def test_a_table_with_a_blank_or_a_wrong_figure_has_none(tmp_path, mark):
    path = written(COUNTS, tmp_path)
    path.write_text(path.read_text().replace("n2,30", f"n2,{mark}"))
    assert finished_grids(read_finished(path)) == ()


def test_a_small_count_is_hidden_by_a_rectangle_within_its_region():
    assert blanks(COUNTS) == {(place, sex) for place in ("n1", "n2") for sex in "fm"}


@pytest.mark.parametrize("seed", range(4))
def test_no_small_count_is_known_more_closely_than_the_interval_says(seed):
    random = np.random.default_rng(seed)
    few = {one: random.random(2) < 0.3 for one in COUNTS}
    counts = {
        place: tuple(np.where(few[place], random.integers(2, 10, 2), random.integers(10, 80, 2)))
        for place in COUNTS
    }
    table = lines(counts).set_index("place")
    hidden = blanks(counts)
    cells = [(place, sex) for place in COUNTS for sex in "fm"]
    regions = PLACES | {place: (place,) for place in COUNTS} | {"Total": tuple(COUNTS)}

    def members(place, column):
        sexes = "fm" if column == "Total" else column
        return np.array([one in regions[place] and sex in sexes for one, sex in cells], float)

    every = [(place, column) for place in table.index for column in table.columns]
    shown = [one for one in every if one not in hidden]
    for place, column in (one for one in every if table.loc[one] < 10):
        goal, count = members(place, column), table.loc[place, column]
        low, high = (
            sign
            * linprog(
                sign * goal,
                A_eq=[members(*one) for one in shown],
                b_eq=[table.loc[one] for one in shown],
            ).fun
            for sign in (1, -1)
        )
        assert low <= count - 1 + 1e-5
        assert high >= count + 1 - 1e-5
