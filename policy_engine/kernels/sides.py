"""What the boundaries of a dimension leave on both sides, counted where the rows lie."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.constraint import (
    COLUMN,
    HOLDERS,
    KINDS,
    MOST,
    OFFSET,
    TOTAL,
    UNITS,
    forget,
    is_diverse,
)
from policy_engine.kernels.layout import CodedTable

Ints = NDArray[np.int64]


class Sides(NamedTuple):
    """How many persons come in each turn, and with which sensitive values.

    From the left a person comes in the first of his turns, from the right in the last. `units`
    (2, turns) counts them from either side, `holders` (2, watched columns, turns) those with a
    value, each in the turn of the first of them. `keys` (n,) and `times` (n,) count distinct
    pairs of a person and a value: a key is ((side * columns + column) * turns + turn) * width
    + value.
    """

    units: Ints
    holders: Ints
    keys: Ints
    times: Ints

    @property
    def units_left(self) -> Ints:
        """How many persons there are up to each turn, (turns,)."""
        return np.cumsum(self.units[0])

    @property
    def units_right(self) -> Ints:
        """How many persons there are from each turn on, (turns,)."""
        return np.cumsum(self.units[1][::-1])[::-1]


def width(table: CodedTable) -> int:
    """Return more than the greatest code of a watched column."""
    return int(np.diff(table.watched.facts[:, OFFSET]).max(initial=0)) + 1


def sides(
    table: CodedTable, turn: Ints, turns: int, sensitive: NDArray[np.int32], persons: Ints | None
) -> Sides:
    """Count rows that come in a turn each, (rows,); `sensitive` (rows, columns) are their codes.

    `persons` (rows,) numbers the persons, none of whom has rows elsewhere; without it, every row
    is a person of its own.
    """
    watched = table.watched.facts[:-1, COLUMN].tolist()
    units, holders = np.zeros((2, turns), np.int64), np.zeros((2, len(watched), turns), np.int64)
    keys = []
    for side in range(2):
        units[side] = np.bincount(turn[_once(persons, turn, side)], minlength=turns)
        for place, column in enumerate(watched):
            here = np.flatnonzero(sensitive[:, column] >= 0)
            codes, at = sensitive[here, column].astype(np.int64), turn[here]
            who = None if persons is None else persons[here]
            holders[side, place] = np.bincount(at[_once(who, at, side)], minlength=turns)
            pairs = None if who is None else who * width(table) + codes
            kept = _once(pairs, at, side)
            base = (side * len(watched) + place) * turns
            keys.append((base + at[kept]) * width(table) + codes[kept])
    found, times = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    return Sides(units, holders, found, times.astype(np.int64))


def _once(persons: Ints | None, turn: Ints, side: int) -> Ints:
    """Return the row in which every person comes first, from the left (side 0) or the right."""
    if persons is None:
        return np.arange(len(turn))
    order = np.lexsort((turn if side == 0 else -turn, persons))
    ordered = persons[order]
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    return np.asarray(order[first])


def joined(parts: list[Sides]) -> Sides:
    """Return the counts of a node, given those of its parts."""
    keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    times = np.zeros(len(keys), dtype=np.int64)
    np.add.at(times, place, np.concatenate([part.times for part in parts]))
    units = np.sum([part.units for part in parts], axis=0)
    holders = np.sum([part.holders for part in parts], axis=0)
    return Sides(units, holders, keys, times)


def fits(table: CodedTable, found: Sides) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell whether all up to each turn, and all from each turn on, are enough and diverse."""
    turns, columns = found.units.shape[1], found.holders.shape[1]
    verdicts = np.zeros((2, turns), dtype=np.bool_)
    turn_of, values = np.divmod(found.keys, width(table))
    place_of, turn_of = np.divmod(turn_of, turns)
    for side in range(2):
        here = place_of // max(columns, 1) == side
        place, turn = place_of[here] % max(columns, 1), turn_of[here]
        turn = turn if side == 0 else turns - 1 - turn
        order = np.argsort(turn, kind="stable")
        step = 1 if side == 0 else -1
        _fits(
            *(table.watched, table.tally, table.size),
            *(found.units[side, ::step].copy(), found.holders[side, :, ::step].copy()),
            *(turn[order], place[order], values[here][order], found.times[here][order]),
            verdicts[side],
        )
    return verdicts[0], verdicts[1][::-1]


@compiled
def _fits(watched, tally, size, units, holders, turn, place, value, times, verdicts):  # type: ignore[no-untyped-def]
    """Set for every turn whether all that came by then are enough and diverse."""
    forget(watched, tally)
    state, columns, at = tally.state, len(watched.bounds), 0
    for now in range(len(verdicts)):
        state[columns, UNITS] += units[now]
        for column in range(columns):
            state[column, HOLDERS] += holders[column, now]
        while at < len(turn) and turn[at] == now:
            column = place[at]
            one = watched.facts[column, OFFSET] + value[at]
            if tally.counts[one] == 0:
                tally.touched[column, state[column, KINDS]] = value[at]
                state[column, KINDS] += 1
            tally.counts[one] += times[at]
            state[column, TOTAL] += times[at]
            state[column, MOST] = max(state[column, MOST], tally.counts[one])
            at += 1
        verdicts[now] = state[columns, UNITS] >= size and is_diverse(watched, tally)
    forget(watched, tally)
