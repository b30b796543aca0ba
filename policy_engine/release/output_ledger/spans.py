"""What can be derived exactly from all that is released: of suppressed cells, and of few units."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import (
    Residues,
    combination,
    in_span,
    light_vector,
    random_prime,
    within,
)
from policy_engine.release.output_ledger.answers import COUNT, systems_of
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge

FEW_DERIVED, SUPPRESSED_DERIVED, TOO_LARGE = "K043", "K044", "K046"
ATOMS, WORK = 4_000, 1e9
"""How many atoms that belong together it is decided for what can be derived, and by how many steps
of elimination: the square of the rank times the atoms, such as those of 1,000 atoms.
"""

OPAQUE = "*"
NODES = 2_000
"""How many subspaces are searched for combinations that tell of few units."""

_PRIMES = 2


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Sums over atoms that belong together: they are linked by populations of one measure.

    `rows` and `targets` are zeros and ones over the atoms, (rows, atoms), and their `numbers` those
    of their populations; `is_fresh` and `is_own` tell which rows are new, and which are released
    values of the very measure: others are of measures of which no more is known.
    """

    name: str
    weights: NDArray[np.int64]
    rows: Residues
    numbers: NDArray[np.int64]
    is_fresh: NDArray[np.bool_]
    is_own: NDArray[np.bool_]
    targets: Residues
    target_numbers: NDArray[np.int64]

    @property
    def fresh_numbers(self) -> list[int]:
        """The numbers of the populations of new rows."""
        numbers: list[int] = self.numbers[self.is_fresh].tolist()
        return numbers


def linear_systems(trial: Trial, table: AtomTable) -> Iterator[LinearSystem]:
    """Yield the systems in which something is new, for each measure and set of linked atoms."""
    for name in _names(trial):
        yield from _linked(_whole(trial, table, name))


def _names(trial: Trial) -> list[str]:
    """Return the measures of which something new is known, in an order of their own."""
    fresh = {trial.cells[place].measure for place in trial.fresh}
    measures = {*trial.after.released, *(measure for measure, _ in trial.after.suppressed)}
    linear = {name for one in measures for name in systems_of(one)}
    opaque = {one for one in measures if not systems_of(one)}
    touched = {name for one in fresh for name in systems_of(one)}
    has_opaque = any(not systems_of(one) for one in fresh)
    new_suppressed = {
        name
        for measure, number in trial.after.suppressed.keys() - trial.before.suppressed.keys()
        for name in target_systems(measure)
    }
    names = linear | opaque | {OPAQUE} if has_opaque else touched
    return sorted(names | new_suppressed)


def target_systems(measure: str) -> tuple[str, ...]:
    """Return the systems in which a suppressed value of a measure must stay unknown."""
    if measure.startswith("mean:"):
        return tuple(name for name in systems_of(measure) if name != COUNT)
    return systems_of(measure) or (measure,)


def _is_row(name: str, measure: str) -> bool:
    systems = systems_of(measure)
    if not systems:
        return name in (OPAQUE, measure) or bool(systems_of(name))
    return name in systems


def _row_numbers(knowledge: Knowledge, name: str) -> tuple[set[int], set[int]]:
    """Return the populations that are rows of a system, and those that have the very measure."""
    rows, own = set[int](), set[int]()
    for measure, numbers in knowledge.released.items():
        if _is_row(name, measure):
            rows |= numbers
            own |= numbers if systems_of(measure) or measure == name else set()
    return rows, own


def _whole(trial: Trial, table: AtomTable, name: str) -> LinearSystem:
    """Return the system of one measure over all atoms that it tells apart."""
    after, _ = _row_numbers(trial.after, name)
    before, _ = _row_numbers(trial.before, name)
    _, own = _row_numbers(trial.after, name)
    targets = {
        number for measure, number in trial.after.suppressed if name in target_systems(measure)
    }
    numbers, goals = np.array(sorted(after), np.int64), np.array(sorted(targets), np.int64)
    matrix = _incidence(table, np.concatenate([numbers, goals]))
    columns, positions = np.unique(matrix, axis=1, return_inverse=True)
    weights = np.zeros(columns.shape[1], np.int64)
    np.add.at(weights, positions.reshape(-1), table.atoms.sizes)
    return LinearSystem(
        name=name,
        weights=weights,
        rows=columns[: len(numbers)].astype(np.float64),
        numbers=numbers,
        is_fresh=np.array([one not in before for one in numbers.tolist()], np.bool_),
        is_own=np.array([one in own for one in numbers.tolist()], np.bool_),
        targets=columns[len(numbers) :].astype(np.float64),
        target_numbers=goals,
    )


def _incidence(table: AtomTable, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which atoms populations have: (populations, atoms)."""
    size = max(int(numbers.max(initial=-1)), int(table.members.max(initial=-1))) + 2
    places = np.full(size, -1, np.int64)
    # A population may be both a row and a target: both get the row of the last of them.
    places[numbers] = np.arange(len(numbers))
    matrix = np.zeros((len(numbers), len(table.atoms.sizes)), np.bool_)
    for layer in table.members:
        rows = places[layer]
        inside = np.flatnonzero(rows >= 0)
        matrix[rows[inside], inside] = True
    return matrix[places[numbers]]


def _linked(system: LinearSystem) -> Iterator[LinearSystem]:
    """Yield the parts of a system that have no atom in common, each with something new."""
    matrix = np.vstack([system.rows, system.targets]).astype(np.bool_)
    part = np.full(matrix.shape[1], -1, np.int64)
    for column in np.flatnonzero(matrix.any(axis=0)):
        if part[column] < 0:
            part[_reached(matrix, int(column))] = column
    for name in np.unique(part[part >= 0]):
        columns = part == name
        rows = system.rows[:, columns].any(axis=1)
        goals = system.targets[:, columns].any(axis=1)
        if rows.any():
            yield LinearSystem(
                system.name,
                system.weights[columns],
                system.rows[np.ix_(rows, columns)].astype(np.float64),
                system.numbers[rows],
                system.is_fresh[rows],
                system.is_own[rows],
                system.targets[np.ix_(goals, columns)].astype(np.float64),
                system.target_numbers[goals],
            )


def _reached(matrix: NDArray[np.bool_], column: int) -> NDArray[np.bool_]:
    """Return the columns that rows link with one."""
    columns = np.zeros(matrix.shape[1], np.bool_)
    columns[column], count = True, 0
    rows = np.zeros(len(matrix), np.bool_)
    while columns.sum() > count:
        count = int(columns.sum())
        new = matrix[:, columns].any(axis=1) & ~rows
        rows |= new
        columns |= matrix[new].any(axis=0)
    return columns


def span_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield why the new cells of a system may not be given: by what they make derivable."""
    has_targets = bool(len(system.targets))
    is_small = system.weights < trial.after.threshold
    if not has_targets and not (is_small.any() and system.is_fresh.any()):
        return
    if len(system.weights) > ATOMS or _work(system) > WORK:
        yield Fault(TOO_LARGE, cells_of(trial, system, system.fresh_numbers))
        return
    for _ in range(_PRIMES):
        prime = random_prime()
        faults = [*_target_faults(trial, system, prime), *_light_faults(trial, system, prime)]
        yield from faults
        if faults:
            return


def _work(system: LinearSystem) -> float:
    rows, atoms = system.rows.shape
    return float(min(rows, atoms) ** 2 * atoms)


def _target_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells from which suppressed ones can be derived, unless they could be before."""
    if not len(system.targets):
        return
    own = system.rows[system.is_own]
    earlier = system.rows[system.is_own & ~system.is_fresh]
    derived = in_span(own, system.targets, prime) & ~in_span(earlier, system.targets, prime)
    for place in np.flatnonzero(derived):
        numbers = _used(system, system.is_own, system.targets[place], prime)
        yield Fault(SUPPRESSED_DERIVED, cells_of(trial, system, numbers))


def _light_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells that, together with others, tell of fewer units than allowed."""
    least, weights = trial.after.threshold, system.weights
    columns = weights < least
    if not columns.any() or not system.is_fresh.any():
        return
    earlier = system.rows[~system.is_fresh]

    def widened(vector: Residues) -> Residues:
        full = np.zeros(len(weights))
        full[columns] = vector
        return full

    def is_known(vector: Residues) -> bool:
        return bool(in_span(earlier, widened(vector)[None, :], prime)[0])

    basis = within(system.rows, columns, prime)
    result = light_vector(basis, weights[columns], least, prime, is_known, NODES)
    if result.state == "found":
        everything = np.ones(len(system.rows), np.bool_)
        numbers = _used(system, everything, widened(result.vector), prime)
        yield Fault(FEW_DERIVED, cells_of(trial, system, numbers))
    elif result.state == "undecided":
        yield Fault(TOO_LARGE, cells_of(trial, system, system.fresh_numbers))


def _used(
    system: LinearSystem, is_row: NDArray[np.bool_], vector: Residues, prime: int
) -> list[int]:
    """Return the numbers of the new rows that a vector is combined of, if old ones do not do."""
    order = np.flatnonzero(is_row)
    order = order[np.argsort(system.is_fresh[order], kind="stable")]
    used = order[combination(system.rows[order], vector, prime)]
    numbers: list[int] = system.numbers[used[system.is_fresh[used]]].tolist()
    return numbers


def cells_of(trial: Trial, system: LinearSystem, numbers: list[int]) -> tuple[int, ...]:
    """Return the places of the fresh cells of some populations in a system; if there are none,
    as for a suppressed cell that earlier answers tell of, those of all fresh cells."""
    chosen = {*numbers}
    places = tuple(
        place
        for place in trial.fresh
        if trial.numbers[place] in chosen and _is_row(system.name, trial.cells[place].measure)
    )
    return places or trial.fresh
