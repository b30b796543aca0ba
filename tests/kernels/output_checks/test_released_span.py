from itertools import combinations

import numpy as np
import pytest

from policy_engine.kernels.output_checks.released_span import (
    alike_multiples,
    combined_factors,
    echelon,
    in_span,
    light_vector,
    random_prime,
    reduced_by,
)
from policy_engine.kernels.output_checks.sparse_span import Combinations, SparseRows

PRIME = 67_108_859


def test_random_primes_are_prime_and_of_26_bits():
    for _ in range(20):
        prime = random_prime()
        assert 2**25 < prime < 2**26
        assert all(prime % divisor for divisor in range(2, int(prime**0.5) + 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_is_that_over_the_rationals(seed):
    draws = np.random.default_rng(seed)
    rows = (draws.random((12, 15)) < 0.4).astype(float)
    rows[9:] = rows[:3] + rows[3:6]
    form = echelon(rows, PRIME, is_reduced=True)
    assert len(form.rows) == np.linalg.matrix_rank(rows)
    assert form.rows[:, form.pivots].tolist() == np.eye(len(form.rows)).tolist()


def test_a_difference_is_in_the_span_and_a_part_is_not():
    rows = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0]])
    vectors = np.array([[1.0, 0, PRIME - 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert in_span(rows, vectors, PRIME).tolist() == [True, False, True]
    assert in_span(rows[:0], vectors, PRIME).tolist() == [False, False, True]
    assert combined_factors(rows, vectors[:1], PRIME).tolist() == [[1, PRIME - 1]]


def test_rows_that_are_first_are_preferred_in_a_combination():
    rows = np.array([[1.0, 0], [1, 1], [0, 1]])
    assert combined_factors(rows, np.array([[0.0, 1]]), PRIME).tolist() == [[PRIME - 1, 1, 0]]


def lightest(rows, weights):
    """Return the least weight of a nonzero combination of rows, by trying all sets of columns."""
    sizes = [
        (sum(weights[list(columns)]), columns)
        for count in range(1, len(weights) + 1)
        for columns in combinations(range(len(weights)), count)
    ]
    rank = np.linalg.matrix_rank(rows)
    for weight, columns in sorted(sizes):
        if np.linalg.matrix_rank(np.delete(rows, columns, axis=1)) < rank:
            return weight
    return None


def vanishing(rows, columns):
    """Return a basis of the combinations that vanish but for some columns, in those."""
    sparse = SparseRows.of_pairs(*np.nonzero(rows), *rows.shape)
    own = Combinations.of_rows(sparse, PRIME).constrained(np.flatnonzero(~columns)).alone()
    return echelon(own.values(np.flatnonzero(columns)).T, PRIME, is_reduced=True).rows


@pytest.mark.parametrize("seed", range(25))
def test_the_search_finds_what_trying_all_sets_of_columns_finds(seed):
    draws = np.random.default_rng(seed)
    rows = (draws.random((draws.integers(2, 7), 10)) < 0.5).astype(float)
    rows = rows[rows.any(axis=1)]
    weights = draws.integers(1, 6, 10)
    least = lightest(rows, weights)
    for bound in (least, least + 1):
        columns = weights < bound
        basis = vanishing(rows, columns)
        result = light_vector(basis, weights[columns], bound, PRIME, lambda _: False, 10_000)
        assert result.state == ("absent" if bound == least else "found")
        if result.state == "found":
            assert weights[columns][result.vector != 0].sum() == least
            full = np.zeros((1, 10))
            full[0, columns] = result.vector
            assert in_span(rows, full, PRIME).all()


def test_a_search_that_is_cut_short_is_undecided_and_never_absent():
    rows = np.array([[1.0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 1, 1]])
    basis = echelon(rows, PRIME, is_reduced=True).rows
    weights = np.ones(6, np.int64)
    assert light_vector(basis, weights, 3, PRIME, lambda _: False, 0).state == "undecided"
    assert light_vector(basis, weights, 3, PRIME, lambda _: False, 99).state == "absent"


def test_few_lines_of_few_units_do_not_make_a_search_of_large_tables_long():
    labels = np.random.default_rng(4).integers(0, 12, (3, 400))
    labels[0, labels[0] < 6] = 11
    for key, first, line in ((0, 0, 0), (0, 200, 1), (1, 12, 13), (2, 20, 14)):
        labels[key, first : first + 12] = line
    rows = np.vstack([np.equal.outer(np.unique(one), one) for one in labels]).astype(float)
    basis = echelon(rows, PRIME, is_reduced=True).rows
    weights = np.ones(400, np.int64)
    assert light_vector(basis, weights, 10, PRIME, lambda _: False, 9).state == "absent"
    assert light_vector(basis, weights, 13, PRIME, lambda _: False, 9).state == "found"


def test_what_is_known_does_not_count():
    rows = np.array([[1.0, 0, 0], [0, 1, 1]])
    weights = np.ones(3, np.int64)
    outcome = light_vector(rows, weights, 2, PRIME, lambda one: bool(one[0]), 99)
    assert outcome.state == "absent"


def test_multiples_of_a_column_are_alike_and_what_vanishes_is_none():
    columns = np.array([[1.0, 2], [PRIME - 1, PRIME - 2], [0, 0], [2, 2], [3, 6]])
    numbers = alike_multiples(columns.T, PRIME).tolist()
    assert numbers == [0, 0, -1, 1, 0]
    assert alike_multiples(np.zeros((0, 2)), PRIME).tolist() == [-1, -1]


def test_what_is_left_of_vectors_is_outside_the_span_of_rows():
    rows = echelon(np.array([[1.0, 1, 0], [0, 1, 1]]), 101).rows
    left = reduced_by(rows, np.array([[1.0, 2, 1], [1, 0, 0]]), 101)
    assert not left[0].any()
    assert left[1, 2]
