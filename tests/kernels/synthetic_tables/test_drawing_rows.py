"""Rows of a model have the counts that it asks for, up to rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.synthetic_tables.drawing_rows import drawn_rows, expanded
from policy_engine.kernels.synthetic_tables.tree_model import TreeModel

PAIR = np.array([[0.5, 0.0], [0.1, 0.4]])
MODEL = TreeModel([PAIR.sum(axis=1), PAIR.sum(axis=0)], {(0, 1): PAIR}, [(0, 1)])


def test_pairs_have_the_counts_that_their_shares_ask():
    codes = drawn_rows(MODEL, 100, np.random.default_rng(1))
    counts = np.bincount(codes[:, 0] * 2 + codes[:, 1], minlength=4)
    assert counts.tolist() == [50, 0, 10, 40]
    assert len({tuple(row) for row in codes[:10].tolist()}) > 1


@given(st.integers(1, 50), st.integers(0, 2**32))
def test_counts_are_rounded_and_no_row_is_lost(rows, seed):
    codes = drawn_rows(MODEL, rows, np.random.default_rng(seed))
    first = int((codes[:, 0] == 0).sum())
    assert codes.shape == (rows, 2)
    assert abs(first - rows / 2) < 1
    assert not ((codes[:, 0] == 0) & (codes[:, 1] == 1)).any()


def test_merged_values_are_told_apart_again_by_their_shares():
    classes, shares = np.array([0, 1, 1, 1]), np.array([0.4, 0.3, 0.0, 0.3])
    codes = np.array([0] * 10 + [1] * 20)
    values = expanded(codes, classes, shares, np.random.default_rng(1))
    assert np.bincount(values, minlength=4).tolist() == [10, 10, 0, 10]
    assert (values[:10] == 0).all()


def test_merged_values_without_shares_are_equally_many():
    values = expanded(np.zeros(10, int), np.zeros(2, int), np.zeros(2), np.random.default_rng(1))
    assert np.bincount(values).tolist() == [5, 5]
