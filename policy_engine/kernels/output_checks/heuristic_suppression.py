"""Patterns of suppression for tables too large to be searched at once, by the tables in them.

De Wolf: HiTaS: a heuristic approach to cell suppression in hierarchical tables, in: Inference
Control in Statistical Databases, LNCS 2316, 2002. Tables are treated from the top down, what is
suppressed in one is to be protected in all others that it is in, and a table that was treated is
treated again where one below it suppresses more of its cells. What attackers learn of several
tables together is then repaired in the whole, and the bound is that of the whole.
"""

from collections import deque
from dataclasses import replace

import numpy as np

from policy_engine.kernels.output_checks.optimal_suppression import raise_bound, search_optimum
from policy_engine.kernels.output_checks.suppression_search import SuppressionSearch
from policy_engine.kernels.output_checks.table_system import Bools, Ints, TableLayout, TableSystem

_SECONDARY_LEVEL = 0.01
"""How well a secondary cell is protected in other tables, as a share of its value."""
_AGAIN = 4.0
"""How much dearer a cell is that tables before left published: they are treated again."""
_SHARE_FOR_TABLES = 0.6
"""The share of the time that tables get; the rest is the whole's."""


def search_subtables(search: SuppressionSearch) -> None:
    """Improve a search's best pattern by its layout's sub-tables, and then its bound."""
    search.offer(_pattern_of_tables(search), is_last_resort=True)
    if search.seconds_left > 0:
        raise_bound(search)


def _pattern_of_tables(search: SuppressionSearch) -> Bools:
    """Return a pattern, (n,), that protects its cells in each sub-table, or that time ended for."""
    system, tables = search.system, search.system.layout.subtables
    pattern, is_seen = system.first_pattern.copy(), np.zeros(system.size, dtype=bool)
    homes = _tables_of_cells(tables, system.size)
    queue = deque(range(len(tables)))
    limit = search.seconds_left * _SHARE_FOR_TABLES / max(len(tables), 1)
    end = search.deadline - search.seconds_left * (1 - _SHARE_FOR_TABLES)
    while queue and search.seconds_left > search.deadline - end:
        number = queue.popleft()
        cells = tables[number]
        part = SuppressionSearch(_part(system, cells, pattern, is_seen), _now(search) + limit)
        search_optimum(part)
        fresh = cells[part.best & ~pattern[cells]]
        pattern[fresh], is_seen[cells] = True, True
        others = {home for cell in fresh.tolist() for home in homes[cell]}
        queue.extend(sorted(others - {number} - set(queue)))
    return pattern


def _now(search: SuppressionSearch) -> float:
    return search.deadline - search.seconds_left


def _tables_of_cells(tables: tuple[Ints, ...], size: int) -> list[list[int]]:
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
