"""The distance that is learned links as many as any of its family, and its bound holds for all."""

from functools import cache
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from linkage_instances import FAMILIES, Files, census_instance, files
from scipy.optimize import linprog

from policy_engine.kernels.linkage.learned import (
    bilinear,
    choquet,
    choquet_of_pairs,
    held_out,
    learn,
    learn_in_turn,
    learning,
    linked,
    ordered_weighted_mean,
    weighted_mean,
)
from policy_engine.kernels.linkage.learned.rivals import MARGIN, find_rivals

POLYHEDRAL = [name for name in FAMILIES if name != "bilinear"]


def can_link(given_files, distances, people):
    """Return whether a distance makes all other records of some persons farther than their own."""
    rows = [
        distances.features(given_files.differences[person, other])
        - distances.features(given_files.differences[person, given_files.own[person]])
        for person in people
        for other in range(given_files.differences.shape[1])
        if other != given_files.own[person]
    ]
    size = len(distances.total)
    if not rows:
        return True
    found = linprog(
        [0] * size + [-1],
        A_ub=np.block(
            [
                [-np.array(rows), np.ones((len(rows), 1))],
                [-distances.constraints, np.zeros((len(distances.constraints), 1))],
            ]
        ),
        b_ub=np.zeros(len(rows) + len(distances.constraints)),
        A_eq=[[*distances.total, 0]],
        b_eq=[1],
        bounds=[(None, None)] * (size + 1),
    )
    return found.x[-1] > 1e-7


def most_linked(given_files, distances):
    """Return how many persons any distance links, by trying all sets of persons."""
    people = np.flatnonzero(given_files.own >= 0).tolist()
    for size in range(len(people), 0, -1):
        if any(can_link(given_files, distances, some) for some in combinations(people, size)):
            return size
    return 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", POLYHEDRAL)
@settings(max_examples=examples(16))
@given(given_files=files())
def test_the_optimum_is_that_of_all_sets_of_persons(name, given_files):
    distances = FAMILIES[name](given_files.differences.shape[2])
    found = learn(*given_files, distances)
    assert found.linked == found.bound == most_linked(given_files, distances)
    assert found.stopped == "reached"


def linked_by_any_weight(given_files):
    """Return how many persons any weights of two columns link, by trying all that differ."""
    squares = np.square(given_files.differences)
    people = np.arange(len(squares))
    apart = squares - squares[people, given_files.own][:, None]
    one, two = apart[..., 0], apart[..., 1]
    turns = (two[one * two < 0] / (two - one)[one * two < 0]).tolist()
    ends = np.unique([0, *turns, 1])
    counts = []
    for weight in [0, *(ends[1:] + ends[:-1]) / 2, 1]:
        values = weight * one + (1 - weight) * two
        values[people, given_files.own] = np.inf
        counts.append((values.min(axis=1) > 0).sum())
    return max(counts)


@pytest.mark.parametrize("unit", [1e-6, 1, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_is_that_of_all_weights_in_any_unit(seed, unit):
    differences, own = noisy(40, 2, seed)
    found = learn(differences * unit, own, weighted_mean(2), seconds=60)
    expected = linked_by_any_weight(Files(differences, own))
    assert found.linked == found.bound == expected


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", POLYHEDRAL)
@settings(max_examples=examples(16))
@given(given_files=files())
def test_the_programme_alone_finds_the_optimum(name, given_files):
    distances = FAMILIES[name](given_files.differences.shape[2])
    with (
        patch.object(learning._Search, "climb"),
        patch.object(learning, "_suggested", return_value=[]),
    ):
        found = learn(*given_files, distances)
    assert found.linked == found.bound == most_linked(given_files, distances)


@given(files(columns=2), st.integers(0, 100), st.integers(-50, 50))
def test_no_form_links_more_than_the_bound(given_files, share, beside):
    width = given_files.differences.shape[2]
    one = share / 100
    both = np.sqrt(one * (1 - one)) * beside / 50
    parameters = np.array([1.0] if width == 1 else [one, both, 1 - one])
    found = learn(*given_files, bilinear(width))
    count = int(linked(*given_files, bilinear(width), parameters).sum())
    assert count <= found.bound
    if found.stopped == "reached":
        assert count <= found.linked


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=examples(16))
@given(given_files=files(), random=st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_nothing(name, given_files, random):
    distances = FAMILIES[name](given_files.differences.shape[2])
    people, rows = (
        np.array(random.sample(range(size), size), dtype=int)
        for size in given_files.differences.shape[:2]
    )
    places = np.append(np.argsort(rows), -1)
    moved = learn(
        given_files.differences[people][:, rows], places[given_files.own[people]], distances
    )
    found = learn(*given_files, distances)
    assert (moved.linked, moved.bound) == (found.linked, found.bound)
    assert (moved.parameters == found.parameters).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=examples(24, times=84))
@given(given_files=files(), where=st.integers(0, 20))
def test_rivals_decide_every_link(name, given_files, where):
    distances = FAMILIES[name](given_files.differences.shape[2])
    rivals = find_rivals(*given_files, distances)
    member = distances.from_sets(
        np.random.default_rng(where).random(1 << distances.columns).cumsum() - 0.01
    )
    if (distances.constraints @ member).min() < 0:
        member = distances.inner
    values = distances.features(rivals.others) - distances.features(rivals.own)[rivals.persons()]
    is_far = values @ member >= rivals.margins[rivals.persons()]
    count = sum(
        is_far[start:end].all()
        for start, end in zip(rivals.starts[:-1], rivals.starts[1:], strict=True)
    )
    assert rivals.always + count == linked(*given_files, distances, member).sum()


def test_what_the_solver_makes_of_a_start_is_not_lost():
    """HiGHS 1.16 told of one person missed here, and returned the start, which misses both."""
    differences = np.array(
        [[[-3, 1], [-1, -2], [-1, 2], [0, 2]], [[-3, 3], [-1, 0], [-1, 4], [0, 4]]], dtype=float
    )
    found = learn(differences, np.array([0, 3]), choquet_of_pairs(2))
    assert (found.linked, found.bound) == (1, 1)


def test_an_unresolved_tie_is_no_link():
    differences = np.array([[[0.0], [0.0], [3.0]], [[2.0], [2.0], [0.0]]])
    found = learn(differences, np.array([0, 2]), weighted_mean(1))
    assert (found.linked, found.bound, found.persons, found.records) == (1, 1, 2, 3)


def test_a_difference_below_the_margin_is_no_link():
    differences = np.array([[[1.0, 1.0], [1.0 + MARGIN / 1e3, 1.0], [2.0, 2.0]]])
    assert not linked(differences, np.array([0]), weighted_mean(2), np.array([0.5, 0.5])).any()


def test_all_persons_are_linked_to_a_file_that_is_not_masked():
    points = np.random.default_rng(0).random((30, 3))
    for family in FAMILIES.values():
        found = learn(points[:, None] - points[None], np.arange(30), family(3))
        assert found.linked == found.bound == 30


def test_one_record_is_linked_and_no_record_is_not():
    one = np.ones((2, 1, 2))
    for family in FAMILIES.values():
        found = learn(one, np.array([0, -1]), family(2))
        assert (found.linked, found.bound) == (1, 1)


def noisy(people, columns, seed=0):
    """Return files of which the first column is masked most."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(people, columns))
    masked = values + random.normal(size=values.shape) * np.linspace(2, 0.5, columns)
    return Files(values[:, None] - masked[None], np.arange(people))


def test_without_time_the_best_start_and_the_bound_of_the_rivals_are_given():
    given_files = noisy(60, 4)
    found = learn(*given_files, weighted_mean(4), seconds=0)
    mean = int(linked(*given_files, weighted_mean(4), np.full(4, 0.25)).sum())
    rivals = find_rivals(*given_files, weighted_mean(4))
    assert (found.stopped, found.rounds) == ("time", 0)
    assert mean <= found.linked < found.bound == rivals.always + len(rivals.own)


def test_what_is_found_in_little_time_has_a_bound_that_holds_for_the_optimum():
    given_files = noisy(40, 3)
    found = learn(*given_files, weighted_mean(3), seconds=0.05)
    best = learn(*given_files, weighted_mean(3), seconds=60)
    assert best.stopped == "reached"
    assert found.linked <= best.linked <= found.bound


@cache
def best_mean():
    """Return two files, and the weighted mean that links most of them."""
    given_files = noisy(50, 4)
    return given_files, learn(*given_files, weighted_mean(4), seconds=60)


@pytest.mark.nightly
@pytest.mark.parametrize("family", [choquet, choquet_of_pairs, bilinear])
def test_a_start_of_a_family_within_is_not_lost(family):
    given_files, mean = best_mean()
    start = (weighted_mean(4), mean.parameters)
    assert learn(*given_files, family(4), [start], seconds=0).linked >= mean.linked


@pytest.mark.nightly
def test_more_persons_than_a_programme_takes_are_linked_by_its_stand_in(monkeypatch):
    given_files = noisy(60, 4)
    best = learn(*given_files, weighted_mean(4), seconds=60)
    monkeypatch.setattr(learning, "MOST_PERSONS", 10)
    found = learn(*given_files, weighted_mean(4), seconds=60)
    mean = int(linked(*given_files, weighted_mean(4), np.full(4, 0.25)).sum())
    assert (found.stopped, found.rounds) == ("size", 0)
    assert mean < found.linked <= best.linked <= found.bound


@pytest.mark.nightly
def test_families_learned_in_turn_link_ever_more():
    families = [weighted_mean(3), choquet_of_pairs(3), choquet(3)]
    counts = [each.linked for each in learn_in_turn(*noisy(50, 3), families, seconds=0.3)]
    assert counts == sorted(counts)


def test_what_is_learned_in_no_time_links_no_fewer_than_what_was_known():
    given_files, families = noisy(60, 3), [weighted_mean(3), choquet_of_pairs(3)]
    known = held_out(*given_files, families, np.arange(60) % 2, seconds=1).learned
    found = learn_in_turn(*given_files, families, seconds=0, earlier=known)
    for number, (family, best) in enumerate(zip(families, found, strict=True)):
        by_half = [linked(*given_files, family, one[number].parameters).sum() for one in known]
        assert best.linked >= max(by_half)


def test_a_distance_learned_from_others_links_as_the_records_tell():
    given_files = noisy(60, 3)
    folds = np.arange(60) % 3
    found = held_out(*given_files, [weighted_mean(3)], folds, seconds=60).links
    inside = folds == 1
    learned = learn(given_files.differences[~inside], given_files.own[~inside], weighted_mean(3))
    expected = linked(
        given_files.differences[inside],
        given_files.own[inside],
        weighted_mean(3),
        learned.parameters,
    )
    assert (found[0, inside] == expected).all()


@pytest.mark.nightly
def test_what_is_learned_of_an_independent_file_does_not_hold_of_others():
    random = np.random.default_rng(0)
    differences = random.normal(size=(40, 1, 4)) - random.normal(size=(1, 40, 4))
    own = np.arange(40)
    inside = learn(differences, own, choquet(4), seconds=2).linked
    outside = held_out(differences, own, [choquet(4)], own % 2, seconds=2).links.sum()
    assert inside > 2 * outside


def test_the_weights_learned_are_those_of_a_family():
    weights = learn(*noisy(40, 4), ordered_weighted_mean(4), seconds=1).parameters
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0


# Published, on records that are not recorded: 95.5, 93, 94.25, 90.5, 99.25, 98.75 (Torra's slides
# of 2017). Of these records: the optimum, which the recipe's programmes reached within a link or
# two without proving it.
@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "mean", "learned"),
    [
        pytest.param("M4-33", 84.25, 95.5, marks=pytest.mark.nightly),
        pytest.param("M4-28", 68.0, 90.25, marks=pytest.mark.nightly),
        pytest.param("M4-82", 74.75, 90.5, marks=pytest.mark.nightly),
        ("M5-38", 40.75, 93.75),
        pytest.param("M6-385", 78.0, 99.75, marks=pytest.mark.nightly),
        pytest.param("M6-853", 83.25, 98.75, marks=pytest.mark.nightly),
    ],
)
def test_weighted_means_on_census_are_learned_to_the_proven_optimum(name, mean, learned):
    given_files = census_instance(name)
    distances = weighted_mean(given_files.differences.shape[2])
    before = linked(*given_files, distances, distances.inner)
    found = learn(*given_files, distances, seconds=120)
    assert 100 * before.mean() == pytest.approx(mean, abs=0.3)
    assert (found.linked / 4, found.stopped) == (learned, "reached")


# Published: 95.75, 93.75, 94.25, 91.25, 99.75, 99.25.
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "learned"),
    [
        pytest.param("M4-33", 96.25, marks=pytest.mark.nightly),
        pytest.param("M4-28", 91.5, marks=pytest.mark.nightly),
        pytest.param("M4-82", 92.75, marks=pytest.mark.nightly),
        pytest.param("M5-38", 94.0, marks=pytest.mark.nightly),
        ("M6-385", 100.0),
        pytest.param("M6-853", 99.25, marks=pytest.mark.nightly),
    ],
)
def test_choquet_integrals_on_census_are_learned_to_the_proven_optimum(name, learned):
    given_files = census_instance(name)
    width = given_files.differences.shape[2]
    mean, found = learn_in_turn(*given_files, [weighted_mean(width), choquet(width)], seconds=120)
    assert (found.linked / 4, found.stopped) == (learned, "reached")
    assert found.linked > mean.linked


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853"])
def test_forms_link_no_fewer_of_census_than_weighted_means(name):
    given_files = census_instance(name)
    width = given_files.differences.shape[2]
    mean, found = learn_in_turn(*given_files, [weighted_mean(width), bilinear(width)])
    assert mean.linked <= found.linked <= found.bound
