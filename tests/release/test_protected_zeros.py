"""Withheld cells of nobody: other tables of a session do not tell that they are."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.release import protected_zeros

CELLS = {
    ("n", "a"): 30, ("n", "b"): 20, ("s", "a"): 15, ("s", "b"): 15, ("s", "c"): 20,
    ("s", "d"): 25, ("w", "a"): 18, ("w", "b"): 22, ("w", "c"): 26, ("w", "d"): 21,
}  # fmt: skip
"""Nobody of region n is in the sectors c and d."""


def people():
    rows = [key for key, count in CELLS.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["region", "sector"])
    return frame.assign(person=range(len(frame)), pay=100.0 + np.arange(len(frame)) % 7)


@pytest.fixture
def session(tmp_path):
    """Return a function that begins a session, which ends with the test."""
    with ExitStack() as stack:

        def begin(data=None, profile="sacro"):
            frame = people() if data is None else data
            out = tmp_path / "out"
            made = output_session(None, out, data=frame, profile=profile, unit="person")
            return stack.enter_context(made)

        yield begin


def shown(output, column):
    if output.status != "released":
        return {}
    figures = output.to_pandas()[column].dropna()
    return figures.to_dict()


@pytest.mark.parametrize("keys", [("region", "sector"), ("sector", "region")])
def test_totals_do_not_tell_that_a_withheld_cell_is_of_nobody(session, keys):
    made = session()
    cells = made.crosstab("region", "sector").to_pandas()
    assert cells.loc["n"].isna().tolist() == [False, False, True, True]
    sizes = {key: shown(made.groupby(key).size(), "size") for key in keys}
    # 50 of region n are 30 and 20 and nobody else; 46 of sector c are 20 and 26.
    assert sizes["region"] == {"s": 75, "w": 87}
    assert sizes["sector"] == {"a": 63, "b": 57}


def test_cells_do_not_tell_it_after_totals(session):
    made = session()
    made.groupby("region").size()
    cells = made.crosstab("region", "sector").to_pandas()
    assert cells.loc["n", ["a", "b"]].isna().any()


def test_zeros_are_shown_where_a_profile_does_not_hold_that_they_disclose(session):
    made = session(profile="abs")
    assert made.crosstab("region", "sector").is_whole
    assert made.groupby("region").size().is_whole


def test_sums_do_not_tell_it_either(session):
    made = session()
    made.crosstab("region", "sector", "pay", aggfunc="sum")
    assert "n" not in shown(made.groupby("region")["pay"].sum(), "sum pay")


def test_a_reader_knows_which_district_is_of_which_region(session):
    frame = people().rename(columns={"sector": "sex"})
    frame["district"] = frame.region + np.where(frame.index % 2, "1", "2")
    made = session(frame)
    made.crosstab("region", "sex")
    whole = made.groupby("district").size()
    both = made.groupby(["district", "region"]).size()
    told = shown(whole, "size") | {(d, r): n for (d, r), n in shown(both, "size").items()}
    assert not {"n1", "n2"} <= set(told)


def test_too_many_combinations_are_for_a_person(session, monkeypatch):
    monkeypatch.setattr(protected_zeros, "MOST_COMBINATIONS", 11)
    made = session()
    assert list(made.crosstab("region", "sector").reasons) == ["K046"]
