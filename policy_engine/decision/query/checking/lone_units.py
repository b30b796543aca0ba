"""Who is alone in cells of an answer: whoever is alone in several attacks the others with all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.model import TOTAL, Measure
from policy_engine.decision.query.checking.answer_populations import keyed_cells
from policy_engine.decision.query.checking.evidence_columns import UNIT, per_unit
from policy_engine.decision.query.checking.evidence_query import CELLS, EvidenceQueries
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.sql_nodes import column
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]


def with_lone_units(gathered: GatheredAnswer, tables: "Mapping[str, pa.Table]") -> GatheredAnswer:
    """Return an answer that has totals with the numbers of the units that are alone in its cells.

    An answer whose rows are its units is returned unchanged: no unit is in two cells then, totals
    aside. Raises NotCheckableError (K022) if the query fails.
    """
    table, queries = gathered.table, gathered.queries
    is_part = (table.codes != TOTAL).all(axis=1)
    units = np.column_stack([one.statistics[0].evidence.units for one in table.measures])
    # Whose row names nobody may be alone in a cell as well.
    is_few = (units == 1) | ((units == 0) & (_rows(table.measures) > 0))
    rows = np.flatnonzero(is_part & is_few.any(axis=1))
    if queries.unit is None or is_part.all() or not len(rows):
        return gathered
    keys = range(len(table.keys))
    cells = {**tables, CELLS: keyed_cells(gathered, rows)}
    members = run_checked({"": to_sql(_members(queries, keys), "duckdb")}, cells)[""]
    numbers = members[UNIT].combine_chunks().dictionary_encode(null_encoding="encode").indices
    owners = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
    is_nobody = members[UNIT].is_null().to_numpy()
    places = rows[members["cell"].to_numpy()]
    measures = tuple(
        _with_lone(one, places, owners, (_contributes(queries, number, members), is_nobody))
        for number, one in enumerate(table.measures)
    )
    return replace(gathered, table=replace(table, measures=measures))


def _rows(measures: Sequence[Measure]) -> "Counts":
    """Return how many rows each cell is about, (rows, measures), 0 where that is not known."""
    counts = [one.statistics[0].evidence for one in measures]
    return np.column_stack([one.units if one.rows is None else one.rows for one in counts])


def _members(queries: EvidenceQueries, keys: range) -> exp.Select:
    """Return the query of what each unit contributes to each cell of the table `CELLS`."""
    names = [column("cell"), column(UNIT)]
    select = queries.joined(keys, CELLS)
    select.set("expressions", [*names, *per_unit(queries.contributions)])
    return select.group_by(*(one.copy() for one in names))


def _contributes(queries: EvidenceQueries, number: int, members: "pa.Table") -> "NDArray[np.bool_]":
    """Return which members contribute to an aggregate, as its evidence counts who does."""
    place, kind = queries.places[number], queries.query.aggregates[number].kind
    if queries.contributions[place].is_every_row:
        return np.ones(members.num_rows, dtype=np.bool_)
    name = {"total": "s", "binary": "p"}.get(kind, "n")
    figures = pc.fill_null(members[f"{name}{place}"].cast(pa.float64()), 0.0).to_numpy()
    return np.asarray(figures != 0, dtype=np.bool_)


def _with_lone(
    measure: Measure,
    places: "Counts",
    owners: "Counts",
    contributing: "tuple[NDArray[np.bool_], NDArray[np.bool_]]",
) -> Measure:
    """Return a measure with who is alone in each cell, given which members contribute, and which of
    these are rows of nobody: beside those, one person is alone, too."""
    contributes, is_nobody = contributing
    count = len(measure.statistics[0].evidence.units)
    persons = np.bincount(places[contributes & ~is_nobody], minlength=count)
    contributes = contributes & ~(is_nobody & (persons[places] > 0))
    lone = np.full(count, -1, dtype=np.int64)
    lone[places[contributes]] = owners[contributes]
    is_one = np.bincount(places[contributes], minlength=count) == 1
    return replace(measure, lone_units=np.where(is_one, lone, -1))
