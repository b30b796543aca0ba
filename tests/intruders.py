"""An intruder who shares no code with the engine: what follows from statistics that were shown.

Each figure is a polynomial in what persons have in one or two columns. Where the gradient of one
person's value is a combination of those of the figures, only finitely many values agree with all
of them. Columns are of whole numbers, and ranks are taken modulo a prime: rounding loses nothing.
Values are bounded as well: by linear programmes of what is linear in them, and by spheres of those
whose sum of squares follows.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

PRIME = (1 << 61) - 1
TOTALS, SPREADS = ("sum", "mean"), ("var", "std", "sem")
LINEAR_IN_EITHER = ("cov", "sxy")


@dataclass(frozen=True)
class Figure:
    """A figure that was shown: its kind, which rows it is about, (rows,), and its columns: of a
    line, first the one that is regressed on."""

    kind: str
    members: np.ndarray
    columns: tuple[str, ...]


def _moved(xs, kind):
    """Return the gradient of a statistic of one column, up to a factor."""
    size, total = len(xs), sum(xs)
    rests = [size * x - total for x in xs]
    second, third, fourth = (sum(one**power for one in rests) for power in (2, 3, 4))
    if kind in TOTALS:
        return [1] * size
    if kind in SPREADS:
        return rests
    if kind == "skew":
        return [6 * second * (size * x**2 - second) - 6 * third * size * x for x in rests]
    return [4 * second * (size * x**3 - third) - 4 * fourth * size * x for x in rests]


def _moved_pair(xs, ys, kind):
    """Return the gradients of a statistic of two columns, up to a factor."""
    size, of_x, of_y = len(xs), sum(xs), sum(ys)
    dx, dy = [size * x - of_x for x in xs], [size * y - of_y for y in ys]
    both = sum(x * y for x, y in zip(dx, dy, strict=True)) // size
    vx, vy = sum(x * x for x in dx) // size, sum(y * y for y in dy) // size
    pairs = [*zip(dx, dy, strict=True)]
    if kind in LINEAR_IN_EITHER:
        return dy, dx
    if kind in ("corr", "r2"):
        return (
            [2 * vy * (vx * y - both * x) for x, y in pairs],
            [2 * vx * (vy * x - both * y) for x, y in pairs],
        )
    slopes = [vx * y - 2 * both * x for x, y in pairs]
    if kind == "slope":
        return slopes, [vx * x for x in dx]
    return [-one * of_x - both * vx for one in slopes], [vx * vx - vx * x * of_x for x in dx]


def gradient(figure, data):
    """Return the gradient of a figure modulo the prime: numbers by column and row."""
    rows = np.flatnonzero(figure.members).tolist()
    columns = [[data[name][row] for row in rows] for name in figure.columns]
    is_single = len(columns) == 1
    moved = [_moved(*columns, figure.kind)] if is_single else _moved_pair(*columns, figure.kind)
    return {
        (name, row): one % PRIME
        for name, own in zip(figure.columns, moved, strict=True)
        for row, one in zip(rows, own, strict=True)
        if one % PRIME
    }


def _less(row, factor, other):
    """Take a multiple of another row from one, modulo the prime."""
    for place, one in other.items():
        left = (row.get(place, 0) - factor * one) % PRIME
        if left:
            row[place] = left
        else:
            row.pop(place, None)


def reduced(rows):
    """Return the reduced echelon form of rows modulo the prime, by their pivots."""
    pivots = {}
    for one in rows:
        row = dict(one)
        for place in [place for place in row if place in pivots]:
            _less(row, row.get(place, 0), pivots[place])
        if not row:
            continue
        pivot = min(row)
        inverse = pow(row[pivot], -1, PRIME)
        row = {place: own * inverse % PRIME for place, own in row.items()}
        for other in pivots.values():
            _less(other, other.get(pivot, 0), row)
        pivots[pivot] = row
    return pivots


def determined(figures, data, unknown):
    """Return the values, by column and row, of which finitely many agree with all figures, where
    some columns are unknown."""
    rows = [
        {place: one for place, one in gradient(figure, data).items() if place[0] in unknown}
        for figure in figures
    ]
    return [pivot for pivot, row in reduced(rows).items() if len(row) == 1]


def _linear(figures, data, column):
    """Return what is linear in a column, all others being known: weights of rows."""
    rows = []
    for figure in figures:
        mask = figure.members.astype(float)
        if figure.kind in TOTALS and figure.columns == (column,):
            rows.append(mask)
        elif column in figure.columns and (
            figure.kind in LINEAR_IN_EITHER
            or (figure.kind == "slope" and figure.columns[1] == column)
        ):
            [other] = [name for name in figure.columns if name != column]
            known = np.array(data[other], float)
            rows.append(mask * (known - (known * mask).sum() / mask.sum()))
    weights = np.array(rows).reshape(-1, len(data[column]))
    return weights / np.maximum(np.abs(weights).max(axis=1, initial=0, keepdims=True), 1)


def _spheres(figures, column):
    """Return the populations whose sum of squares follows: (rows,) each, those by which two differ
    included."""
    kinds = {}
    for figure in figures:
        if figure.columns == (column,) and figure.kind in (*TOTALS, *SPREADS):
            key = figure.members.tobytes()
            kinds.setdefault(key, (figure.members, set()))[1].add(figure.kind in TOTALS)
    both = [members for members, are_totals in kinds.values() if len(are_totals) > 1]
    pairs = [(one, other) for one in both for other in both if not (other & ~one).any()]
    return both + [one & ~other for one, other in pairs if (one & ~other).any()]


def _annulling(matrix):
    """Return an orthonormal basis of what a matrix maps to 0, in rows."""
    _, sizes, turns = np.linalg.svd(matrix)
    return turns[int((sizes > 1e-8 * max(sizes.max(initial=0), 1)).sum()) :]


def _within(mask, weights, values):
    """Return the ends of the values of a population on a sphere, by what is linear in them."""
    alone = _annulling(weights[:, ~mask].T) @ weights[:, mask]
    free = _annulling(np.vstack([alone, np.ones(int(mask.sum()))]))
    moved = free @ values[mask]
    centre = values[mask] - free.T @ moved
    width = np.linalg.norm(moved) * np.linalg.norm(free, axis=0)
    return centre - width, centre + width


def nearly_known(figures, data, column, share):
    """Return the rows whose value, not below 0, is known within a share: row, low and high."""
    values, weights = np.array(data[column], float), _linear(figures, data, column)
    low, high = np.zeros(len(values)), np.full(len(values), np.inf)
    totals = weights @ values
    for row in np.flatnonzero(weights.any(axis=0)):
        goal = (np.arange(len(values)) == row).astype(float)
        ends = [linprog(sign * goal, A_eq=weights, b_eq=totals) for sign in (1, -1)]
        low[row] = ends[0].fun if ends[0].status == 0 else 0
        high[row] = -ends[1].fun if ends[1].status == 0 else np.inf
    for mask in _spheres(figures, column):
        least, most = _within(mask, weights, values)
        low[mask], high[mask] = np.maximum(low[mask], least), np.minimum(high[mask], most)
    is_known = (values > 0) & (high - low <= np.maximum(share * values, 1e-6))
    return [(row, low[row], high[row]) for row in np.flatnonzero(is_known).tolist()]


@dataclass(frozen=True)
class HolderFigure:
    """How many rows of some, (rows,), are of holders, or how many persons have such a row: of those
    who are none, if not `of_holders`."""

    members: np.ndarray
    is_of_persons: bool
    of_holders: bool = True


def known_holders(figures, persons, holders, *, is_whole=False):
    """Return the rows of which it follows whether they are of holders, by the person of each row:
    all else is known. Where it `is_whole`, all rows of a person are alike, as is known, too.

    Of a number of persons, each of whom counts or not, no row counts more than its person, and no
    person more than his rows.
    """
    size, equations, bounds = len(persons), [], []
    asked = [
        (one, person, np.flatnonzero(one.members & (persons == person)))
        for one in figures
        if one.is_of_persons
        for person in np.unique(persons[one.members])
    ]
    for figure in figures:
        own = [size + place for place, (one, _, _) in enumerate(asked) if one is figure]
        holding = holders if figure.of_holders else ~holders
        count = len({*persons[figure.members & holding].tolist()})
        rows = np.flatnonzero(figure.members)
        told = (own, count) if figure.is_of_persons else (rows, int(holders[rows].sum()))
        equations.append((dict.fromkeys(told[0], 1), told[1]))
    for place, (figure, _, rows) in enumerate(asked):
        sign, counted = (1, 0) if figure.of_holders else (-1, 1)
        bounds += [({row: sign, size + place: -1}, -counted) for row in rows]
        bounds.append(({size + place: 1, **dict.fromkeys(rows, -sign)}, counted * len(rows)))
    if is_whole:
        of_persons = [np.flatnonzero(persons == person) for person in np.unique(persons)]
        pairs = [pair for rows in of_persons for pair in pairwise(rows)]
        pairs += [
            (rows[0], size + place) for place, (one, _, rows) in enumerate(asked) if one.of_holders
        ]
        equations += [({one: 1, other: -1}, 0) for one, other in pairs]
    matrices = [_dense_rows(parts, size + len(asked)) for parts in (equations, bounds)]
    (left, right), (below, most) = matrices
    masks = np.array([figure.members for figure in figures]).T
    kinds = {person: sorted(map(bytes, masks[persons == person])) for person in np.unique(persons)}
    alike = {}
    for row, person in enumerate(persons):
        alike.setdefault((bytes(masks[row]), *kinds[person]), []).append(row)
    limits = {"A_ub": below, "b_ub": most} if len(most) else {}
    known = []
    for rows in alike.values():
        for end in {*holders[rows].tolist()}:
            goal = (np.arange(size + len(asked)) == rows[0]) * (1 if end else -1)
            found = linprog(goal, A_eq=left, b_eq=right, bounds=(0, 1), **limits)
            if found.status == 0 and abs(found.fun - end) < 1e-6:
                known += rows
    return sorted(known)


def _dense_rows(parts, width):
    matrix, values = np.zeros((len(parts), width)), np.array([one for _, one in parts], float)
    for place, (terms, _) in enumerate(parts):
        matrix[place, [*terms]] = [*terms.values()]
    return matrix, values


def nearly_known_by_others(populations, persons, values, share):
    """Return the persons whose total is known within a share of it, above and below, by the totals
    of values, not below 0, of some populations, (rows,) each, to another person, who knows what is
    his own: whoever of the others has most in one of these."""
    masks = np.unique(np.array(populations, float), axis=0)
    totals, scale = masks @ values, max(values.sum(), 1)
    found = []
    for person in np.unique(persons[masks.any(axis=0) & (values > 0)]).tolist():
        own = (persons == person) & masks.any(axis=0)
        largest = set()
        for mask in masks[masks[:, own].any(axis=1)]:
            others = np.bincount(persons, values * mask)
            others[person] = 0
            largest.add(int(others.argmax()))
        total = values[own].sum()
        for other in largest:
            least = np.where(persons == other, values, 0)
            most = np.where(persons == other, values, np.inf)
            limits = {"A_eq": masks / scale, "b_eq": totals / scale, "bounds": np.c_[least, most]}
            ends = [linprog(sign * own, **limits) for sign in (1, -1)]
            low, high = (one.fun if one.status == 0 else -np.inf for one in ends)
            high = -high
            if max(total - low, high - total) < share * total - 1e-6:
                found.append((person, other, low, high))
    return found
