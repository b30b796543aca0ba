"""The row of each class that is the nearest to its median, among those with its usual label.

Goldsteen et al.: Anonymizing machine learning models, 2021, Algorithm 1: what stands for a class
are the quasi-identifiers of one of its rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.representatives import Medians, Modes
from policy_engine.engines.guiding import is_quantity
from policy_engine.errors import InternalError
from policy_engine.kernels.mondrian import Partition

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def nearest_rows(
    quasi: Sequence[Generalizer],
    weights: Sequence[float],
    classes: Partition,
    label: ColumnCodes | None,
    whole: Sequence[ColumnCodes],
) -> Ints:
    """Return the number of a row of each class, (classes,).

    The rows of `quasi` are all or some of those of the `whole` columns.

    The distance is the weighted sum over columns of squared differences from the median, in
    standard deviations, or of 1 where a value without an order is not the mode, or a value is
    missing and the median is not. Only rows count whose `label` is the most frequent of the class,
    of several the least, unless labels are quantities. Of rows as near, the first in the order of
    their values is taken: that does not depend on the order of rows.
    """
    starts, sizes = classes.starts[:-1], np.diff(classes.starts)
    distance: Floats = np.zeros(len(classes.order))
    for one, weight, column in zip(quasi, weights, whole, strict=True):
        if not isinstance(one, Medians):
            raise InternalError.of("X001", "A row stands for classes of values, not of cells.")
        distance += weight * _differences(one, classes, _standardised(column))
    if label is not None and not is_quantity(label):
        usual = Modes.of("", label).central_codes(classes)
        distance[label.codes[classes.order] != np.repeat(usual, sizes)] = np.inf
    least = np.repeat(np.minimum.reduceat(distance, starts), sizes)
    near = np.flatnonzero(distance == least)
    owner = np.repeat(np.arange(len(starts)), sizes)[near]
    rows = classes.order[near]
    codes = [one.column.codes[rows].astype(np.int64) for one in reversed(quasi)]
    order = np.lexsort(np.stack([*codes, owner]))
    _, first = np.unique(owner[order], return_index=True)
    return np.asarray(rows[order[first]])


def _differences(one: Medians, classes: Partition, places: Floats) -> Floats:
    """Return the squared difference of each row from the centre of its class, (rows,), in the order
    of the classes, given the place of each code, (codes,)."""
    column, sizes = one.column, np.diff(classes.starts)
    codes, centres = column.codes[classes.order], np.repeat(one.central_codes(classes), sizes)
    if isinstance(one, Modes):
        return np.asarray(codes != centres, dtype=np.float64)
    differences: Floats = (places[codes] - places[centres]) ** 2
    if column.has_missing:
        differences[(codes == 0) != (centres == 0)] = 1.0
    return np.asarray(differences)


def _standardised(column: ColumnCodes) -> Floats:
    """Return the place of each code, (codes,), in standard deviations of the values."""
    blank = int(column.has_missing)
    places, counts = column.position, column.counts().astype(np.float64)
    present = counts[blank:].sum()
    if not present:
        return np.zeros(len(places))
    mean = (places[blank:] * counts[blank:]).sum() / present
    variance = ((places[blank:] - mean) ** 2 * counts[blank:]).sum() / present
    return np.asarray(places / (np.sqrt(variance) or 1.0))
