"""The nearest samples by Gower's distance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.generative.gower_neighbours import nearest_samples

NAN = np.nan


def distance(one, other, widths):
    """Return the distance of two rows as it is defined, column by column."""
    parts = []
    for a, b, width in zip(one, other, widths, strict=True):
        if np.isnan(a) or np.isnan(b):
            parts.append(float(np.isnan(a) != np.isnan(b)))
        elif width == 0:
            parts.append(float(a != b))
        else:
            parts.append(min(abs(a - b) / width, 1))
    return sum(parts) / len(parts)


@pytest.mark.parametrize(
    ("record", "sample", "expected"),
    [
        ((20.0, 3.0), (20.0, 3.0), 0.0),
        ((20.0, 3.0), (30.0, 3.0), 0.125),  # 10 of 40, and the same category
        ((20.0, 3.0), (30.0, 1.0), 0.625),
        ((20.0, 3.0), (90.0, 3.0), 0.5),  # farther than the range is as far as it
        ((NAN, -1.0), (NAN, -1.0), 0.0),
        ((NAN, 3.0), (20.0, 3.0), 0.5),
        ((20.0, -1.0), (20.0, 0.0), 0.5),
    ],
)
def test_distance_of_a_number_and_a_category(record, sample, expected):
    near = nearest_samples(np.array([record]), np.array([sample]), np.array([40.0, 0]))
    assert near.distances == pytest.approx(expected)


def test_numbers_that_are_constant_in_public_are_equal_or_not():
    records, samples = np.array([[5.0], [NAN]]), np.array([[7.0], [NAN], [5.0]])
    near = nearest_samples(records, samples, np.zeros(1))
    assert near.rows.tolist() == [[2], [1]]
    assert near.distances.tolist() == [[0], [0]]


def test_the_first_of_equally_near_samples_is_taken():
    samples = np.array([[4.0], [1], [2], [0], [2]])
    near = nearest_samples(np.array([[2.0], [1.5]]), samples, np.array([4.0]), k=3)
    assert near.rows.tolist() == [[2, 4, 1], [1, 2, 4]]


def test_samples_beyond_the_first_block_are_found():
    samples = np.arange(1_000.0)[::-1, None]
    near = nearest_samples(np.array([[3.0], [700]]), samples, np.array([10.0]), k=2)
    assert near.rows.tolist() == [[996, 995], [299, 298]]


def test_no_more_neighbours_than_samples():
    with pytest.raises(ValueError, match="no 3 nearest of 2"):
        nearest_samples(np.zeros((1, 1)), np.zeros((2, 1)), np.ones(1), k=3)


@given(st.integers(1, 600), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_nearest_are_those_of_looking_at_all(count, columns, k, seed):
    random = np.random.default_rng(seed)
    k, widths = min(k, count), random.choice([0.0, 2, 8], columns)
    domain = np.append(np.arange(6.0), NAN)
    records, samples = random.choice(domain, (3, columns)), random.choice(domain, (count, columns))
    near = nearest_samples(records, samples, widths, k)
    for record, rows, distances in zip(records, near.rows, near.distances, strict=True):
        away = np.array([distance(record, sample, widths) for sample in samples])
        expected = np.argsort(away, kind="stable")[:k]
        assert distances == pytest.approx(away[expected])
        assert rows.tolist() == expected.tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_distances_are_the_same_on_any_scale(scale):
    one, other, width = np.array([[1.0], [7.0]]), np.array([[2.0], [9.0]]), np.array([10.0])
    near = nearest_samples(one * scale, other * scale, width * scale)
    assert np.allclose(near.distances.ravel(), [0.1, 0.2])
