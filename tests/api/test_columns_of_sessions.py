"""Columns that follow from others: what is withheld of one is not told by another."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.api.checking_outputs import TableRecipe, check_tables

CELLS = {
    ("north", "farm"): 30,
    ("north", "shop"): 40,
    ("south", "farm"): 6,
    ("south", "shop"): 38,
    ("west", "farm"): 25,
    ("west", "shop"): 33,
}
BOTH = ["region", "sector"]


def people():
    """Return 172 persons, six of whom are farmers in the south, and columns in other units."""
    rows = [key for key, count in CELLS.items() for _ in range(count)]
    random, frame = np.random.default_rng(0), pd.DataFrame(rows, columns=BOTH)
    frame["person"] = range(len(frame))
    frame["age"] = random.integers(18, 66, len(frame))
    frame["born"] = 2026 - frame.age
    frame["pay"] = random.lognormal(3, 0.4, len(frame)).round(2)
    frame["annual"] = (12 * frame.pay).round(2)
    frame["bonus"] = random.lognormal(2, 0.3, len(frame)).round(2)
    frame["all"] = (frame.pay + frame.bonus).round(2)
    frame["man"] = random.integers(0, 2, len(frame))
    frame["woman"] = 1 - frame.man
    return frame


@pytest.fixture
def session(tmp_path):
    """Return a function that begins a session, which ends with the test."""
    folders = (tmp_path / f"folder{number}" for number in range(9))
    with ExitStack() as stack:

        def begin(data, ledger=None):
            check = {"profile": "sacro", "unit": "person"}
            begun = output_session(None, next(folders), data=data, ledger=ledger, **check)
            return stack.enter_context(begun)

        yield begin


def hidden(output):
    return int(output.to_pandas().isna().sum().sum())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("columns", [("age", "born"), ("born", "age"), ("man", "woman")])
def test_totals_of_two_columns_that_add_up_to_a_constant_do_not_tell_a_count(session, columns):
    session = session(people())
    first, second = (session.groupby(BOTH)[name].sum() for name in columns)
    assert (hidden(first), hidden(second)) == (1, 2)


def test_nor_do_they_in_one_table_or_by_region_before_the_counts(session):
    data = people()
    table = session(data).groupby(BOTH)[["age", "born"]].sum().to_pandas()
    assert table.isna().sum().tolist() == [1, 2]
    later = session(data)
    assert not any(hidden(later.groupby("region")[name].sum()) for name in ("age", "born"))
    assert later.crosstab(*BOTH).to_pandas().loc["south"].isna().all()


def test_nor_do_they_by_the_outputs_of_two_sessions(session, tmp_path):
    data, ledger = people(), tmp_path / "ledger"
    with session(data, ledger) as first:
        first.groupby("region")["age"].sum()
    with session(data, ledger) as second:
        second.groupby("region")["born"].sum()
    with session(data, ledger) as third:
        third.crosstab(*BOTH)
    assert third.outputs[0].to_pandas().loc["south"].isna().all()


def test_a_finished_table_of_two_totals_does_not_tell_a_count(tmp_path):
    data = people()
    sums = data.groupby(BOTH)[["age", "born"]].sum().reset_index()
    sums.to_csv(tmp_path / "sums.csv", index=False)
    recipe = TableRecipe(by=tuple(BOTH), measures=("sum:age", "sum:born"))
    check = {"profile": "sacro", "unit": "person", "data": data, "recipe": recipe}
    [output] = check_tables(tmp_path / "sums.csv", **check).outputs
    assert output.to_pandas().isna().sum().tolist() == [1, 2]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_column_in_other_units_is_found_whichever_rows_were_shown(session, is_first):
    data = pd.concat([people(), people().assign(person=lambda own: own.person + 1000)])
    data = data.reset_index(drop=True)
    women, men = data[:172], data[172:]
    asked = session(data)
    if is_first:
        asked.groupby("region", data=men)["pay"].sum()
    asked.groupby("region", data=women)["annual"].sum()
    pays = asked.groupby(BOTH, data=women)["pay"].sum().to_pandas()
    assert pays.loc["south"].isna().all().all()


def test_each_of_columns_that_add_up_is_left_to_a_person_after_the_others(session):
    data = pd.concat([people(), people().assign(person=lambda own: own.person + 1000)])
    data = data.reset_index(drop=True)
    women, men = data[:172], data[172:]
    asked = session(data)
    asked.groupby("region", data=men)["all"].sum()
    for name in ("pay", "bonus"):
        assert asked.groupby("region", data=women)[name].sum().is_whole
    assert "K046" in asked.groupby(BOTH, data=women)["all"].sum().reasons


def test_a_column_in_other_units_is_found_in_an_earlier_session(session, tmp_path):
    data, ledger = people(), tmp_path / "ledger"
    with session(data, ledger) as first:
        first.groupby("region")["annual"].sum()
    with session(data, ledger) as second:
        second.groupby(BOTH)["pay"].sum()
    assert second.outputs[0].to_pandas().loc["south"].isna().all().all()


def test_a_column_that_only_the_frame_has_is_found_in_an_earlier_session(session, tmp_path):
    data, ledger = people().drop(columns="annual"), tmp_path / "ledger"
    with session(data, ledger) as first:
        first.groupby("region", data=data.assign(yearly=data.pay * 12))["yearly"].sum()
    with session(data, ledger) as second:
        second.groupby(BOTH)["pay"].sum()
    assert second.outputs[0].to_pandas().loc["south"].isna().all().all()


def test_unrelated_columns_are_shown_beside_each_other(session):
    session = session(people())
    for name in ("age", "pay", "bonus"):
        assert hidden(session.groupby(BOTH)[name].sum()) == 1
    assert hidden(session.crosstab(*BOTH)) == 2


@pytest.mark.parametrize("largest", [np.inf, 1e308, 2.0**64])
def test_of_figures_too_large_to_tell_no_total_is_shown(session, largest):
    rows = people()
    rows["pay"] = np.where(rows.index < 40, largest, 20.0 + rows.index % 7)
    call = {"values": "pay", "index": "region", "columns": "sector", "aggfunc": "sum"}
    output = session(rows).pivot_table(**call, margins=True)
    shown = output.to_pandas() if output.status == "released" else None
    assert shown is None or (shown["All"].isna().all() and shown.loc["All"].isna().all())
