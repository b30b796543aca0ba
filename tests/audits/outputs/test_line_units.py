"""The different units of the lines of tables in which units have several rows."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.audits.outputs.contributions import Contributions
from policy_engine.audits.outputs.line_units import known_units

YES_OR_NO = np.array([[0], [1], [-1]])


def visits(*, ill, persons=30, size=3):
    """Return so many visits of persons, of which so many are ill."""
    frame = pd.DataFrame({"person": np.repeat(np.arange(persons), size)})
    visit = np.tile(np.arange(size), persons)
    return frame.assign(d=np.where(visit < np.repeat(ill, size), "yes", "no"), visit=visit)


def test_units_in_two_cells_are_in_their_line_once():
    """Of three persons, the first is in both cells; the total is in no line."""
    rows = Contributions(np.array([0, 1, 1, 2, 2, 2]), np.array([0, 0, 1, 0, 1, 2]), 3)
    own_units = known_units(YES_OR_NO, rows, is_chosen=True)
    assert own_units.wholes[0].tolist() == [2, 2, 2]
    assert own_units.rows.tolist() == [1, 2, 3]
    assert own_units.most_rows == 1
    assert known_units(YES_OR_NO, rows, is_chosen=False).most_rows is None


def test_nothing_more_is_to_be_known_of_units_in_one_cell_each():
    """The second one has two rows, in one cell."""
    rows = Contributions(np.array([0, 1, 1]), np.array([0, 1, 1]), 3)
    assert known_units(YES_OR_NO, rows, is_chosen=True) is None


@pytest.fixture
def session_of(tmp_path):
    """Return a function that gives a session of the data."""
    with ExitStack() as stack:

        def session(data, profile="sacro"):
            folder = tmp_path / profile
            return stack.enter_context(
                output_session(None, folder, data=data, profile=profile, unit="person")
            )

        yield session


@pytest.mark.parametrize("profile", ["sacro", "bundesbank"])
def test_one_row_of_each_person_by_a_secret_does_not_show_that_all_have_it(session_of, profile):
    """All 30 are ill at some visit, and 15 not at another: 30 and 15 of 30."""
    data = visits(ill=[2] * 15 + [3] * 15)
    first = data.drop_duplicates(["person", "d"])
    assert session_of(data, profile).groupby("d", data=first).size().status == "suppressed"


def test_one_row_of_each_person_is_counted_where_enough_have_none(session_of):
    """Of 60, 45 are ill at some visit, and 40 are not ill at one."""
    data = visits(ill=[0] * 15 + [2] * 25 + [3] * 20, persons=60)
    made = session_of(data).groupby("d", data=data.drop_duplicates(["person", "d"])).size()
    assert made.to_pandas()["size"].tolist() == [40, 45]


def test_numbers_of_all_rows_are_shown_though_each_person_has_some(session_of):
    """The rows of 30 persons by visit, 30 each, do not tell whose they are."""
    made = session_of(visits(ill=[2] * 30)).groupby("visit").size()
    assert made.to_pandas()["size"].tolist() == [30, 30, 30]
