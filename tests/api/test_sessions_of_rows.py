"""Sessions about data in which a person has several rows."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session

WITHHELD = 6
"""The persons of the south with the rare diagnosis, who have other visits, too."""


def visits():
    """Return three visits of each of 90 persons, and a fourth of some, with a rare diagnosis."""
    rows = [(person, person % 3, visit) for person in range(90) for visit in range(3)]
    frame = pd.DataFrame(rows, columns=["person", "place", "visit"])
    rare = [(person, person % 3, 3) for person in range(45) if person % 3 or person < 3 * WITHHELD]
    frame = pd.concat([frame, pd.DataFrame(rare, columns=frame.columns)], ignore_index=True)
    random = np.random.default_rng(1)
    return frame.assign(
        region=np.array(["south", "north", "west"])[frame.place],
        diagnosis=np.where(frame.visit == 3, "rare", np.where(frame.visit, "flu", "cold")),
        days=random.integers(2, 12, len(frame)),
        drugs=random.normal(9, 2, len(frame)),
    )


@pytest.fixture
def asked(tmp_path):
    with output_session(
        None, tmp_path / "folder", data=visits(), profile="dwb-2015", unit="person"
    ) as session:
        yield session


def shown(output):
    return output.to_pandas() if output.status == "released" else pd.DataFrame()


def test_a_total_does_not_give_away_a_cell_of_rows_whose_persons_have_others(asked):
    cells = shown(asked.crosstab("region", "diagnosis"))
    assert pd.isna(cells.loc["south", "rare"])
    assert cells.loc["south", ["cold", "flu"]].tolist() == [30, 60]
    totals = shown(asked.groupby("region").size())["size"]
    assert pd.isna(totals["south"])
    assert totals.isna().sum() == 2, "the number of all rows is no secret"


def _sizes(session, data):
    return session.groupby("region", data=data).size()


def _totals(session, data):
    return session.groupby("region", data=data)["days"].sum()


def _means(session, data):
    return session.groupby("region", data=data)["days"].mean()


@pytest.mark.parametrize("ask", [_sizes, _totals, _means])
def test_one_row_of_one_person_is_not_told_by_a_difference(asked, ask):
    frame = visits()
    assert shown(ask(asked, frame)).notna().all(axis=None)
    # That nobody of the north or the west was left out is not told either.
    assert ask(asked, frame.drop(index=0)).status == "suppressed"


def test_a_model_without_one_row_of_one_person_is_withheld(asked):
    frame = visits()
    assert asked.ols("days ~ drugs").status == "released"
    assert asked.ols("days ~ drugs", data=frame.drop(index=0)).status == "suppressed"


def test_rows_of_enough_persons_may_be_told_of_by_a_difference(asked):
    frame = visits()
    assert shown(_sizes(asked, frame)).notna().all(axis=None)
    second = shown(_sizes(asked, frame[frame.visit != 0]))
    assert second.notna().all(axis=None)


def test_a_model_does_not_give_away_by_its_observations_what_a_table_withholds(asked):
    frame = visits()
    totals = shown(asked.crosstab("region", "diagnosis"))
    assert totals.loc["south"].isna().tolist() == [False, False, True]
    assert asked.ols("days ~ drugs").status == "released"
    assert asked.ols("days ~ drugs", data=frame[frame.region == "south"]).status == "suppressed"


def _dominated():
    """Return the visits with 1,000 more of one person of the north, who always stays three days."""
    frame = visits()
    own = frame[frame.person == 40].iloc[[0] * 1000].assign(days=3, visit=range(9, 1009))
    frame = pd.concat([frame, own], ignore_index=True)
    return frame.assign(ill=frame.days <= 4, drugs=frame.person / 8)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "ask",
    [
        lambda groups: groups.size(),
        lambda groups: groups["days"].count(),
        lambda groups: groups["drugs"].median(),
        lambda groups: groups["ill"].mean(),
        lambda groups: groups["days"].std(),
    ],
    ids=["size", "count", "median", "rate", "deviation"],
)
def test_figures_of_rows_most_of_which_are_those_of_one_person_are_withheld(tmp_path, ask):
    with output_session(
        None, tmp_path / "f", data=_dominated(), profile="sacro", unit="person"
    ) as session:
        cells = shown(ask(session.groupby("region"))).iloc[:, 0]
    assert pd.isna(cells["north"])
    assert cells[["south", "west"]].notna().any()
