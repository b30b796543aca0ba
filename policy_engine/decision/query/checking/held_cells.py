"""What the counts, totals and means of an answer tell of the secrets that decide on conditions.

Of each such figure, the ledger is also told among which rows a secret column decides whether they
count, how many of these have a secret of that kind, and whose it is: no answers together may tell
that some persons are all of that kind, or none is. A total tells as much where what is added up is
known.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.answer_populations import DatasetRows, keyed_cells
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_query import CELLS
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.population_conditions import (
    PopulationCondition,
    key_columns,
    population_condition,
)
from policy_engine.decision.query.checking.secret_profiles import (
    ROW,
    DecidedRows,
    SecretProfiles,
)
from policy_engine.decision.query.checking.sql_nodes import named, rows_of
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    Populations,
    held_measure,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Masks = NDArray[np.bool_]

_TELLING = ("count", "units", "binary", "total")


def with_held_cells(
    answer: OutputAnswer,
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
    tables: "Mapping[str, pa.Table]",
) -> OutputAnswer:
    """Return an answer with cells of what its released figures tell of secrets.

    Raises NotCheckableError: K022 if the query fails, K046 for values that are too many.
    """
    rows = dataset_rows.unfiltered
    conditions = {} if rows is None else _conditions(gathered, verdict, rows)
    if rows is None or not conditions:
        return answer
    held = _HeldCells(gathered, verdict, dataset_rows, rows, tables)
    parts = [*held.parts(conditions)]
    cells, populations, holders = [*answer.cells], answer.populations, dict(answer.holders)
    least = dataset_rows.least_rows(verdict.check.profile.min_units)
    for part in parts:
        measure = held_measure(part.holders)
        holders[measure] = part.holders
        cells += part.cells(measure, len(populations), least)
        populations = populations.joined(part.populations)
    return replace(answer, cells=tuple(cells), populations=populations, holders=holders)


def _conditions(
    gathered: GatheredAnswer, verdict: TableVerdict, rows: UnfilteredRows
) -> dict[str, tuple[PopulationCondition, list[int]]]:
    """Return the conditions of released figures, by their texts, and the aggregates under each."""
    conditions: dict[str, tuple[PopulationCondition, list[int]]] = {}
    for number, aggregate in enumerate(gathered.queries.query.aggregates):
        if aggregate.kind in _TELLING and verdict.released[:, number].any():
            condition = population_condition(gathered.queries, number, rows)
            if condition.parts:
                conditions.setdefault(condition.text, (condition, []))[1].append(number)
    return conditions


@dataclass(frozen=True, eq=False)
class _HeldPart:
    """Populations of rows that a secret decides on, those who have it, and the figures of each."""

    populations: Populations
    holders: "NDArray[np.bool_]"
    figures: tuple[tuple[int, int], ...]

    def cells(self, measure: str, first: int, least: int) -> Iterator[OutputCell]:
        """Yield the cells of the figures, whose populations are numbered from `first` on."""
        for place, figure in self.figures:
            yield OutputCell(first + place, measure, None, least, figure=figure)


@dataclass(frozen=True, eq=False)
class _HeldCells:
    gathered: GatheredAnswer
    verdict: TableVerdict
    dataset_rows: DatasetRows
    rows: UnfilteredRows
    tables: "Mapping[str, pa.Table]"

    def parts(
        self, conditions: Mapping[str, tuple[PopulationCondition, list[int]]]
    ) -> Iterator[_HeldPart]:
        """Yield the populations that secrets decide on, for each set of keys and condition."""
        row = self.rows.resolved(self.dataset_rows.expression)
        several = [one for one, _ in conditions.values()]
        profiles = SecretProfiles.of(self.rows.source, row, several, self.tables)
        numbers = profiles.numbers
        unit = self.gathered.queries.unit
        unit_name = "" if unit is None else self.rows.resolved(unit).unnest().sql("duckdb")
        places = [self._places(number, row) for number in range(len(self._sets))]
        for place, (_, aggregates) in enumerate(conditions.values()):
            for decided in profiles.decided(place):
                if decided.column == unit_name:
                    continue  # Who somebody is counts as known.
                for number, own in enumerate(places):
                    if decided.column not in self._settled(number):
                        yield from self._part(number, own[numbers], numbers, decided, aggregates)

    @property
    def _sets(self) -> tuple[tuple[int, ...], ...]:
        return self.gathered.queries.query.sets

    def _settled(self, number: int) -> frozenset[str]:
        keys = self.gathered.queries.query.keys
        return key_columns(self.rows.resolved(keys[key]) for key in self._sets[number])

    def _places(self, number: int, row: exp.Expr) -> "Counts":
        """Return the place of each row's cell in a grouping set, -1 for none: (rows,)."""
        keys, rows = self._sets[number], np.flatnonzero(self.gathered.sets == number)
        places = np.full(self.dataset_rows.count, -1 if keys else min(len(rows), 1) - 1)
        if not keys or not self.verdict.released[rows].any():
            return places
        select = self.rows.source.copy()
        resolved = [self.rows.resolved(self.gathered.queries.query.keys[key]) for key in keys]
        entries = [named(tried(one), f"k{key}") for key, one in zip(keys, resolved, strict=True)]
        select.set("expressions", [*entries, named(row.copy(), ROW)])
        same = [
            exp.NullSafeEQ(
                this=exp.column(f"k{key}", table="r", quoted=True),
                expression=exp.column(f"k{key}", table=CELLS, quoted=True),
            )
            for key in keys
        ]
        joined = rows_of(select, [exp.column("cell", table=CELLS, quoted=True), _row()])
        joined = joined.join(exp.table_(CELLS, quoted=True), on=exp.and_(*same), join_type="inner")
        joined = joined.where(exp.Not(this=exp.Is(this=_row(), expression=exp.null())))
        cells = keyed_cells(self.gathered, rows)
        members = run_checked({"": to_sql(joined, "duckdb")}, {**self.tables, CELLS: cells})[""]
        places[self.dataset_rows.numbers(members[ROW])] = members["cell"].to_numpy()
        return places

    def _varies(self, number: int, places: "Counts", decided: DecidedRows) -> "Masks":
        """Return whether there are both kinds of secrets in the cells of each row: (rows,).

        A key that is computed of the secret counts as known, and may settle it.
        """
        keys = self.gathered.queries.query.keys
        bound = [
            key
            for key in self._sets[number]
            if decided.column in columns_of(self.rows.resolved(keys[key]))
        ]
        if not bound:
            return np.ones(len(places), np.bool_)
        codes = self.gathered.table.codes[self.gathered.sets == number][:, bound]
        groups = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
        is_placed, varies = places >= 0, np.zeros(len(places), np.bool_)
        own, holders = groups[places[is_placed]], decided.holders[is_placed]
        sizes, held = np.bincount(own), np.bincount(own, holders)
        varies[is_placed] = ((held > 0) & (held < sizes))[own]
        return varies

    def _part(
        self,
        number: int,
        places: "Counts",
        numbers: "Counts",
        decided: DecidedRows,
        aggregates: list[int],
    ) -> Iterator[_HeldPart]:
        """Yield the populations of a grouping set that a secret decides on, if there are any."""
        rows = np.flatnonzero(self.gathered.sets == number)
        released = self.verdict.released[np.ix_(rows, np.array(aggregates))]
        is_shown = released.any(axis=1)
        is_in = decided.members & (places >= 0) & self._varies(number, places, decided)
        is_in[is_in] = is_shown[places[is_in]]
        cells, groups = np.unique(places[is_in], return_inverse=True)
        if not len(cells):
            return
        holders = np.zeros(self.dataset_rows.count, np.bool_)
        holders[numbers] = decided.holders
        pairs = numbers[is_in], groups.reshape(-1)
        populations = Populations.of_pairs(*pairs, self.dataset_rows.count, len(cells))
        width = len(self.gathered.queries.query.aggregates)
        figures = tuple(
            (place, int(rows[cell]) * width + aggregate)
            for place, cell in enumerate(cells.tolist())
            for column, aggregate in enumerate(aggregates)
            if released[cell, column]
        )
        yield _HeldPart(populations, holders, figures)


def _row() -> exp.Expr:
    return exp.column(ROW, table="r", quoted=True)
