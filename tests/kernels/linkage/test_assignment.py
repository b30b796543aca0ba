"""One-to-one linkage: what all the best assignments have in common, by trying all assignments."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage import assignment_links
from policy_engine.kernels.linkage.assignment import MOST_RECORDS, squared_distances

COSTS = st.integers(0, 3).map(float) | st.just(np.inf)


@st.composite
def files(draw):
    persons, records = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    own = draw(st.lists(st.integers(-1, records - 1), min_size=persons, max_size=persons))
    return draw(arrays(np.float64, (persons, records), elements=COSTS)), np.array(own)


def best_assignments(costs):
    """Return all assignments of the least cost, each as the record of every person, or -1."""
    persons, records = costs.shape
    size = max(persons, records)
    scores = {}
    for order in itertools.permutations(range(size)):
        chosen = [record if record < records else -1 for record in order[:persons]]
        pairs = [costs[person, record] for person, record in enumerate(chosen) if record >= 0]
        impossible = sum(np.isinf(pairs))
        scores[tuple(chosen)] = (impossible, sum(cost for cost in pairs if np.isfinite(cost)))
    least = min(scores.values())
    return [chosen for chosen, score in scores.items() if score == least]


@given(files())
def test_certain_and_possible_links_are_those_of_all_and_of_some_of_the_best(given_files):
    costs, own = given_files
    found, best = assignment_links(costs, own), best_assignments(costs)
    for person, record in enumerate(own):
        is_own = [chosen[person] == record for chosen in best]
        can_be = record >= 0 and np.isfinite(costs[person, record])
        assert found.is_certain[person] == (can_be and all(is_own))
        assert found.is_possible[person] == (can_be and any(is_own))
        assert found.is_certain[person] <= found.linked[person] <= found.is_possible[person]


@given(files(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_link(given_files, random):
    costs, own = given_files
    order = random.sample(range(costs.shape[1]), costs.shape[1])
    persons = random.sample(range(len(own)), len(own))
    places = np.append(np.argsort(order), -1)
    moved = assignment_links(costs[persons][:, order], places[own][persons])
    assert np.array_equal(moved.linked, assignment_links(costs, own).linked[persons])


# Examples of Herranz et al. (2015), as the package sdcMicro tests them.


def test_published_example_is_linked_one_to_one_and_hardly_by_the_nearest():
    known = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    released = np.array([[0.0, 0], [0, 2.1], [-2.1, 0], [0, -2.1]])
    costs = np.sqrt(squared_distances(known, released))
    assert assignment_links(costs, np.arange(4)).linked.tolist() == [1, 1, 1, 1]
    assert np.argmin(costs, axis=1).tolist() == [0, 0, 0, 0]


def test_published_example_of_one_outlier_is_linked_to_nobody():
    known, released = np.array([[1.0], [2], [3], [4]]), np.array([[2.0], [3], [4], [-0.1]])
    costs = np.sqrt(squared_distances(known, released))
    assert assignment_links(costs, np.arange(4)).linked.tolist() == [0, 0, 0, 0]


def test_two_assignments_of_one_cost_share_their_links():
    # Distances of 0, 2 and 100 from 0, 100 and 101: 99 in sum, in either of two ways.
    costs = np.array([[0.0, 100, 101], [2, 98, 99], [100, 0, 1]])
    found = assignment_links(costs, np.arange(3))
    assert found.linked.tolist() == [1, 0.5, 0.5]
    assert found.is_certain.tolist() == [True, False, False]


def test_equal_persons_share_equal_records():
    table = np.array([[1.0], [1], [1], [5], [9]])
    found = assignment_links(squared_distances(table, table), np.arange(5))
    assert found.linked == pytest.approx([1 / 3] * 3 + [1, 1])


def test_file_of_other_persons_is_linked_by_chance():
    known, released = np.random.default_rng(1).normal(size=(2, 200, 2))
    found = assignment_links(squared_distances(known, released), np.arange(200))
    assert found.linked.mean() < 5 / 200


def test_large_file_is_told_to_be_too_large():
    costs = np.broadcast_to(np.float64(0), (1, MOST_RECORDS + 1))
    assert isinstance(assignment_links(costs, np.array([0])), NotApplicable)
