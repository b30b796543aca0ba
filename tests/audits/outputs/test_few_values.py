"""How many units of a cell have each of few values is told by its figure, or not."""

import numpy as np
import pandas as pd
import pytest

import policy_engine
from policy_engine.audits.outputs.few_values import fewest_units, with_few_values
from policy_engine.audits.outputs.microdata import Microdata, coded, numbers_of
from policy_engine.audits.outputs.tabulating import (
    CellMembers,
    ShownAggregate,
    TableRows,
    tabulate,
)

LEAST = 10


def members_of(values, units=None):
    """Return what is in one cell."""
    count = len(values)
    own = np.arange(count) if units is None else np.array(units)
    return CellMembers(np.zeros(count, np.int64), own, np.arange(count), np.array(values))


def fewest(*parts, is_total=True, units=None):
    values = [value for value, count in parts for _ in range(count)]
    [found] = fewest_units(members_of(values, units), 1, LEAST, is_total=is_total)
    return int(found)


def test_of_few_values_the_one_counts_that_the_fewest_have():
    assert fewest((0.0, 40), (200.0, 40), (137.77, 1)) == 1


def test_of_as_many_values_as_units_are_needed_all_units_count():
    assert fewest(*((float(value), 2) for value in range(LEAST))) == 2 * LEAST


def test_rows_of_one_unit_with_one_value_are_one_unit():
    assert fewest((1.0, 3), (2.0, 12), units=[0, 0, 0, *range(1, 13)]) == 1


def test_a_total_of_a_column_of_many_values_does_not_tell_what_others_might_have_as_well():
    """Elsewhere there are ten values; here, two rows of 3 may be one of 1 and one of 5."""
    values = [*[1.0] * 30, *[3.0] * 2, *[5.0] * 30, *map(float, range(20, 30))]
    rows = np.repeat([0, 1], [62, 10])
    members = CellMembers(rows, np.arange(72), np.arange(72), np.array(values))
    assert fewest_units(members, 2, LEAST, is_total=True).tolist() == [62, 10]
    assert fewest_units(members, 2, LEAST, is_total=False).tolist() == [2, 10]


def test_cells_of_nobody_have_no_units():
    assert fewest_units(members_of([1.0]), 2, LEAST, is_total=True).tolist() == [1, 0]


def made_of(*functions):
    frame = pd.DataFrame({"person": range(81), "sex": "f"})
    frame["pay"] = [0.0] * 40 + [200.0] * 40 + [137.77]
    data = Microdata.of(frame, "person")
    values = {"pay": numbers_of("pay", data.column("pay"))}
    rows = TableRows((coded("sex", data.column("sex")),), data.units, values, ((0,),))
    return tabulate(rows, [ShownAggregate(one, one, "pay") for one in functions])


@pytest.mark.parametrize("function", ["sum", "mean", "std", "skew"])
def test_totals_and_spreads_have_the_value_that_the_fewest_have_in_their_evidence(function):
    [measure] = with_few_values(made_of(function), LEAST).table.measures
    rarest = measure.statistics[0].evidence.units_of_rarest_value
    assert rarest is not None
    assert rarest.tolist() == [1]


@pytest.mark.parametrize("function", ["count", "median"])
def test_counts_and_percentiles_do_not(function):
    [measure] = with_few_values(made_of(function), LEAST).table.measures
    assert measure.statistics[0].evidence.units_of_rarest_value is None


@pytest.mark.parametrize("function", ["sum", "mean", "std"])
@pytest.mark.parametrize(("others", "is_shown"), [(1, False), (10, True)])
def test_a_session_shows_no_figure_of_few_values_of_which_one_person_has_one(
    tmp_path, function, others, is_shown
):
    pay = [0.0] * 40 + [200.0] * 40 + [137.77] * others + [90.0 + n for n in range(60)]
    regions = ["south"] * (80 + others) + ["north"] * 60
    people = pd.DataFrame({"person": range(len(pay)), "region": regions, "pay": pay})
    session = policy_engine.output_session(
        None, tmp_path / "out", data=people, profile="sacro", unit="person"
    )
    shown = session.groupby("region")["pay"].agg([function]).table.to_pandas()
    session.finalise()
    assert shown.iloc[:, -1].notna().tolist() == [True, is_shown]
