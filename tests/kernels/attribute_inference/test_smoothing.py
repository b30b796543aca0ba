"""How many records a guess is from, and where a column is split, is chosen on the release alone."""

import numpy as np
import pytest

from policy_engine.kernels.attribute_inference import (
    ReleasedCells,
    best_split,
    chosen_count,
    guess_others,
)


def points(*columns):
    table = np.column_stack(columns).astype(float)
    return ReleasedCells(table, table, np.ptp(table, axis=0))


def test_a_value_is_guessed_by_the_others_nearest_and_not_by_itself():
    released, values = points([0, 1, 2, 10]), np.array([1.0, 1, 0, 0])
    found = guess_others(released, values, np.arange(4))
    # Of 1, the nearest are 0 and 2, of which one is right.
    assert found.tolist() == [1, 0.5, 0, 1]


def test_a_number_of_one_record_alone_is_no_guess_for_its_neighbours():
    released, values = points([0, 0, 0]), np.array([10.0, 12, 30])
    # Without 12, only 10 and 30 can be guessed, and 10 is within 2 of it.
    assert guess_others(released, values, np.array([1]), tolerance=2, least=2).tolist() == [0.5]


@pytest.fixture
def drawn():
    """Half of the records above and below 500, with the value of most there: 7 of 10."""
    numbers, random = np.arange(1_000), np.random.default_rng(2)
    values = ((numbers >= 500) ^ (random.random(1_000) < 0.3)).astype(float)
    return points(numbers), values


def test_values_that_are_drawn_are_guessed_from_many_records(drawn):
    assert chosen_count(*drawn, 0.0, persons=1_000) >= 10


def test_values_that_neighbours_share_are_guessed_from_few():
    numbers = np.arange(1_000)
    assert chosen_count(points(numbers), (numbers // 20 % 2).astype(float), 0.0, 1_000) <= 10


def test_values_that_go_with_nothing_are_not_guessed(drawn):
    released, values = drawn
    alone = np.random.default_rng(5).permutation(values)
    assert chosen_count(released, alone, 0.0, 1_000) is None
    assert best_split(released, alone, 0.0) is None


def test_of_many_persons_few_records_are_looked_at(drawn):
    assert chosen_count(*drawn, 0.0, persons=(1 << 24) // 30) <= 30


def test_a_column_is_split_where_its_values_change(drawn):
    released, values = drawn
    split = best_split(points(np.zeros(1_000), released.low[:, 0]), values, 0.0)
    assert split.column == 1
    assert 450 <= split.cut <= 550
    assert split.parts(np.array([split.cut, split.cut + 1])).tolist() == [0, 1]


def test_numbers_are_split_within_their_tolerance():
    numbers = np.arange(100)
    pay = np.where(numbers < 50, 100.0, 900.0) + numbers % 7
    assert best_split(points(numbers), pay, tolerance=10).cut == pytest.approx(49, abs=3)


def test_the_order_of_records_decides_no_choice(drawn):
    released, values = drawn
    order = np.random.default_rng(1).permutation(1_000)
    moved = ReleasedCells(released.low[order], released.high[order], released.widths)
    for chosen in (lambda *files: chosen_count(*files, 0.0, 1_000), lambda *f: best_split(*f, 0.0)):
        assert chosen(moved, values[order]) == chosen(released, values)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_records_are_not_split(rows):
    assert best_split(points(np.arange(rows)), np.zeros(rows), 0.0) is None
