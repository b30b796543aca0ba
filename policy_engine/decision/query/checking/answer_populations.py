"""Which units of privacy each cell of an answer is about, for the ledger of what was released."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.checked_query import CheckedAggregate
from policy_engine.decision.query.checking.evidence_query import CELLS
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, run_checked
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import OutputAnswer, OutputCell, Populations

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]


@dataclass(frozen=True)
class UnitNumbers:
    """The units of a dataset in their order, and the expression of a row's unit in a query.

    Without `values` each row is a unit, and the expression is its number.
    """

    expression: exp.Expr
    count: int
    values: "pa.Array | None" = None

    @classmethod
    def of_column(cls, expression: exp.Expr, column: "pa.ChunkedArray") -> "UnitNumbers":
        """Return the numbers of the units in a column of all rows of a dataset."""
        values = pc.unique(column).drop_null()
        ordered = values.take(pc.sort_indices(values))
        return cls(expression, len(ordered), ordered)

    def numbers(self, units: "pa.ChunkedArray") -> "Counts":
        """Return the numbers of units, below 0 for one that is missing."""
        column = units
        if self.values is not None:
            column = pc.index_in(units.cast(self.values.type), value_set=self.values)
        numbers: Counts = pc.fill_null(column, -1).cast(pa.int64()).to_numpy()
        return numbers


@dataclass(frozen=True)
class AnswerScope:
    """What an answer is about for a ledger: the dataset, its data, and the scopes it counts in."""

    dataset: str
    data: str
    scopes: tuple[str, ...]


def ledger_answer(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    units: UnitNumbers,
    tables: "Mapping[str, pa.Table]",
    scope: AnswerScope,
) -> OutputAnswer:
    """Return a judged answer as the ledger asks for it: each cell with its population."""
    queries = replace(gathered.queries, unit=units.expression)
    populations = Populations(units.count)
    cells: list[OutputCell] = []
    row_counts = gathered.table.measures[0].statistics[0].evidence.rows
    has_one_row = row_counts is not None and bool(np.array_equal(row_counts, gathered.units))
    for number, keys in enumerate(gathered.queries.query.sets):
        rows = np.flatnonzero(gathered.sets == number)
        keyed = _keyed_cells(gathered, rows)
        text = to_sql(queries.memberships(keys), "duckdb")
        members = run_checked({"": text}, {**tables, CELLS: keyed})[""]
        places = members["cell"].to_numpy()
        numbers = units.numbers(members["u"])
        for place, aggregates in aggregates_by_population(gathered).items():
            is_in = _is_in(members, place) & (numbers >= 0)
            more = Populations.of_pairs(numbers[is_in], places[is_in], units.count, len(rows))
            cells += _cells(gathered, verdict, aggregates, rows, len(populations), has_one_row)
            populations = populations.joined(more)
    return OutputAnswer(scope.dataset, scope.data, scope.scopes, populations, tuple(cells))


def _keyed_cells(gathered: GatheredAnswer, rows: "Counts") -> "pa.Table":
    keys = [name for name in gathered.cells.column_names if name.startswith("k")]
    columns = {name: gathered.cells[name].take(pa.array(rows)) for name in keys}
    return pa.table({**columns, "cell": np.arange(len(rows))})


def aggregates_by_population(gathered: GatheredAnswer) -> dict[str, list[int]]:
    """Return the aggregates about each population, by the column that tells who is in it."""
    groups: dict[str, list[int]] = {}
    for number, aggregate in enumerate(gathered.queries.query.aggregates):
        if aggregate.kind != "extreme":
            groups.setdefault(gathered.populations[number], []).append(number)
    return groups


def _is_in(members: "pa.Table", name: str) -> "NDArray[np.bool_]":
    if not name:
        return np.ones(members.num_rows, dtype=np.bool_)
    return np.asarray(members[name].to_numpy() > 0, dtype=np.bool_)


def _cells(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    aggregates: Sequence[int],
    rows: "Counts",
    first: int,
    has_one_row: bool,
) -> list[OutputCell]:
    cells = []
    for number in aggregates:
        measure = _measure(gathered.queries.query.aggregates[number], has_one_row=has_one_row)
        values = gathered.table.values[rows, number].tolist()
        released = verdict.released[rows, number].tolist()
        least = verdict.check.profile.min_units
        cells += [
            OutputCell(first + place, measure, _finite(value), least, is_released)
            for place, (value, is_released) in enumerate(zip(values, released, strict=True))
        ]
    return cells


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _measure(aggregate: CheckedAggregate, *, has_one_row: bool) -> str:
    """Return the measure of an aggregate: a linear one only where each unit has one row."""
    if aggregate.kind == "units" or (aggregate.kind == "count" and has_one_row):
        return "count"
    [argument, *others] = [*aggregate.arguments, None]
    is_column = isinstance(argument, exp.Column) and len(others) == 1
    if aggregate.kind == "total" and has_one_row and is_column:
        is_mean = isinstance(aggregate.function, exp.Avg)
        return f"{'mean' if is_mean else 'sum'}:{argument.name}"
    is_count = isinstance(aggregate.function, exp.Sum) and aggregate.low == "0"
    if aggregate.kind == "binary" and has_one_row and is_count and not is_column:
        return "count"
    return aggregate.text
