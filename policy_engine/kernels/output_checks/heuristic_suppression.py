"""Patterns of suppression for tables too large to be searched at once, by the tables in them.

De Wolf: HiTaS: a heuristic approach to cell suppression in hierarchical tables, in: Inference
Control in Statistical Databases, LNCS 2316, 2002. Tables are treated from the top down, what is
suppressed in one is to be protected in all others that it is in, and a table that was treated is
treated again where one below it suppresses more of its cells. Tables that are too large themselves
are cut into slices, which share their margins. What attackers learn of several
tables together is then repaired in the whole, and the bound is that of the whole.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from policy_engine.kernels.output_checks.optimal_suppression import raise_bound, search_optimum
from policy_engine.kernels.output_checks.suppression_search import SuppressionSearch
from policy_engine.kernels.output_checks.table_system import Bools, Ints, TableLayout, TableSystem
from policy_engine.kernels.output_checks.work_time import TimeUpError, WorkTime

_SECONDARY_LEVEL = 0.01
"""How well a secondary cell is protected in other tables, as a share of its value."""
_AGAIN = 4.0
"""How much dearer a cell is that tables before left published: they are treated again."""
_FLAT = 2
MOST_CELLS_OF_PART = 2_500
"""Sub-tables of more cells are cut into slices."""


def pattern_of_parts(
    system: TableSystem, time: WorkTime, limit: WorkTime, before: Bools | None = None
) -> Bools:
    """Return a pattern, (n,), that protects its cells in each sub-table, or that time ended for.

    It has all cells of the pattern `before`. Slices of tables of three dimensions have no time to
    leave out what they do not need themselves: cells of one are then hidden in the others, too, and
    the whole needs little repair. Raises TimeUpError at a limit.
    """
    tables = parts_of(system.layout, MOST_CELLS_OF_PART)
    pattern, is_seen = system.first_pattern.copy(), np.zeros(system.size, dtype=bool)
    if before is not None:
        pattern |= before
    homes = _tables_of_cells(tables, system.size)
    queue = deque(range(len(tables)))
    is_deep = any(np.squeeze(grid).ndim > _FLAT for grid in system.layout.grids)
    share = 0.0 if is_deep else time.left / max(len(tables), 1)
    while queue and time.left > 0:
        number = queue.popleft()
        cells = tables[number]
        if not (pattern & ~system.is_hidden)[cells].any():
            continue
        part = SuppressionSearch(
            _part(system, cells, pattern, is_seen), WorkTime.of_seconds(share), limit
        )
        search_optimum(part)
        fresh = cells[part.best & ~pattern[cells]]
        pattern[fresh], is_seen[cells] = True, True
        others = {home for cell in fresh.tolist() for home in homes[cell]}
        queue.extend(sorted(others - {number} - set(queue)))
    return pattern


def search_from(search: SuppressionSearch) -> None:
    """Repair the first pattern of a search in the whole, and raise its bound.

    Raises TimeUpError where no pattern is found within the limit of the search.
    """
    first = search.system.first_pattern if search.first is None else search.first
    search.offer(first, is_last_resort=True)
    if search.cost > 0:
        with suppress(TimeUpError):
            raise_bound(search)


def parts_of(layout: TableLayout, most: int) -> list[Ints]:
    """Return the cells of the tables that a layout is made of, each of at most so many cells where
    that is possible: slices of larger ones, of which each equation is in some slice."""
    return [part.ravel() for grid in layout.grids for part in _slices(np.squeeze(grid), most)]


def _slices(grid: Ints, most: int) -> Iterator[Ints]:
    """Yield a grid, or where it is too large its slices along the two longest dimensions, whose
    lines are all lines of the grid: of the longest in slices along the other one."""
    if grid.size <= most or grid.ndim <= 1:
        yield grid
        return
    for axis in np.argsort(grid.shape, kind="stable")[-2:].tolist():
        for code in reversed(range(grid.shape[axis])):
            yield from _slices(np.take(grid, code, axis), most)


def _tables_of_cells(tables: Sequence[Ints], size: int) -> list[list[int]]:
    homes: list[list[int]] = [[] for _ in range(size)]
    for number, cells in enumerate(tables):
        for cell in cells.tolist():
            homes[cell].append(number)
    return homes


def _part(system: TableSystem, cells: Ints, pattern: Bools, is_seen: Bools) -> TableSystem:
    """Return a table of a system, in which all that is suppressed already is to be protected."""
    layout = TableLayout(len(cells), system.equations.among(cells), (np.arange(len(cells)),))
    values, is_primary = np.abs(system.values[cells]), system.is_primary[cells]
    level = np.where(is_primary, 0.0, _SECONDARY_LEVEL * values)
    up = np.where(is_primary, system.upper_protection[cells], np.minimum(level, system.up[cells]))
    down = np.where(
        is_primary, system.lower_protection[cells], np.minimum(level, system.down[cells])
    )
    is_target = pattern[cells] & ~system.is_hidden[cells] & (np.maximum(up, down) > 0)
    return replace(
        system,
        layout=layout,
        values=system.values[cells],
        weights=system.weights[cells] * np.where(is_seen[cells], _AGAIN, 1.0),
        is_primary=is_target,
        lower_protection=down,
        upper_protection=up,
        lower_bounds=system.lower_bounds[cells],
        upper_bounds=system.upper_bounds[cells],
        may_be_suppressed=system.may_be_suppressed[cells],
        is_hidden=system.is_hidden[cells] | (pattern[cells] & ~is_target),
        contributors=system.contributors[cells],
    )
