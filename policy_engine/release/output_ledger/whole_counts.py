"""What is known of counts because they are whole numbers, and not negative."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import (
    CountDirections,
    count_directions,
    linked_directions,
)
from policy_engine.kernels.output_checks.released_span import echelon, random_prime
from policy_engine.kernels.output_checks.sparse_span import WholeForm
from policy_engine.release.output_ledger.answers import ToldFigures, ToldKind, are_counts
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.linear_systems import LinearSystem
from policy_engine.release.output_ledger.small_combinations import SmallCombinations
from policy_engine.release.output_ledger.spans import cells_of
from policy_engine.release.output_ledger.told_figures import system_figures

TOO_NARROW = "K045"

_DRAWN_FORMS, _NOISE = 24, 0.7
"""In how many forms, drawn with how much noise, directions are looked for."""


def whole_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield a fault if counts are known because they are whole numbers and not negative."""
    is_small = system.owners.are_small
    if not is_small.any() and not system.targets.count:
        return
    prime = random_prime()
    is_whole = _known_as_whole(system, prime, trial.limit)
    if not is_whole.any():
        return
    for place in np.flatnonzero(is_small & is_whole).tolist():
        covering = system.rows.members[slice(*system.rows.starts[place : place + 2])]
        fresh = covering[system.is_fresh[covering]]
        is_used, is_about = _chosen(system.rows.count, covering), _chosen(len(is_whole), place)
        figures = partial(_figures, trial, system, is_used, is_about, "combination")
        yield Fault(TOO_NARROW, cells_of(trial, system, system.numbers[fresh].tolist()), figures)
    # What is known of an atom by itself matters to no combination, as any multiple can be added.
    columns = system.order[~is_whole[system.order]]
    trial.limit.check()
    form = WholeForm.of_rows(system.rows, columns, prime)
    is_told = form.spans(system.targets, columns)
    if is_told.any():
        target = system.targets.chosen(_chosen(len(is_told), int(np.argmax(is_told))))
        is_used = form.factors(target.dense())[:, 0] != 0
        figures = partial(_figures, trial, system, is_used, target.covered, "withheld")
        yield Fault(TOO_NARROW, cells_of(trial, system, system.fresh_numbers), figures)
    trial.limit.check()
    small = SmallCombinations.of_system(system, prime, is_whole, limit=trial.limit)
    for combination in small.told(is_known_free=False):
        figures = partial(small.figures_of, combination, trial.after)
        yield Fault(TOO_NARROW, cells_of(trial, system, combination.numbers), figures)


def _chosen(count: int, places: int | NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of so many are at some places."""
    is_chosen = np.zeros(count, np.bool_)
    is_chosen[places] = True
    return is_chosen


def _figures(
    trial: Trial,
    system: LinearSystem,
    is_used: NDArray[np.bool_],
    is_about: NDArray[np.bool_],
    kind: ToldKind,
) -> ToldFigures:
    """Return how many units some atoms have, as is known in whole numbers by some rows."""
    units = float(system.weights[is_about].sum())
    ends = (units, units) if are_counts(system.name) else (None, None)
    return system_figures(trial.after, system, is_used, is_about, kind, ends)


def _known_as_whole(system: LinearSystem, prime: int, limit: TimeLimit) -> NDArray[np.bool_]:
    """Return of which atoms it might be known how many units they have, (atoms,), because these
    are whole numbers that are not negative.

    Where no direction of one form leads anywhere, those of another one may, which has such atoms as
    pivots, or of one with pivots near to one of them: then only what all of them leave as it is may
    be known.
    """
    order = _by_likeness(system)
    first = _Ways.of_order(system, order, prime)
    is_whole = np.zeros(len(system.weights), np.bool_)
    is_whole[first.free] = ~first.linked(system)
    for others in (order, system.order):
        if not is_whole.any():
            break
        limit.check()
        own = np.flatnonzero(is_whole)
        more = np.concatenate([own, others[~is_whole[others]]])
        ways = [_Ways.of_order(system, one, prime).changes_of(own) for one in (more, others)]
        is_whole[own] = _fixed_by(np.vstack(ways), prime)
    own = np.flatnonzero(is_whole)
    if len(own):
        is_whole[own] = _fixed_nearby(system, own, prime, limit)
    return is_whole


def _fixed_nearby(
    system: LinearSystem, own: NDArray[np.int64], prime: int, limit: TimeLimit
) -> NDArray[np.bool_]:
    """Return which of some atoms, (own,), combinations are of that no directions change of forms
    drawn at random with pivots near to one of them: larger atoms in the same populations, which
    leave more room."""
    draws = np.random.default_rng(0)
    ways, is_fixed = np.zeros((0, len(own))), np.ones(len(own), np.bool_)
    rooms = np.log2(system.weights)
    for _ in range(_DRAWN_FORMS):
        limit.check()
        atom = int(draws.choice(own[is_fixed]))
        nearness = _shared(system, atom) + draws.uniform(1, 3) * rooms
        nearness += draws.normal(scale=_NOISE, size=len(nearness))
        nearness[own] = -np.inf
        order = np.argsort(-nearness, kind="stable")
        more = _Ways.of_order(system, order, prime, own).changes_of(own)
        ways = np.vstack([ways, more])
        is_fixed = _fixed_by(ways, prime)
        if not is_fixed.any():
            break
    return is_fixed


def _by_likeness(system: LinearSystem) -> NDArray[np.int64]:
    """Return the atoms, those first that are in most populations of the largest one.

    Of tables by several keys, those differ from it in few keys: directions are then of few atoms.
    """
    shared = _shared(system, int(np.argmax(system.weights)))
    return np.lexsort((-system.weights, -shared))


def _shared(system: LinearSystem, atom: int) -> NDArray[np.float64]:
    """Return in how many populations of one atom each is: (atoms,)."""
    rows = system.rows
    is_its = np.zeros(rows.count, np.bool_)
    is_its[rows.members[slice(*rows.starts[atom : atom + 2])]] = True
    return np.bincount(rows.columns, is_its[rows.members], rows.width).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Ways:
    """The directions of a form in which the units of atoms may change: of each of its `free` atoms,
    beside those that are `pivots`."""

    free: NDArray[np.int64]
    pivots: NDArray[np.int64]
    directions: CountDirections
    prime: int

    @classmethod
    def of_order(
        cls,
        system: LinearSystem,
        order: NDArray[np.int64],
        prime: int,
        atoms: NDArray[np.int64] | None = None,
    ) -> "_Ways":
        """Return the directions of the form whose pivots are the first atoms that can be; only of
        some free atoms, where those are given."""
        form = WholeForm.of_rows(system.rows, order, prime)
        every = np.arange(len(system.weights)) if atoms is None else atoms
        free = np.setdiff1d(every, form.pivots)
        entries = form.entries(free)
        counts = system.weights[form.pivots], system.weights[free]
        directions = count_directions(entries, *counts, form.prime)
        return cls(free, form.pivots, directions, form.prime)

    def linked(self, system: LinearSystem) -> NDArray[np.bool_]:
        """Return which free atoms may have other units, (free,), by directions like others."""
        counts = system.weights[self.pivots]
        return linked_directions(self.directions, counts, self.prime)

    def changes_of(self, atoms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return by which residues open directions change some atoms: (directions, atoms)."""
        is_open = self.directions.are_open
        changes = np.zeros((int(is_open.sum()), len(atoms)))
        for number, atom in enumerate(atoms.tolist()):
            place = np.flatnonzero(self.pivots == atom)
            if len(place):
                changes[:, number] = self.directions.entries[place[0], is_open]
            else:
                changes[self.free[is_open] == atom, number] = self.prime - 1.0
        return changes


def _fixed_by(ways: NDArray[np.float64], prime: int) -> NDArray[np.bool_]:
    """Return which atoms, (atoms,), combinations are of that no way, (ways, atoms), changes."""
    form = echelon(ways, prime, is_reduced=True)
    is_fixed = np.ones(ways.shape[1], np.bool_)
    is_fixed[form.pivots] = False
    is_fixed[form.pivots] = (form.rows[:, is_fixed] != 0).any(axis=1)
    return is_fixed
