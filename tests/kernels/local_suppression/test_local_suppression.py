import csv
import gzip
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SHARED_DATA

from policy_engine.kernels.local_suppression import matches, null_masks, suppress_cells
from policy_engine.kernels.match_counts import match_counts

SENSES = ["category", "wildcard"]


def suppressed(codes, k, missing, counts=None, weights=None, most=None):
    """Return the suppression of distinct tuples of one row each, or of so many."""
    codes = np.array(codes, np.int32)
    counts = np.ones(len(codes), np.int64) if counts is None else np.array(counts)
    weights = np.ones(codes.shape[1], np.int64) if weights is None else np.array(weights)
    most = np.full(codes.shape[1], counts.sum()) if most is None else np.array(most)
    return suppress_cells(codes, counts, k, weights, most, missing)


def shown(codes, found):
    """Return the parts as they are released."""
    return np.where(found.cells, -1, np.array(codes, np.int32)[found.tuple_of]).astype(np.int32)


def released(codes, found):
    """Return the number of rows of each tuple of the release."""
    tuples, part = np.unique(shown(codes, found), axis=0, return_inverse=True)
    rows = np.bincount(part.ravel(), found.rows).astype(int)
    return dict(zip(map(tuple, tuples.tolist()), rows.tolist(), strict=True))


def test_as_a_category_rows_that_differ_in_one_column_lack_it():
    codes = [[0, 0], [0, 1], [1, 2], [1, 3]]
    assert released(codes, suppressed(codes, 2, "category")) == {(0, -1): 2, (1, -1): 2}


def test_as_wildcards_one_cell_serves_two_rows():
    codes = [[0, 0], [0, 1], [1, 2], [1, 3]]
    found = suppressed(codes, 2, "wildcard")
    assert found.suppressed.tolist() == [0, 2]
    assert match_counts(shown(codes, found), found.rows, "wildcard").tolist() == [2] * 4


def test_a_large_tuple_lends_single_rows():
    codes, counts = [[0, 0], [0, 1]], [10, 1]
    found = suppressed(codes, 3, "category", counts)
    assert released(codes, found) == {(0, 0): 8, (0, -1): 3}
    assert found.tuple_of.tolist() == [0, 0, 1]
    assert found.rows.tolist() == [8, 2, 1]


def test_where_no_tuple_can_lend_rows_a_whole_class_is_suppressed():
    codes, counts = [[0, 0], [0, 1], [5, 5]], [3, 1, 3]
    assert released(codes, suppressed(codes, 3, "category", counts)) == {(0, -1): 4, (5, 5): 3}


def test_the_rows_that_are_lent_are_chosen_by_words():
    found = suppressed([[0, 0], [0, 1]], 2, "category", [4, 1])
    tuple_of_row, words = np.array([0, 1, 0, 0, 0]), np.array([7, 0, 9, 8, 1], np.uint64)
    parts = found.part_of(tuple_of_row, words)
    assert found.cells[parts].any(axis=1).tolist() == [False, True, True, False, False]


@pytest.mark.parametrize("missing", SENSES)
def test_of_columns_that_serve_equally_the_last_is_suppressed_unless_it_weighs_more(missing):
    codes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert suppressed(codes, 2, missing).suppressed[0] == 0
    assert suppressed(codes, 2, missing, weights=[1, 2]).suppressed[1] == 0


def test_cells_that_are_missing_already_are_a_category_or_match_any():
    codes, counts = [[0, -1], [0, 1]], [2, 1]
    as_category = suppressed(codes, 2, "category", counts)
    assert released(codes, as_category) == {(0, -1): 3}
    assert as_category.suppressed.tolist() == [0, 1]
    assert suppressed(codes, 2, "wildcard", counts).suppressed.tolist() == [0, 0]


@pytest.mark.parametrize("missing", SENSES)
def test_rows_that_caps_leave_below_k_are_told_and_left_as_they_are(missing):
    codes = [[0, 0], [0, 1], [1, 2], [1, 3], [2, 4]]
    found = suppressed(codes, 2, missing, most=[0, 5])
    assert found.tuple_of[found.exposed].tolist() == [4]
    assert found.exposed_rows == 1
    assert not found.cells[found.exposed].any()


@pytest.mark.parametrize("missing", SENSES)
def test_fewer_than_k_rows_are_all_exposed(missing):
    assert suppressed([[0], [1]], 3, missing).exposed_rows == 2
    assert suppressed(np.zeros((0, 2)), 3, missing).exposed_rows == 0


def test_a_scarce_column_is_left_to_the_rows_that_need_it():
    # The first two rows can lack either column, the last two only the last.
    codes = [[0, 0, 1], [0, 1, 0], [5, 2, 2], [5, 2, 3]]
    assert suppressed(codes, 2, "category").suppressed.tolist() == [0, 2, 4]
    squares = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 3]]
    assert suppressed(squares, 2, "category").suppressed.tolist() == [0, 6]
    scarce = suppressed(squares, 2, "category", most=[6, 2])
    assert scarce.exposed_rows == 0
    assert scarce.suppressed.tolist() == [4, 2]


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(draw(st.sampled_from([-1, 0])), 3)] * columns)
    codes = draw(st.lists(row, min_size=1, max_size=25, unique=True))
    counts = draw(st.lists(st.integers(1, 6), min_size=len(codes), max_size=len(codes)))
    caps = draw(st.lists(st.integers(0, 30), min_size=columns, max_size=columns))
    most = draw(st.sampled_from([caps, [sum(counts)] * columns]))
    return np.array(codes, np.int32), np.array(counts), most


@given(tables(), st.integers(1, 5), st.sampled_from(SENSES), st.sampled_from([1024, 6]))
@settings(max_examples=examples(100))
def test_every_row_matches_k_or_is_told(table, k, missing, room):
    codes, counts, most = table
    with patch.multiple(null_masks, _MOST_MASKS=room), patch.multiple(matches, _SMALLEST_TABLE=16):
        found = suppressed(codes, k, missing, counts, most=most)
    assert (np.bincount(found.tuple_of, found.rows) == counts).all()
    assert (found.suppressed <= most).all()
    assert not (found.cells & (codes[found.tuple_of] < 0)).any()
    matched = match_counts(shown(codes, found), found.rows, missing)
    assert (matched[~found.exposed] >= k).all()
    if min(most) == counts.sum() >= k:
        assert not found.exposed.any()


@given(tables(), st.integers(2, 4), st.sampled_from(SENSES), st.randoms())
def test_the_order_of_tuples_leaves_no_trace(table, k, missing, random):
    codes, counts, most = table
    move = np.array(random.sample(range(len(codes)), len(codes)))
    first = suppressed(codes, k, missing, counts, most=most)
    second = suppressed(codes[move], k, missing, counts[move], most=most)
    for one in range(len(codes)):
        mine, moved = first.tuple_of == move[one], second.tuple_of == one
        assert first.rows[mine].tolist() == second.rows[moved].tolist()
        assert first.cells[mine].tolist() == second.cells[moved].tolist()


def one_column_at_a_time(codes, counts, k, missing):
    """Return the cells of a greedy search: column by column, all that rows below k still have."""
    cells = np.zeros(codes.shape, np.bool_)
    for column in reversed(range(codes.shape[1])):
        now = np.where(cells, -1, codes).astype(np.int32)
        cells[match_counts(now, counts, missing) < k, column] = True
    return cells


def adult8():
    """Return the distinct tuples of quasi-identifiers, those with few values first."""
    path = SHARED_DATA / "adult_arx.csv.gz"
    if not path.exists():
        warnings.warn(f"SKIPPED: {path} is not there", stacklevel=2)
        pytest.skip(f"{path} is not there: nothing is proved on it")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [
        np.unique([row[name] for row in rows], return_inverse=True)[1]
        for name in rows[0]
        if name != "salary-class"
    ]
    columns.sort(key=lambda column: int(column.max()))
    codes, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return codes.astype(np.int32), counts


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("missing", "cells", "cells_of_greedy"),
    [("category", 31_926, 37_339), ("wildcard", 11_641, 36_390)],
)
def test_adult8_loses_fewer_cells_than_by_one_column_at_a_time(missing, cells, cells_of_greedy):
    codes, counts = adult8()
    found = suppressed(codes, 5, missing, counts)
    assert found.exposed_rows == 0
    assert match_counts(shown(codes, found), found.rows, missing).min() >= 5
    greedy = one_column_at_a_time(codes, counts, 5, missing)
    assert (counts @ greedy).sum() == cells_of_greedy
    assert found.suppressed.sum() <= cells
