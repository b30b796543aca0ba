"""Samples within a radius, several radii at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.generative.ball_counts import BallCounts, pooled_quantiles
from policy_engine.kernels.generative.nearest_samples import NearestSamples


def test_samples_within_each_radius_are_counted_and_weighed():
    balls = BallCounts(np.array([[0.0], [100.0]]), None, np.array([2.0, 8.0]))
    balls.update(np.array([[1.0], [4], [50], [-1]]))
    assert balls.shares().tolist() == [[0.5, 0.75], [0.0, 0.0]]
    # log(2/1) twice; log(8/1) twice and log(8/4).
    assert np.allclose(balls.weights()[0], [np.log(4) / 4, np.log(128) / 4])
    assert balls.weights()[1].tolist() == [0.0, 0.0]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(2, 60), st.integers(0, 99))
def test_merged_counts_are_those_of_looking_at_all_pairs(records, samples, seed):
    random = np.random.default_rng(seed)
    points, others = random.normal(size=(records, 3)), random.normal(size=(samples, 3))
    groups, sample_groups = random.integers(0, 2, records), random.integers(0, 2, samples)
    radii = np.array([0.5, 1.0, 2.0])
    balls, other = (BallCounts(points, groups, radii) for _ in range(2))
    balls.update(others[: samples // 2], sample_groups[: samples // 2])
    other.update(others[samples // 2 :], sample_groups[samples // 2 :])
    balls.merge(other.rings, other.logarithms, other.compared)
    distances = np.sqrt(((points[:, None] - others) ** 2).sum(axis=2))
    same = groups[:, None] == sample_groups
    within = (distances[..., None] < radii) & same[..., None]
    number = np.maximum(same.sum(axis=1), 1)[:, None]
    assert np.allclose(balls.shares(), within.sum(axis=1) / number)
    weights = np.where(within, np.log(radii / distances[..., None]), 0)
    assert np.allclose(balls.weights(), weights.sum(axis=1) / number, atol=1e-5)


def test_the_median_of_smallest_distances_is_the_radius_with_half_the_records():
    random = np.random.default_rng(7)
    points, samples = random.normal(size=(200, 5)), random.normal(size=(500, 5))
    near = NearestSamples(points)
    near.update(samples)
    distances = np.sqrt(near.squares[:, 0])
    balls = BallCounts(points, None, np.array([np.median(distances)]))
    balls.update(samples)
    nearest = {*np.argsort(distances)[:100].tolist()}
    for scores in (balls.shares()[:, 0], balls.weights()[:, 0]):
        assert np.count_nonzero(scores) == 100
        assert {*np.argsort(-scores)[:100].tolist()} == nearest


def test_a_copy_weighs_the_most_and_not_without_end():
    balls = BallCounts(np.zeros((1, 2)), None, np.array([1.0]))
    balls.update(np.zeros((1, 2)))
    assert np.isclose(balls.weights()[0, 0], np.log(1000))


def test_quantiles_are_over_the_pairs_of_one_class():
    points, samples = np.array([[0.0], [10]]), np.array([[1.0], [3], [100]])
    both = pooled_quantiles(points, None, samples, None, np.array([0.0, 1.0]))
    assert both.tolist() == [1.0, 100.0]
    groups, sample_groups = np.array([0, 1]), np.array([0, 1, 2])
    within = pooled_quantiles(points, groups, samples, sample_groups, np.array([0.0, 0.5, 1.0]))
    assert within.tolist() == [1.0, 4.0, 7.0]
    with pytest.raises(ValueError, match="no record"):
        pooled_quantiles(points, groups, samples, np.array([2, 2, 2]), np.array([0.5]))


def test_what_is_a_radius_away_is_within_whatever_is_rounded():
    """Points at a distance of a third, in many columns, which no float has."""
    random = np.random.default_rng(0)
    points = random.normal(size=(40, 30)) * 10
    away = np.zeros(30)
    away[:9] = 1 / 9
    balls = BallCounts(points, None, np.array([1 / 3]))
    balls.update(points + away)
    assert balls.shares()[:, 0].tolist() == [1 / 40] * 40


def test_the_order_of_columns_decides_nothing():
    """Points of few values, whose distances tie."""
    points, samples = np.random.default_rng(0).integers(0, 3, (2, 200, 6)) / 3
    first, second = (
        BallCounts(one, None, np.array([2 / 3, 1.0])) for one in (points, points[:, ::-1])
    )
    first.update(samples)
    second.update(samples[:, ::-1])
    assert np.array_equal(first.shares(), second.shares())
    assert np.array_equal(first.weights(), second.weights())
