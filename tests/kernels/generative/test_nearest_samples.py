"""Running minima of distances: exact, by class, and in parts."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.generative import nearest_samples
from policy_engine.kernels.generative.nearest_samples import NearestSamples


def brute_force(points, samples, nearest, groups=None, sample_groups=None):
    away = points[:, None].astype(float) - samples[None].astype(float)
    squares = (away**2).sum(axis=2)
    if groups is not None:
        squares[groups[:, None] != sample_groups] = np.inf
    padded = np.pad(squares, ((0, 0), (0, nearest)), constant_values=np.inf)
    return np.sort(padded, axis=1)[:, :nearest]


def test_the_distance_is_that_of_the_nearest_sample():
    near = NearestSamples(np.array([[0.0, 0], [10, 0]]))
    near.update(np.array([[3.0, 4], [10, 1]]))
    assert near.squares.tolist() == [[25.0], [1.0]]
    near.update(np.array([[0.0, 2]]))
    assert near.squares.tolist() == [[4.0], [1.0]]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 70),
    st.integers(1, 90),
    st.integers(1, 9),
    st.integers(1, 4),
    st.sampled_from([1e-6, 1, 1e6]),
    st.integers(0, 99),
)
def test_blocks_give_what_all_pairs_do(records, samples, columns, nearest, scale, seed):
    random = np.random.default_rng(seed)
    points = (scale * random.normal(3, 2, (records, columns))).astype(np.float32)
    others = (scale * random.normal(3, 2, (samples, columns))).astype(np.float32)
    groups, sample_groups = random.integers(0, 3, records), random.integers(-1, 3, samples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_samples, "RECORDS", 16)
        patch.setattr(nearest_samples, "SAMPLES", 8)
        alone, within = (
            NearestSamples(points, nearest=nearest),
            NearestSamples(points, groups, nearest),
        )
        alone.update(others)
        within.update(others, sample_groups)
    assert np.allclose(alone.squares, brute_force(points, others, nearest), rtol=1e-9, atol=0)
    expected = brute_force(points, others, nearest, groups, sample_groups)
    assert np.allclose(within.squares, expected, rtol=1e-9, atol=0)


def test_copies_are_at_distance_0_far_from_the_origin_too():
    random = np.random.default_rng(4)
    points = random.normal(1000, 1, (300, 40)).astype(np.float32)
    near = NearestSamples(points)
    near.update(points[::-1])
    assert not near.squares.any()


def test_a_merge_of_two_runs_is_one_run():
    random = np.random.default_rng(5)
    points, samples = random.normal(size=(50, 3)), random.normal(size=(80, 3))
    whole, first, second = (NearestSamples(points, nearest=3) for _ in range(3))
    whole.update(samples)
    first.update(samples[:2])
    second.update(samples[2:])
    first.merge(second.squares)
    assert np.array_equal(first.squares, whole.squares)
    assert not np.array_equal(second.squares, whole.squares)
    with pytest.raises(ValueError, match="is not"):
        first.merge(second.squares[:, :2])


def test_memory_does_not_grow_with_the_samples():
    points = np.random.default_rng(6).normal(size=(600, 10)).astype(np.float32)
    near = NearestSamples(points)
    near.update(points)
    tracemalloc.start()
    try:
        for _ in range(30):
            near.update(points)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 20_000
    # That of all pairs would be 600 * 600 * 30 numbers.
    assert peak < 400_000


def test_a_sample_of_a_class_that_no_record_has_is_near_to_none():
    near = NearestSamples(np.zeros((3, 1)), np.array([0, 1, -1]))
    near.update(np.zeros((2, 1)), np.array([-1, 1]))
    assert near.squares.ravel().tolist() == [np.inf, 0.0, np.inf]


def test_groups_and_columns_have_to_fit():
    near = NearestSamples(np.zeros((2, 3)), np.array([0, 1]))
    with pytest.raises(ValueError, match="samples have none"):
        near.update(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="samples of"):
        near.update(np.zeros((1, 2)), np.array([0]))
