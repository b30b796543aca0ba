"""Modifications that lead to one result, by hand and by trying all of them in another way."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.integral_privacy import (
    Alternatives,
    Leaf,
    Split,
    consistent_modifications,
    decision_tree,
    frequency_table,
    means,
    regression,
    result_of,
)

NO_POOL = np.zeros((0, 1), dtype=np.int64)
FIVE = np.array([[1], [2], [3], [4], [5]])


def members(alternatives):
    return [np.flatnonzero(one).tolist() for one in alternatives.sets]


def unchanged(table, pool, most, statistic, is_known=None):
    """Return the modifications that leave the result of a table as it is."""
    expected = result_of(statistic, table)
    return consistent_modifications(table, pool, most, statistic, expected, is_known)


def test_removals_from_five_salaries_that_keep_their_mean():
    # The mean of 1, 2, 3, 4, 5 is 3. It stays if 3 is removed, or 1 and 5, or 2 and 4; or 3 with
    # either pair, but these contain a smaller one.
    found = unchanged(FIVE, NO_POOL, 3, means())
    assert members(found) == [[2], [0, 4], [1, 3], [0, 2, 4], [1, 2, 3]]
    assert members(found.minimal()) == [[2], [0, 4], [1, 3]]
    assert not found.common().any()
    assert found.are_anonymous(3)
    assert not found.are_anonymous(4)


def test_removal_that_alone_explains_the_new_mean_is_told():
    # Without 5 the mean is 5/2. No other one or two salaries leave that.
    expected = (Fraction(5, 2),)
    found = consistent_modifications(FIVE, NO_POOL, 2, means(), expected)
    assert members(found) == [[4]]
    assert found.common().tolist() == [False] * 4 + [True]
    assert not found.are_anonymous(1)


def test_rounded_means_have_more_explanations():
    exact, rounded = (unchanged(FIVE, NO_POOL, 1, means(decimals)) for decimals in (None, 0))
    # Without 1 the mean is 3.5, which is rounded to 4; without 2, 3.25.
    assert (members(exact), members(rounded)) == ([[2]], [[1], [2], [3]])


def test_known_row_is_not_removed():
    known = np.array([False, False, True, False, False])
    assert members(unchanged(FIVE, NO_POOL, 2, means(), known)) == [[0, 4], [1, 3]]


def test_frequencies_stay_if_another_record_of_the_cell_comes():
    table = np.array([[0, 30], [1, 40]])  # sex and age
    pool = np.array([[0, 35], [0, 30]])
    found = unchanged(table, pool, 2, frequency_table([0]))
    # Adding the record that was removed is no modification of the table.
    assert members(found) == [[0, 2]]


def test_databases_that_could_have_made_a_result_are_modifications_of_none():
    nothing = np.zeros((0, 1), dtype=np.int64)
    found = consistent_modifications(nothing, FIVE, 5, means(), (Fraction(3),))
    assert members(found)[:4] == [[2], [0, 4], [1, 3], [0, 2, 4]]
    assert len(found) == 7


def test_points_on_a_line_may_go_unless_one_is_left():
    table = np.array([[0, 1], [1, 3], [2, 5], [3, 7]])
    assert result_of(regression(), table) == (1, 2)
    found = unchanged(table, np.zeros((0, 2), dtype=np.int64), 3, regression())
    assert len(found) == 4 + 6
    assert found.minimal().are_anonymous(4)


def test_point_beside_the_line_is_told_by_the_line_without_it():
    table = np.array([[0, 1], [1, 3], [2, 5], [3, 0]])
    found = consistent_modifications(
        table, np.zeros((0, 2), dtype=np.int64), 1, regression(2), (Fraction(1), Fraction(2))
    )
    assert found.common().tolist() == [False, False, False, True]


def test_line_through_equal_points_is_not_determined():
    assert result_of(regression(), np.array([[1, 2], [1, 3]])) is None
    assert result_of(means(), NO_POOL) is None


def test_coefficients_are_those_of_least_squares():
    table = np.array([[1, 2, 3], [4, 1, 2], [0, 5, 7], [2, 2, 1], [3, 0, 9]])
    inputs = np.column_stack([np.ones(5), table[:, :2]])
    expected = np.linalg.lstsq(inputs, table[:, 2], rcond=None)[0]
    found = result_of(regression(), table)
    assert [float(one) for one in found] == pytest.approx(expected)


def test_tree_stays_while_its_sides_do():
    # Age and illness: one decision, at 35.
    table = np.array([[20, 0], [30, 0], [40, 1], [50, 1]])
    tree = result_of(decision_tree(1), table)
    assert tree == Split(0, 35.0, Leaf(0.0), Leaf(1.0))
    found = unchanged(table, np.zeros((0, 2), dtype=np.int64), 2, decision_tree(1))
    # Without 30 or 40 the threshold is another one, except without both: then it is 35 again.
    assert members(found) == [[0], [3], [0, 3], [1, 2]]
    assert len(found.minimal()) == 3
    assert found.are_anonymous(3)


def test_values_are_told_though_the_person_is_not():
    table = np.array([[7], [7], [1]])
    found = consistent_modifications(table, NO_POOL, 1, means(), (Fraction(4),))
    assert members(found) == [[0], [1]]
    assert found.are_anonymous(2)
    assert found.common_kinds(np.array([1, 1, 0])).tolist() == [0, 1]


def test_too_many_modifications_are_not_tried():
    found = unchanged(np.arange(100)[:, None], NO_POOL, 5, means())
    assert isinstance(found, NotApplicable)
    assert "79,375,495 modifications" in found.reason


def brute_modifications(table, pool, most):
    """Return the sets of elements that keep the mean, by tables as lists."""
    size, found = len(table), set()
    mean = Fraction(sum(table), size)
    elements = range(size + len(pool))
    for chosen in chain.from_iterable(combinations(elements, n) for n in range(1, most + 1)):
        gone = [table[at] for at in chosen if at < size]
        come = [pool[at - size] for at in chosen if at >= size]
        left = [table[at] for at in range(size) if at not in chosen] + come
        if left and not set(gone) & set(come) and Fraction(sum(left), len(left)) == mean:
            found.add(frozenset(chosen))
    return found


SALARIES = st.lists(st.integers(0, 5), min_size=1, max_size=5)


@settings(max_examples=50)
@given(SALARIES, SALARIES, st.integers(1, 4))
def test_modifications_are_those_of_a_search_through_all(table, pool, most):
    expected = brute_modifications(table, pool, most)
    found = unchanged(np.array(table)[:, None], np.array(pool)[:, None], most, means())
    assert {frozenset(one) for one in members(found)} == expected
    minimal = {one for one in expected if not any(other < one for other in expected)}
    assert {frozenset(one) for one in members(found.minimal())} == minimal
    common = frozenset.intersection(*expected) if expected else frozenset(range(len(table + pool)))
    assert set(np.flatnonzero(found.common())) == common


def test_equal_sets_are_one_alternative():
    sets = np.array([[True, True], [False, True], [True, True]])
    assert members(Alternatives.of(sets)) == [[1], [0, 1]]


def impurity(labels):
    """Return the Gini impurity of labels times their number."""
    counts = np.bincount(labels, minlength=1).astype(float)
    return counts.sum() - (counts**2).sum() / max(counts.sum(), 1)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.integers(0, 2)), min_size=2, max_size=12))
def test_tree_of_one_decision_is_that_of_least_impurity(rows):
    table = np.array(rows)
    tree = result_of(decision_tree(1), table)
    assert tree == result_of(decision_tree(1), table[::-1])
    labels = table[:, -1]
    sides = [table[:, at] <= cell for at in (0, 1) for cell in range(5)]
    least = min(impurity(labels[one]) + impurity(labels[~one]) for one in sides)
    if isinstance(tree, Split):
        below = table[:, tree.column] <= tree.threshold
        assert impurity(labels[below]) + impurity(labels[~below]) == pytest.approx(least)
