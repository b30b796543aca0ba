"""Tables by a key by which their rows were chosen: that all have its value tells nothing."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session

SIZES = {
    ("north", "farm"): 30,
    ("north", "mill"): 20,
    ("north", "shop"): 50,
    ("south", "mill"): 40,
    ("south", "shop"): 45,
    ("west", "shop"): 25,
    ("east", "mill"): 4,
    ("east", "shop"): 35,
}
"""All farms are in the north."""


def people():
    cells = [cell for cell, size in SIZES.items() for _ in range(size)]
    frame = pd.DataFrame(cells, columns=["region", "sector"])
    frame["person"] = range(len(frame))
    frame["income"] = [900.0 + 37 * (number % 23) for number in range(len(frame))]
    return frame


@pytest.fixture(params=["sacro", "abs", "bundesbank"])
def session(tmp_path, request):
    with output_session(
        None, tmp_path / "out", data=people(), profile=request.param, unit="person"
    ) as made:
        yield made


def of(region):
    frame = people()
    return frame[frame.region == region]


def shown(output):
    """Return the figures of a table that are shown, by the last of their keys."""
    if output.status == "suppressed":
        return {}
    frame = output.to_pandas()
    frame = frame.set_index([*frame.columns[:-1]]) if "sector" in frame else frame
    figures = frame.iloc[:, -1].dropna()
    return {(key if isinstance(key, str) else key[-1]): one for key, one in figures.items()}


@pytest.mark.one_in(3)
def test_all_rows_of_one_region_are_shown_by_region_and_sector(session):
    by_both = session.groupby(["region", "sector"], data=of("south"))
    assert shown(by_both.size()) == {"mill": 40, "shop": 45}
    assert [*shown(by_both["income"].mean())] == ["mill", "shop"]
    assert session.crosstab("region", "sector", data=of("south")).status == "released"
    assert session.groupby("region", data=of("south")).size().status == "released"


def test_few_persons_and_nearly_all_of_a_line_are_withheld_as_ever(session):
    assert "mill" not in shown(session.groupby(["region", "sector"], data=of("east")).size())
    # All of the west are in one sector: that tells something of each of them.
    assert not shown(session.groupby(["region", "sector"], data=of("west")).size())


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    "chosen",
    [
        lambda frame: frame[frame.region == "south"].iloc[1:],
        lambda frame: frame[(frame.region == "south") & (frame.sector == "mill")],
        lambda frame: frame[frame.sector == "farm"],
    ],
)
def test_that_rows_chosen_otherwise_are_all_of_a_region_is_told_by_no_table(session, chosen):
    some = chosen(people())
    assert not shown(session.groupby(["region", "person"], data=some)["income"].mean())
    assert session.groupby("region", data=some).size().status == "suppressed"


def test_a_column_that_rows_were_given_afterwards_is_none_that_they_were_chosen_by(session):
    some = of("south").assign(are_ill=True)
    assert session.groupby("are_ill", data=some).size().status == "suppressed"


@pytest.mark.one_in(3)
def test_after_counts_by_sector_it_is_not_told_that_all_farms_are_in_the_north(session):
    assert shown(session.groupby("sector").size())["farm"] == 30
    assert "farm" not in shown(session.groupby(["region", "sector"], data=of("north")).size())


def test_after_those_of_the_north_it_is_not_told_either(session):
    assert shown(session.groupby(["region", "sector"], data=of("north")).size())["farm"] == 30
    assert "farm" not in shown(session.groupby("sector").size())


@pytest.mark.one_in(33)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("first", ["nothing", "sectors", "both", "means"])
def test_figures_by_the_region_that_was_chosen_are_those_without_it(tmp_path, seed, first):
    """Whatever was shown before, the same cells are shown: only the name of the region is added."""
    draws = np.random.default_rng(seed)
    frame = people().sample(frac=draws.uniform(0.3, 1), random_state=seed)
    frame["sector"] = np.where(draws.random(len(frame)) < 0.3, "farm", frame.sector)
    north, tables = frame[frame.region == "north"], []
    for keys in ("sector", ["region", "sector"]):
        with output_session(
            None, tmp_path / str(len(keys)), data=frame, profile="bundesbank", unit="person"
        ) as made:
            if first == "both":
                made.crosstab("region", "sector")
            elif first != "nothing":
                groups = made.groupby("sector")
                groups.size() if first == "sectors" else groups["income"].mean()
            tables.append(shown(made.groupby(keys, data=north).size()))
    assert tables[0] == tables[1]
