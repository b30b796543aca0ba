"""What is known as sums over atoms: one linear system for each measure and set of linked atoms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from secrets import randbits
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.components import components
from policy_engine.kernels.output_checks.sparse_span import SparseRows
from policy_engine.release.output_ledger.answers import (
    AMOUNTS,
    COUNT,
    DISTINCT_PERSONS,
    EQUATIONS,
    EXACT_COUNT,
    PERSONS,
    STATISTICS,
    column_of,
    exact_held,
    is_exact_count,
    is_held,
    is_mark,
    is_of_its_own,
    near_held_measure,
    statistic_columns,
    systems_of,
    told_columns,
    valued_column,
)
from policy_engine.release.output_ledger.atom_contents import AtomContents
from policy_engine.release.output_ledger.differences import Trial
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge
from policy_engine.release.output_ledger.populations import BitBlock
from policy_engine.release.output_ledger.unit_owners import AtomOwners

OPAQUE = "*"
"""The system of all measures of which no more is known."""
CELLS = 4_000
"""How many populations that belong together it is decided for what can be derived."""

_Places = NDArray[np.int64]
_Masks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Sums over atoms that belong together: they are linked by populations of one measure.

    `rows` and `targets` are zeros and ones over the atoms, (rows, atoms), and their `numbers` those
    of their populations; `is_fresh` and `is_own` tell which rows are new, and which are released
    values of the very measure: others are of measures of which no more is known. One may be
    `is_too_large` to be decided. `owners` are those of atoms, and `contents` what they have of what
    the system is about, if that is known. Nothing may be told of fewer owners than are enough:
    where each of several statistics of a column may tell something of the same units, that many
    times as many as otherwise.
    """

    name: str
    weights: NDArray[np.int64]
    rows: SparseRows
    numbers: NDArray[np.int64]
    is_fresh: NDArray[np.bool_]
    is_own: NDArray[np.bool_]
    targets: SparseRows
    target_numbers: NDArray[np.int64]
    owners: AtomOwners
    contents: AtomContents | None = None

    @property
    def is_too_large(self) -> bool:
        """Whether there are too many populations."""
        return self.rows.count + self.targets.count > CELLS

    @property
    def order(self) -> NDArray[np.int64]:
        """The atoms, those of the most units first."""
        return np.argsort(-self.weights, kind="stable")

    @property
    def fresh_numbers(self) -> list[int]:
        """The numbers of the populations of new rows."""
        numbers: list[int] = self.numbers[self.is_fresh].tolist()
        return numbers


def linear_systems(
    trial: Trial, table: AtomTable, names: Sequence[str] | None = None
) -> Iterator[LinearSystem]:
    """Yield the systems in which something may be wrong, for each measure, or those of some names,
    and set of linked atoms: those with a suppressed cell, and new ones with atoms of fewer units
    than allowed."""
    layers = _layers(trial.after)
    for name in _names(trial) if names is None else names:
        sums = _sums(trial, table, layers, name)
        few = sums.owners.least
        most = replace(sums.owners, least=few * _statistic_count(trial.after, name))
        for system in _linked(sums._replace(owners=most)):
            trial.limit.check()
            count = _statistic_count(trial.after, name, {*system.numbers.tolist()})
            yield replace(system, owners=replace(system.owners, least=few * count))


def _statistic_count(knowledge: Knowledge, name: str, numbers: set[int] | None = None) -> int:
    """Return how many measures are rows of the system of a column's statistics, or those of some
    populations; 1 for other systems."""
    if not name.startswith(STATISTICS):
        return 1
    measures = (key for key, own in knowledge.released.items() if is_row(name, key) and own)
    return sum(numbers is None or not numbers.isdisjoint(knowledge.released[m]) for m in measures)


def _names(trial: Trial) -> list[str]:
    """Return the measures of which something new is known, in an order of their own."""
    fresh = {trial.cells[place].measure for place in trial.fresh}
    fresh = {one for one in fresh if not (valued_column(one) or is_mark(one))}
    measures = {*trial.after.released, *(measure for measure, _ in trial.after.suppressed)}
    linear = {name for one in measures if not is_of_its_own(one) for name in systems_of(one)}
    opaque = {one for one in measures if not systems_of(one)}
    touched = {name for one in fresh for name in systems_of(one)}
    near = {near_held_measure(one) for one in fresh if is_held(one)}
    touched |= near & trial.after.released.keys()
    has_opaque = any(not systems_of(one) for one in fresh)
    new_suppressed = {
        name
        for measure, number in trial.after.suppressed.keys() - trial.before.suppressed.keys()
        if not valued_column(measure)
        for name in target_systems(measure)
    }
    names = touched | linear | opaque | {OPAQUE} if has_opaque else touched
    columns = {f"{STATISTICS}{column}" for one in fresh for column in statistic_columns(one)}
    several = {name for name in columns if _statistic_count(trial.after, name) > 1}
    # Where no count is rounded, all of them are exact.
    exact = {EXACT_COUNT} if trial.after.released.get(EXACT_COUNT) else set()
    return sorted((names | new_suppressed | several) - {EXACT_COUNT} | exact)


@cache
def target_systems(measure: str) -> tuple[str, ...]:
    """Return the systems in which a suppressed value of a measure must stay unknown."""
    if measure.startswith("mean:"):
        return tuple(name for name in systems_of(measure) if name != COUNT)
    systems = systems_of(measure)
    return (*systems, EXACT_COUNT) if COUNT in systems else systems or (measure,)


@cache
def is_row(name: str, measure: str) -> bool:
    """Return whether released values of a measure are rows of a system."""
    if name == EXACT_COUNT:
        return is_exact_count(measure)
    if is_held(name):
        return measure in (name, exact_held(name))
    if name.startswith(STATISTICS):
        return name.removeprefix(STATISTICS) in statistic_columns(measure)
    if name.startswith((AMOUNTS, EQUATIONS)):
        return name.partition(":")[2] in told_columns(measure)
    systems = systems_of(measure)
    if not systems:
        # No statistic tells of how many persons it is, where these have several rows.
        is_linear = bool(systems_of(name)) and name not in (PERSONS, DISTINCT_PERSONS)
        return name in (OPAQUE, measure) or (is_linear and not is_of_its_own(name))
    return name in systems


def _row_numbers(knowledge: Knowledge, name: str) -> tuple[set[int], set[int]]:
    """Return the populations that are rows of a system, and those that have the very measure."""
    rows, own = set[int](), set[int]()
    for measure, numbers in knowledge.released.items():
        if is_row(name, measure):
            rows |= numbers
            own |= numbers if systems_of(measure) or measure == name else set()
    return rows, own


def _earlier_numbers(trial: Trial, name: str) -> set[int]:
    """Return the populations that are rows of a system without the answer: of all statistics of a
    column, and of equations, those of which the answer has none."""
    before, _ = _row_numbers(trial.before, name)
    if not name.startswith((STATISTICS, EQUATIONS)):
        return before
    own = (place for place in trial.fresh if is_row(name, trial.cells[place].measure))
    return before - {trial.numbers[place] for place in own}


class _Sums(NamedTuple):
    """What is known of one measure, over all atoms that it tells apart.

    `weights` are the units of the atoms. Each of the pairs (`places`, `atoms`) is a population and
    an atom in it; a population is a row of the system, a target, or both.
    """

    name: str
    weights: _Places
    owners: AtomOwners
    places: _Places
    atoms: _Places
    numbers: _Places
    is_row: _Masks
    is_fresh: _Masks
    is_own: _Masks
    is_target: _Masks
    contents: AtomContents | None


def _layers(knowledge: Knowledge) -> tuple[_Places, _Places]:
    """Return the layer of a table of atoms and a population in it, for all: (pairs,) each."""
    first, layers, numbers = 0, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for block, own in knowledge.layers:
        is_bits = isinstance(block, BitBlock)
        layers.append(first + np.arange(len(own)) * is_bits)
        numbers.append(own.astype(np.int64))
        first += len(own) if is_bits else 1
    return np.concatenate(layers), np.concatenate(numbers)


def _sums(
    trial: Trial, whole_table: AtomTable, layers: tuple[_Places, _Places], name: str
) -> _Sums:
    after, own = _row_numbers(trial.after, name)
    before = _earlier_numbers(trial, name)
    targets = _targets(trial.after, name)
    numbers = np.array(sorted(after | targets), np.int64)
    places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
    places[numbers] = np.arange(len(numbers))
    is_meant = np.unique(layers[0][places[layers[1]] < len(numbers)])
    table = whole_table._replace(members=whole_table.members[is_meant])
    if is_held(name):  # Whose the units are does not matter: only whether all of them are alike.
        atoms, least = table.atoms, table.owners.least
        table = table._replace(owners=AtomOwners.of_units(atoms.sizes, least))
    weights, owners, examples, contents = _merged_atoms(
        table, places, len(numbers), _values(trial, name)
    )
    pairs = _pairs(places[table.members[:, examples]], len(numbers))
    is_row, is_fresh, is_own, is_target = (
        _are_in(numbers, some) for some in (after, after - before, own, targets)
    )
    masks = is_row, is_fresh, is_own, is_target
    return _Sums(name, weights, owners, *pairs, numbers, *masks, contents=contents)


def _targets(knowledge: Knowledge, name: str) -> set[int]:
    """Return the populations of which a suppressed value must stay unknown in a system.

    Not those that are released under another condition: that those happen to have the same units is
    what must not be told, and it would be if the one were withheld for the other.
    """
    meant = [
        (number, cell)
        for (measure, number), cell in knowledge.suppressed.items()
        if name in target_systems(measure)
    ]
    texts: dict[int, set[str]] = {}
    for (measure, number), conditions in knowledge.conditions.items() if meant else ():
        if is_row(name, measure):
            texts.setdefault(number, set()).update(conditions)
    return {
        number
        for number, cell in meant
        if not (
            number in texts
            and "" not in cell.conditions
            and texts[number].isdisjoint(cell.conditions)
        )
    }


def _are_in(numbers: _Places, some: set[int]) -> _Masks:
    return np.array([one in some for one in numbers.tolist()], np.bool_)


def _values(trial: Trial, name: str) -> NDArray[np.float64] | _Masks | None:
    """Return what each unit has of what a system is about, or whether it is a holder; None where
    that is not known."""
    if exact_held(name) in trial.holders:
        return trial.holders[exact_held(name)]
    column = column_of(name)
    return trial.contributions(column) if column and trial.contributions else None


def _merged_atoms(
    table: AtomTable, places: _Places, count: int, values: NDArray[np.float64] | _Masks | None
) -> tuple[_Places, AtomOwners, _Places, AtomContents | None]:
    """Return the units, the owners and an example of the atoms that populations tell apart, if in
    any, and what they have of the values of units, if these are given.

    `places` are those of all populations, `count` for one that does not matter. Atoms are told
    apart by the sums of two random words of each population, which nobody knows.
    """
    random = np.random.default_rng(randbits(128))
    words = random.integers(0, 2**64, (count + 1, 2), np.uint64)
    words[count] = 0
    sums = np.zeros((len(table.atoms.sizes), 2), np.uint64)
    for layer in table.members:
        sums += words[places[layer]]
    order = np.lexsort(sums.T)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (sums[order[1:]] != sums[order[:-1]]).any(axis=1)
    merged = np.cumsum(is_first) - 1
    weights = np.bincount(merged, table.atoms.sizes[order]).astype(np.int64)
    examples = order[is_first]
    chosen = np.flatnonzero(sums[examples].any(axis=1))
    chosen = chosen[np.argsort(examples[chosen])]
    numbers, ranks = np.full(len(order), -1, np.int64), np.full(len(weights), -1, np.int64)
    ranks[chosen] = np.arange(len(chosen))
    numbers[order] = ranks[merged]
    owners = table.owners.merged(numbers, len(chosen))
    contents = None
    if values is not None:
        every, sizes = table.atoms.numbers, table.atoms.sizes
        if values.dtype == np.bool_:
            atoms = AtomContents.of_holders(every, sizes, np.asarray(values, np.bool_))
        else:
            own = every.astype(np.int64), len(numbers), np.asarray(values, np.float64)
            atoms = AtomContents.of_units(*own)
        contents = atoms.merged(numbers, len(chosen))
    return weights[chosen], owners, examples[chosen], contents


def _pairs(members: _Places, count: int) -> tuple[_Places, _Places]:
    """Return the place of a population and an atom in it, for all: (pairs,) each."""
    layers, atoms = np.nonzero(members < count)
    return members[layers, atoms], atoms.astype(np.int64)


def _linked(sums: _Sums) -> Iterator[LinearSystem]:
    """Yield the parts of a system that have no atom in common."""
    parts = components(sums.places, sums.atoms)
    count = int(parts.max(initial=-1)) + 1

    def has(pairs: _Masks) -> _Masks:
        return np.bincount(parts[pairs], minlength=count) > 0

    is_small = sums.owners.are_small[sums.atoms]
    if sums.contents is not None:
        is_small = is_small | sums.contents.are_ends[sums.atoms]
    is_asked = has(sums.is_target[sums.places]) | (has(is_small) & has(sums.is_fresh[sums.places]))
    is_asked &= has(sums.is_row[sums.places])
    order = np.argsort(parts, kind="stable")
    ends = np.searchsorted(parts[order], np.arange(count + 1))
    for part in np.flatnonzero(is_asked).tolist():
        yield _system(sums, order[ends[part] : ends[part + 1]])


def _system(sums: _Sums, pairs: _Places) -> LinearSystem:
    """Return the system of some pairs of populations and atoms."""
    numbers, places = np.unique(sums.places[pairs], return_inverse=True)
    atoms, columns = np.unique(sums.atoms[pairs], return_inverse=True)
    is_row, is_target = sums.is_row[numbers], sums.is_target[numbers]
    rows, count = numbers[is_row], len(atoms)
    own = np.full(len(sums.weights), -1, np.int64)
    own[atoms] = np.arange(count)
    every = SparseRows.of_pairs(places, columns, len(numbers), count)
    return LinearSystem(
        name=sums.name,
        weights=sums.weights[atoms],
        rows=every.chosen(is_row),
        numbers=sums.numbers[rows],
        is_fresh=sums.is_fresh[rows],
        is_own=sums.is_own[rows],
        targets=every.chosen(is_target),
        target_numbers=sums.numbers[numbers[is_target]],
        owners=sums.owners.merged(own, count),
        contents=None if sums.contents is None else sums.contents.merged(own, count),
    )
