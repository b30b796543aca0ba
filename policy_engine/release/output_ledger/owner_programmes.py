"""What numbers of owners and of units that are some holders tell together, by linear programmes.

Owners with as many units in each atom are alike to who asks. Of so many alike owners, some units in
each atom are holders, and some owners count in a population: who has a unit there that is a holder,
or that is none. So those units are no more than what the owners who count have, and no fewer than
these. Where nobody has some units alone that are holders, owners have all theirs, or none.

Of each owner it is asked whether he may have no holder, and nothing but holders. Where one of those
like him has none in the data, he may have none as well. Of others, one of each kind is looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.components import components
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.rows_of_owners import BOTH_SIDES, SidesAsked
from policy_engine.release.output_ledger.told_programmes import Programme, ToldEquations

MOST_TERMS = 200_000
"""How many terms the equations of a programme may have."""
MOST_OF_A_KIND = 50_000
"""How many they may have where only units, or one kind of owners, are counted: more is not looked
at."""
_AT_ONCE = 200
"""Of how many owners it is asked at once."""
_TWO = 2

_Counts = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Masks = NDArray[np.bool_]


class ChosenOwners(NamedTuple):
    """A population of which it is told how many owners have a unit that is a holder, or is none,
    and its atoms."""

    number: int
    of_holders: bool
    atoms: _Masks


@dataclass(frozen=True, eq=False)
class OwnerSums:
    """Numbers of units and of owners that are told of some holders.

    A pair is an owner and an atom, with the `sizes` and the `held` ones of the units there. It is
    told how many units of populations are holders, `row_numbers`, with the atoms in `rows`,
    (populations, atoms), and how many owners count in those of the `chosen`. Where it `is_whole`,
    all units of an owner are holders, or none is. What may not be told of an owner are the `sides`.
    """

    owners: _Counts
    atoms: _Counts
    sizes: _Counts
    held: _Counts
    row_numbers: tuple[int, ...]
    rows: _Masks
    chosen: tuple[ChosenOwners, ...]
    is_whole: bool
    sides: SidesAsked = BOTH_SIDES

    @property
    def numbers(self) -> tuple[tuple[int, ...], tuple[tuple[int, bool], ...]]:
        """The populations of units, and those of owners."""
        return self.row_numbers, tuple((one.number, one.of_holders) for one in self.chosen)

    @property
    def is_mixed(self) -> bool:
        """Whether numbers of several kinds are told: of units, of owners who have a holder, or of
        those who have another unit."""
        kinds = {one.of_holders for one in self.chosen}
        return len(kinds) + bool(self.row_numbers) >= _TWO

    @property
    def owner_numbers(self) -> _Counts:
        """The owners."""
        return np.unique(self.owners)

    def parts(self) -> Iterator["OwnerSums"]:
        """Yield the parts that have no atom in common, of which several numbers are told."""
        whole = np.vstack([self.rows, *(one.atoms for one in self.chosen)])
        places, atoms = np.nonzero(whole)
        parts, count = components(places, atoms), len(self.row_numbers)
        for part in range(int(parts.max(initial=-1)) + 1):
            own = np.unique(places[parts == part])
            if len(own) < _TWO:
                continue
            is_in = np.zeros(whole.shape[1], np.bool_)
            is_in[atoms[parts == part]] = True
            is_pair, rows = is_in[self.atoms], own[own < count]
            yield replace(
                self,
                owners=self.owners[is_pair],
                atoms=self.atoms[is_pair],
                sizes=self.sizes[is_pair],
                held=self.held[is_pair],
                row_numbers=tuple(self.row_numbers[one] for one in rows.tolist()),
                rows=self.rows[rows],
                chosen=tuple(self.chosen[one - count] for one in own[own >= count].tolist()),
            )


def told_together(sums: OwnerSums, is_old: tuple[_Masks, _Masks], limit: TimeLimit) -> bool:
    """Return whether all numbers tell of some owners that they count, or do not, or of units that
    all are holders, or none is, or that an owner has a holder, or another unit; not where the old
    ones, of units and of owners, tell it already.

    It counts as told where that is too large to find out, but not of numbers of one kind.
    Raises OutOfTimeError where time ends.
    """
    kinds = _Kinds.of(sums)
    programme = kinds.programme()
    if programme is None:
        return sums.is_mixed
    if not (sums.chosen or sums.is_whole):  # Then it is told of units by themselves, or not at all.
        return _are_some_told(kinds, programme, is_old, limit)
    every = np.ones_like(is_old[0]), np.ones_like(is_old[1])
    ends = programme.fixed(every, programme.is_asked, limit)
    earlier = None if ends is None else programme.fixed(is_old, ends, limit)
    if ends is None or earlier is None or (ends & ~earlier).any():
        return True
    return _are_some_told(kinds, programme, is_old, limit)


def _are_some_told(
    kinds: "_Kinds", programme: Programme, is_old: tuple[_Masks, _Masks], limit: TimeLimit
) -> bool:
    """Return whether all numbers tell of an owner that he has a holder, or another unit, where the
    old ones do not."""
    every = np.ones_like(is_old[0]), np.ones_like(is_old[1])
    for is_asked, of_rest in zip(kinds.sums.sides, (False, True), strict=True):
        is_some = kinds.without_witness(programme.is_open, of_rest=of_rest)
        if kinds.sums.is_whole or not is_asked or not is_some.any():
            continue
        apart = _Kinds.of(kinds.sums, kinds.firsts[is_some])
        whole = apart.programme()
        if whole is None:
            return kinds.sums.is_mixed
        for first in range(0, int(is_some.sum()), _AT_ONCE):
            targets = apart.apart(whole.is_open, slice(first, first + _AT_ONCE))
            is_told = whole.never_nothing(every, targets, limit, of_rest=of_rest)
            if is_told is None:
                return True
            if is_told.any():
                earlier = whole.never_nothing(is_old, targets[is_told], limit, of_rest=of_rest)
                if earlier is None or not earlier.all():
                    return True
    return False


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Alike owners, kind by kind: which `kind` and `atom` each cell is of, (cells,), how many of
    its units are `held`, of the `whole`, and how many owners each kind has: (kinds,). Each pair is
    in one of the `cells`. The `firsts` are owners of each kind, and those set `apart` are of kinds
    of their own: (kinds apart,)."""

    sums: OwnerSums
    owners: _Counts
    kinds: _Counts
    kind: _Counts
    atom: _Counts
    held: _Floats
    whole: _Floats
    alike: _Floats
    cells: _Counts
    firsts: _Counts
    kinds_apart: _Counts

    @classmethod
    def of(cls, sums: OwnerSums, apart: _Counts | None = None) -> "_Kinds":
        """Return the kinds of owners: no two of a kind differ in an atom. Some owners may be set
        apart, by their numbers from 0 on."""
        _, owners = np.unique(sums.owners, return_inverse=True)
        width = sums.rows.shape[1]
        words = np.random.default_rng().integers(1, 2**63, width, np.uint64)
        names = np.zeros(int(owners.max(initial=-1)) + 1, np.uint64)
        np.add.at(names, owners, words[sums.atoms] * sums.sizes.astype(np.uint64))
        own = np.zeros(0, np.int64) if apart is None else apart
        names[own] += np.random.default_rng().integers(1, 2**63, len(own), np.uint64)
        _, firsts, places = np.unique(names, return_index=True, return_inverse=True)
        kinds = places[owners]
        alike = np.bincount(places).astype(np.float64)
        cells, which = np.unique(kinds * width + sums.atoms, return_inverse=True)
        held, whole = (
            np.bincount(which, one.astype(np.float64), minlength=len(cells)).astype(np.float64)
            for one in (sums.held, sums.sizes)
        )
        more = which, firsts, places[own]
        return cls(sums, owners, kinds, *np.divmod(cells, width), held, whole, alike, *more)

    def without_witness(self, is_open: _Masks, *, of_rest: bool) -> _Masks:
        """Return the kinds none of whose owners has no holder or, `of_rest`, nothing but holders,
        among the cells that are open: (kinds,)."""
        sums, own = self.sums, is_open[: len(self.kind)][self.cells]
        units = (sums.sizes - sums.held if of_rest else sums.held) * own
        if not sums.chosen:  # Others in the atom may have his instead, as far as they have units.
            units = np.where(self._others_have(sums.sizes, of_rest=of_rest), 0, units)
        some = np.bincount(self.owners, units, minlength=int(self.owners.max()) + 1) > 0
        places = np.empty(len(some), np.int64)
        places[self.owners] = self.kinds
        return np.asarray(np.bincount(places, ~some, minlength=len(self.alike)) == 0)

    def _others_have(self, sizes: _Counts, *, of_rest: bool) -> _Masks:
        """Return of which pairs the atom has as many holders, or others, as the owner has units."""
        sums, held = self.sums, self.sums.held
        own = np.bincount(sums.atoms, held if of_rest else sizes - held)
        return np.asarray(own[sums.atoms] >= sizes, np.bool_)

    def apart(self, is_open: _Masks, some: slice) -> _Masks:
        """Return which numbers of a programme are open ones of each of some owners set apart."""
        kinds, cells = self.kinds_apart[some], len(self.kind)
        targets = np.zeros((len(kinds), len(is_open)), np.bool_)
        targets[:, :cells] = self.kind == kinds[:, None]
        return targets & is_open

    def counting(self, one: ChosenOwners) -> _Floats:
        """Return how many owners of each kind count in a population: (kinds,)."""
        sums = self.sums
        units = sums.held if one.of_holders else sums.sizes - sums.held
        own = one.atoms[sums.atoms] & (units > 0)
        _, first = np.unique(self.owners[own], return_index=True)
        return np.bincount(self.kinds[own][first], minlength=len(self.alike)).astype(np.float64)

    def programme(self) -> Programme | None:
        """Return the equations, None where there are too many."""
        lines = ToldEquations(MOST_TERMS if self.sums.is_mixed else MOST_OF_A_KIND)
        units = lines.numbers(self.held, self.whole)
        for place, row in enumerate(self.sums.rows):
            lines.add_told(units[row[self.atom]], of_rows=place)
        counts = _SharedCounts({})
        for place, one in enumerate(self.sums.chosen):
            self._add_owners(lines, place, one, units, counts)
            if lines.is_too_large:
                return None
        counts.add_parts(lines)
        if self.sums.is_whole:
            self._add_shares(lines, units)
        return None if lines.is_too_large else lines.programme()

    def _add_owners(
        self,
        lines: "ToldEquations",
        place: int,
        one: ChosenOwners,
        units: _Counts,
        shared: "_SharedCounts",
    ) -> None:
        """Add how many owners count in a population, and what that says of their units. Those who
        have the same units in another one are the same there."""
        is_in = one.atoms[self.atom]
        meeting, which = np.unique(self.kind[is_in], return_inverse=True)
        values = self.counting(one)
        own = units[is_in]
        counts = np.zeros(len(meeting), np.int64)
        for number, kind in enumerate(meeting.tolist()):
            some = own[which == number]
            key = kind, one.of_holders, frozenset(some.tolist())
            is_new = key not in shared.places
            if is_new:
                number_of = lines.numbers(values[[kind]], self.alike[[kind]])
                shared.places[key] = int(number_of[0])
            counts[number] = shared.places[key]
            if is_new:
                self._add_bounds(lines, some, int(counts[number]), of_holders=one.of_holders)
        lines.add_told(counts, of_chosen=place)
        if not values.any():  # Then it is known of all units.
            lines.leave(own)

    def _add_bounds(
        self, lines: "ToldEquations", units: _Counts, owner: int, *, of_holders: bool
    ) -> None:
        """Add that, of an owner who counts, all units count at most, and one does at least: these
        are the cells of a kind by their numbers."""
        sign, whole = (1.0 if of_holders else -1.0), self.whole[units]
        others = whole * (not of_holders)
        each = whole / self.alike[self.kind[units]]
        for unit, size, least in zip(units.tolist(), each, others, strict=True):
            lines.add_at_least([(owner, size), (unit, -sign)], least, is_equal=self.sums.is_whole)
        terms = [(owner, -1.0), *((unit, sign) for unit in units.tolist())]
        lines.add_at_least(terms, -float(others.sum()))

    def _add_shares(self, lines: "ToldEquations", units: _Counts) -> None:
        """Add that owners have all of their units in each atom, or none."""
        each, order = self.whole / self.alike[self.kind], np.argsort(self.kind, kind="stable")
        for one, other in pairwise(order.tolist()):
            if self.kind[one] == self.kind[other]:
                lines.add([(units[one], each[other]), (units[other], -each[one])])


@dataclass(frozen=True, eq=False)
class _SharedCounts:
    """The numbers of owners who count in populations: by kind, by whether they have a holder or
    another unit, and by their cells in the population."""

    places: dict[tuple[int, bool, frozenset[int]], int]

    def add_parts(self, lines: "ToldEquations") -> None:
        """Add that who counts by some of his cells counts by more of them, too."""
        by_kind: dict[tuple[int, bool], list[tuple[frozenset[int], int]]] = {}
        for (kind, of_holders, cells), place in self.places.items():
            by_kind.setdefault((kind, of_holders), []).append((cells, place))
        for own in by_kind.values():
            for (some, one), (more, other) in permutations(own, 2):
                if some < more and not lines.is_too_large:
                    lines.add_at_least([(other, 1.0), (one, -1.0)], 0.0)
