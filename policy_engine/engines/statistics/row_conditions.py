"""Which rows are counted: a condition is on the cell of a row, whatever else is in the table."""

import operator
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.statistics.row_cells import encoded, numbers_of, texts_of
from policy_engine.plan.aggregates.model import RowCondition
from policy_engine.plan.steps import AggregateStep


def counted_rows(table: pa.Table, step: AggregateStep) -> NDArray[np.bool_]:
    """Return which rows satisfy all conditions of a step, (rows,)."""
    counted = np.ones(table.num_rows, dtype=np.bool_)
    for one in step.conditions:
        column = encoded(table.column(one.column))
        missing = len(column.dictionary)
        places = column.indices.fill_null(missing).to_numpy(zero_copy_only=False)
        satisfied = [*_satisfied(column.dictionary, one), one.comparison == "is missing"]
        counted &= np.array(satisfied, dtype=np.bool_)[np.asarray(places, np.int64)]
    return counted


def _satisfied(values: pa.Array, one: RowCondition) -> list[bool]:
    """Return which distinct values satisfy a condition."""
    if one.comparison in ("is missing", "is not missing"):
        # As in the keys of groups, an empty text is missing.
        return [bool(text) == (one.comparison == "is not missing") for text in texts_of(values)]
    if one.of_numbers:
        return _numbers_satisfied(numbers_of(values), one)
    chosen, is_any = {*one.values}, one.comparison == "is any of"
    return [bool(text) and (text in chosen) == is_any for text in texts_of(values)]


def _numbers_satisfied(numbers: NDArray[np.float64], one: RowCondition) -> list[bool]:
    bounds = [float(value) for value in one.values]
    if one.comparison in _ORDERS:
        satisfied = _ORDERS[one.comparison](numbers, bounds[0])
    else:
        satisfied = np.isin(numbers, bounds) == (one.comparison == "is any of")
    return [bool(one) for one in satisfied & ~np.isnan(numbers)]


_ORDERS: Mapping[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
