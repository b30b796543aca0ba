import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.membership.coarsening import cells_of, levels_of, rounded

NUMBERS = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6).map(lambda one: round(one, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
)


def sizes(cells, values):
    return np.bincount(cells.places(np.array(values)), minlength=len(cells.numbers)).tolist()


@given(st.lists(NUMBERS, min_size=1, max_size=120), st.integers(2, 12))
@settings(max_examples=150, deadline=None)
def test_every_cell_holds_enough_and_no_number_told_is_one_that_few_have(values, fewest):
    cells = cells_of(np.array(values), fewest)
    assert len(cells.numbers) == len(cells.edges) + 1
    assert list(cells.edges) == sorted(set(cells.edges))
    assert len(cells.edges) == 0 or min(sizes(cells, values)) >= fewest
    held = [values.count(told) for told in (*cells.edges, *cells.numbers)]
    assert not [times for times in held if 0 < times < fewest]
    levels = levels_of(np.array(values), fewest)
    assert np.isfinite(levels.of(np.array(values))).all()


@given(st.lists(st.integers(0, 99), min_size=40, max_size=80), st.randoms())
@settings(max_examples=30, deadline=None)
def test_what_is_told_does_not_follow_a_value_within_its_cell(values, random):
    """Values that move within the finest cells that there could be leave all as it is."""
    given_ = np.array(values) * 10.0
    moved = given_ + np.array([random.randrange(1, 9) for _ in values])
    edges = set(cells_of(given_ + 1, 10).edges)
    other = set(cells_of(moved, 10).edges)
    whole = {edge for edge in edges | other if (edge + 0.5) % 10 == 0}
    assert {edge for edge in edges if edge in whole} == {edge for edge in other if edge in whole}


@pytest.mark.parametrize(
    ("values", "edges", "numbers"),
    [
        # 20 to 39 in tens: an edge lies between two whole numbers, and no person is on it.
        ([*range(20, 40)], (29.5,), (24.5, 34.5)),
        ([0] * 10 + [1] * 10, (0.5,), (0, 1)),
        ([0] * 15 + [1] * 5, (), (0,)),
        ([41_237] * 10 + [3, 999], (), (41_237,)),
        ([0.25] * 10 + [0.75] * 10, (0.495,), (0.25, 0.75)),
        ([5] * 9, (), (-0.5,)),  # too few for anything: a number of the grid
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
    found = levels_of(values, 10).of(values)
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
    assert rounded(value, step) == pytest.approx(expected)
