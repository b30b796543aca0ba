from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.shuffling import (
    disordered_columns,
    expected_scores,
    normal_scores,
    shuffle,
)


def words_of(rows, columns=1, seed=1):
    return np.random.default_rng(seed).integers(0, 2**64, (rows, columns), dtype=np.uint64)


def column(*values):
    return np.array(values)[:, None]


def test_normal_scores_are_quantiles_at_the_middle_of_each_value_s_ranks():
    quantile = NormalDist().inv_cdf
    found = normal_scores(np.array([10, 20, 10, 30])).tolist()
    assert found == pytest.approx([quantile(share) for share in (0.25, 0.625, 0.25, 0.875)])
    assert normal_scores(np.array(["b", "a"])).tolist() == pytest.approx(
        [0.6745, -0.6745], abs=1e-4
    )
    assert normal_scores(np.array([7.0, 7.0])).tolist() == [0, 0]


def test_values_that_the_columns_given_determine_stay():
    values, other = column(3.0, 1.0, 4.0, 2.0), column(1.0, 4.0, 4.0, 4.0)
    given_columns = np.hstack([other, -(values**3)])
    assert shuffle(values, given_columns, words_of(4)).tolist() == [[0], [1], [2], [3]]


def test_what_the_given_columns_determine_is_expected_and_nothing_else():
    values = np.array([[3.0, 1.0], [1.0, 2.0], [4.0, 3.0], [2.0, 4.0]])
    means, factor = expected_scores(values, values[:, :1] * 10)
    assert means[:, 0] == pytest.approx(normal_scores(values[:, 0]))
    assert factor[0, 0] == 0
    # The other column has a correlation r with the given one, and 1 - r^2 of its own.
    scores = np.column_stack([normal_scores(column) for column in values.T])
    slope = scores[:, 0] @ scores[:, 1] / (scores[:, 0] @ scores[:, 0])
    assert means[:, 1] == pytest.approx(slope * scores[:, 0])
    rest = scores[:, 1] - slope * scores[:, 0]
    assert factor[1, 1] ** 2 == pytest.approx(rest @ rest / 4, rel=0.35)


@pytest.mark.nightly
def test_given_nothing_every_order_is_as_likely_as_any():
    values, none = column("a", "b", "c"), np.zeros((3, 0))
    orders = Counter(
        tuple(values[shuffle(values, none, words_of(3, seed=seed))[:, 0], 0].tolist())
        for seed in range(3_000)
    )
    # Five deviations of 1/6 of 3,000 are 102.
    assert len(orders) == 6
    assert all(abs(times - 500) < 102 for times in orders.values())


def test_given_columns_that_are_constant_or_repeated_make_no_difference():
    rng = np.random.default_rng(2)
    values, one = rng.normal(size=(200, 1)), rng.normal(size=(200, 1))
    repeated = np.hstack([np.full((200, 1), 5.0), one, one, np.exp(one)])
    words = words_of(200)
    assert shuffle(values, repeated, words).tolist() == shuffle(values, one, words).tolist()


def test_columns_of_one_value_or_one_row_or_none_are_shuffled_all_the_same():
    constant = shuffle(np.full((5, 2), 3), np.zeros((5, 1)), words_of(5, 2))
    assert np.sort(constant, axis=0).tolist() == [[row, row] for row in range(5)]
    assert shuffle(np.ones((1, 1)), np.ones((1, 1)), words_of(1)).tolist() == [[0]]
    assert shuffle(np.ones((0, 2)), np.ones((0, 1)), words_of(0, 2)).shape == (0, 2)


def masked(rows=100_000):
    """Four correlated columns, and the first two of them shuffled given the others."""
    factor = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4))
    table = np.random.default_rng(1).normal(size=(rows, 4)) @ factor.T
    table[:, 1], table[:, 2] = np.exp(table[:, 1]), table[:, 2] ** 3
    positions = shuffle(table[:, :2], table[:, 2:], words_of(rows, 2))
    return table, np.take_along_axis(table[:, :2], positions, axis=0)


def test_rank_correlations_are_kept_and_values_are_moved():
    table, shuffled = masked()
    ranks = np.argsort(np.argsort(np.hstack([table, shuffled]), axis=0), axis=0)
    found = np.corrcoef(ranks.T)
    # recipes/masking.md: Spearman's .482 is kept. One deviation of 100,000 rows is 0.003.
    assert found[0, 1] == pytest.approx(0.482, abs=0.01)
    assert found[4, 5] == pytest.approx(found[0, 1], abs=0.01)
    for before, after in ((0, 4), (1, 5)):
        assert found[after, 2:4] == pytest.approx(found[before, 2:4], abs=0.01)
    assert (table[:, :2] == shuffled).mean() < 0.001


def test_given_the_other_columns_the_values_before_tell_nothing():
    table, shuffled = masked()
    scores = np.column_stack([normal_scores(one) for one in np.hstack([table, shuffled]).T])
    others = scores[:, 2:4]
    rest = scores - others @ np.linalg.lstsq(others, scores, rcond=None)[0]
    found = np.corrcoef(rest[:, [0, 1, 4, 5]].T)
    assert found[:2, 2:] == pytest.approx(0, abs=0.01)


TABLES = st.integers(0, 12).flatmap(
    lambda rows: st.lists(
        st.lists(st.integers(-2, 2), min_size=rows, max_size=rows), min_size=3, max_size=5
    ).map(lambda columns: np.array(columns, dtype=np.int64).reshape(len(columns), rows).T)
)


@given(TABLES)
def test_every_column_keeps_its_values(table):
    positions = shuffle(table[:, :2], table[:, 2:], words_of(len(table), 2))
    assert np.sort(positions, axis=0).tolist() == [[row, row] for row in range(len(table))]


@given(TABLES)
def test_values_count_by_their_order_alone(table):
    words = words_of(len(table), 2)
    other = np.exp(table.astype(np.float64))
    found = shuffle(other[:, :2], other[:, 2:], words)
    assert found.tolist() == shuffle(table[:, :2], table[:, 2:], words).tolist()


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(table, random):
    order = np.array(random.sample(range(len(table)), len(table)), dtype=np.int64)
    words = words_of(len(table), 2)
    before = shuffle(table[:, :2], table[:, 2:], words)
    after = shuffle(table[order, :2], table[order, 2:], words[order])
    assert order[after].tolist() == before[order].tolist()


@pytest.mark.parametrize("number", [50, 500])
def test_any_draw_is_in_an_order_that_the_columns_given_explain(number):
    random = np.random.default_rng(number)
    for spread in (0.1, 1, 10):
        given = random.normal(size=(number, 2)).round(1)
        values = (
            given.sum(axis=1, keepdims=True) + spread * random.normal(size=(number, 1))
        ).round()
        words = random.integers(0, 2**64, (number, 1), dtype=np.uint64)
        drawn = values[shuffle(values, given, words)[:, 0]]
        assert disordered_columns(values, drawn, given).tolist() == [False]


def test_an_order_that_the_columns_given_do_not_explain_is_told_in_any_order_of_rows():
    random = np.random.default_rng(3)
    given = random.normal(size=(500, 1))
    values, after = np.hstack([given, given]), np.hstack([given, random.permutation(given)])
    for rows in (np.arange(500), random.permutation(500)):
        found = disordered_columns(values[rows], after[rows], given[rows])
        assert found.tolist() == [False, True]
    assert disordered_columns(values[:0], after[:0], given[:0]).tolist() == [False, False]
