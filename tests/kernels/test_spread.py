import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.spread import exact, spread


def of(cells, *covered, size):
    codes = [np.array(one, dtype=np.int64) for one in covered]
    return spread(np.array(cells, dtype=np.int64), codes, size)


def test_a_cell_is_kept_as_runs_of_codes():
    found = of([0, 1], [0, 1, 2, 5], [3], size=6)
    assert found.starts.tolist() == [0, 2, 3]
    assert found.low.tolist() == [0, 5, 3]
    assert found.high.tolist() == [3, 6, 4]
    assert found.widths.tolist() == [4, 1]


def test_codes_may_come_in_any_order_and_twice():
    assert of([0], [3, 1, 2, 2], size=4).widths.tolist() == [3]


def test_a_cell_that_covers_nothing_is_refused():
    with pytest.raises(ValueError, match="one code at least"):
        of([0], [], size=3)


def test_the_mass_of_a_row_is_spread_evenly_over_its_cell():
    found = of([0, 0, 1], [0, 1], [1, 3], size=4)
    assert found.masses.tolist() == [1.0, 1.5, 0.0, 0.5]


def test_totals_and_means_are_those_of_the_codes_of_each_cell():
    found = of([0, 1], [0, 2], [1], size=3)
    weights = np.array([1.0, 10.0, 3.0])
    assert found.totals(weights).tolist() == [4.0, 10.0]
    assert found.means(weights).tolist() == [2.0, 10.0]


def test_values_that_are_what_they_are_count_as_such():
    found = exact(np.array([2, 0, 2]), 4)
    assert found.is_exact
    assert found.masses.tolist() == [1.0, 0.0, 2.0, 0.0]
    assert not of([0], [0, 1], size=2).is_exact


def test_rows_taken_keep_their_cells():
    found = of([0, 1, 1], [0, 1], [2], size=3).taken(np.array([2, 0]))
    assert (found.cell_of.tolist(), found.rows) == ([1, 0], 2)


COVERED = st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=5)


@given(COVERED, st.data())
def test_masses_add_up_to_the_rows_and_are_those_counted_by_hand(covered, data):
    cells = data.draw(st.lists(st.integers(0, len(covered) - 1), min_size=1))
    found = of(cells, *map(sorted, covered), size=10)
    by_hand = [sum((code in covered[c]) / len(covered[c]) for c in cells) for code in range(10)]
    assert found.masses == pytest.approx(by_hand)
    assert found.masses.sum() == pytest.approx(len(cells))
