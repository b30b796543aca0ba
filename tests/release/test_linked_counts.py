"""Counts of rows and counts of values do not tell together what is withheld of either."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.release import key_combinations, protected_cells

EMPLOYED = {
    ("n", "i", "yes"): 20, ("n", "j", "yes"): 10, ("n", "k", "yes"): 12,
    ("s", "i", "yes"): 30, ("s", "k", "yes"): 12,
    ("n", "i", "no"): 30, ("n", "j", "no"): 33, ("s", "i", "no"): 15, ("s", "j", "no"): 18,
    ("n", "k", "no"): 11, ("s", "k", "no"): 11,
}  # fmt: skip
"""The employed have a wage; of region s and sector j nobody is."""


def people():
    rows = [key for key, count in EMPLOYED.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["region", "sector", "employed"])
    wages = np.random.default_rng(1).lognormal(3, 0.4, len(frame)).round(2)
    return frame.assign(
        person=range(len(frame)), wage=np.where(frame.employed == "yes", wages, np.nan)
    )


def wages(session):
    """Return the cells of which both a mean and a total are shown: they tell how many there are."""
    figures = session.groupby(["region", "sector"])["wage"].agg(["mean", "sum"]).to_pandas()
    return {*figures.dropna().index}


def employed(session):
    cells = session.crosstab("region", "employed").to_pandas()
    return cells["yes"].dropna().to_dict()


@pytest.fixture
def begin(tmp_path):
    def started(frame, profile="sacro"):
        return output_session(None, tmp_path / "out", data=frame, profile=profile, unit="person")

    return started


@pytest.mark.parametrize("is_first", [True, False])
def test_a_key_that_decides_who_has_a_value_does_not_tell_of_nobody(begin, is_first):
    with begin(people()) as session:
        asked = [wages, employed] if is_first else [employed, wages]
        shown = {one.__name__: one(session) for one in asked}
    # The 42 of region s are the 30 and the 12 of two sectors.
    assert "s" not in shown["employed"] or not {("s", "i"), ("s", "k")} <= shown["wages"]
    assert {("n", "i"), ("s", "i")} <= shown["wages"]


def test_what_tells_nothing_of_values_is_shown_as_before(begin):
    with begin(people()) as session:
        assert len(wages(session)) > 3
        assert session.crosstab("region", "sector").is_whole
        assert session.groupby("employed").size().is_whole


ROWS, MISSING = (11, 20, 11, 3), (0, 10, 1, 0)
"""How many rows four groups have, and how many of each lack the value."""


def test_there_are_no_more_values_than_rows(begin):
    groups = np.repeat(["a", "b", "c", "d"], ROWS)
    is_missing = np.concatenate(
        [np.arange(rows) < some for rows, some in zip(ROWS, MISSING, strict=True)]
    )
    values = np.where(is_missing, np.nan, 100.5 + np.arange(45) * 7 % 31)
    frame = pd.DataFrame({"person": range(45), "group": groups, "value": values})
    with begin(frame, "abs") as session:
        sizes = session.groupby("group").size().to_pandas()["size"]
        figures = session.groupby("group")["value"].agg(["mean", "sum"]).to_pandas()
    # The groups a and d are 14 in all: with 11 values in a, there are at most three in d.
    assert sizes.isna().tolist() == [True, False, False, True]
    assert figures.isna().any(axis=1)["a"]


def test_what_is_too_much_to_compare_is_for_a_person(begin, monkeypatch):
    with begin(people()) as session:
        wages(session)
        monkeypatch.setattr(key_combinations, "MOST_COMBINATIONS", 5)
        assert list(session.crosstab("region", "employed").reasons) == ["K046"]


def test_what_takes_too_much_work_is_for_a_person(begin, monkeypatch):
    with begin(people()) as session:
        wages(session)
        monkeypatch.setattr(protected_cells, "_WORK", 1.0)
        assert list(session.crosstab("region", "employed").reasons) == ["K046"]
