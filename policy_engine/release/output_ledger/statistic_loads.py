"""Whether more statistics of a column are known than the units that they are about allow.

A covariance with a known column is a linear equation in the unknown values of the other one; so are
correlations, slopes and variances once means are known, and a percentile or a mode is an equation,
too. As many of them as there are units tell everybody's value. So each statistic is distributed
evenly over its population: it loads each of n units with 1/n. On average over the units of a
population P, the load may be at most 1/m, m being how many units a cell needs:

    sum over statistics Q of |P and Q| / |Q|  <=  |P| / m, for the population P of each statistic.

Then any s statistics are of at least s m units together, whichever they are. Let l be the loads of
units by those s alone, so that they add up to s. Added up over their populations P, the average
load of P is the sum of l squared, which is at most s / m by the rule, and at least s squared by the
number of units, by Cauchy and Schwarz. Totals and means of groups, which are of m units or more,
leave at least 1 - 1/m of the dimensions of what is unknown.

Where somebody has several units, |P| / m is of persons on the right, who are no more than units.
Units that have nothing in the column are in no population: who they are may be known.

That two populations have one unit in common loads them by little, so that it does not depend on
the secret of one person whether a statistic is released, unless the load is all but reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.amounts import contributing_table
from policy_engine.release.output_ledger.answers import ToldFigures, statistic_columns
from policy_engine.release.output_ledger.differences import Fault, Trial, population_figures
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.told_cells import told_cells

TOO_MANY = "K043"
_TINY = 1e-9

_Floats = NDArray[np.float64]


def load_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells by which there are too many statistics of a column."""
    fresh: dict[str, list[int]] = {}
    for place in trial.fresh:
        for column in statistic_columns(trial.cells[place].measure):
            fresh.setdefault(column, []).append(place)
    for column in sorted(fresh):
        yield from _faults_of(trial, table, column, fresh[column])


def _faults_of(trial: Trial, table: AtomTable, column: str, places: list[int]) -> Iterator[Fault]:
    table, sizes = _contributing(trial, table, column)
    loads = _Loads.of(table, _statistics(trial, column), sizes)
    for number in loads.suspects():
        excess = loads.sums[number] - loads.limit(number)
        if excess <= _TINY * loads.sums[number]:
            continue
        own = [place for place in places if trial.numbers[place] == number]
        if own:
            # What was asked for first is given.
            for place in own[-int(np.ceil(excess - _TINY)) :]:
                yield Fault(TOO_MANY, (place,), partial(_load_figures, trial, column, number))
            continue
        met = loads.met(number)
        meeting = tuple(place for place in places if trial.numbers[place] in met)
        if meeting:
            yield Fault(TOO_MANY, meeting, partial(_load_figures, trial, column, number))


def _contributing(trial: Trial, table: AtomTable, column: str) -> tuple[AtomTable, _Floats]:
    """Return the atoms, and the sizes of populations, (populations,), of those units that have
    something in a column: others have nothing that could be told. Of all, where nobody knows."""
    sizes = np.array(trial.after.sizes, np.float64)
    masks = trial.contributing(column, None) if trial.contributing else ()
    if not len(masks):
        return table, sizes
    own = contributing_table(trial, table, masks[0])
    counts = np.bincount(table.atoms.numbers[masks[0]], minlength=len(table.atoms.sizes))
    sums = np.zeros(len(sizes) + 1)
    for layer in table.members % (len(sizes) + 1):
        sums += np.bincount(layer, counts, len(sizes) + 1)
    return own._replace(atoms=table.atoms._replace(sizes=counts.astype(np.int64))), sums[:-1]


def _load_figures(trial: Trial, column: str, number: int) -> ToldFigures:
    """Return the statistics of a column that are released of a population."""

    def is_meant(measure: str) -> bool:
        return column in statistic_columns(measure)

    cells = told_cells(trial.after, {number}, is_meant)
    return population_figures(trial, "statistics", number, cells)


def _statistics(trial: Trial, column: str) -> _Floats:
    """Return how many statistics of a column each population has: (populations,)."""
    counts = np.zeros(len(trial.after.sizes))
    for measure, numbers in trial.after.released.items():
        if column in statistic_columns(measure):
            counts[[*numbers]] += 1
    return counts


@dataclass(frozen=True, eq=False)
class _Loads:
    """How many statistics are about the units of each population, in parts of statistics where
    others are about them as well: the `sums`, and at most how many may be, `least` of them being
    allowed for sure; (populations,) each. `is_asked` tells which have statistics."""

    table: AtomTable
    is_asked: NDArray[np.bool_]
    sums: _Floats
    least: _Floats

    @classmethod
    def of(cls, table: AtomTable, counts: _Floats, sizes: _Floats) -> "_Loads":
        """Return the loads of populations by how many statistics each has."""
        count, owners = len(sizes), table.owners
        weights = np.append(counts / np.maximum(sizes, 1), 0.0)
        # Atoms in no population of a layer, -1, are counted behind all populations.
        layers = [layer for layer in table.members % (count + 1) if weights[layer].any()]
        loads = sum((weights[layer] for layer in layers), np.zeros(len(table.atoms.sizes)))
        sums, shares = np.zeros(count + 1), np.zeros(count + 1)
        for layer in layers:
            sums += np.bincount(layer, loads * table.atoms.sizes, count + 1)
            shares += np.bincount(layer, owners.shares, count + 1)
        return cls(table, counts > 0, sums[:-1], shares[:-1] / owners.least_share)

    def suspects(self) -> list[int]:
        """Return the populations of which there may be too many statistics."""
        is_above = self.sums > self.least * (1 + _TINY)
        numbers: list[int] = np.flatnonzero(self.is_asked & is_above).tolist()
        return numbers

    def limit(self, number: int) -> float:
        """Return how many statistics may be about a population: of its owners, who are fewer than
        its units where somebody has several."""
        is_in, owners = self._atoms(number), self.table.owners
        if owners.pairs is None:
            return float(owners.sizes[is_in].sum() / owners.least)
        atoms, whose = owners.pairs
        return len(np.unique(whose[is_in[atoms]])) / owners.least

    def met(self, number: int) -> set[int]:
        """Return the populations that have units in common with one."""
        return {*np.unique(self.table.members[:, self._atoms(number)]).tolist()}

    def _atoms(self, number: int) -> NDArray[np.bool_]:
        return np.asarray((self.table.members == number).any(axis=0), dtype=np.bool_)
