import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.utility.bins import chart_bins, value_bins
from policy_engine.audits.utility.matching import match_values
from policy_engine.kernels import utility


def binned(values):
    table = pa.table({"x": values})
    column = match_values("x", "insensitive", "kept", table, table)
    shares = utility.shares(column.before.masses)
    return chart_bins(column, shares, shares)


def test_few_values_are_bars_of_their_own():
    bins, scale = binned([1, 1, 5])
    assert [(one.label, one.before) for one in bins] == [("1", 2 / 3), ("5", 1 / 3)]
    assert scale == "values"


def test_ranges_are_as_wide_where_values_are_even():
    bins, scale = binned([*range(40)])
    assert (len(bins), scale) == (20, "even")
    assert bins[0].label == "0 - 1"


def test_ranges_are_logarithmic_where_numbers_are_skewed():
    bins, scale = binned([2**power for power in range(25)])
    assert scale == "logarithmic"
    assert max(one.before for one in bins) == pytest.approx(2 / 25)


def test_zeros_are_a_bar_beside_a_logarithmic_axis():
    bins, scale = binned([0] * 10 + [2**power for power in range(25)])
    assert (bins[0].label, scale) == ("0", "logarithmic")


def test_ranges_hold_as_many_rows_where_a_logarithmic_axis_does_not_help():
    # 60 numbers between 1000 and 1060, and one of 10 and one of a million.
    bins, scale = binned([10, *range(1000, 1060), 1_000_000])
    assert scale == "quantile"
    assert max(one.before for one in bins) <= 4 / 62


def test_numbers_below_zero_have_no_logarithmic_axis():
    _, scale = binned([-1, *range(60), 1_000_000])
    assert scale == "quantile"


def test_a_missing_value_keeps_a_bar_of_its_own():
    bins, scale = binned([None, *(2**power for power in range(25))])
    assert (bins[0].label, scale) == ("(missing)", "logarithmic")


def test_texts_have_bars_for_the_most_frequent():
    bins, scale = binned([f"t{place}" for place in range(30)] + ["t7"])
    assert (bins[0].label, bins[-1].label, scale) == ("t7", "19 others", "frequent")


def test_every_value_has_a_bin():
    table = pa.table({"x": [2**power for power in range(25)]})
    column = match_values("x", "insensitive", "kept", table, table)
    numbers, _ = value_bins(column, utility.shares(column.before.masses))
    assert len(numbers) == column.size
    assert (np.diff(numbers) >= 0).all()
