"""Whether a new population differs from a released one by fewer units than allowed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.population_differences import (
    differing_units,
    near_populations,
)
from policy_engine.release.output_ledger.answers import (
    COUNT,
    Contributing,
    Contributions,
    FindEmptyParts,
    Holders,
    IsSameCondition,
    MayTell,
    OutputCell,
    SecretValues,
    ToldCell,
    ToldFigures,
    ToldKind,
    column_of,
    compared_column,
    is_of_its_own,
    pair_of,
    ranked_column,
    statistic_columns,
    systems_of,
    told_systems,
    valued_column,
)
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge
from policy_engine.release.output_ledger.populations import BitBlock, LabelBlock
from policy_engine.release.output_ledger.told_cells import difference_value, told_cells
from policy_engine.release.output_ledger.unit_owners import UnitOwners

NEAR_EARLIER, NEAR_OWN, TOO_FEW, OTHER_OF_PAIR = "K041", "K042", "K040", "K050"


@dataclass(frozen=True)
class Fault:
    """Why an answer may not be given: a code, and the places of the cells that it is about.

    What would be told is worked out by `figures` where the fault is the reason of a cell.
    """

    code: str
    cells: tuple[int, ...]
    figures: Callable[[], ToldFigures] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Trial:
    """What would be known after an answer, beside what was known before.

    `cells` are those of the answer, `numbers` that of each cell's population, and `fresh` the
    places of the released cells that were never released before.
    """

    before: Knowledge
    after: Knowledge
    cells: tuple[OutputCell, ...]
    numbers: tuple[int, ...]
    fresh: tuple[int, ...]
    may_tell: MayTell | None = None
    is_same_condition: IsSameCondition | None = None
    holders: Holders = field(default_factory=dict)
    owners: UnitOwners | None = None
    one_sided: frozenset[str] = frozenset()
    contributions: Contributions | None = None
    empty_parts: FindEmptyParts | None = None
    limit: TimeLimit = field(default_factory=TimeLimit)
    contributing: Contributing | None = None
    secret_values: Mapping[str, SecretValues] = field(default_factory=dict)

    def are_enough(self, members: NDArray[np.bool_]) -> bool:
        """Return whether some units, (units,), of which there are fewer than the threshold, are of
        enough owners."""
        return self.owners is not None and self.owners.are_enough(members, self.after.threshold)

    def fresh_places(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """Return the places of the fresh cells of each measure and population."""
        places: dict[tuple[str, int], list[int]] = {}
        for place in self.fresh:
            key = self.cells[place].measure, self.numbers[place]
            places.setdefault(key, []).append(place)
        return {key: tuple(own) for key, own in places.items()}

    def fresh_by_number(self) -> dict[int, list[int]]:
        """Return the places of the fresh cells of each population, but for those of how many are
        holders: of these, all that matters is whom they tell of together."""
        places: dict[int, list[int]] = {}
        for place in self.fresh:
            if is_of_its_own(self.cells[place].measure):
                continue
            places.setdefault(self.numbers[place], []).append(place)
        return places


MOST_COMPARED = 2e10
"""How many bytes of populations are compared where there are too many atoms: some seconds."""


def is_comparable(trial: Trial) -> bool:
    """Return whether new populations can be compared unit by unit with all others, in some
    seconds."""
    populations, layers = len(set(trial.fresh_by_number())), trial.after.layers
    size = sum(
        block.count * (trial.after.units // 8) if isinstance(block, BitBlock) else trial.after.units
        for block, _ in layers
    )
    return populations * size <= MOST_COMPARED


@cache
def are_compatible(one: str, other: str) -> bool:
    """Return whether the values of two measures can be subtracted from one another."""
    if is_of_its_own(one) or is_of_its_own(other):
        return False  # Of holders, all that matters is whom they tell of together.
    systems, others = systems_of(one), systems_of(other)
    return not systems or not others or not set(systems).isdisjoint(others)


def size_faults(trial: Trial) -> Iterator[Fault]:
    """Yield the fresh cells whose own populations are of fewer owners than allowed."""
    is_few = cache(lambda number: not trial.are_enough(_members(trial.after, number)))
    for place in trial.fresh:
        if is_of_its_own(trial.cells[place].measure):
            continue
        number = trial.numbers[place]
        if 0 < trial.after.sizes[number] < trial.after.threshold and is_few(number):
            figures = partial(population_figures, trial, "population", number, ())
            yield Fault(TOO_FEW, (place,), figures)


def pair_faults(trial: Trial) -> Iterator[Fault]:
    """Yield the fresh cells of two columns of which another statistic was released.

    Together, they are moments of which each unit's part can be solved for. Whom they are about is
    not compared: it could depend on one unit whether two populations have some in common.
    """
    released: dict[str, set[str]] = {}
    for measure, numbers in trial.before.released.items():
        if numbers:
            released.setdefault(pair_of(measure), set()).add(measure)
    for place in trial.fresh:
        measure = trial.cells[place].measure
        others = released.get(pair_of(measure), {measure}) - {measure}
        if pair_of(measure) and others:
            figures = partial(_statistic_figures, trial, place, frozenset(others))
            yield Fault(OTHER_OF_PAIR, (place,), figures)


def value_faults(trial: Trial) -> Iterator[Fault]:
    """Yield the fresh cells by which both counts of a column's values and other statistics of the
    column would be released: these are equations in those counts, and all of them are a total.

    Of one answer, the counts are kept. Whom they are about is not compared, as for pairs.
    """
    released = (one for one, numbers in trial.after.released.items() if numbers)
    columns = {valued_column(one) for one in released} - {""}
    earlier = set[str]().union(
        *(_columns(one) for one, own in trial.before.released.items() if own)
    )
    for place in trial.fresh if columns else ():
        measure = trial.cells[place].measure
        if _columns(measure) & columns or valued_column(measure) in earlier & columns:
            meant = _columns(measure) | {valued_column(measure)}
            others = frozenset(
                one
                for one in trial.after.released
                if one != measure and (_columns(one) | {valued_column(one)}) & columns & meant
            )
            figures = partial(_statistic_figures, trial, place, others)
            yield Fault(OTHER_OF_PAIR, (place,), figures)


def rank_faults(trial: Trial) -> Iterator[Fault]:
    """Yield the fresh cells by which both percentiles of a column and counts that its values choose
    would be released: a median tells how many have no more than it. Of one answer, the counts are
    kept."""
    released = [one for one, numbers in trial.after.released.items() if numbers]
    columns = {*map(ranked_column, released)} & {*map(compared_column, released)} - {""}
    earlier = {ranked_column(one) for one, numbers in trial.before.released.items() if numbers}
    for place in trial.fresh if columns else ():
        measure = trial.cells[place].measure
        if ranked_column(measure) in columns or compared_column(measure) in columns & earlier:
            yield Fault(OTHER_OF_PAIR, (place,))


def _columns(measure: str) -> frozenset[str]:
    """Return the columns of which a measure is a total, a mean or another statistic: of one column,
    as one of two reads values of the other that nobody counts."""
    if pair_of(measure):
        return frozenset()
    totals = {column_of(one) for one in systems_of(measure)} - {""}
    return statistic_columns(measure) | totals


def difference_faults(trial: Trial, table: AtomTable | None) -> Iterator[Fault]:
    """Yield the fresh cells that are near a released cell of a compatible measure.

    Without a table of atoms, which there are too many of, populations are compared unit by unit.
    """
    places = trial.fresh_by_number()
    is_fresh = np.zeros(len(trial.after.sizes), np.bool_)
    is_fresh[[*places]] = True
    pairs = _near_atoms(trial, table, is_fresh) if table else _near_units(trial, is_fresh)
    for one, other in pairs:
        for number, near in ((one, other), (other, one)):
            yield from _pair_faults(trial, places, number, near)


MOST_TOLD = 1_000_000_000
"""How many units of differences are looked at: some seconds."""


def told_faults(trial: Trial, table: AtomTable | None, too_large: Fault) -> Iterator[Fault]:
    """Yield the fresh cells whose difference from a released one may not be told: a total of which
    one unit contributes nearly all. Beyond `MOST_TOLD` units, the fault is `too_large`."""
    if trial.may_tell is None:
        return
    yield from _pairs_alone(trial)
    looked_at = 0
    by_number, released = trial.fresh_by_number(), cache(partial(_released_in, trial.after))
    for number, nears in _overlaps(trial, table):
        for near in nears:
            trial.limit.check()
            doubtful = _doubtful_systems(trial, by_number[number], (number, near), released)
            if not doubtful:
                continue
            looked_at += trial.after.units
            if looked_at > MOST_TOLD:
                yield too_large
                return
            pair = _members(trial.after, number), _members(trial.after, near)
            yield from _untold(trial, doubtful, near, pair)


def _pairs_alone(trial: Trial) -> Iterator[Fault]:
    """Yield the fresh statistics of two columns that tell too much of either of them, or of both,
    by themselves: as what they and one of nobody would differ by."""
    assert trial.may_tell is not None  # noqa: S101 (its caller checks)
    nobody = np.zeros(trial.after.units, np.bool_)
    for place in trial.fresh:
        measure, number = trial.cells[place].measure, trial.numbers[place]
        if not pair_of(measure) or not trial.after.sizes[number]:
            continue
        trial.limit.check()
        members = _members(trial.after, number)
        if not all(trial.may_tell(one, members, nobody) for one in told_systems(measure)):
            figures = partial(population_figures, trial, "population", number, ())
            yield Fault(TOO_FEW, (place,), figures)


def _overlaps(trial: Trial, table: AtomTable | None) -> Iterator[tuple[int, set[int]]]:
    """Yield fresh populations with the released ones that they have units in common with, of those
    whose values can be subtracted from theirs."""
    places = trial.fresh_by_number()
    met = _common_atoms(table, [*places]) if table is not None else {}
    released = cache(partial(_released_in, trial.after))
    for number, own in places.items():
        if table is not None and number not in met:
            continue
        systems = {one for place in own for one in told_systems(trial.cells[place].measure)}
        comparable = set[int]().union(*map(released, systems))
        if table is None:
            nears = _overlapping(trial.after, _members(trial.after, number), comparable)
        else:
            nears = met[number] & comparable
        if nears - {number}:
            yield number, nears - {number}


def _common_atoms(table: AtomTable, numbers: list[int]) -> dict[int, set[int]]:
    """Return the populations that each of some populations has atoms in common with."""
    met: dict[int, set[int]] = {}
    count = int(table.members.max(initial=0)) + 1
    for place, layer in enumerate(table.members):
        is_meant = np.isin(layer, numbers)
        if not is_meant.any():
            continue
        own = layer[is_meant].astype(np.int64)
        for other in np.delete(table.members, place, axis=0)[:, is_meant]:
            pairs = np.unique((own * count + other)[other >= 0])
            for one, near in zip(*np.divmod(pairs, count), strict=True):
                met.setdefault(int(one), set()).add(int(near))
    return met


def _doubtful_systems(
    trial: Trial,
    places: list[int],
    pair: tuple[int, int],
    released: Callable[[str], set[int]],
) -> dict[int, list[str]]:
    """Return the systems, by cell of a population, in which its difference from another is to be
    looked at: not those of counts that differ by so many that it does not matter who they are.

    Each group of a table has units in common with everybody, of whom it is known how many they are.
    """
    assert trial.may_tell is not None  # noqa: S101 (its caller checks)
    number, near = pair
    least = abs(int(trial.after.sizes[number]) - int(trial.after.sizes[near]))
    is_open = getattr(trial.may_tell, "is_count_open", lambda _least: False)(least)
    systems = {
        place: [
            system
            for system in told_systems(trial.cells[place].measure)
            if near in released(system) and not (system == COUNT and is_open)
        ]
        for place in places
    }
    return {place: some for place, some in systems.items() if some}


def _untold(
    trial: Trial,
    systems: Mapping[int, list[str]],
    near: int,
    pair: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Iterator[Fault]:
    """Yield the cells of a population whose difference from those of another may not be told."""
    assert trial.may_tell is not None  # noqa: S101 (its caller checks)
    for place, some in systems.items():
        for system in some:
            if not trial.may_tell(system, *pair):
                is_earlier = near in _released_in(trial.before, system)
                figures = partial(difference_figures, trial, place, near)
                yield Fault(NEAR_EARLIER if is_earlier else NEAR_OWN, (place,), figures)
                break


def population_figures(
    trial: Trial,
    kind: ToldKind,
    number: int,
    cells: tuple[ToldCell, ...],
    ends: tuple[float | None, float | None] = (None, None),
) -> ToldFigures:
    """Return what cells would tell of a population."""
    return _figures_of(trial, kind, _members(trial.after, number), cells, ends)


def difference_figures(trial: Trial, place: int, near: int) -> ToldFigures:
    """Return what a cell and a released one of another population differ by, or of the same one
    under another condition: by nobody."""
    number, measure = trial.numbers[place], trial.cells[place].measure
    differing = _members(trial.after, number) ^ _members(trial.after, near)
    value = difference_value(trial.after, measure, number, near)
    knowledge = trial.before if number == near else trial.after
    cells = told_cells(knowledge, {near}, partial(are_compatible, measure))
    return _figures_of(trial, "difference", differing, cells, (value, value))


def _statistic_figures(trial: Trial, place: int, measures: frozenset[str]) -> ToldFigures:
    """Return the released cells of other measures that a statistic may not be released beside."""
    numbers = {one for measure in measures for one in trial.after.released[measure]}
    cells = told_cells(trial.after, numbers, measures.__contains__)
    return population_figures(trial, "statistics", trial.numbers[place], cells)


def _figures_of(
    trial: Trial,
    kind: ToldKind,
    members: NDArray[np.bool_],
    cells: tuple[ToldCell, ...],
    ends: tuple[float | None, float | None],
) -> ToldFigures:
    units = int(members.sum())
    whose = None if trial.owners is None else trial.owners.numbers[members]
    return ToldFigures(kind, units, units if whose is None else len(np.unique(whose)), *ends, cells)


def _released_in(knowledge: Knowledge, system: str) -> set[int]:
    populations = (one for key, one in knowledge.released.items() if system in told_systems(key))
    return set().union(*populations)


def _overlapping(knowledge: Knowledge, members: NDArray[np.bool_], released: set[int]) -> set[int]:
    """Return which of some populations have units in common with one.

    The difference of others is no more telling than the two totals themselves.
    """
    bits, numbers_met = np.packbits(members), set[int]()
    for block, numbers in knowledge.layers:
        if isinstance(block, BitBlock):
            is_common = (block.bits & bits).any(axis=1)
        else:
            labels = block.labels[members]
            is_common = np.bincount(labels[labels >= 0], minlength=block.count) > 0
        numbers_met |= {*numbers[is_common].tolist()}
    return numbers_met & released


def _members(knowledge: Knowledge, number: int) -> NDArray[np.bool_]:
    """Return which units are in a population: (units,)."""
    return np.unpackbits(_bits_of(knowledge, number), count=knowledge.units).view(np.bool_)


def _pair_faults(
    trial: Trial, places: dict[int, list[int]], number: int, near: int
) -> Iterator[Fault]:
    """Yield the fresh cells of a population that can be compared with those of a near one."""
    systems = _known_systems(trial.before, number) if number in places else frozenset()
    earlier = [one for one, own in trial.before.released.items() if near in own]
    for place in places.get(number, ()):
        measure = trial.cells[place].measure
        figures = partial(difference_figures, trial, place, near)
        if any(_tells_more(measure, other, systems) for other in earlier):
            yield Fault(NEAR_EARLIER, (place,), figures)
        else:
            own = [trial.cells[one].measure for one in places.get(near, ()) if number > near]
            if any(_tells_more(measure, other, systems) for other in own):
                yield Fault(NEAR_OWN, (place,), figures)


def _known_systems(before: Knowledge, number: int) -> frozenset[str]:
    """Return the linear systems that a population's value was known in before."""
    measures = (one for one, own in before.released.items() if number in own)
    return frozenset(system for one in measures for system in systems_of(one))


def _tells_more(measure: str, other: str, earlier: frozenset[str]) -> bool:
    """Return whether a value of a measure can be subtracted from one of another, and tells then
    what it did not in the `earlier` systems that it was known in: of how many a mean is may be."""
    if not are_compatible(measure, other):
        return False
    systems, others = {*systems_of(measure)}, {*systems_of(other)}
    common = systems & others if systems and others else systems | others
    return not common or not common <= earlier


def _near_atoms(
    trial: Trial, table: AtomTable, is_fresh: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    owners = table.owners
    sizes = np.zeros(len(trial.after.sizes), np.int64)
    layers, atoms = np.nonzero(table.members >= 0)
    np.add.at(sizes, table.members[layers, atoms], owners.shares[atoms])
    near = near_populations(table.members, owners.shares, sizes, is_fresh, owners.least_share)
    for one, other in zip(near.first.tolist(), near.second.tolist(), strict=True):
        if owners.pairs is None or not owners.are_enough(_differ(table, one, other)):
            yield one, other


def _differ(table: AtomTable, one: int, other: int) -> NDArray[np.bool_]:
    """Return which atoms are in one of two populations alone: (atoms,)."""
    first, second = ((table.members == number).any(axis=0) for number in (one, other))
    return np.asarray(first != second, dtype=np.bool_)


def _near_units(trial: Trial, is_fresh: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a fresh population and a near one, compared by packed bits and labels."""
    sizes, least = np.array(trial.after.sizes, np.int64), trial.after.threshold
    for number in np.flatnonzero(is_fresh).tolist():
        trial.limit.check()
        bits = _bits_of(trial.after, number)
        for block, numbers in trial.after.layers:
            units = _differences(block, bits, trial.after.units, sizes[number])
            is_near = (units > 0) & (units < least) & (numbers >= 0)
            members = _members(trial.after, number)
            for one in numbers[is_near].tolist():
                if not trial.are_enough(members != _members(trial.after, one)):
                    yield number, one


def _differences(
    block: LabelBlock | BitBlock, bits: NDArray[np.uint8], units: int, size: int
) -> NDArray[np.int64]:
    """Return by how many units each population of a block differs from one: (populations,)."""
    if isinstance(block, BitBlock):
        return differing_units(bits, block.bits)
    labels = block.labels
    members = labels[np.unpackbits(bits, count=units).view(np.bool_)]
    common = np.bincount(members[members >= 0], minlength=block.count)
    return np.bincount(labels[labels >= 0], minlength=block.count) + size - 2 * common


def _bits_of(knowledge: Knowledge, number: int) -> NDArray[np.uint8]:
    for block, numbers in knowledge.layers:
        for place in np.flatnonzero(numbers == number):
            if isinstance(block, BitBlock):
                bits: NDArray[np.uint8] = block.bits[place]
                return bits
            return np.packbits(block.labels == place)
    return np.zeros(-(-knowledge.units // 8), np.uint8)
