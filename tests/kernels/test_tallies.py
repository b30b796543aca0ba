import numpy as np
import pytest

from policy_engine.kernels.random_rounding import count_unrounded, round_at_random
from policy_engine.kernels.tallies import (
    are_moves_unlikely,
    largest_deviation,
    move_tally,
    noise_tally,
    noisy_cells,
    nothing_broken,
    rank_tally,
    sign_tally,
    transition_tally,
)


def test_noise_may_make_any_number_of_any_other_and_is_counted_where_it_turns_a_sign():
    before, after = np.array([[1.0, -1], [0, 2]]), np.array([[-1.0, -3], [0, -1]])
    tally = noise_tally(before, after, after - before, np.ones(2))
    assert {name: counts.tolist() for name, counts in tally.items()} == {
        "broken": [0, 0],
        "negative": [0, 1],
        "turned": [1, 1],
        "rows": [2],
        "amount": [2 * 2**16, 5 * 2**16],
    }
    assert nothing_broken(before)["broken"].tolist() == [0, 0]


def test_a_sign_that_changes_is_counted():
    before, after = np.array([[1.0], [-2], [0.2]]), np.array([[-1.0], [-1], [0]])
    assert sign_tally(before, after, 0.5, (0.0,), 3)["broken"].tolist() == [1]


def test_a_factor_is_too_large_if_writing_the_values_cannot_make_it():
    # Of 3 factors, none is further than 7.9 standard deviations from its mean: e ** 0.79, or 2.2.
    before, after = np.array([[1.0], [100.0], [100.0]]), np.array([[3.0], [300.0], [0.0]])
    for rounding, broken in ((0.0, 2), (0.5, 1), (200.0, 0)):
        assert sign_tally(before, after, 0.1, (rounding,), 3)["broken"].tolist() == [broken]


def test_factors_are_counted_in_their_standard_deviations_but_for_rounding():
    before = np.array([[10.0], [10.0], [0.0]])
    after = np.array([[10 * np.exp(0.3 - 0.02)], [9.0], [0.0]])
    for rounding, second in ((0.0, abs(np.log(0.9) + 0.02)), (0.5, 0.028)):
        tally = sign_tally(before, after, 0.2, (rounding,), 3)
        first = 0.3 + np.log1p(-rounding / after[0, 0])
        assert tally["amount"][0] / 2**16 == pytest.approx((first + second) / 0.2, abs=1e-2)
    assert tally["rows"].tolist() == [3]


@pytest.mark.parametrize(
    ("size", "is_laplace", "broken"),
    [(0.8, False, 0), (1.0, False, 0), (1.1, False, 1000), (0.9, True, 0), (1.0, True, 1000)],
)
def test_more_noise_than_is_likely_breaks_all_cells(size, is_laplace, broken):
    # The sizes of 1000 normal numbers are at most 0.80 + 0.24 in the mean, those of as many from
    # Laplace's distribution 0.71 (1 + 0.28), or it is less likely than 1e-13.
    noise = np.full((1000, 1), size)
    tally = noise_tally(noise, noise, 3 * noise, np.array([3.0]))
    assert noisy_cells(tally, is_laplace=is_laplace).tolist() == [broken]
    assert noisy_cells(tally, (0.6,), np.array([2.0]), is_laplace=is_laplace).tolist() == [0]


def test_far_too_much_noise_is_too_much_of_any_number_of_rows():
    part = noise_tally(np.zeros((4, 1)), np.zeros((4, 1)), np.full((4, 1), 1e9), np.ones(1))
    # Of 2**27 rows, the sum of what counts of it, 2**36 each, is 2**63.
    whole = {name: counts * 2**25 for name, counts in part.items()}
    assert noisy_cells(whole).tolist() == [2**27]


@pytest.mark.parametrize(("share", "broken"), [(0.5, 0), (0.3, 4)])
def test_a_rank_that_moves_too_far_breaks_all_cells(share, broken):
    before, after = np.array([[0], [1], [2], [3]]), np.array([[2], [1], [0], [3]])
    tally = rank_tally(before, after, share, "plain")
    assert (tally["moves"].tolist(), tally["broken"].tolist()) == ([2], [broken])


def test_the_furthest_move_of_each_column_breaks_nothing():
    before, after = np.array([[0, 0], [1, 1], [2, 2]]), np.array([[2, 1], [1, 0], [0, 2]])
    tally = move_tally(before, after)
    assert (tally["moves"].tolist(), tally["broken"].tolist()) == ([2, 1], [0, 0])


def test_moves_of_some_rows_are_judged_by_the_ranks_of_all():
    before, after, times = np.array([[0], [1]]), np.array([[1], [2]]), [np.ones(10, np.int64)]
    assert rank_tally(before, after, 0.1, "plain", times)["broken"].tolist() == [0]
    assert rank_tally(before, after + 1, 0.1, "plain", times)["broken"].tolist() == [2]


@pytest.mark.parametrize(
    ("moved", "stays", "is_unlikely"),
    [(200, [0.8], False), (0, [0.8], True), (1000, [0.8], True), (500, [0.8, 0.2], False)],
)
def test_as_many_rows_move_as_their_probabilities_say(moved, stays, is_unlikely):
    # Of 1000 rows, 200 are expected to move, or any number from 200 to 800.
    assert are_moves_unlikely(moved, 1000, stays) == is_unlikely


def test_transitions_are_counted_and_impossible_ones_are_broken():
    before, after = np.array([[0], [0], [1], [1]]), np.array([[0], [1], [1], [0]])
    tally = transition_tally(before, after, np.array([[0.5, 0.5], [0.0, 1.0]]))
    assert tally["transitions"].tolist() == [[1, 1], [1, 1]]
    assert tally["broken"].tolist() == [1]


def test_a_deviation_is_told_in_standard_deviations():
    # 100 rows of each: of the first, 50 are expected to stay, with a deviation of 5.
    matrix = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert largest_deviation(np.array([[100, 0], [50, 50]]), matrix) == pytest.approx(10)
    assert largest_deviation(np.zeros((2, 2), np.int64), matrix) == 0


def test_a_multiple_is_rounded_to_itself_and_anything_else_to_one_beside_it():
    values = np.array([[20.0], [23.0], [-23.0]])
    low = round_at_random(values, 10, np.full((3, 1), 2**64 - 1, np.uint64))
    high = round_at_random(values, 10, np.zeros((3, 1), np.uint64))
    assert low.tolist() == [[20], [20], [-30]]
    assert high.tolist() == [[20], [30], [-20]]
    assert count_unrounded(values, low, 10).tolist() == [0]
    assert count_unrounded(values, values, 10).tolist() == [2]
