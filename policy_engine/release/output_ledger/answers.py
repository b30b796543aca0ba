"""What is asked of an output ledger: an answer, its cells, and what must stay unknown of them."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import LedgerError
from policy_engine.release.column_relations import MeasuredColumn
from policy_engine.release.output_ledger.populations import Populations
from policy_engine.release.output_ledger.unit_owners import UnitOwners

COUNT, PERSONS, PERSONS_AND_ROWS = "count", "persons", "persons and rows"
DISTINCT_PERSONS = "distinct persons"
"""The number of persons of whom a population has one unit each."""
ROUNDED_COUNT, EXACT_COUNT = "rounded count", "exact count"
"""A count that is shown rounded or with noise; and one that is known exactly all the same, which is
the linear system of all these, too. Where no count is rounded, that is the system of all counts."""
_SUM, _MEAN, _PAIR, _SHAPE, _HELD = "sum:", "mean:", "pair:", "shape:", "held:"
_VALUES = "values:"
_ROWS_TOLD, _PERSONS_TOLD, _SET_TOLD = "rows told:", "persons told:", "set told:"
_PERSONS_SET_TOLD, _NEAR, _NEAR_HELD = "persons set told:", "near:", "near held:"
_BY_RANK, _COMPARED = "by rank:", "compared:"
STATISTICS = "statistics:"
"""The linear systems of all statistics of a column."""
_SPREADS = ("std", "var", "sem", "skew")
"""What outputs of sessions tell of how a column is spread."""
_PRODUCTS = "products:"
AMOUNTS, EQUATIONS = "amounts:", "equations:"
"""The linear systems of all that is told of a column about those who have something in it: what it
is told of, and how many equations there are, of which there may be several of one population."""
_RANKED = ("MEDIAN", "QUANTILE", "PERCENTILE", "APPROX", "MODE")

Bounds = Mapping[str, tuple[float, float]]
MayTell = Callable[[str, NDArray[np.bool_], NDArray[np.bool_]], bool]
"""Whether what a figure of some units and one of others, (units,) each, differ by may be told."""
Contributing = Callable[[str, NDArray[np.int64] | None], Sequence[NDArray[np.bool_]]]
"""Which units add something to what is told of a column, (units,), as far as it may be known who
does not; for each way by which others may be known, as by the part that each is in, (units,), if
this is given. There is none where nothing is known."""
Contributions = Callable[[str], NDArray[np.float64] | None]
"""What each unit has in a column, (units,), NaN where it has nothing; None where nobody knows."""


class EmptyParts(NamedTuple):
    """Where those would be who were in cells of nobody, by groups of such persons.

    `sums` are the places of cells without a unit in common; each cell is one by itself. `tables`
    are the same number for the cells of one table, (sums,). Of a group, all are in a sum
    (`are_within`) or some (`are_split`), (sums, groups) each, or else none. `kinds` are the same
    number for the groups of the cells of nobody of one table, (groups,).
    """

    sums: tuple[tuple[int, ...], ...]
    tables: NDArray[np.int64]
    are_within: NDArray[np.bool_]
    are_split: NDArray[np.bool_]
    kinds: NDArray[np.int64]


FindEmptyParts = Callable[[Sequence[str], Sequence[str]], EmptyParts]
"""Returns who would be in cells of nobody, and in which others, by the conditions of both."""
IsSameCondition = Callable[[str, str], bool]
"""Whether two conditions hold of the same units, whatever the secret of any of them is."""
Measured = Callable[[str, Sequence[str]], MeasuredColumn]
"""What a column is measured as after others, by their names: as one of them, in other units."""


class SecretValues(NamedTuple):
    """The values of a column of few: the `codes` of units, (units,), -1 of those who have none, and
    the name of each value."""

    codes: NDArray[np.int64]
    names: tuple[str, ...]


Holders = Mapping[str, NDArray[np.bool_]]
"""Of whom something holds, (units,), by the measure of how many they are."""


@dataclass(frozen=True)
class Protection:
    """How far from a suppressed value what can be derived of it must reach, on both sides.

    It is the larger of a share of the value and an amount. Without either, it is enough that the
    value cannot be derived exactly.
    """

    share: float = 0.0
    below: float = 0.0
    above: float = 0.0

    def reach(self, value: float) -> tuple[float, float]:
        """Return how far below and above a value what can be derived of it must reach."""
        return max(self.share * abs(value), self.below), max(self.share * abs(value), self.above)

    @property
    def is_interval(self) -> bool:
        """Whether more is asked than that the value is not derived exactly."""
        return max(self.share, self.below, self.above) > 0


@dataclass(frozen=True)
class OutputCell:
    """One measure of one population of an answer.

    `measure` is `count` (of distinct units), `rounded count` where it is shown in another form,
    `exact count` where it is known to everybody all the same, `sum:COLUMN` for a column of the data
    as it is, never for an expression, `mean:COLUMN` (its sum and its count are known to who knows
    the others), `persons`, the number of owners, where enough of them have several units, and
    otherwise `persons and rows` (the count is then known, too), `distinct persons`, their number
    where the population has one unit of each, a `held_measure`, a `near_held_measure`, a
    `rows_told_measure`, a
    `persons_told_measure`, a `set_told_measure`, a `persons_set_told_measure`, a `near_measure`, a
    `values_measure`, a `shape_measure`, a `pair_measure`, or any other key: of a measure that is
    none of these nothing is known but its population, so that it is compared with all measures.
    `value` is the exact value before any rounding, None where it is not a number or not known. A
    suppressed cell is one that is not released. No combination of what is released may tell of
    fewer than `threshold` units.
    `condition` is what the units of the population satisfy, empty where that is not known. Cells of
    one `figure`, a number of at least 0, are released together or not at all.
    """

    population: int
    measure: str
    value: float | None
    threshold: int
    is_released: bool = True
    protection: Protection = Protection()
    condition: str = ""
    figure: int = -1


@dataclass(frozen=True, eq=False)
class OutputAnswer:
    """An answer about one dataset: the populations of its cells, and the cells.

    `data` is the digest of the data that it is computed from, `scopes` are the keys under which
    it is recorded, such as `assignee:URI`, `organisation:URI`, `project:URI` or `dataset:URI`: it
    is checked against all earlier answers about the dataset that share one of them. `bounds` are
    the least and the largest contribution of one unit to the sum of a column, where they are known.
    `name` is what the owner calls the answer, such as the digest of its query. `may_tell` says
    which differences of released figures may be told, `is_same_condition` whether two populations
    have the same units by more than chance; both are about the same data as earlier answers.
    `holders` are those of whom something holds, for each `held_measure` of the cells; of the
    `one_sided` ones it may be known that some units are none, only not that all are. A cell of such
    a measure has a value where it tells by itself that all units are holders, or none is, and may.
    `contributions` are what units have in the columns that released totals are of. `empty_parts`
    is given where it may not be told of suppressed cells of nobody that they are. `measured` says
    which columns follow from others: a ledger that knows one of these measures totals, means and
    other statistics of a column by it.
    `contributing` tells who adds something to what is told of a column: of these, there have to be
    enough.
    `secret_values` are those of the columns of `set_told_measure`s.
    `known` are cells that everybody knows whoever asks, such as the number of all units: they are
    added to what is known before the answer is judged, and are recorded with it.
    `owners` are whose the units are, where somebody may have several: a threshold is then so many
    units that they are of enough owners, whosever they are. Where a person has `accepted` the
    answer, who that is: what it releases need not stay unknown any more, though it was suppressed
    before, and what the ledger cannot decide is that person's decision.
    """

    dataset: str
    data: str
    scopes: tuple[str, ...]
    populations: Populations
    cells: tuple[OutputCell, ...]
    bounds: Bounds = field(default_factory=dict)
    name: str = ""
    may_tell: MayTell | None = None
    is_same_condition: IsSameCondition | None = None
    holders: Holders = field(default_factory=dict)
    owners: UnitOwners | None = None
    one_sided: frozenset[str] = frozenset()
    contributions: Contributions | None = None
    empty_parts: FindEmptyParts | None = None
    measured: Measured | None = None
    accepted: str = ""
    contributing: Contributing | None = None
    secret_values: Mapping[str, SecretValues] = field(default_factory=dict)
    known: tuple[OutputCell, ...] = ()
    also: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise LedgerError (K037) if the answer cannot be checked as it is."""
        texts = (self.dataset, self.data, *self.scopes)
        if not self.scopes or not all(isinstance(one, str) and one for one in texts):
            raise LedgerError.of("K037", "An answer names its dataset, its data and its scopes.")
        count, units = len(self.populations), self.populations.units
        for cell in (*self.cells, *self.known):
            if not 0 <= cell.population < count or not cell.measure or cell.threshold < 1:
                message = f"A cell has one of {count} populations, a measure and a threshold of 1 "
                raise LedgerError.of("K037", f"{message}or more. {cell!r} was given.")
            if cell.value is not None and not math.isfinite(cell.value):
                message = "The value of a cell is a finite number, or None. "
                raise LedgerError.of("K037", f"{message}{cell.value!r} was given.")
            if is_held(cell.measure) and len(self._holders(cell.measure)) != units:
                message = f"Of {units:,} units, it is told of whom {cell.measure!r} holds."
                raise LedgerError.of("K037", message)
        for column, (least, most) in self.bounds.items():
            if not -math.inf <= least <= most <= math.inf:
                message = f"Bounds are a least and a largest contribution. {column!r} has others."
                raise LedgerError.of("K037", message)

    def _holders(self, measure: str) -> Sequence[bool] | NDArray[np.bool_]:
        """Return of whom it holds what a measure tells how many they are."""
        return self.holders.get(exact_held(measure), ())


CellState = Literal["released", "suppressed", "review"]
OutcomeState = Literal["recorded", "repeated", "refused", "review"]


_Single = Literal["population", "difference", "withheld", "alike"]
_Several = Literal["statistics", "combination", "undecided", "related", "data"]
ToldKind = _Single | _Several


@dataclass(frozen=True)
class ToldCell:
    """A released cell: what it measures, of how many units, under which condition, empty where that
    is not known, and in which entry of the ledger: 0 for the answer itself."""

    measure: str
    units: int
    condition: str
    entry: int


LimitKind = Literal[
    "atoms", "populations", "populations times atoms", "units", "seconds", "solver", "value"
]


@dataclass(frozen=True)
class MetLimit:
    """What keeps the ledger from deciding: how many there are of something, if that is known, and
    how many there may be.

    `atoms` are units that no population tells apart; `units` those that differences of populations
    are compared by; `seconds` are of the processor, or of the clock for one system of bounds.
    There is no `solver` for linear programmes, or no `value` of a cell that bounds rest on.
    """

    of: LimitKind
    size: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class ToldFigures:
    """What `cells` would tell together, for owners and auditors alone.

    `population`: the cell itself is of so few; `difference`: of those that two cells differ by;
    `statistics`: how many statistics of a column there are of so few; `combination`: of those whom
    a linear combination of cells is about; `undecided`: it is not known in time of whom
    combinations of these cells are, or a `limit` is met within which the ledger decides; `related`:
    from which columns, its `names`, a figure follows, of which something is withheld; `data`: which
    data earlier answers were about, the digests being its `names`; `withheld`: what a withheld cell
    is; `alike`: that all of some are holders, or none is, or have the least in a column, or the
    most. It is about so many `units`, which `owners` have, 0 where that is not looked at, and what
    would follow is between `low` and `high`, if that is known.
    """

    kind: ToldKind
    units: int
    owners: int
    low: float | None = None
    high: float | None = None
    cells: tuple[ToldCell, ...] = ()
    limit: MetLimit | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellOutcome:
    """What became of a cell, and the code of the reason if it may not be released.

    What it would have `told` is for owners and auditors alone.
    """

    state: CellState
    code: str = ""
    told: ToldFigures | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class LedgerOutcome:
    """What became of an answer and of each of its cells, in their order.

    `recorded`: the cells whose state is released may leave, and are in the ledger as entry
    `number`, which has the `hash`. `repeated`: all of them were released before, under the entries
    of the same scopes.
    `refused` and `review`: nothing may leave, and nothing was recorded; for `review`, the limits
    within which the ledger decides are too narrow for the answer, and a person has to. `head` is
    that of the ledger afterwards, NUMBER:HASH, and it `is_begun` if there was no ledger before.
    """

    state: OutcomeState
    cells: tuple[CellOutcome, ...]
    number: int = 0
    hash: str = ""
    head: str = ""
    is_begun: bool = False

    @property
    def may_leave(self) -> bool:
        """Whether the released cells may leave."""
        return self.state in ("recorded", "repeated")

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons, each once, in the order of the cells."""
        return tuple(dict.fromkeys(cell.code for cell in self.cells if cell.code))


@cache
def systems_of(measure: str) -> tuple[str, ...]:
    """Return the linear systems that the value of a measure is known in; none for all of them."""
    own = (
        *(_SUM, _HELD, _NEAR_HELD, _VALUES, _ROWS_TOLD, _PERSONS_TOLD),
        *(_SET_TOLD, _PERSONS_SET_TOLD, _NEAR, _BY_RANK, _COMPARED),
    )
    if measure in (COUNT, EXACT_COUNT, PERSONS, DISTINCT_PERSONS) or measure.startswith(own):
        return (measure,)
    if measure == ROUNDED_COUNT:
        return (COUNT,)
    if measure == PERSONS_AND_ROWS:
        return (COUNT, PERSONS)
    if measure.startswith(_MEAN):
        return (COUNT, f"{_SUM}{measure.removeprefix(_MEAN)}")
    return ()


def pair_measure(columns: Sequence[str], statistic: str) -> str:
    """Return the measure of a statistic of two columns, such as a correlation."""
    return f"{_PAIR}{json.dumps([*columns])}:{statistic}"


def pair_of(measure: str) -> str:
    """Return the two columns that a measure is a statistic of; empty for other measures."""
    return measure.removeprefix(_PAIR).rpartition("]:")[0] if measure.startswith(_PAIR) else ""


def shape_measure(columns: Sequence[str], statistic: str) -> str:
    """Return the measure of a statistic of a column that is no total, such as a variance."""
    return f"{_SHAPE}{json.dumps([*columns])}:{statistic}"


@cache
def statistic_columns(measure: str) -> frozenset[str]:
    """Return the columns that a measure tells more of than totals; none of counts and totals."""
    if not measure.startswith((_PAIR, _SHAPE)):
        return frozenset()
    columns, _ = json.JSONDecoder().raw_decode(measure.partition(":")[2])
    return frozenset(columns)


@cache
def spread_column(measure: str) -> str:
    """Return the column that a measure of a session, FUNCTION:COLUMN:SHARE, tells the spread of;
    empty for other measures."""
    function, _, rest = measure.partition(":")
    return rest.rpartition(":")[0] if function in _SPREADS else ""


@cache
def told_systems(measure: str) -> tuple[str, ...]:
    """Return the systems in which two figures of a measure tell what they differ by: those that are
    linear, and those of how a column is spread. A statistic of two columns is one of each of them,
    and of their products."""
    if column := spread_column(measure):
        return (f"{STATISTICS}{column}",)
    name, columns = measure.rpartition("]:")[2], sorted(statistic_columns(measure))
    own = tuple(f"{STATISTICS}{column}" for column in columns)
    if measure.startswith(_PAIR):
        return (*own, f"{_PRODUCTS}{json.dumps(columns)}")
    if measure.startswith(_SHAPE) and not name.upper().startswith(_RANKED):
        return own
    return systems_of(measure)


@cache
def told_columns(measure: str) -> frozenset[str]:
    """Return the columns of which two figures of a measure tell what they differ by, and the system
    of the products of two."""
    systems = told_systems(measure)
    columns = {column_of(one) or statistics_of(one) for one in systems} - {""}
    return frozenset(columns | {one for one in systems if product_columns(one)})


def held_measure(holders: NDArray[np.bool_]) -> str:
    """Return the measure of how many units of a population are some `holders`, (units,), or not.

    Its populations are those of whom all is known but that. Who knows how many are not, knows how
    many are: it is one measure.
    """
    digest = hashlib.sha256(np.packbits(holders ^ holders[:1]).tobytes()).hexdigest()
    return f"{_HELD}{digest[:32]}"


def values_measure(column: str) -> str:
    """Return the measure that marks a count of the units that have one value of a column."""
    return f"{_VALUES}{column}"


def valued_column(measure: str) -> str:
    """Return the column of a `values_measure`; empty for other measures."""
    return measure.removeprefix(_VALUES) if measure.startswith(_VALUES) else ""


def is_of_its_own(measure: str) -> bool:
    """Return whether a measure, or its linear system, says nothing by its population: how many
    units are some holders, or that a count is of one value."""
    return measure.startswith((_HELD, _NEAR_HELD, _VALUES)) or is_mark(measure)


def is_held(measure: str) -> bool:
    """Return whether a measure, or its linear system, is how many units are some holders, or nearly
    how many."""
    return measure.startswith((_HELD, _NEAR_HELD))


def near_held_measure(held: str) -> str:
    """Return the measure that marks a figure by which it is nearly known how many units are some
    holders, by the `held_measure` of these: what it tells with exact ones, they would tell with the
    exact number."""
    return f"{_NEAR_HELD}{held.removeprefix(_HELD)}"


def exact_held(measure: str) -> str:
    """Return the `held_measure` that a `near_held_measure` is of; other measures as they are."""
    if not measure.startswith(_NEAR_HELD):
        return measure
    return f"{_HELD}{measure.removeprefix(_NEAR_HELD)}"


def rows_told_measure(held: str) -> str:
    """Return the measure that marks a figure by which it is known how many units are some holders,
    by the `held_measure` of these. Its holders are the others of the first unit that may be."""
    return f"{_ROWS_TOLD}{held.removeprefix(_HELD)}"


def held_of(rows_told: str) -> str:
    """Return the `held_measure` that a `rows_told_measure` is of."""
    return f"{_HELD}{rows_told.removeprefix(_ROWS_TOLD)}"


def persons_told_measure(rows_told: str, *, of_holders: bool) -> str:
    """Return the measure of how many owners have a unit in a population that is a holder, or that
    is none, by the `rows_told_measure` of these."""
    return f"{_PERSONS_TOLD}{'+' if of_holders else '-'}{rows_told.removeprefix(_ROWS_TOLD)}"


def is_owned(measure: str) -> bool:
    """Return whether a measure marks how many units, or their owners, are some holders."""
    return measure.startswith((_ROWS_TOLD, _PERSONS_TOLD))


class ToldSet(NamedTuple):
    """Of which values of a column it is told how many units have one: that some have none of them
    may be told, if it `is_one_sided`."""

    column: str
    values: frozenset[str]
    is_one_sided: bool


def set_told_measure(one: ToldSet) -> str:
    """Return the measure that marks a figure by which it is known how many units have one of some
    values of a column."""
    return f"{_SET_TOLD}{json.dumps([one.column, sorted(one.values), one.is_one_sided])}"


@cache
def set_told(measure: str) -> ToldSet | None:
    """Return what a `set_told_measure` marks; None of other measures."""
    if not measure.startswith(_SET_TOLD):
        return None
    column, values, is_one_sided = json.loads(measure.removeprefix(_SET_TOLD))
    return ToldSet(column, frozenset(values), is_one_sided)


def persons_set_told_measure(one: ToldSet) -> str:
    """Return the measure that marks a figure by which it is known how many owners have a unit with
    one of some values of a column."""
    return f"{_PERSONS_SET_TOLD}{set_told_measure(one).removeprefix(_SET_TOLD)}"


def persons_set_told(measure: str) -> ToldSet | None:
    """Return what a `persons_set_told_measure` marks; None of other measures."""
    if not measure.startswith(_PERSONS_SET_TOLD):
        return None
    return set_told(f"{_SET_TOLD}{measure.removeprefix(_PERSONS_SET_TOLD)}")


def rank_measure(column: str) -> str:
    """Return the measure that marks a figure by the rank of a column's values, as a percentile."""
    return f"{_BY_RANK}{column}"


def compared_measure(column: str) -> str:
    """Return the measure that marks a count of units that a column's values choose."""
    return f"{_COMPARED}{column}"


def ranked_column(measure: str) -> str:
    """Return the column of a `rank_measure`; empty for other measures."""
    return measure.removeprefix(_BY_RANK) if measure.startswith(_BY_RANK) else ""


def compared_column(measure: str) -> str:
    """Return the column of a `compared_measure`; empty for other measures."""
    return measure.removeprefix(_COMPARED) if measure.startswith(_COMPARED) else ""


def near_measure(low: float, high: float) -> str:
    """Return the measure that marks a count as known to lie between two ends: by a rounded figure
    or one with noise."""
    return f"{_NEAR}{json.dumps([low, high])}"


@cache
def near_ends(measure: str) -> tuple[float, float] | None:
    """Return between what a `near_measure` says that a count lies; None of other measures."""
    if not measure.startswith(_NEAR):
        return None
    low, high = json.loads(measure.removeprefix(_NEAR))
    return low, high


def is_mark(measure: str) -> bool:
    """Return whether a measure marks a figure whose value is another measure's."""
    marks = _SET_TOLD, _PERSONS_SET_TOLD, _NEAR, _BY_RANK, _COMPARED, EXACT_COUNT
    return is_owned(measure) or measure.startswith(marks)


def is_exact_count(measure: str) -> bool:
    """Return whether a measure tells a count exactly, or may, even where counts are rounded."""
    if is_of_its_own(measure):
        return measure == EXACT_COUNT
    return measure != ROUNDED_COUNT and (COUNT in systems_of(measure) or not systems_of(measure))


def are_counts(system: str) -> bool:
    """Return whether a linear system is of counts of units."""
    return system in (COUNT, EXACT_COUNT)


def counts_holders(persons_told: str) -> bool:
    """Return whether a `persons_told_measure` counts the owners of holders, and not of others."""
    return persons_told.startswith(f"{_PERSONS_TOLD}+")


def rows_told_of(measure: str) -> str:
    """Return the `rows_told_measure` of the holders of an owned measure."""
    return f"{_ROWS_TOLD}{measure.partition(':')[2].lstrip('+-')}"


def column_of(system: str) -> str:
    """Return the column that a linear system is about; empty for counts."""
    return system.removeprefix(_SUM) if system.startswith(_SUM) else ""


def statistics_of(system: str) -> str:
    """Return the column that a system is of all statistics of; empty for others."""
    return system.removeprefix(STATISTICS) if system.startswith(STATISTICS) else ""


def product_columns(system: str) -> tuple[str, ...]:
    """Return the columns that a system is of the products of; none for others."""
    is_own = system.startswith(_PRODUCTS)
    return tuple(json.loads(system.removeprefix(_PRODUCTS))) if is_own else ()
