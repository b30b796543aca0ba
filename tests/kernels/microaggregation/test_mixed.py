import numpy as np
import pytest

from policy_engine.kernels.microaggregation import Attribute, place, points_of
from policy_engine.kernels.microaggregation.mixed import MOST_CATEGORIES

RANDOM = np.random.default_rng(6)
COUNTS = RANDOM.integers(1, 9, 200)
NUMBERS = Attribute(COUNTS, np.sort(RANDOM.lognormal(3, 1, 200)))
SEXES = Attribute(np.array([90, 110]))
JOBS = Attribute(COUNTS[:30])
TOWNS = Attribute(np.ones(200, np.int64))
ONES = np.ones(2, np.int64)


@pytest.mark.parametrize("attribute", [NUMBERS, SEXES, JOBS, TOWNS])
def test_two_rows_are_as_far_apart_in_a_column_of_any_kind(attribute):
    points = np.repeat(place(attribute).points, attribute.counts, axis=0)
    assert points.shape[1] <= MOST_CATEGORIES
    assert points.var(axis=0).sum() == pytest.approx(1)


def test_different_categories_are_equally_far_apart():
    placement = place(Attribute(np.array([1, 1, 1])))
    one, other, third = placement.points
    assert ((one - other) ** 2).sum() == pytest.approx(((one - third) ** 2).sum())
    assert placement.width(0, 2) ** 2 == pytest.approx(((one - other) ** 2).sum())


def test_a_missing_number_is_at_the_mean_and_away_from_all_that_are_there():
    counts = np.ones(3, np.int64)
    placement = place(Attribute(counts, np.array([0, 1.0, 3]), has_missing=True))
    assert placement.points.tolist() == [[0, np.sqrt(2)], [-1, 0], [1, 0]]
    assert placement.places.tolist() == [-1 - np.sqrt(2), -1, 1]
    nothing = place(Attribute(counts[:1], np.zeros(1), has_missing=True))
    assert nothing.points.tolist() == [[0, np.sqrt(2)]]


def test_a_weight_is_that_of_squared_distances():
    light, heavy = (place(Attribute(ONES, np.array([1.0, 3]), weight=w)).points for w in (0, 4))
    assert (light.tolist(), heavy.tolist()) == ([[0], [0]], [[-2], [2]])


def test_a_value_counts_as_often_as_it_occurs():
    # 1 once and 3 three times: the mean is 2.5, the standard deviation the root of .75.
    points = place(Attribute(np.array([1, 3]), np.array([1.0, 3]))).points
    assert points[:, 0] == pytest.approx([-1.5 / 0.75**0.5, 0.5 / 0.75**0.5])


def test_numbers_as_large_as_there_are_have_a_place():
    points = place(Attribute(ONES, np.array([-1.7e308, 1.7e308]))).points
    assert points.tolist() == [[-1], [1]]


def test_constant_columns_are_nowhere_apart():
    same = [place(Attribute(np.array([3]), np.ones(1))), place(Attribute(np.array([3])))]
    assert np.unique(points_of(np.zeros((3, 2), np.int32), same), axis=0).shape[0] == 1


def test_rows_are_where_their_codes_are():
    columns = [place(Attribute(ONES, np.array([1.0, 3]))), place(Attribute(ONES))]
    root = np.sqrt(2)
    assert points_of(np.array([[1, 0], [0, 1]], np.int32), columns) == pytest.approx(
        np.array([[1, root, 0], [-1, 0, root]])
    )
