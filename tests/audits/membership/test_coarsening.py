import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.membership.coarsening import cells_of, levels_of, round_to_step

NUMBERS = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6).map(lambda one: round(one, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
)


def sizes(cells, values):
    return np.bincount(cells.places(np.array(values)), minlength=len(cells.numbers)).tolist()


@given(st.lists(NUMBERS, min_size=1, max_size=120), st.integers(2, 12))
@settings(max_examples=examples(80), deadline=None)
def test_every_cell_holds_enough(values, fewest):
    cells = cells_of(np.array(values), fewest)
    assert len(cells.numbers) == len(cells.edges) + 1
    assert list(cells.edges) == sorted(set(cells.edges))
    assert len(cells.edges) == 0 or min(sizes(cells, values)) >= fewest
    levels = levels_of(np.array(values), fewest)
    assert np.isfinite(levels.apply(np.array(values))).all()


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_no_single_record_shows_but_as_the_tenth(values, data):
    """Where all have each value eleven times, no range has nine or ten: so nothing may change."""
    every = np.repeat(np.array(values), 11)
    told = levels_of(every, 10)
    other = every.copy()
    other[data.draw(st.integers(0, len(every) - 1))] = data.draw(
        st.one_of(NUMBERS, st.sampled_from([*values, *told.edges]))
    )
    assert levels_of(other, 10) == told
    assert cells_of(other, 10) == cells_of(every, 10)
    assert levels_of(every[1:], 10) == told


def test_no_edge_is_moved_by_a_record_that_lies_on_it_or_is_finer():
    doses = np.repeat(np.arange(1, 80) / 10, 11)
    edges = levels_of(doses, 10).edges
    assert edges[:3] == (0.15, 0.25, 0.35)
    for value in (*edges, *(edge + 0.001 for edge in edges)):
        moved = doses.copy()
        moved[int(value) * 100] = value
        assert levels_of(moved, 10).edges == edges


@pytest.mark.parametrize(
    ("finer", "edge"), [([], 29.5), ([33.5] * 9, 29.5), ([33.5] * 10, 29.95), ([0.125] * 9, 29.5)]
)
def test_the_unit_is_one_that_ten_records_show(finer, edge):
    cells = cells_of(np.array([*range(20, 40), *finer], dtype=float), 10)
    assert cells.edges[0] == edge


@pytest.mark.parametrize(
    ("values", "edges", "numbers"),
    [
        # 20 to 39 in tens: an edge lies between two whole numbers, and no person is on it.
        ([*range(20, 40)], (29.5,), (24.5, 34.5)),
        ([0] * 10 + [1] * 10, (0.5,), (0, 1)),
        ([0] * 15 + [1] * 5, (), (0,)),
        ([41_237] * 10 + [3, 999], (), (41_237,)),
        ([0.25] * 10 + [0.75] * 10, (0.495,), (0.25, 0.75)),
        ([5] * 9, (), (0,)),  # too few for anything
        ([], (), (0,)),
    ],
)
def test_cells_worked_by_hand(values, edges, numbers):
    cells = cells_of(np.array(values, dtype=float), 10)
    assert cells.edges == pytest.approx(edges)
    assert cells.numbers == pytest.approx(numbers)


def test_outliers_join_their_neighbours_and_are_not_told():
    values = np.array([*range(100)] * 2 + [10**9, 10**9 + 7, -(10**8)], dtype=float)
    cells = cells_of(values, 10)
    assert max(map(abs, (*cells.edges, *cells.numbers))) < 100
    assert min(sizes(cells, values)) >= 10


def test_levels_have_about_mean_0_and_deviation_1():
    values = np.random.default_rng(3).normal(40, 12, 2_000).round()
    found = levels_of(values, 10).apply(values)
    assert abs(found.mean()) < 0.1
    assert found.std() == pytest.approx(1, abs=0.05)


def test_one_record_does_not_show_in_the_levels():
    values = np.repeat([20.0, 30, 40, 50], 50)
    more = np.append(values, 50.0)
    assert levels_of(values, 10) == levels_of(more, 10)


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [(38.58, 0.9, 39), (38.58, 1.1, 38), (38.58, 3, 40), (0.1, 0, 0.1)],
)
def test_numbers_are_rounded_to_1_2_or_5_times_a_power_of_ten(value, step, expected):
    assert round_to_step(value, step) == pytest.approx(expected)
