"""Which suppressed cells follow exactly from the published ones, whatever the cells' values are.

A cell is determined if the equations, their published cells moved to one side, have one solution
for it: if its unit vector is in the row space of the suppressed cells' columns.
"""

import numpy as np

from policy_engine.kernels.output_checks.table_system import Bools, Equations, Ints
from policy_engine.kernels.output_checks.work_time import UNLIMITED, WorkTime

PRIMES = (2_147_483_647, 2_147_483_629)
"""The two largest primes below 2**31: products of two remainders are exact in 64 bits."""


def bridges(nodes: int, tails: Ints, heads: Ints) -> Bools:
    """Return which edges of an undirected graph are bridges, (edges,), in linear time.

    Edge e joins `tails[e]` and `heads[e]`. Parallel edges are not bridges. Tarjan: A
    note on finding the bridges of a graph, Information Processing Letters 2(6), 1974.
    """
    ends = np.concatenate([tails, heads])
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(nodes + 1)).tolist()
    edges = (order % max(len(tails), 1)).tolist()
    others = np.concatenate([heads, tails])[order].tolist()
    is_bridge = np.zeros(len(tails), dtype=bool)
    number = [0] * nodes
    low, place, counter = [0] * nodes, starts[:-1], 0
    for root in np.unique(tails).tolist():
        if number[root]:
            continue
        counter += 1
        number[root] = low[root] = counter
        path = [(root, -1)]
        while path:
            node, edge = path[-1]
            if place[node] == starts[node + 1]:
                path.pop()
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[node])
                    is_bridge[edge] = low[node] > number[before]
                continue
            other, next_edge = others[place[node]], edges[place[node]]
            place[node] += 1
            if number[other] == 0:
                counter += 1
                number[other] = low[other] = counter
                path.append((other, next_edge))
            elif next_edge != edge:
                low[node] = min(low[node], number[other])
    return is_bridge


def determined_in_two_way(is_suppressed: Bools) -> Bools:
    """Return which suppressed cells of a two-way table with its totals are determined.

    Both are (rows + 1, columns + 1): the last row and column are totals. With the signs of totals
    changed, the equations are the incidence matrix of the graph whose nodes are rows and columns
    and whose edges are suppressed cells; its null space is spanned by circles, so a cell is
    determined if and only if its edge is on none: if it is a bridge. Gusfield: A graph theoretic
    approach to statistical data security, SIAM Journal on Computing 17(3), 1988.
    """
    rows, columns = np.nonzero(is_suppressed)
    result = np.zeros(is_suppressed.shape, dtype=bool)
    result[rows, columns] = bridges(sum(is_suppressed.shape), rows, len(is_suppressed) + columns)
    return result


def determined(
    equations: Equations,
    is_suppressed: Bools,
    limit: WorkTime = UNLIMITED,
    targets: Bools | None = None,
    most: float = np.inf,
) -> Bools:
    """Return which suppressed cells, (n,), any equations determine, by elimination modulo primes.

    Modulo a prime the rank of the columns, with a cell or without it, is that over the rational
    numbers unless the prime divides all their largest minors that are not 0. Of two-way tables and
    of one hierarchy all minors are 0, 1 or -1, and the result is exact. Else a determined cell is
    missed only if both primes divide such minors: a cell that either of them finds is returned.
    Where only some `targets`, (n,), are asked for, others may be missing. A matrix of more than
    `most` coefficients is not eliminated: only cells that follow one after another are returned
    then. Raises TimeUpError at a limit.
    """
    result, left = _simple(equations, is_suppressed)
    rest = _without_free(equations.of_cells(left), left, targets)
    cells = np.unique(rest.cells)
    for prime in PRIMES if rest.count * len(cells) <= most else ():
        matrix = _matrix(rest, cells)
        result[cells] |= _unit_rows(matrix, prime, limit)
    return result


def _simple(equations: Equations, is_suppressed: Bools) -> tuple[Bools, Bools]:
    """Return the cells that are the only suppressed one of an equation, or are so once others of
    them are known, (n,), and the suppressed cells without them."""
    single, left = np.zeros(len(is_suppressed), dtype=bool), is_suppressed.copy()
    while True:
        is_term = left[equations.cells]
        sizes = np.bincount(equations.rows[is_term], minlength=equations.count)
        alone = equations.cells[is_term & (sizes == 1)[equations.rows]]
        if not len(alone):
            return single, left
        single[alone], left[alone] = True, False


def _without_free(some: Equations, is_suppressed: Bools, targets: Bools | None) -> Equations:
    """Return equations without those that have a cell that is in no other, and no target: whatever
    the others of its equation are, it makes up for them."""
    while targets is not None and some.count:
        counts = np.bincount(some.cells, minlength=len(is_suppressed))
        is_free = (counts == 1) & ~targets
        free = np.unique(some.rows[is_free[some.cells]])
        if not len(free):
            break
        is_left = ~np.isin(some.rows, free)
        sizes = np.delete(np.diff(some.starts), free)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        some = Equations(starts, some.cells[is_left], some.coefficients[is_left])
    return some


def _matrix(some: Equations, cells: Ints) -> Ints:
    """Return the dense coefficients of the cells of equations, (equations, cells)."""
    matrix = np.zeros((some.count, len(cells)), dtype=np.int64)
    np.add.at(matrix, (some.rows, np.searchsorted(cells, some.cells)), some.coefficients)
    return matrix


def _unit_rows(matrix: Ints, prime: int, limit: WorkTime) -> Bools:
    """Return the columns, (columns,), whose unit vectors are in the row space modulo a prime."""
    rest = matrix % prime
    result = np.zeros(matrix.shape[1], dtype=bool)
    if not rest.size:
        return result
    is_free = np.ones(len(rest), dtype=bool)
    while True:
        limit.check()
        sizes = np.where(is_free, np.count_nonzero(rest, axis=1), 0)
        candidates = np.flatnonzero(sizes)
        if not len(candidates):
            break
        # The shortest row fills the others the least.
        pivot = int(candidates[sizes[candidates].argmin()])
        _eliminate(rest, pivot, prime)
        is_free[pivot] = False
    is_unit = np.count_nonzero(rest, axis=1) == 1
    result[rest[is_unit].argmax(axis=1)] = True
    return result


def _eliminate(rest: Ints, pivot: int, prime: int) -> None:
    """Make a row's rarest column 1 in that row and 0 in all others."""
    columns = np.flatnonzero(rest[pivot])
    column = columns[np.count_nonzero(rest[:, columns], axis=0).argmin()]
    inverse = pow(int(rest[pivot, column]), -1, prime)
    rest[pivot, columns] = rest[pivot, columns] * inverse % prime
    rows = np.flatnonzero(rest[:, column])
    rows = rows[rows != pivot]
    block = np.ix_(rows, columns)
    rest[block] = (rest[block] - rest[rows, column][:, np.newaxis] * rest[pivot, columns]) % prime
