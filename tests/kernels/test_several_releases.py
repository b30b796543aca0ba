"""What releases of one table tell together, by hand and by comparing every row with every other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.releases import (
    Accumulated,
    accumulated,
    aligned_classes,
    consistent_rows,
    least_excess,
    rows_consistent_with,
    values_in_common,
)

TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(-1, 2)
)
# Six rows in two releases, each 2-anonymous: the second one suppresses the last row.
TWO = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 2], [1, 2], [2, 2], [2, -1]])


def brute_rows(classes, row, absence_is_known):
    """Return the rows that no release tells apart from one row."""
    present = [at for at in range(classes.shape[1]) if classes[row, at] >= 0]
    looked_at = range(classes.shape[1]) if absence_is_known else present
    return [
        other
        for other in range(len(classes))
        if present and all(classes[other, at] == classes[row, at] for at in looked_at)
    ]


def brute_values(classes, values, row):
    """Return the values that every class of a row has."""
    shown = [
        set(values[classes[:, at] == classes[row, at], at].tolist()) - {-1}
        for at in range(classes.shape[1])
        if classes[row, at] >= 0
    ]
    return set.intersection(*shown) if shown else set()


def test_classes_of_two_releases_are_intersected():
    assert consistent_rows(TWO).tolist() == [2, 2, 1, 1, 2, 2, 1, 1]
    assert rows_consistent_with(TWO, 0).tolist() == [0, 1]


def test_unknown_absence_rules_nothing_out():
    assert consistent_rows(TWO, absence_is_known=False).tolist() == [2, 2, 1, 1, 2, 2, 1, 2]
    assert rows_consistent_with(TWO, 7, absence_is_known=False).tolist() == [6, 7]


def test_second_release_adds_uniques():
    first, second = accumulated(TWO)
    assert first == Accumulated(1, 8, 2, 0, 0, 0, 3.0)
    # The last row is unique by its absence from the second release.
    assert second == Accumulated(2, 8, 1, 4, 4, 4, 6.0)


def test_rows_that_only_one_release_singles_out_are_not_combined():
    _, second = accumulated(np.array([[0, 0], [0, 1], [0, 1]]))
    assert (second.uniques, second.gained, second.combined) == (1, 1, 0)


def test_equal_releases_add_nothing():
    _, second = accumulated(np.array([[0, 5], [0, 5], [1, 3]]))
    assert (second.uniques, second.gained) == (1, 0)


def test_rows_that_no_release_has_are_not_counted():
    assert consistent_rows(np.array([[-1, -1], [0, -1]])).tolist() == [0, 1]
    assert accumulated(np.array([[-1], [-1]]))[0] == Accumulated(1, 0, 0, 0, 0, 0, 0.0)


def test_rows_are_aligned_by_their_identities():
    names, classes = aligned_classes(
        [np.array(["b", "a"]), np.array(["c", "a"])], [np.array([7, 8]), np.array([3, 4])]
    )
    assert names.tolist() == ["a", "b", "c"]
    assert classes.tolist() == [[8, 4], [7, -1], [-1, 3]]


def test_identity_of_two_rows_is_refused():
    with pytest.raises(ValueError, match="Two rows of release 2 have the same identity"):
        aligned_classes([np.array([1]), np.array([2, 2])], [np.array([0]), np.array([0, 1])])


def test_value_is_disclosed_by_two_classes_that_share_no_other():
    # Ganta, Kasiviswanathan and Smith (2008): each hospital's class is diverse, their intersection
    # is not. The first row is in both; its classes have AIDS (0) in common and nothing else.
    classes = np.array([[0, 0], [0, -1], [0, -1], [-1, 0], [-1, 0]])
    values = np.array([[0, 0], [1, -1], [2, -1], [-1, 3], [-1, 4]])
    assert values_in_common(classes, values).tolist() == [1, 3, 3, 3, 3]


@given(TABLES, st.booleans(), st.randoms(use_true_random=False))
def test_consistent_rows_are_those_of_a_comparison_in_any_order(classes, absence_is_known, random):
    expected = [brute_rows(classes, row, absence_is_known) for row in range(len(classes))]
    found = [
        rows_consistent_with(classes, row, absence_is_known=absence_is_known)
        for row in range(len(classes))
    ]
    assert [rows.tolist() for rows in found] == expected
    order = random.sample(range(len(classes)), len(classes))
    sizes = consistent_rows(classes[order], absence_is_known=absence_is_known)
    assert sizes.tolist() == [len(expected[row]) for row in order]
    steps = accumulated(classes, absence_is_known=absence_is_known)
    assert steps == accumulated(classes[order], absence_is_known=absence_is_known)


@given(TABLES, st.booleans())
def test_more_releases_never_leave_more_rows(classes, absence_is_known):
    all_of_them = consistent_rows(classes, absence_is_known=absence_is_known)
    fewer = consistent_rows(classes[:, :-1], absence_is_known=absence_is_known)
    is_released = (classes[:, :-1] >= 0).any(axis=1)
    assert (all_of_them[is_released] <= fewer[is_released]).all()
    assert (all_of_them[(classes >= 0).any(axis=1)] >= 1).all()


@given(st.data())
def test_values_in_common_are_those_of_sets(data):
    classes = data.draw(TABLES)
    values = data.draw(arrays(np.int64, classes.shape, elements=st.integers(-1, 3)))
    expected = [len(brute_values(classes, values, row)) for row in range(len(classes))]
    assert values_in_common(classes, values).tolist() == expected


def brute_excess(first, second):
    """Return the least excess of a class over a part of it in the other release, in rows."""
    sets = [
        [{*np.flatnonzero(classes == one).tolist()} for one in set(classes.tolist()) - {-1}]
        for classes in (first, second)
    ]
    pairs = [(a, b) for a in sets[0] for b in sets[1]]
    return min((len(a ^ b) for a, b in pairs if a < b or b < a), default=0)


@given(arrays(np.int64, st.tuples(st.integers(1, 8), st.just(2)), elements=st.integers(-1, 2)))
def test_the_least_excess_is_found_among_all_pairs_of_classes(classes):
    first, second = classes.T
    alone = np.ones(len(classes), dtype=np.int64)
    assert least_excess(first, second, alone) == brute_excess(first, second)
    # Sets of rows count as so many of them.
    assert least_excess(first, second, 3 * alone) == 3 * brute_excess(first, second)
