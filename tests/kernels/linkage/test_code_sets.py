import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.linkage.code_sets import has_gaps, set_distances, set_likelihoods
from policy_engine.kernels.linkage.likelihood import log_likelihoods
from policy_engine.kernels.spread import spread

# The cells {0, 2}, {1} and {0, 1, 2}, and a person of each code.
CELLS = spread(np.arange(3), [np.array([0, 2]), np.array([1]), np.arange(3)], 3)
PERSONS = np.arange(3)


def test_a_cell_is_at_the_share_of_its_codes_that_differ():
    squares = -2 * log_likelihoods([set_distances(PERSONS, CELLS)])
    shares = [[1 / 2, 1, 2 / 3], [1, 0, 2 / 3], [1 / 2, 1, 2 / 3]]
    assert np.allclose(squares, shares)


def test_a_value_is_in_its_cell_and_cells_of_few_values_are_likelier():
    logs = log_likelihoods([set_likelihoods(PERSONS, CELLS)])
    chances = [[1 / 2, 0, 1 / 3], [0, 1, 1 / 3], [1 / 2, 0, 1 / 3]]
    assert np.allclose(np.exp(logs), chances)


def test_what_lies_between_is_a_gap():
    assert has_gaps(CELLS)
    assert not has_gaps(spread(np.arange(2), [np.array([0, 1]), np.array([2])], 3))


@given(
    st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=6),
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
)
def test_any_sets_are_told_as_by_looking_into_each(sets, persons):
    cells = spread(np.arange(len(sets)), [np.array(sorted(one)) for one in sets], 10)
    known = np.array(persons)
    squares = -2 * log_likelihoods([set_distances(known, cells)])
    chances = np.exp(log_likelihoods([set_likelihoods(known, cells)]))
    for person, code in enumerate(persons):
        for record, one in enumerate(sets):
            inside = code in one
            assert math.isclose(squares[person, record], 1 - inside / len(one), abs_tol=1e-9)
            many = sum(other in one for other in persons)
            assert math.isclose(chances[person, record], inside / max(many, 1), abs_tol=1e-9)
