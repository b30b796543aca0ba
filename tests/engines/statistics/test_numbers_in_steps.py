"""Numbers of cells in steps of a public grid: no cell fails, warns, or leaves the bounds."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from asking_statistics import DAYS, MEDIAN, step_of, visits
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.statistics.contributions import on_grid, row_values
from policy_engine.plan.aggregates.countable_numbers import MOST_NUMBER, MOST_STEPS

CELLS = st.lists(st.floats(width=64), min_size=1, max_size=8)


@st.composite
def grids(draw):
    """Draw bounds and a grid that a policy may have."""
    grid = draw(st.integers(1, 10**6)) * Decimal(10) ** draw(st.integers(-12, 8))
    most = min(MOST_STEPS, int(MOST_NUMBER / grid)) // 2
    low = draw(st.integers(-most, most - 1))
    return low * grid, draw(st.integers(low + 1, most)) * grid, grid


def nearest(cell, lower, upper, grid):
    """Return the steps that a number may be counted as: two if it is as near to both."""
    exact = Fraction(lower) if math.isnan(cell) else Fraction(min(max(cell, -1e300), 1e300))
    steps = min(max(exact, Fraction(lower)), Fraction(upper)) / Fraction(grid)
    near = Fraction(1, 2**20)
    return {round(steps - near), round(steps), round(steps + near)}


@given(CELLS, grids())
def test_cells_are_counted_as_the_nearest_step_within_the_bounds(cells, terms):
    lower, upper, grid = terms
    steps = on_grid(np.array(cells), lower, upper, grid).tolist()
    assert all(one in nearest(cell, *terms) for cell, one in zip(cells, steps, strict=True))
    assert all(lower <= one * grid <= upper for one in steps)


@given(CELLS)
@pytest.mark.parametrize(
    "figure",
    [
        {**DAYS, "pe:function": "variance", "pe:lower": -(10**15), "pe:upper": 10**15},
        {**MEDIAN, "pe:candidates": [-(10**15), 10**15, 10**12]},
    ],
)
def test_no_cell_is_told_from_others_by_a_warning(figure, cells):
    grid = {"pe:grid": 10**12} if figure["pe:function"] == "variance" else {}
    step = step_of({**figure, **grid})
    days = pa.array([*cells, None], pa.float64())
    table = visits(*[("a", "f", 0)] * len(days)).set_column(2, "days", days)
    assert all(len(one) == len(days) for one in row_values(table, step))


def test_a_step_that_a_float_takes_for_zero_makes_no_warning():
    grid = Decimal("1e-400")
    steps = on_grid(np.array([0.0, 1.0, np.inf, -np.inf, np.nan]), Decimal(0), 100 * grid, grid)
    assert all(0 <= one <= 100 for one in steps.tolist())
