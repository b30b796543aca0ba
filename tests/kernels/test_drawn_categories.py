import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.pram import (
    check_stochastic,
    estimate_frequencies,
    impossible_transitions,
    invariant_matrix,
    local_epsilon,
    randomise,
    transition_counts,
    transition_matrix,
)

PLAIN = np.array([[0.75, 0.25], [0.5, 0.5]])
BLOCKS = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
LEAST, MOST, MIDDLE = 0, 2**64 - 1, 2**63


def words(*numbers):
    return np.array(numbers, np.uint64)


def randomised(codes, matrix, *numbers):
    return randomise(np.array(codes, np.int32), np.array(matrix, float), words(*numbers)).tolist()


def test_a_plain_matrix_takes_any_other_category_alike():
    rows = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    assert transition_matrix(0.5, 3).tolist() == rows
    assert transition_matrix(0.3, 1).tolist() == [[1.0]]


def test_an_invariant_matrix_is_the_matrix_times_its_inverse_chances():
    # Of 40 and 60 rows, 60 become 0: 30 of them were 0 before. Of the 40 others, 10 were.
    invariant = invariant_matrix(PLAIN, np.array([40, 60]))
    assert invariant[0] == pytest.approx([0.75 / 2 + 0.25 / 4, 0.75 / 2 + 0.75 / 4])
    assert np.array([40, 60]) @ invariant == pytest.approx([40, 60])


def test_an_invariant_matrix_never_takes_a_category_without_rows():
    counts = np.array([10, 0, 30])
    for matrix in (transition_matrix(0.5, 3), BLOCKS):
        invariant = invariant_matrix(matrix, counts)
        check_stochastic(invariant)
        assert counts @ invariant == pytest.approx(counts)
        assert invariant[[0, 2], 1].tolist() == [0, 0]
    no_rows = invariant_matrix(PLAIN, np.array([0, 0]))
    assert no_rows.tolist() == PLAIN.tolist()


@st.composite
def matrices(draw, least=0):
    """A matrix of whole hundredths, and the counts of its categories."""
    size = draw(st.integers(1, 5))
    weights = st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any)
    rows = np.array([draw(weights) for _ in range(size)], float)
    counts = draw(st.lists(st.integers(0, 50), min_size=size, max_size=size))
    return rows / rows.sum(axis=1, keepdims=True), np.array(counts)


@given(matrices())
def test_an_invariant_matrix_keeps_the_counts_and_is_stochastic(drawn):
    matrix, counts = drawn
    invariant = invariant_matrix(matrix, counts)
    check_stochastic(invariant)
    assert counts @ invariant == pytest.approx(counts)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5]], r"not square. Its shape is \(1, 2\)"),
        (np.zeros((0, 0)), "not square"),
        ([[0.5, 0.5], [1.5, -0.5]], "1.5 in row 2, column 1 is not a probability"),
        ([[math.nan]], "nan in row 1, column 1"),
        ([[0.5, 0.5], [0.5, 0.25]], "Row 2 sums to 0.75. A row sums to 1."),
    ],
)
def test_a_matrix_that_is_not_stochastic_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        check_stochastic(np.array(matrix, float))


def test_the_first_words_keep_and_the_others_change():
    quarter = 3 * 2**62
    drawn = randomised([0, 0, 0, 0], PLAIN, LEAST, quarter - 1, quarter, MOST)
    assert drawn == [0, 0, 1, 1]
    assert randomised([1, 1], PLAIN, MIDDLE - 1, MIDDLE) == [0, 1]


def test_what_has_no_probability_never_happens():
    ends = LEAST, MOST
    assert randomised([0, 0], [[0, 1, 0]] * 3, *ends) == [1, 1]
    assert randomised([0, 0, 0], [[0.5, 0, 0.5]] * 3, LEAST, MIDDLE, MOST) == [0, 2, 2]
    assert randomised([2, 2, 2], BLOCKS, LEAST, MIDDLE, MOST) == [2, 2, 2]
    assert randomised([0, 1], np.eye(2), *ends) == [0, 1]


def test_what_a_row_is_short_of_1_goes_to_its_largest():
    third = 0.3333333333
    assert randomised([0, 0], [[0, third, 1 - third - 1e-10]] * 3, LEAST, MOST) == [1, 2]
    assert randomised([0], [[1 - 1e-10, 0, 0]] * 3, MOST) == [0]


def test_codes_that_the_matrix_does_not_have_are_refused():
    for code in (-1, 2):
        with pytest.raises(ValueError, match="from 0 to 1"):
            randomised([0, code], PLAIN, 1, 2)
    with pytest.raises(ValueError, match="Row 1 sums"):
        randomised([0], [[0.5, 0.4], [0, 1]], 1)


def test_no_rows_stay_none_and_codes_keep_their_type():
    assert randomised([], PLAIN) == []
    assert randomise(np.array([1], np.int8), PLAIN, words(1)).dtype == np.int8


@given(matrices(), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.randoms())
def test_categories_move_with_their_rows(drawn, numbers, random):
    matrix, _ = drawn
    codes = [number % len(matrix) for number in numbers]
    order = list(range(len(codes)))
    random.shuffle(order)
    after = randomised(codes, matrix, *numbers)
    moved = randomised([codes[row] for row in order], matrix, *(numbers[row] for row in order))
    assert moved == [after[row] for row in order]
    assert all(matrix[pair] > 0 for pair in zip(codes, after, strict=True))


ROWS = 1_000_000
ZIPF = 1 / np.arange(1, 17)


def test_a_million_rows_are_changed_as_the_recipe_measured():
    # ../shared/recipes/masking.md, PRAM: 16 categories, the n-th 1/n as frequent as the first.
    random = np.random.default_rng(5)
    before = random.choice(16, ROWS, p=ZIPF / ZIPF.sum())
    drawn = random.integers(0, 2**64, ROWS, dtype=np.uint64)
    counts = np.bincount(before, minlength=16)
    plain = transition_matrix(0.8, 16)
    after = randomise(before, plain, drawn)
    shift = abs(np.bincount(after) - counts).sum() / ROWS
    estimates = estimate_frequencies(plain, np.bincount(after))
    assert (after == before).mean() == pytest.approx(0.8, abs=0.002)
    assert shift == pytest.approx(0.156, abs=0.002)
    assert abs(estimates - counts).sum() / ROWS < 0.004
    kept = randomise(before, invariant_matrix(plain, counts), drawn)
    assert (kept == before).mean() == pytest.approx(0.67, abs=0.002)
    assert abs(np.bincount(kept) - counts).sum() / ROWS < 0.004


def test_transitions_are_counted_from_row_to_column():
    before, after = np.array([0, 0, 2], np.int32), np.array([0, 1, 1], np.int32)
    counts = transition_counts(before, after, 3)
    assert counts.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert impossible_transitions(counts, BLOCKS) == [(2, 1)]
    assert impossible_transitions(counts, transition_matrix(0.5, 3)) == []


def test_estimates_undo_the_matrix():
    assert estimate_frequencies(PLAIN, np.array([60, 40])) == pytest.approx([40, 60])
    assert estimate_frequencies(np.eye(2)[::-1], np.array([3, 5])) == pytest.approx([5, 3])
    assert estimate_frequencies(PLAIN, np.array([100, 0])).tolist() == [200, -100]


def test_frequencies_of_a_singular_matrix_are_not_estimated():
    for matrix in (BLOCKS, transition_matrix(1 / 3, 3), np.full((2, 2), 0.5)):
        with pytest.raises(ValueError, match="singular"):
            estimate_frequencies(matrix, np.arange(len(matrix)))


@given(matrices())
def test_estimates_from_expected_counts_are_the_counts(drawn):
    matrix, counts = drawn
    mostly_kept = 0.75 * np.eye(len(matrix)) + 0.25 * matrix
    estimates = estimate_frequencies(mostly_kept, counts @ mostly_kept)
    assert estimates == pytest.approx(counts, abs=1e-9)


def test_local_epsilon_is_the_largest_logarithm_of_a_ratio_within_a_column():
    # The recipe's figure: .8 of 16 categories is an epsilon of 4.09.
    assert local_epsilon(transition_matrix(0.8, 16)) == pytest.approx(math.log(60))
    assert local_epsilon(PLAIN) == pytest.approx(math.log(2))
    assert local_epsilon(np.full((3, 3), 1 / 3)) == 0
    assert local_epsilon(np.array([[1.0]])) == 0


def test_local_epsilon_is_infinite_where_a_category_is_excluded():
    assert local_epsilon(BLOCKS) == math.inf
    assert local_epsilon(np.array([[5e-324, 1.0], [1.0, 0.5]])) == pytest.approx(744.4, abs=0.1)
    # A category that nothing becomes tells nothing.
    assert local_epsilon(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]])) == 0
