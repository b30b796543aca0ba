"""Probabilistic record linkage (Fellegi and Sunter, 1969): by the columns in which pairs agree."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.fellegi_sunter import (
    MOST_COLUMNS,
    greatest_weights,
    probabilistic_links,
)
from policy_engine.kernels.searching import Search, search_here

Ints = NDArray[np.int64]
BINS = 10
"""Numbers agree in the same of so many bins, each with about as many known values."""


def probabilistic_linkage(
    files: TwoFiles, search: Search = search_here
) -> NDArray[np.float64] | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    Numbers agree where they are in the same of 10 bins of equal frequency, categories where they
    are equal; a cell of several values agrees with none. `search` says where records are looked
    for.
    """
    if len(files.columns) > MOST_COLUMNS:
        return NotApplicable(reason=f"it compares {MOST_COLUMNS} columns at most")
    return probabilistic_links(*_compared(files), files.own, search)[0]


def probabilistic_taken(files: TwoFiles, persons: Ints) -> NDArray[np.float64]:
    """Return minus the weight of the record that is taken for some persons, (persons,)."""
    known, released = _compared(files)
    _, agreement = probabilistic_links(known, released, files.own)
    return -greatest_weights(known[persons], released, agreement)


def _compared(files: TwoFiles) -> tuple[Ints, Ints]:
    known, released = zip(*map(_codes, files.columns), strict=True)
    return np.column_stack(known), np.column_stack(released)


def _codes(column: KnownColumn) -> tuple[Ints, Ints]:
    if not column.is_number:
        return column.before.astype(np.int64), column.released_codes()
    known, (released, _) = column.known_numbers(), column.released_numbers()
    present = known[column.present]
    present = present[~np.isnan(present)]
    ends = np.quantile(present, np.arange(1, BINS) / BINS) if len(present) else np.zeros(0)
    return _bin(known, ends), _bin(released, ends)


def _bin(values: NDArray[np.float64], ends: NDArray[np.float64]) -> Ints:
    places = np.searchsorted(np.unique(ends), values, side="right")
    return np.where(np.isnan(values), -1, places).astype(np.int64)
