"""Which rows of a table are learnt, and which are held out: equal ones are on one side."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.synthesising.equal_cells import row_numbers
from policy_engine.errors import DataError, format_count

_STREAM = 1
"""A stream of random numbers of its own: rows are drawn by the seed itself."""


def split(table: pa.Table, share: float, seed: int) -> tuple[pa.Table, pa.Table]:
    """Return the rows to learn, and those held out, which are a random share of all.

    Equal rows go to one side together: they may be of one person, and whoever is on both sides
    was seen by the generator, so that attacks would find nothing. The share is met as nearly as
    distinct rows, in a random order, allow. Raises DataError (R001) where no row is left to learn,
    or none to be held out.
    """
    places = np.arange(table.num_rows)
    is_held_out = np.zeros(table.num_rows, np.bool_)
    if share:
        numbers = row_numbers(table)
        is_held_out = _drawn(np.bincount(numbers), share, seed)[numbers]
        if is_held_out.all() or not is_held_out.any():
            _refuse(table.num_rows, int(is_held_out.sum()), len(np.unique(numbers)))
    learnt, held_out = places[~is_held_out], places[is_held_out]
    return table.take(from_numpy(learnt)), table.take(from_numpy(held_out))


def _refuse(rows: int, held_out: int, distinct: int) -> None:
    message = f"Of {format_count(rows, 'row')}, {held_out:,} would be held out."
    if distinct < rows:
        message += f" Equal rows go to one side, and {distinct:,} are distinct."
    raise DataError.of("R001", message, "Attacks need rows that were learnt, and others.")


def distinct_rows(table: pa.Table) -> pa.Table:
    """Return each distinct row of a table once, in the order in which they first occur."""
    _, first = np.unique(row_numbers(table), return_index=True)
    return table.take(from_numpy(first))


def _drawn(counts: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Return which distinct rows are held out, given how many rows are equal to each."""
    order = np.random.default_rng([seed, _STREAM]).permutation(len(counts))
    sums = np.concatenate([[0], np.cumsum(counts[order])])
    number = int(np.argmin(np.abs(sums - round(share * counts.sum()))))
    is_held_out = np.zeros(len(counts), np.bool_)
    is_held_out[order[:number]] = True
    return is_held_out
