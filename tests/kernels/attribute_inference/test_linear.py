"""Values are guessed by linear models of a release, where they are better for its other records."""

from itertools import product

import numpy as np
import pytest

from policy_engine.kernels.attribute_inference import guess_by_line, guess_on_line

VOTES = np.array([*product([0.0, 1.0], repeat=7)])
"""All ways in which seven vote: 128."""
MAJORITY = (VOTES.sum(axis=1) > 3).astype(float)


def test_a_value_is_guessed_that_many_columns_tell_a_little_each():
    right = guess_by_line(VOTES, VOTES, MAJORITY, MAJORITY)
    assert right.tolist() == [1] * 128


def test_what_is_guessed_of_persons_follows_from_the_release():
    persons = np.array([[1.0] * 7, [0.0] * 7, [1, 1, 1, 1, 0, 0, 0]])
    right = guess_by_line(persons, VOTES, MAJORITY, np.array([1.0, 1, 1]))
    assert right.tolist() == [1, 0, 1]


def test_nothing_is_guessed_of_values_that_go_with_no_column():
    odd = VOTES.sum(axis=1) % 2
    assert guess_by_line(VOTES, VOTES, odd, odd) is None


def test_of_three_values_each_is_guessed():
    party = np.where(VOTES[:, 0] > 0, 2.0, VOTES[:, 1])
    assert guess_by_line(VOTES[:, :2], VOTES[:, :2], party, party).tolist() == [1] * 128


def test_a_missing_number_counts_as_the_mean():
    persons = np.array([[1.0] * 4 + [np.nan] * 3, [np.nan] * 3 + [0.0] * 4])
    released = np.where(np.arange(128)[:, None] == 5, np.nan, VOTES)
    right = guess_by_line(persons, released, MAJORITY, np.array([1.0, 0]))
    assert right.tolist() == [1, 1]


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_no_unit_and_no_origin_of_columns_changes_a_guess(unit, offset):
    moved = unit * (VOTES + offset)
    assert guess_by_line(moved, moved, MAJORITY, MAJORITY).tolist() == [1] * 128


def test_a_number_is_guessed_as_the_sum_of_others_whatever_one_value_far_out_is():
    pay = VOTES @ 2.0 ** np.arange(7)
    told, present = pay.copy(), np.ones(128, dtype=bool)
    told[7] = 1e9
    right = guess_on_line(VOTES, VOTES, told, pay, 1.0, present)
    assert right.tolist() == [1] * 128


def test_numbers_that_are_missing_are_not_fitted():
    pay = VOTES @ 2.0 ** np.arange(7)
    present = np.arange(128) >= 9
    told = np.where(present, pay, -50.0)
    assert guess_on_line(VOTES, VOTES, told, pay, 1.0, present).tolist() == [1] * 128
    assert guess_on_line(VOTES, VOTES, told, pay, 1.0, np.zeros(128, dtype=bool)) is None


def test_the_order_of_records_decides_nothing():
    random = np.random.default_rng(3)
    released, order = VOTES + random.normal(size=VOTES.shape), random.permutation(128)
    right = guess_by_line(VOTES, released, MAJORITY, MAJORITY)
    moved = guess_by_line(VOTES, released[order], MAJORITY[order], MAJORITY)
    assert right.tolist() == moved.tolist()


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_records_have_no_model(rows):
    assert guess_by_line(VOTES, VOTES[:rows], MAJORITY[:rows], MAJORITY) is None


def test_columns_that_do_not_differ_have_no_model():
    alike = np.ones((128, 2))
    assert guess_by_line(alike, alike, MAJORITY, MAJORITY) is None
