"""Record linkage by a tree equals that by all pairs, and the worked example of the literature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.linkage import links, nearest_distances, plant, records_within, windows

# Ten records of four attributes, before and after rank swapping by at most 2 ranks: Torra, Privacy
# models and disclosure risk: integral privacy (2017), on Nin, Herranz and Torra (2008).
KNOWN = np.array(
    [
        *([8, 9, 1, 3], [6, 7, 10, 2], [10, 3, 4, 1], [7, 1, 2, 6], [9, 4, 6, 4]),
        *([2, 2, 8, 8], [1, 10, 3, 9], [4, 8, 7, 10], [5, 5, 5, 5], [3, 6, 9, 7]),
    ],
    dtype=float,
)
MASKED = np.array(
    [
        *([10, 10, 3, 5], [5, 5, 8, 1], [8, 4, 2, 2], [9, 2, 4, 4], [7, 3, 5, 6]),
        *([4, 1, 10, 10], [3, 9, 1, 7], [2, 6, 9, 8], [6, 7, 6, 3], [1, 8, 7, 9]),
    ],
    dtype=float,
)
SMALL = st.integers(0, 3).map(float)


def brute_links(known, masked, own, low=None, high=None):
    """Return what `links` does, from all pairs."""
    distances = ((known[:, None, :] - masked[None, :, :]) ** 2).sum(axis=2)
    allowed = np.ones(distances.shape, dtype=bool)
    if low is not None:
        allowed = ((low[:, None, :] <= masked) & (masked <= high[:, None, :])).all(axis=2)
    shares = []
    for person, record in enumerate(own):
        if record < 0 or not allowed[person, record]:
            shares.append(0.0)
            continue
        near = distances[person][allowed[person]]
        mine = distances[person, record]
        shares.append(0.0 if (near < mine).any() else 1 / (near == mine).sum())
    return np.array(shares)


def tables(rows, columns=2):
    return arrays(np.float64, (rows, columns), elements=SMALL)


@st.composite
def files(draw):
    rows = draw(st.integers(1, 60))
    own = draw(st.lists(st.integers(-1, rows - 1), min_size=1, max_size=20))
    return draw(tables(len(own))), draw(tables(rows)), np.array(own)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (0, {(5, 5, 8, 1), (8, 4, 2, 2), (7, 3, 5, 6), (4, 1, 10, 10), (6, 7, 6, 3)}),
        (1, {(5, 5, 8, 1), (3, 9, 1, 7), (2, 6, 9, 8), (6, 7, 6, 3), (1, 8, 7, 9)}),
        (2, {(5, 5, 8, 1), (4, 1, 10, 10), (2, 6, 9, 8)}),
        (3, {(5, 5, 8, 1), (8, 4, 2, 2), (9, 2, 4, 4), (6, 7, 6, 3)}),
    ],
)
def test_window_of_each_attribute_has_the_published_records(column, expected):
    low, high = windows(KNOWN[1:2], MASKED, 2)
    inside = (low[0, column] <= MASKED[:, column]) & (MASKED[:, column] <= high[0, column])
    assert {tuple(map(int, row)) for row in MASKED[inside]} == expected


def test_intersections_of_the_published_example_single_out_seven_of_ten_records():
    low, high = windows(KNOWN, MASKED, 2)
    assert records_within(plant(MASKED), low, high).tolist() == [1, 1, 1, 1, 2, 1, 1, 1, 2, 2]
    own = np.arange(10)
    linked = links(plant(MASKED), KNOWN, own, low, high)
    assert np.array_equal(linked, brute_links(KNOWN, MASKED, own, low, high))
    assert linked[[0, 1, 2, 3, 5, 6, 7]].tolist() == [1.0] * 7


@given(files())
def test_links_are_those_of_all_pairs(given_files):
    known, masked, own = given_files
    assert np.array_equal(links(plant(masked), known, own), brute_links(known, masked, own))


@given(files(), st.integers(0, 3))
def test_links_within_windows_are_those_of_all_pairs(given_files, most):
    known, masked, own = given_files
    low, high = windows(known, masked, most)
    found = links(plant(masked), known, own, low, high)
    assert np.array_equal(found, brute_links(known, masked, own, low, high))
    inside = ((low[:, None, :] <= masked) & (masked <= high[:, None, :])).all(axis=2)
    counts = inside.sum(axis=1)
    assert np.array_equal(records_within(plant(masked), low, high), counts)
    assert np.array_equal(records_within(plant(masked), low, high, 2), np.minimum(counts, 2))


@given(files(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_link(given_files, random):
    known, masked, own = given_files
    order = np.array(random.sample(range(len(masked)), len(masked)))
    places = np.append(np.argsort(order), -1)
    moved = links(plant(masked[order]), known, places[own])
    assert np.array_equal(moved, links(plant(masked), known, own))


def test_untouched_file_is_linked_but_for_equal_records():
    table = np.array([[1.0, 1], [2, 2], [2, 2], [9, 9]])
    assert links(plant(table), table, np.arange(4)).tolist() == [1, 0.5, 0.5, 1]


def test_person_without_a_record_is_not_linked():
    assert links(plant(np.array([[1.0]])), np.array([[1.0]]), np.array([-1])).tolist() == [0]


def test_many_equal_records_are_one_place():
    table = np.zeros((100_000, 3))
    assert links(plant(table), table[:2_000], np.arange(2_000)).tolist() == [1e-5] * 2_000


@given(tables(6), tables(9))
def test_the_nearest_record_is_that_of_all_pairs(known, masked):
    distances = ((known[:, None, :] - masked[None, :, :]) ** 2).sum(axis=2)
    found = nearest_distances(plant(masked), known, np.arange(6))
    assert found.tolist() == distances.min(axis=1).tolist()
    low, high = known - 1, known + 1
    inside = ((low[:, None, :] <= masked) & (masked <= high[:, None, :])).all(axis=2)
    within = nearest_distances(plant(masked), known, np.array([4, 2]), low, high)
    assert within.tolist() == np.where(inside, distances, np.inf).min(axis=1)[[4, 2]].tolist()
