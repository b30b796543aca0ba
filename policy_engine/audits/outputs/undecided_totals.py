"""Whether blank cells of finished tables follow if lines are totals that nothing shows to be some.

Each way is tried in which lines of a table, or of several, could be totals of others. Where one of
them gives a small figure away, the table is for a person, who knows what its lines are.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from policy_engine.audits.outputs.linked_tables import Cells, LinkedTables
from policy_engine.audits.outputs.model import Figures
from policy_engine.audits.outputs.possible_totals import Parents, possible_parents
from policy_engine.kernels.output_checks.fixed_zeros import fixed_values
from policy_engine.kernels.output_checks.recoverability import determined
from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.kernels.output_checks.table_system import TableLayout, link

_MOST_WAYS = 400
_SECONDS = 20.0
_NEAR = 1e-6


@dataclass(frozen=True)
class SmallCounts:
    """The counts that nobody may know: `least` and more, fewer than `enough`."""

    least: int
    enough: int


def may_tell_small(
    linked: LinkedTables, displayed: Sequence[Cells], small: SmallCounts
) -> list[bool]:
    """Return for each table whether its cells that are shown would tell a small count, beside
    those of the tables before it, if lines of theirs are totals that could be.

    It is also said of what cannot be tried in time, or in too many ways.
    """
    result: list[bool] = []
    is_public = np.zeros(linked.layout.cells, np.bool_)
    deadline = time.monotonic() + _SECONDS
    ways: list[list[TableLayout]] = []
    for table, numbers, cells in zip(linked.tables, linked.numbers, displayed, strict=True):
        own = numbers[table.places[cells]]
        trial = is_public.copy()
        trial[own] = True
        ways.append([replace(table, parents=one).layout for one in _variants(linked, len(ways))])
        is_told = _is_told(linked, ways, trial, small, deadline)
        result.append(is_told)
        if not is_told:
            is_public = trial
    return result


def _variants(linked: LinkedTables, number: int) -> list[tuple[Parents, ...]]:
    """Return the ways in which lines of a table could be totals, the one that was found first."""
    table = linked.tables[number]
    if not np.isnan(table.values).any():
        return [table.parents]
    return [*product(*(possible_parents(table, key) for key in range(len(table.keys))))]


def _is_told(
    linked: LinkedTables,
    ways: Sequence[Sequence[TableLayout]],
    is_public: Cells,
    small: SmallCounts,
    deadline: float,
) -> bool:
    if prod(map(len, ways)) > _MOST_WAYS:
        return True
    is_possible = False
    for layouts in product(*ways):
        if time.monotonic() > deadline:
            return True
        layout = link(layouts, linked.numbers[: len(layouts)])
        figures = _figures(linked, layout, is_public, linked.slack)
        is_possible |= figures is not None
        if _has_small(figures, small):
            return True
        # Rounded figures may have been made to add up.
        exact = np.zeros_like(linked.slack)
        if linked.slack.max(initial=0) >= 1 and _has_small(
            _figures(linked, layout, is_public, exact), small
        ):
            return True
    return not is_possible


def _has_small(figures: Figures | None, small: SmallCounts) -> bool:
    if figures is None:
        return False
    with np.errstate(invalid="ignore"):
        is_small = (figures > small.least - _NEAR) & (figures < small.enough - _NEAR)
    return bool(is_small.any())


def _figures(
    linked: LinkedTables, layout: TableLayout, is_public: Cells, slack: Figures
) -> Figures | None:
    """Return the figures of cells that are not shown but follow, by a layout of the first tables,
    (cells,), NaN for others; None where there are none by it. Those shown are off by `slack`."""
    size = layout.cells
    is_unknown = ~is_public[:size]
    if not can_solve():
        is_fixed = determined(layout.equations, is_unknown) & linked.is_blank[:size]
        return np.where(is_fixed, 1.0, np.nan)
    return fixed_values(layout.equations, linked.values[:size], slack[:size], is_unknown)
