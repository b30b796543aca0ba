"""Numbers are compared exactly, whatever floats hold of them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.scales import dispersion_of, scales, standardised

BIG = 2**62


def known_column(before, after=None):
    tables = pa.table({"x": before}), pa.table({"x": before if after is None else after})
    return known_columns(*tables, ["x"], None, {})[0]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([BIG, BIG + 1, BIG + 2]),
        pa.array([BIG * 2, BIG * 2 + 1, BIG * 2 + 2], pa.uint64()),
        pa.array([Decimal(10**25 + one) for one in range(3)], pa.decimal128(30, 0)),
    ],
    ids=["integers", "unsigned", "decimals"],
)
def test_numbers_beyond_the_digits_of_floats_are_counted_from_the_middle_one(values):
    column = known_column(values)
    assert column.values.tolist() == [-1, 0, 1]
    assert column.origin == Decimal(str(values[1].as_py()))
    assert distance_linkage(TwoFiles((column,), np.arange(3), 3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        [-BIG, -BIG + 1, BIG, BIG + 1],
        [1.0, 2.0, 3.0, float("inf")],
        [1.0, 2.0, 3.0, 1e200],
    ],
    ids=["wide", "infinite", "huge"],
)
def test_numbers_that_no_float_tells_apart_are_ranks(values):
    column = known_column(values)
    assert (column.values.tolist(), column.is_ranked) == ([0, 1, 2, 3], True)
    assert distance_linkage(TwoFiles((column,), np.arange(4), 4)).tolist() == [1] * 4


def test_floats_far_from_zero_are_as_exact_as_near_it():
    values = [1 + place * 2.0**-52 for place in range(4)]
    column = known_column(values, values[::-1])
    own = np.array([3, 2, 1, 0])
    assert distance_linkage(TwoFiles((column,), own, 4)).tolist() == [1] * 4


def test_ordinary_numbers_are_as_they_are():
    column = known_column([20, 30, 45])
    assert (column.values.tolist(), column.origin) == ([20, 30, 45], 0)


def test_a_few_values_far_out_do_not_make_the_deviation():
    numbers = np.array([*range(1, 10), 10.0**9])
    plain, robust = dispersion_of(numbers[:-1]), dispersion_of(numbers)
    assert (plain.deviation, plain.is_robust) == (pytest.approx(np.std(range(1, 10))), False)
    # The shortest interval with half of the values is 4 wide.
    assert robust.deviation == pytest.approx(4 / 1.349, rel=1e-3)
    assert robust.is_robust


def test_the_deviation_of_a_value_that_half_have_is_that_of_the_others():
    numbers = np.array([999_999.0] * 6 + [1, 2, 3, 4])
    assert dispersion_of(numbers).deviation == pytest.approx(1 / 1.349, rel=1e-3)


def test_values_far_out_hide_no_others_and_stay_in_order():
    column = known_column([*range(1, 10), 10**9])
    scores = standardised(column)[0]
    assert np.diff(scores).min() > 0.3
    assert 100 < scores[-1] < 3000


def test_noise_as_wide_as_a_few_values_is_compared_by_plain_deviations():
    before = [*range(1, 10), 10**9]
    column = known_column(before, [one * 10**8 for one in range(1, 11)])
    assert [one.dispersion.is_robust for one in scales(column)] == [False, False]
