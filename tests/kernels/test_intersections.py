"""Who is left where the classes of several releases are put together."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy_engine.kernels import intersections as module
from policy_engine.kernels.intersections import (
    OUTSIDE,
    PersonClasses,
    TooManyPairsError,
    intersections,
)


def classes(pairs):
    persons, numbers = zip(*pairs, strict=True)
    return PersonClasses.of(np.array(persons, np.uint64), np.array(numbers, np.int64))


def brute(releases):
    """Return for each person how many persons share the worst tuple of classes, by definition."""
    told = [dict[int, set[int]]() for _ in releases]
    for release, one in zip(releases, told, strict=True):
        for person, number in release:
            one.setdefault(person, set()).add(number)
        for numbers in one.values():
            if numbers != {OUTSIDE}:
                numbers.discard(OUTSIDE)
    everybody = {person for one in told for person in one}
    sets = {p: [one.get(p, {OUTSIDE}) for one in told] for p in everybody}
    sets = {p: one for p, one in sets.items() if any(numbers != {OUTSIDE} for numbers in one)}
    cells = Counter(cell for one in sets.values() for cell in product(*one))
    return {p: min(cells[cell] for cell in product(*one)) for p, one in sets.items()}


def test_intersections_count_who_is_in_both_classes():
    met = intersections(
        [classes([(1, 0), (2, 0), (3, 0), (4, 1)]), classes([(1, 5), (2, 5), (3, 6)])]
    )
    assert met.persons.tolist() == [1, 2, 3, 4]
    assert met.candidates.tolist() == [2, 2, 1, 1]


def test_who_is_in_no_class_of_any_release_is_not_looked_at():
    met = intersections([classes([(1, 0), (2, OUTSIDE)]), classes([(2, OUTSIDE), (3, 1)])])
    assert met.persons.tolist() == [1, 3]


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2)), min_size=1, max_size=14)


@given(st.lists(pairs, min_size=1, max_size=3))
def test_candidates_are_those_of_the_definition(releases):
    met = intersections([classes(one) for one in releases])
    assert dict(zip(met.persons.tolist(), met.candidates.tolist(), strict=True)) == brute(releases)


@example([(0, OUTSIDE)], [(1, 0)])
@given(pairs, pairs)
def test_rows_are_in_the_intersections_of_their_persons(first, second):
    met = intersections([classes(first), classes(second)])
    persons, numbers = (np.array(one) for one in zip(*first, strict=True))
    rows, cells = met.cells_of_rows(persons.astype(np.uint64), numbers)
    in_class = [(p, c) for p, c in first if c != OUTSIDE]
    seen = {(first[row], int(cell)) for row, cell in zip(rows, cells, strict=True)}
    assert {pair for pair, _ in seen if pair[1] != OUTSIDE} == {*in_class}
    for (person, number), cell in seen:
        place = met.persons.tolist().index(person)
        is_it = (met.person == place) & (met.cell == cell) & (met.first == number)
        assert is_it.any()


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    some = classes([(1, 0), (1, 1)])
    with pytest.raises(TooManyPairsError):
        intersections([some, some])


def test_simple_classes_have_nobody_twice():
    assert classes([(1, 0), (2, 0), (2, 0)]).is_simple
    assert not classes([(1, 0), (1, 1)]).is_simple
