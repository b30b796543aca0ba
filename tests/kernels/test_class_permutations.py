"""Values that are permuted within classes: all permutations, columns by themselves, what stays."""

from collections import Counter
from itertools import permutations as orders

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.class_permutations import displaced, permutations, unmoved

CLASSES = st.lists(st.integers(0, 3), min_size=1, max_size=30)


def words(rows, columns, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, 2**64, (rows, columns), dtype=np.uint64)


def column(*numbers):
    return np.array(numbers, dtype=np.int64)[:, None]


def test_values_follow_the_words_of_a_column():
    # Rows 0, 1, 2 hand on in the order 2, 0, 1, and take in the order 1, 2, 0.
    chosen = np.array([[1, 2], [2, 0], [0, 1]], dtype=np.uint64)
    assert permutations(np.zeros(3, np.int64), chosen)[:, 0].tolist() == [1, 2, 0]


@settings(max_examples=examples(50), deadline=None)
@given(CLASSES, st.integers(0, 2**32))
def test_every_class_keeps_its_rows_in_every_column(classes, seed):
    class_of = np.array(classes)
    sources = permutations(class_of, words(len(class_of), 4, seed))
    for source in sources.T:
        assert (class_of[source] == class_of).all()
        assert sorted(source.tolist()) == [*range(len(class_of))]


def test_all_pairs_of_permutations_are_equally_likely():
    rows, classes = 3, 36_000
    class_of = np.repeat(np.arange(classes), rows)
    sources = permutations(class_of, words(rows * classes, 3)) % rows
    pairs = Counter(map(tuple, sources.reshape(classes, 2 * rows).tolist()))
    # Each row has the pair (column 1, column 2); 36 pairs, each 1,000 times in the mean.
    assert len(pairs) == len([*orders(range(rows))]) ** 2
    assert all(abs(times - 1000) < 6 * 1000**0.5 for times in pairs.values())


@settings(max_examples=examples(50), deadline=None)
@given(CLASSES, st.integers(0, 2**32))
def test_permuted_values_are_not_displaced(classes, seed):
    class_of, random = np.array(classes), np.random.default_rng(seed)
    before = random.integers(0, 3, (len(class_of), 2))
    sources = permutations(class_of, words(len(class_of), 3, seed))
    after = np.take_along_axis(before, sources, axis=0)
    assert not displaced(class_of, before, after).any()


def test_values_of_another_class_are_displaced():
    class_of, before = np.array([0, 0, 1, 1]), np.array([[1, 5], [2, 6], [3, 7], [4, 8]])
    after = before.copy()
    after[[0, 2], 1] = after[[2, 0], 1]
    assert displaced(class_of, before, after).tolist() == [False, True]


def test_a_value_that_is_there_twice_in_place_of_another_is_displaced():
    assert displaced(np.zeros(3, np.int64), column(1, 2, 3), column(1, 2, 2)).tolist() == [True]


def test_rows_that_stay_are_counted_beside_what_chance_gives():
    class_of, before = np.array([0, 0, 0, 0, 1, 1]), column(1, 1, 2, 3, 4, 4)
    moves = unmoved(class_of, before, column(1, 2, 1, 3, 4, 4))
    # Of the values 1, 1, 2, 3 in turn: 2/4 + 2/4 + 1/4 + 1/4; both of 4, 4 stay.
    assert (moves.rows, moves.unmoved, moves.expected) == (6, 4, pytest.approx(3.5))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_what_chance_lets_expect_is_the_mean_and_the_variance_is_bounded(columns):
    class_of, random = np.repeat(np.arange(20), 5), np.random.default_rng(7)
    before = random.integers(0, 3, (100, columns))
    counts = []
    for seed in range(400):
        sources = permutations(class_of, words(100, columns + 1, seed))
        moves = unmoved(class_of, before, np.take_along_axis(before, sources, axis=0))
        assert moves.is_by_chance
        counts.append(moves.unmoved)
    assert abs(np.mean(counts) - moves.expected) < 5 * (np.var(counts) / 400) ** 0.5
    assert np.var(counts) < 1.3 * moves.variance


def test_rows_that_were_not_permuted_are_more_than_chance_gives():
    class_of = np.repeat(np.arange(50), 5)
    before = np.arange(250)[:, None]
    assert not unmoved(class_of, before, before).is_by_chance
    assert unmoved(class_of, np.zeros((250, 1), int), np.zeros((250, 1), int)).is_by_chance
