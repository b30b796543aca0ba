"""Which rows of a table are learnt, and which are held out: equal ones are on one side."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.synthesising.equal_cells import row_numbers
from policy_engine.errors import DataError, format_count
from policy_engine.kernels.components import components

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_STREAM = 1
"""A stream of random numbers of its own: rows are drawn by the seed itself."""
MOST_LINKED = 0.1
"""The share of the persons that may be on one side together, for they share equal rows."""


class Side(NamedTuple):
    """Rows of one side of a split, and the number of each row's person, (rows,), None where
    every row counts by itself."""

    table: pa.Table
    persons: Ints | None = None


def split(
    table: pa.Table, share: float, seed: int, persons: Ints | None = None
) -> tuple[Side, Side]:
    """Return the rows to learn, and those held out, which are a random share of all.

    Equal rows go to one side together: they may be of one person, and whoever is on both sides
    was seen by the generator, so that attacks would find nothing. So do all rows of one of the
    `persons`, (rows,), where their numbers are given, and with them those of whoever has a row
    that is equal to one of them, and so on. The share is met as nearly as such groups of rows,
    in a random order, allow. Raises DataError (R001) where no row is left to learn, or none to be
    held out, or where more than a tenth of the persons would be on one side together.
    """
    is_held_out = np.zeros(table.num_rows, np.bool_)
    if share:
        numbers = row_numbers(table)
        groups = numbers if persons is None else components(persons, numbers)
        if persons is not None:
            _check_linked(persons, groups)
        is_held_out = _drawn(np.bincount(groups), share, seed)[groups]
        if is_held_out.all() or not is_held_out.any():
            _refuse(is_held_out, len(np.unique(numbers)), groups, persons)
    return _side(table, ~is_held_out, persons), _side(table, is_held_out, persons)


def _side(table: pa.Table, is_in: Bools, persons: Ints | None) -> Side:
    rows = np.flatnonzero(is_in)
    return Side(table.take(from_numpy(rows)), None if persons is None else persons[rows])


def _check_linked(persons: Ints, groups: Ints) -> None:
    """Raise DataError (R001) where a group has so many of the persons that whoever else is on its
    side or the other is of another kind: attacks would tell kinds of persons apart."""
    _, firsts = np.unique(persons, return_index=True)
    linked = int(np.bincount(groups[firsts]).max(initial=0))
    if linked > max(MOST_LINKED * len(firsts), _PAIR):
        message = f"{linked:,} of {len(firsts):,} persons are linked by rows of one that are equal "
        message += (
            f"to rows of another, and would be on one side together. At most {MOST_LINKED:.0%} "
        )
        message += "may be, for else attacks tell kinds of persons apart, and not who was learnt."
        hint = "Give a table that has one row for each person, or columns that tell more apart."
        raise DataError.of("R001", message, hint)


_PAIR = 2


def _refuse(is_held_out: Bools, distinct: int, groups: Ints, persons: Ints | None) -> None:
    rows = len(is_held_out)
    message = f"Of {format_count(rows, 'row')}, {int(is_held_out.sum()):,} would be held out."
    if persons is not None:
        message += " Rows of one person, and equal rows, go to one side, and "
        message += f"{len(np.unique(groups)):,} groups are apart."
    elif distinct < rows:
        message += f" Equal rows go to one side, and {distinct:,} are distinct."
    raise DataError.of("R001", message, "Attacks need rows that were learnt, and others.")


def _drawn(counts: Ints, share: float, seed: int) -> Bools:
    """Return which groups are held out, given how many rows each has."""
    order = np.random.default_rng([seed, _STREAM]).permutation(len(counts))
    sums = np.concatenate([[0], np.cumsum(counts[order])])
    number = int(np.argmin(np.abs(sums - round(share * counts.sum()))))
    is_held_out = np.zeros(len(counts), np.bool_)
    is_held_out[order[:number]] = True
    return is_held_out
