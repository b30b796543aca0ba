"""How many persons, and with which values, the boundaries of a dimension have on both sides.

Counted on parts of the rows and merged, for nodes whose rows are on several machines.
"""

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


class SideCounts(NamedTuple):
    """How many persons come in each turn, and with which sensitive values.

    From the left a person counts in the first of their turns, from the right in the last. `units`
    (2, turns) counts them from either side, `holders` (2, watched columns, turns) those who have
    a value, in the turn in which they first have one. `keys` (n,) and `times` (n,) count distinct
    pairs of a person and a value: a key is ((side * columns + column) * turns + turn) * width +
    value.
    """

    # Who is counted in one turn only can be summed up over the turns, and over parts of the rows:
    # sets of persons would have to travel otherwise.

    units: Ints
    holders: Ints
    keys: Ints
    times: Ints

    @property
    def units_left(self) -> Ints:
        """How many persons come up to each turn, (turns,)."""
        return np.cumsum(self.units[0])

    @property
    def units_right(self) -> Ints:
        """How many persons come from each turn on, (turns,)."""
        return np.cumsum(self.units[1][::-1])[::-1]


def value_width(table: CodedTable) -> int:
    """Return a number greater than every code of the watched columns."""
    return int(np.diff(table.watched.facts[:, OFFSET]).max(initial=0)) + 1


def count_sides(
    table: CodedTable, turn: Ints, turns: int, sensitive: NDArray[np.int32], persons: Ints | None
) -> SideCounts:
    """Return the counts of rows, each of which comes in a `turn`, (rows,).

    `sensitive` (rows, columns) holds their codes; `persons` (rows,) numbers the persons, none of
    whom has rows in another part; without it, every row is a person of its own.
    """
    watched = table.watched.facts[:-1, COLUMN].tolist()
    units, holders = np.zeros((2, turns), np.int64), np.zeros((2, len(watched), turns), np.int64)
    keys = []
    for side in range(2):
        units[side] = np.bincount(turn[_first_rows(persons, turn, side)], minlength=turns)
        for place, column in enumerate(watched):
            here = np.flatnonzero(sensitive[:, column] >= 0)
            codes, at = sensitive[here, column].astype(np.int64), turn[here]
            who = None if persons is None else persons[here]
            holders[side, place] = np.bincount(at[_first_rows(who, at, side)], minlength=turns)
            pairs = None if who is None else who * value_width(table) + codes
            first = _first_rows(pairs, at, side)
            base = (side * len(watched) + place) * turns
            keys.append((base + at[first]) * value_width(table) + codes[first])
    distinct, times = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    return SideCounts(units, holders, distinct, times.astype(np.int64))


def _first_rows(persons: Ints | None, turn: Ints, side: int) -> Ints:
    """Return the row with which each person comes first, from the left (side 0) or the right."""
    if persons is None:
        return np.arange(len(turn))
    order = np.lexsort((turn if side == 0 else -turn, persons))
    ordered = persons[order]
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    return np.asarray(order[first])


def merge(parts: list[SideCounts]) -> SideCounts:
    """Return the counts of a node, given those of its parts."""
    keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    times = np.zeros(len(keys), dtype=np.int64)
    np.add.at(times, place, np.concatenate([part.times for part in parts]))
    units = np.sum([part.units for part in parts], axis=0)
    holders = np.sum([part.holders for part in parts], axis=0)
    return SideCounts(units, holders, keys, times)


def valid_sides(
    table: CodedTable, counts: SideCounts
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether all up to each turn, and all from each turn on, are enough and diverse."""
    # In one sweep from each side: the rows only grow, so that the tally of a turn is that of the
    # turn before and its own.
    turns, columns = counts.units.shape[1], counts.holders.shape[1]
    verdicts = np.zeros((2, turns), dtype=np.bool_)
    turn_of, values = np.divmod(counts.keys, value_width(table))
    place_of, turn_of = np.divmod(turn_of, turns)
    for side in range(2):
        here = place_of // max(columns, 1) == side
        place, turn = place_of[here] % max(columns, 1), turn_of[here]
        turn = turn if side == 0 else turns - 1 - turn
        order = np.argsort(turn, kind="stable")
        step = 1 if side == 0 else -1
        _set_verdicts(
            *(table.watched, table.tally, table.size),
            *(counts.units[side, ::step].copy(), counts.holders[side, :, ::step].copy()),
            *(turn[order], place[order], values[here][order], counts.times[here][order]),
            verdicts[side],
        )
    return verdicts[0], verdicts[1][::-1]


@compiled
def _set_verdicts(watched, tally, size, units, holders, turn, place, value, times, verdicts):  # type: ignore[no-untyped-def]
    """Set for every turn whether all that came up to it are enough and diverse."""
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
