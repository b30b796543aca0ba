"""Sets of cells that are linked by the units in them."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from policy_engine.audits.outputs.model import Counts


def linked_sets(cells: Counts, units: Counts, count: int) -> Counts:
    """Return the number of the linked set that each of `count` cells is in, (count,).

    A cell and a unit in it are given pair by pair; cells are linked that share a unit, or are both
    linked with a third.
    """
    size = count + int(units.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(cells), np.int8), (cells, units + count)), shape=(size, size))
    numbers = connected_components(graph, directed=False)[1]
    return np.asarray(numbers[:count], np.int64)
