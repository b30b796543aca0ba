"""Combinations of sparse rows, held against elimination of whole matrices."""

import numpy as np
import pytest

from policy_engine.kernels.output_checks.released_span import echelon, in_span
from policy_engine.kernels.output_checks.sparse_span import (
    Combinations,
    SparseRows,
    WholeForm,
    spanning_columns,
)

PRIME = 67_108_859


def drawn(seed, share=0.3):
    """Return a random matrix of zeros and ones, some rows of which depend on others."""
    draws = np.random.default_rng(seed)
    rows = (draws.random((draws.integers(3, 9), 14)) < share).astype(float)
    halves = np.arange(14) < draws.integers(1, 14)
    return np.vstack([rows, rows[:1] * halves, rows[:1] * ~halves]), draws


def sparse(rows):
    return SparseRows.of_pairs(*np.nonzero(rows), *rows.shape)


def test_sparse_rows_are_those_of_the_matrix():
    rows, _ = drawn(1)
    own = sparse(rows)
    assert own.dense().tolist() == rows.tolist()
    assert own.chosen(np.arange(len(rows)) > 1).dense().tolist() == rows[2:].tolist()
    assert own.sums(np.arange(14.0)).tolist() == (rows @ np.arange(14.0)).tolist()
    assert own.covered.tolist() == rows.any(axis=0).tolist()


def test_sums_of_rows_are_those_of_the_matrix():
    rows = np.array([[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])
    sums = [(0, 2), (1,), (), (0, 1, 2)]
    whole = [rows[[*one]].sum(axis=0).tolist() for one in sums]
    assert sparse(rows).summed(sums).dense().tolist() == whole


@pytest.mark.parametrize("seed", range(10))
def test_combinations_that_vanish_in_spanning_columns_vanish_in_all(seed):
    rows, _ = drawn(seed, 0.6)
    is_spanning = spanning_columns(sparse(rows), PRIME)
    assert is_spanning.sum() == np.linalg.matrix_rank(rows)
    assert np.linalg.matrix_rank(rows[:, is_spanning]) == is_spanning.sum()


def test_columns_are_alike_where_they_are_in_the_same_rows():
    numbers = sparse(np.array([[1.0, 1, 0, 1, 0], [0, 0, 1, 1, 0]])).alike_columns().tolist()
    assert numbers == [0, 0, 1, 2, -1]


@pytest.mark.parametrize("seed", range(20))
def test_what_vanishes_in_columns_is_as_much_as_rank_says(seed):
    rows, draws = drawn(seed)
    columns = draws.permutation(14)[: draws.integers(0, 14)]
    own = Combinations.of_rows(sparse(rows), PRIME).constrained(columns).alone()
    assert own.coefficients.shape[1] == len(rows) - np.linalg.matrix_rank(rows[:, columns])
    assert not own.values(columns).any()
    values = own.values(np.arange(14)).T
    assert in_span(rows, values, PRIME).all()
    rank = np.linalg.matrix_rank(rows) - np.linalg.matrix_rank(rows[:, columns])
    assert len(echelon(values, PRIME).rows) == rank


@pytest.mark.parametrize("seed", range(20))
def test_the_whole_form_is_the_reduced_echelon_form_and_spans_the_same(seed):
    rows, draws = drawn(seed)
    own = WholeForm.of_rows(sparse(rows), np.arange(14), PRIME)
    form = echelon(rows, PRIME, is_reduced=True)
    order = np.argsort(own.pivots)
    assert own.pivots[order].tolist() == form.pivots.tolist()
    assert own.entries(np.arange(14))[order].tolist() == form.rows.tolist()
    vectors = np.vstack([rows[:2], (draws.random((6, 14)) < 0.5).astype(float), np.zeros((1, 14))])
    told = own.spans(sparse(vectors))
    assert told.tolist() == in_span(rows, vectors, PRIME).tolist()
    assert told[[0, 1, -1]].all()
    factors = own.factors(vectors[told])
    assert ((rows.T @ factors) % PRIME).T.tolist() == vectors[told].tolist()


def test_columns_that_do_not_matter_are_left_out_of_a_span():
    rows, vector = np.array([[1.0, 1, 0], [0, 1, 1]]), np.array([[1.0, 1, 1]])
    assert not WholeForm.of_rows(sparse(rows), np.arange(3), PRIME).spans(sparse(vector)).any()
    some = np.array([0, 1])
    assert WholeForm.of_rows(sparse(rows), some, PRIME).spans(sparse(vector), some).all()


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_needed_that_are_no_combinations_of_all_others(seed):
    rows, _ = drawn(seed)
    form = WholeForm.of_rows(sparse(rows), np.arange(14), PRIME)
    ranks = [np.linalg.matrix_rank(np.delete(rows, one, axis=0)) for one in range(len(rows))]
    assert form.are_needed.tolist() == [rank < np.linalg.matrix_rank(rows) for rank in ranks]
