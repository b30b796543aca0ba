"""Which rows each cell of an answer is about, for the ledger of what was released."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.dominated_totals import least_contributors
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.answer_measures import (
    base_measure,
    is_value_of,
    own_measure,
)
from policy_engine.decision.query.checking.condition_texts import ConditionTexts
from policy_engine.decision.query.checking.distinct_persons import DistinctPersons
from policy_engine.decision.query.checking.evidence_query import BASE, CELLS
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.population_conditions import population_condition
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.checking.unit_columns import is_unit
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.column_relations import ColumnRelations
from policy_engine.release.output_ledger import (
    PERSONS,
    PERSONS_AND_ROWS,
    FindEmptyParts,
    IsSameCondition,
    Measured,
    OutputAnswer,
    OutputCell,
    Populations,
    UnitOwners,
)
from policy_engine.release.output_ledger.known_counts import with_known_counts
from policy_engine.release.telling_differences import ToldDifferences

_OF_VALUES = ("sum:", "mean:", "shape:", "pair:")

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]


@dataclass(frozen=True)
class DatasetRows:
    """The rows of the dataset that has the units: the expression of a row's number in a query.

    Populations are of rows, since a unit with several may be in a cell with some of them: the
    difference of two populations of the same units may be one row. `row_counts` are the rows of
    each unit, `units` the unit of each row, and `values` returns a column of numbers by its name.
    `unfiltered` are the rows that the query reads without its conditions, `is_same_condition`
    compares those, and `empty_parts` tells where somebody in cells of nobody would be. Where it
    `has_nobody`, one number of `units` is that of all rows that name none.
    """

    expression: exp.Expr
    row_counts: "Counts"
    units: "Counts | None" = None
    values: "Callable[[str], NDArray[np.float64] | None] | None" = None
    unfiltered: UnfilteredRows | None = None
    is_same_condition: IsSameCondition | None = None
    empty_parts: FindEmptyParts | None = None
    has_nobody: bool = False

    @cached_property
    def count(self) -> int:
        """How many rows there are, and one for what is joined with none of them."""
        return int(self.row_counts.sum()) + 1

    @property
    def everybody(self) -> "NDArray[np.bool_]":
        """All rows, but not what stands for none of them."""
        return np.arange(self.count) < self.count - 1

    def numbers(self, rows: "pa.ChunkedArray") -> "Counts":
        """Return the numbers of rows, the last one for what is joined with none."""
        numbers: Counts = pc.fill_null(rows.cast(pa.int64()), self.count - 1).to_numpy()
        return numbers

    @property
    def measured(self) -> Measured | None:
        """Which columns follow from others, in all rows of the dataset; None where nobody knows."""
        values = self.values
        if values is None:
            return None

        def without_last(name: str) -> "NDArray[np.float64] | None":
            column = values(name)
            return None if column is None else column[:-1]  # It is of none of the rows.

        return ColumnRelations(without_last).measured

    @property
    def row_owners(self) -> UnitOwners | None:
        """Whose each row is; None where each is somebody else's."""
        if self.units is None or self.row_counts.max(initial=1) <= 1:
            return None
        return UnitOwners(self.units)

    def owners(self, rows: "pa.ChunkedArray") -> "Counts":
        """Return the unit of each of some rows; what is joined with none is one of its own."""
        assert self.units is not None  # noqa: S101 (there are none only in tests)
        return self.units[self.numbers(rows)]

    def least_owners(self, units: int) -> int:
        """Return of how many numbers of `units` rows have to be, so that so many are persons."""
        return units + self.has_nobody

    def least_rows(self, units: int) -> int:
        """Return how many rows are of so many units at least, whosever they are."""
        units = self.least_owners(units)
        most = min(units - 1, len(self.row_counts))
        others = len(self.row_counts) - most
        largest = np.partition(self.row_counts, others)[others:] if most else self.row_counts[:0]
        return int(largest.sum()) + units - len(largest)


@dataclass(frozen=True)
class AnswerScope:
    """What an answer is about for a ledger: the dataset, its data, and the scopes it counts in.

    `name` is what the ledger calls the answer. Where another scope is asked for later, it counts
    `also` under some.
    """

    dataset: str
    data: str
    scopes: tuple[str, ...]
    name: str = ""
    also: tuple[str, ...] = ()


def ledger_answer(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
    members: "Sequence[PopulationRows]",
    scope: AnswerScope,
) -> OutputAnswer:
    """Return a judged answer as the ledger asks for it: each cell with its population.

    `members` are the rows in its cells. The `figure` of a cell is the row of the answer, times the
    aggregates, and the aggregate.
    """
    populations = Populations(dataset_rows.count)
    cells: list[OutputCell] = []
    for part in members:
        pairs = part.numbers, part.places
        more = Populations.of_pairs(*pairs, dataset_rows.count, len(part.rows))
        own = _cells(gathered, verdict, part, len(populations), dataset_rows)
        cells += own
        of_persons = _of_persons(gathered, verdict, part, (len(populations), own), dataset_rows)
        populations = populations.joined(more)
        if of_persons is not None:
            populations = populations.joined(of_persons[0])
            cells += of_persons[1]
    about = (scope.dataset, scope.data, scope.scopes)
    may_tell = _may_tell(dataset_rows, verdict, cells)
    is_same = dataset_rows.is_same_condition
    answer = OutputAnswer(
        *about,
        populations,
        tuple(cells),
        name=scope.name,
        also=scope.also,
        may_tell=may_tell,
        contributing=None if may_tell is None else may_tell.contributing,
        is_same_condition=is_same,
        owners=dataset_rows.row_owners,
        contributions=dataset_rows.values,
        empty_parts=dataset_rows.empty_parts if _hides_zeros(verdict) else None,
        measured=dataset_rows.measured,
    )
    if verdict.check.secondary == "none":
        return answer
    others = _of_values(gathered, members, dataset_rows)
    are_rounded = verdict.check.is_changing_figures
    return with_known_counts(answer, dataset_rows.everybody, others, are_rounded=are_rounded)


def _of_values(
    gathered: GatheredAnswer, members: "Sequence[PopulationRows]", dataset_rows: DatasetRows
) -> "Iterator[NDArray[np.bool_]]":
    """Yield the rows that have a value in the columns of a total, a mean or another statistic of
    all rows, (rows,) each: who has one is known."""
    rows, seen = dataset_rows.unfiltered, set[bytes]()
    for part in members if rows is not None else ():
        if not _is_of_all(gathered, part, rows):
            continue
        is_in = np.zeros(dataset_rows.count, np.bool_)
        is_in[part.numbers] = True
        is_in &= dataset_rows.everybody
        key = np.packbits(is_in).tobytes()
        if key not in seen and not np.array_equal(is_in, dataset_rows.everybody):
            seen.add(key)
            yield is_in


def _is_of_all(
    gathered: GatheredAnswer, part: "PopulationRows", rows: UnfilteredRows | None
) -> bool:
    """Return whether all cells of a part are of statistics of values, without any condition."""
    aggregates = gathered.queries.query.aggregates
    return rows is not None and any(
        aggregates[number].kind not in ("count", "units")
        and part.name == gathered.populations[number][0]
        and not population_condition(gathered.queries, number, rows).parts
        for number in part.aggregates
    )


def _of_persons(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    part: "PopulationRows",
    numbered_cells: tuple[int, list[OutputCell]],
    dataset_rows: DatasetRows,
) -> tuple[Populations, list[OutputCell]] | None:
    """Return the persons in the cells of a part, and the cells that tell how many they are; None if
    none does, or each has one row. That of cells is numbered from a first population on."""
    if dataset_rows.row_owners is None or not len(part.rows):
        return None
    persons = _persons(part, verdict, dataset_rows)
    cells = [*persons.cells(numbered_cells[1], numbered_cells[0])]
    rows, width = dataset_rows.unfiltered, len(gathered.queries.query.aggregates)
    if rows is None or not cells:
        return None
    texts = ConditionTexts(gathered, rows)
    common = {
        number: texts.without_keys(number, is_own=part.name == gathered.populations[number][0])
        for number in part.aggregates
    }
    if persons.count > 1 and not persons.is_small:
        return None
    # That persons are in several cells of a table says nothing of a condition.
    return persons.populations(), [
        replace(one, condition=common[one.figure % width]) for one in cells
    ]


def _persons(
    part: "PopulationRows", verdict: TableVerdict, dataset_rows: DatasetRows
) -> DistinctPersons:
    assert dataset_rows.units is not None  # noqa: S101 (its callers check)
    pairs = part.numbers, part.places
    least = dataset_rows.least_owners(verdict.check.profile.min_units)
    return DistinctPersons(dataset_rows.units, *pairs, len(part.rows), least)


def _hides_zeros(verdict: TableVerdict) -> bool:
    """Return whether it may not be told of withheld cells of nobody that they are."""
    check = verdict.check
    return check.profile.zeros_disclosive and check.secondary != "none"


def _may_tell(
    dataset_rows: DatasetRows, verdict: TableVerdict, cells: Sequence[OutputCell]
) -> ToldDifferences | None:
    """Return which differences of totals may be told; None where there are only units to count."""
    if dataset_rows.units is None or dataset_rows.values is None:
        return None
    is_total = any(cell.measure.startswith(_OF_VALUES) for cell in cells)
    if not is_total and dataset_rows.row_counts.max(initial=1) <= 1:
        return None
    return ToldDifferences(dataset_rows.units, dataset_rows.values, verdict.check.profile)


@dataclass(frozen=True, eq=False)
class PopulationRows:
    """What is in some cells: the `rows` of the answer that they are in, and `aggregates` of it.

    `name` is the column that tells what is in them; `numbers` and `places` are a row of the dataset
    and the place of its row of the answer among these, (members,) each.
    """

    name: str
    rows: "Counts"
    aggregates: Sequence[int]
    numbers: "Counts"
    places: "Counts"


def cell_members(
    gathered: GatheredAnswer, dataset_rows: DatasetRows, tables: "Mapping[str, pa.Table]"
) -> Iterator[PopulationRows]:
    """Yield what is in the cells of each grouping set, for aggregates about the same rows."""
    queries = replace(gathered.queries, unit=dataset_rows.expression)
    for number, keys in enumerate(gathered.queries.query.sets):
        rows = np.flatnonzero(gathered.sets == number)
        keyed = keyed_cells(gathered, rows)
        text = to_sql(queries.memberships(keys), "duckdb")
        members = run_checked({"": text}, {**tables, CELLS: keyed})[""]
        places = members["cell"].to_numpy()
        numbers = dataset_rows.numbers(members["u"])
        for name, aggregates in aggregates_by_population(gathered).items():
            is_in = _is_in(members, name)
            yield PopulationRows(name, rows, aggregates, numbers[is_in], places[is_in])


def has_one_row(gathered: GatheredAnswer) -> bool:
    """Return whether each unit has one row in every row of the answer that it is in."""
    row_counts = gathered.table.measures[0].statistics[0].evidence.rows
    return row_counts is not None and bool(np.array_equal(row_counts, gathered.units))


def keyed_cells(gathered: GatheredAnswer, rows: "Counts") -> "pa.Table":
    """Return the keys of some rows of an answer, and the place "cell" of each among them."""
    keys = [name for name in gathered.cells.column_names if name.startswith("k")]
    columns = {name: gathered.cells[name].take(pa.array(rows)) for name in keys}
    return pa.table({**columns, "cell": np.arange(len(rows))})


def aggregates_by_population(gathered: GatheredAnswer) -> dict[str, list[int]]:
    """Return the aggregates about each population, by the column that tells what is in it."""
    groups: dict[str, list[int]] = {}
    for number, aggregate in enumerate(gathered.queries.query.aggregates):
        if aggregate.kind != "extreme":
            for name in gathered.populations[number]:
                groups.setdefault(name, []).append(number)
    return groups


def _is_in(members: "pa.Table", name: str) -> "NDArray[np.bool_]":
    if name in ("", BASE):
        return np.ones(members.num_rows, dtype=np.bool_)
    return np.asarray(members[name].to_numpy() > 0, dtype=np.bool_)


def _cells(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    part: PopulationRows,
    first: int,
    dataset_rows: DatasetRows,
) -> list[OutputCell]:
    profile = verdict.check.profile
    least = dataset_rows.least_rows(profile.min_units)
    least_of_values = dataset_rows.least_rows(least_contributors(profile))
    rows, cells, width = dataset_rows.unfiltered, [], len(gathered.queries.query.aggregates)
    for number in part.aggregates:
        measures = _measures(gathered, number, part, verdict, dataset_rows)
        measure = next(iter(measures), "")
        is_value = is_value_of(gathered.queries.query.aggregates[number], measure)
        values = gathered.table.values[part.rows, number].tolist()
        released = verdict.released[part.rows, number].tolist()
        is_own = part.name == gathered.populations[number][0]
        texts = [""] * len(part.rows)
        if rows is not None:
            texts = ConditionTexts(gathered, rows).of_cells(
                number, part.rows.tolist(), is_own=is_own
            )
        cells += [
            OutputCell(
                first + place,
                measures[place],
                _finite(value) if is_value else None,
                least_of_values if measures[place].startswith(_OF_VALUES) else least,
                is_released,
                condition=text,
                figure=int(part.rows[place]) * width + number,
            )
            for place, (value, is_released, text) in enumerate(
                zip(values, released, texts, strict=True)
            )
        ]
    return cells


def _measures(
    gathered: GatheredAnswer,
    number: int,
    part: PopulationRows,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
) -> list[str]:
    """Return the measure of an aggregate in each row of a part: of a number of persons, it depends
    on how many of them have several rows. If these are few, their rows are nearly as many."""
    measure = _measure(gathered, number, part.name)
    if measure != PERSONS or dataset_rows.units is None:
        return [measure] * len(part.rows)
    is_enough = _persons(part, verdict, dataset_rows).have_several
    return [PERSONS if one else PERSONS_AND_ROWS for one in is_enough.tolist()]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _measure(gathered: GatheredAnswer, number: int, population: str) -> str:
    """Return the measure of an aggregate about one of its populations, of a kind of its own if it
    is not the one that the aggregate is of."""
    aggregate = gathered.queries.query.aggregates[number]
    is_own = population == gathered.populations[number][0]
    if is_own and aggregate.kind == "units":
        unit = gathered.queries.unit
        if unit is not None and is_unit(aggregate.arguments[0], unit):
            return PERSONS
    return own_measure(aggregate) if is_own else base_measure(aggregate)
