"""What a reader of tables knows of the worlds that are possible: sums over combinations of keys."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.filled_keys import MOST_FILLED
from policy_engine.audits.outputs.model import Counts
from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.kernels.output_checks.growing_programmes import UndecidedError
from policy_engine.kernels.output_checks.table_system import Equations
from policy_engine.kernels.output_checks.world_sums import WorldSums
from policy_engine.release.count_readings import CellGoal, CountReading, RestGoals
from policy_engine.release.key_combinations import CellLayer, KeyCombinations

Cell = tuple[int, int]
"""A row and a measure of a table."""
_THOUSAND = 1000


@dataclass(frozen=True, eq=False)
class ShownWorld:
    """The sums that tables show, and what is to stay unknown: of each secret, one of its goals must
    be possible, each that of one of the `targets`, by its number. Of one table, the own one, the
    `places` are the sums that are its cells, and `own_sums` all that are known by it."""

    sums: WorldSums
    targets: Equations
    secrets: tuple[tuple[tuple[int, CellGoal], ...], ...]
    places: dict[int, Cell]
    own_sums: NDArray[np.int64]


def shown_world(
    readings: Sequence[CountReading],
    grid: KeyCombinations,
    is_used: NDArray[np.bool_],
    own: Tabulation,
) -> ShownWorld:
    """Return what is known of the combinations that a reader holds possible, those that are in the
    same cells taken together. Raises UndecidedError where the combinations are too few."""
    collected = _Collection(own, grid.is_usual[is_used], grid.is_whole)
    for layer in grid.layers:
        absent = np.unique(layer.cells[grid.is_possible & (layer.cells >= layer.first_absent)])
        collected.add_layer(readings[layer.reading], layer, is_used, absent)
    for number, one in enumerate(readings):
        # Who sees nothing of a table does not know how many rows it was to be of, but for all.
        is_seen = one.table.verdict.released.any() or bool(grid.is_in[number].all())
        if one.are_counts and is_seen:
            cells = np.where(grid.is_in[number, is_used], 0, -1)
            total = _Sum(float(one.total), float(one.total), one.table.made is own)
            collected.parts.append(_Part(cells, {0: total}))
    return collected.built(are_counts=all(one.are_counts for one in readings))


@dataclass(frozen=True)
class _Sum:
    """Between what a sum is known to be, whether by the own table, and of which cell of it."""

    lower: float
    upper: float
    is_own: bool
    place: Cell | None = None


@dataclass(eq=False)
class _Part:
    """Cells, by the number that each combination has, (combinations,), -1 for none: which of them
    are known, and which others are `meant`."""

    cells: Counts
    sums: dict[int, _Sum]
    meant: set[int] = field(default_factory=set)

    @property
    def numbers(self) -> Counts:
        """The cells that matter."""
        return np.array(sorted({*self.sums, *self.meant}), np.int64)

    def combinations(self, number: int) -> Counts:
        """Return the combinations that are in a cell."""
        return np.flatnonzero(self.cells == number)


_Terms = tuple[tuple[int, int, int], ...]
"""The cells that something is a sum of: the part of each, its number there, and a factor."""


@dataclass(eq=False)
class _Collection:
    """Parts, and the secrets among their cells, as they are collected; combinations that rows have
    are the usual ones."""

    own: Tabulation
    is_usual: NDArray[np.bool_]
    is_whole: bool
    parts: list[_Part] = field(default_factory=list)
    secrets: list[list[tuple[_Terms, CellGoal]]] = field(default_factory=list)

    def add_layer(
        self, one: CountReading, layer: CellLayer, is_used: NDArray[np.bool_], absent: Counts
    ) -> None:
        """Add what a table tells by one set of its keys. Of cells that it does not list, those that
        are `absent` are not excluded by hierarchies.

        Raises UndecidedError where the combinations are too few to tell.
        """
        cells, is_own, place = layer.cells[is_used], one.table.made is self.own, len(self.parts)
        is_told = one.most_absent(layer.number) == 0
        if is_told:
            # Of what a table does not list, all together is none.
            cells = np.minimum(cells, layer.first_absent)
        there = np.unique(cells[cells >= 0])
        goals = np.array([*one.goals], np.int64)
        if self.is_short_of(layer.cells, goals[one.table.made.sets[goals] == layer.number]):
            raise UndecidedError
        part = _Part(cells, {})
        self.parts.append(part)
        for row in there[there < layer.first_absent].tolist():
            if one.shown[row]:
                figure = float(one.figures[row])
                part.sums[row] = _Sum(figure, figure, is_own, (row, one.number))
            elif row in one.goals:
                part.meant.add(row)
                self.secrets.append([(((place, row, 1),), goal) for goal in one.goals[row]])
        if is_told and layer.first_absent in there:
            part.sums[layer.first_absent] = _Sum(0.0, 0.0, is_own)
        elif not is_told and one.are_zeros_secret and len(absent) <= MOST_FILLED:
            part.meant |= {*np.intersect1d(absent, there).tolist()}
            zeros = sorted(row for row in part.meant if row >= layer.first_absent)
            self.secrets += [[(((place, row, 1),), CellGoal(0.0, 1.0))] for row in zeros]
        for key in one.rests.keys() & layer.lines.keys():
            self._add_rests(place, layer, key, one.rests[key], is_used)

    def is_short_of(self, cells: Counts, wanted: Counts) -> bool:
        """Return whether some cells have no combination because not all were chosen."""
        return not self.is_whole and not bool(np.isin(wanted, cells).all())

    def _add_rests(
        self,
        place: int,
        layer: CellLayer,
        key: int,
        rests: dict[int, RestGoals],
        is_used: NDArray[np.bool_],
    ) -> None:
        """Add the rests of lines of which a cell has nearly all."""
        cells, lines = self.parts[place].cells, layer.lines[key][is_used]
        is_most = np.isin(layer.cells, [*rests])
        if self.is_short_of(layer.lines[key][~is_most], layer.lines[key][is_most]):
            raise UndecidedError
        is_largest = np.isin(cells, [*rests])
        others = np.where(is_largest, -1, lines)
        pairs = {*zip(lines[is_largest].tolist(), cells[is_largest].tolist(), strict=True)}
        kept = [(line, row) for line, row in sorted(pairs) if (others == line).any()]
        self.parts.append(_Part(others, {}, {line for line, _ in kept}))
        for line, row in kept:
            rest, goal = (len(self.parts) - 1, line, 1), rests[row]
            share = (*rest[:2], goal.thousandths), (place, row, goal.thousandths - _THOUSAND)
            # More than 0: a cell that is withheld for itself is not of nobody.
            secret: list[tuple[_Terms, CellGoal]] = [(share, CellGoal(np.inf, 1.0))]
            if goal.enough:
                secret.append(((rest,), CellGoal(np.inf, float(goal.enough))))
            self.secrets.append(secret)

    def built(self, *, are_counts: bool) -> ShownWorld:
        """Return what was collected, over combinations of which no two are in the same cells."""
        self._merge()
        kinds = len(self.parts[0].cells)
        lines = [(((n, row, 1),), one) for n, part in enumerate(self.parts)
                 for row, one in part.sums.items()]  # fmt: skip
        sums = [one for _, one in lines]
        targets = [terms for secret in self.secrets for terms, _ in secret]
        numbers = iter(range(len(targets)))
        return ShownWorld(
            WorldSums(
                self._equations([terms for terms, _ in lines]),
                kinds,
                np.array([one.lower for one in sums], np.float64),
                np.array([one.upper for one in sums], np.float64),
                are_counts,
                self.is_usual,
            ),
            self._equations(targets),
            tuple(tuple((next(numbers), goal) for _, goal in secret) for secret in self.secrets),
            {n: one.place for n, one in enumerate(sums) if one.is_own and one.place is not None},
            np.array([n for n, one in enumerate(sums) if one.is_own], np.int64),
        )

    def _merge(self) -> None:
        random = np.random.default_rng(0)
        names = np.zeros(len(self.parts[0].cells), np.uint64)
        for part in self.parts:
            words = np.zeros(int(part.cells.max(initial=-1)) + 2, np.uint64)
            words[part.numbers] = random.integers(1, 2**64, len(part.numbers), np.uint64)
            names += words[part.cells]
        _, kept, of_each = np.unique(names, return_index=True, return_inverse=True)
        self.is_usual = np.bincount(of_each.ravel(), self.is_usual, len(kept)) > 0
        for part in self.parts:
            part.cells = part.cells[kept]

    def _equations(self, lines: Sequence[_Terms]) -> Equations:
        """Return sums over combinations."""
        none = np.zeros(0, np.int64)
        starts, columns, factors = [0], [none], [none]
        for terms in lines:
            own = [self.parts[place].combinations(number) for place, number, _ in terms]
            columns += own
            factors += [np.full(len(some), terms[n][2], np.int64) for n, some in enumerate(own)]
            starts.append(starts[-1] + sum(map(len, own)))
        return Equations(
            np.array(starts, np.int64), np.concatenate(columns), np.concatenate(factors)
        )
