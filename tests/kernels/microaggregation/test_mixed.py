import numpy as np
import pytest

from policy_engine.kernels.microaggregation import Attribute, mixed_points
from policy_engine.kernels.microaggregation.mixed import MOST_CATEGORIES

RANDOM = np.random.default_rng(6)
NUMBERS = Attribute(RANDOM.lognormal(3, 1, 200))
SEXES = Attribute(RANDOM.integers(0, 2, 200), is_nominal=True)
JOBS = Attribute(RANDOM.integers(0, 30, 200), is_nominal=True)
TOWNS = Attribute(np.arange(200), is_nominal=True)


@pytest.mark.parametrize("attribute", [NUMBERS, SEXES, JOBS, TOWNS])
def test_two_rows_are_as_far_apart_in_a_column_of_any_kind(attribute):
    points = mixed_points([attribute])
    assert points.shape[1] <= MOST_CATEGORIES
    assert points.var(axis=0).sum() == pytest.approx(1)


def test_different_categories_are_equally_far_apart():
    one, other, third = mixed_points([Attribute(np.array([5, 7, 9]), is_nominal=True)])
    assert ((one - other) ** 2).sum() == pytest.approx(((one - third) ** 2).sum())


def test_a_missing_number_is_at_the_mean_and_away_from_all_that_are_there():
    missing = np.array([False, False, True])
    points = mixed_points([Attribute(np.array([1.0, 3, 0]), missing=missing)])
    assert points.tolist() == [[-1, 0], [1, 0], [0, np.sqrt(2)]]
    nothing = mixed_points([Attribute(np.zeros(2), missing=np.ones(2, np.bool_))])
    assert nothing.tolist() == [[0, np.sqrt(2)]] * 2


def test_a_weight_is_that_of_squared_distances():
    light, heavy = (mixed_points([Attribute(np.array([1.0, 3]), weight=w)]) for w in (0, 4))
    assert (light.tolist(), heavy.tolist()) == ([[0], [0]], [[-2], [2]])


def test_constant_columns_are_nowhere_apart():
    same = [Attribute(np.ones(3)), Attribute(np.ones(3, np.int64), is_nominal=True)]
    assert np.unique(mixed_points(same), axis=0).shape[0] == 1
