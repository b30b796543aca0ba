"""A query whose answer can be checked: with the unit of privacy of its rows, and what it joins."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.data.column_names import column_name
from policy_engine.decision.query import logic
from policy_engine.decision.query.checking.answer_populations import DatasetRows
from policy_engine.decision.query.checking.checked_query import (
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.empty_parts import PartsOfEmptyCells
from policy_engine.decision.query.checking.evidence_columns import UNIT
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.folded_keys import nested_keys
from policy_engine.decision.query.checking.measured_columns import (
    check_unit_is_no_measure,
)
from policy_engine.decision.query.checking.population_conditions import check_columns, check_keys
from policy_engine.decision.query.checking.protecting import (
    is_plain_query,
)
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.checking.same_conditions import SameConditions
from policy_engine.decision.query.checking.sql_nodes import (
    column,
    count_where,
    named,
    present,
    rows_of,
)
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows, unfiltered_rows
from policy_engine.decision.query.checking.unit_columns import (
    ROW,
    add_row,
    add_unit,
    check_names,
)
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.tables import Tables
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_MOST_SPARSE = 8
_TRIED = 1_000
"""How many values of a column are tried first: most text columns hold no numbers at all."""


@dataclass(frozen=True)
class CheckableQuery:
    """A query whose answer can be checked, with the unit of privacy of its rows.

    `views` are what it reads of tables, the unit included, which who asks need not see; `dataset`
    is the table that has the unit, and `row` the expression of the number of a row of it.
    `unfiltered` are the rows without conditions, and what they are. It `is_plain` where it asks for
    all rows of a table by columns. Each of `nested` are keys that are levels of one hierarchy.
    """

    query: CheckedQuery
    unit: exp.Expr
    row: exp.Expr
    views: Mapping[str, TableView]
    check: OutputCheck
    dataset: str
    asset: str
    unfiltered: UnfilteredRows
    is_plain: bool = False
    nested: tuple[frozenset[int], ...] = ()


def make_checkable(
    reading: TableReading,
    views: Mapping[str, TableView],
    check: OutputCheck,
    tables: Tables,
    asset: Callable[[str], str] = str,
) -> CheckableQuery:
    """Return a query of aggregates over views with their unit.

    `asset` returns the IRI of the dataset that a table is of. Raises NotCheckableError (K017 to
    K019, K024, K046).
    """
    names = frozenset(name.lower() for columns in reading.columns.values() for name in columns)
    check_names(reading.tree, names)
    query = read_checked(reading.tree, names)
    is_plain = is_plain_query(query)

    find_unit = partial(_unit_column, check=check, tables=tables, asset=asset)
    unit_columns = {name for iri in views if (name := find_unit(iri)) is not None}
    for name in unit_columns:
        check_unit_is_no_measure(query.aggregates, name)
    unit = row = add_unit(query.source, find_unit if check.unit else lambda _: ROW)
    owner = next((iri for iri in views if find_unit(iri) is not None), next(iter(views)))
    if check.unit:
        row = add_row(query.source, owner, ROW)
    with_units = {iri: _with(view, find_unit(iri)) for iri, view in views.items()}
    plain = {
        iri: replace(
            view,
            columns=(*view.columns, ROW),
            rows=Filter(logic.true()),
            numbers=frozenset(),
        )
        for iri, view in with_units.items()
    }
    unfiltered = unfiltered_rows(query.source, {iri: one.columns for iri, one in plain.items()})
    check_keys(query.keys, unfiltered)
    check_columns(query, unfiltered)
    read = replace(unfiltered, source=cast("exp.Select", rewrite(unfiltered.source, plain)))
    source = cast("exp.Select", rewrite(query.source, plain))
    owned = check, owner, asset(owner)
    nested = nested_keys(query, read, check, asset)
    return CheckableQuery(
        replace(query, source=source), unit, row, with_units, *owned, read, is_plain, nested
    )


def with_known_units(
    tables: Tables, iris: Iterable[str], check: OutputCheck, asset: Callable[[str], str] = str
) -> Tables:
    """Return tables that know the column of the unit of each dataset."""
    columns = {iri: _unit_column(iri, check, tables, asset) for iri in iris}
    units = {iri: name for iri, name in columns.items() if name is not None}
    return replace(tables, units=units) if units else tables


def _unit_column(
    iri: str, check: OutputCheck, tables: Tables, asset: Callable[[str], str]
) -> str | None:
    name = column_name(asset(iri), check.unit) if check.unit else None
    return tables.catalog.dataset(iri).find_column(name) if name is not None else None


def _with(view: TableView, name: str | None) -> TableView:
    if name is None or name in view.columns:
        return view
    return replace(view, columns=(*view.columns, name))


def dataset_rows(checkable: CheckableQuery, tables: Tables) -> DatasetRows:
    """Return the numbers of all rows of the dataset that has the units."""
    dataset = tables.catalog.dataset(checkable.dataset)
    values = lru_cache(8)(partial(_column_values, checkable.dataset, tables))
    read = partial(_named_table, tables)
    conditions = checkable.unfiltered, SameConditions(read), PartsOfEmptyCells(read)
    if not checkable.check.unit:
        rows = tables.read(checkable.dataset, dataset.columns[:1]).num_rows
        numbers = np.arange(rows + 1)
        return DatasetRows(checkable.row, np.ones(rows, np.int64), numbers, values, *conditions)
    name = column_name(checkable.asset, checkable.check.unit) or ""
    name = dataset.find_column(name) or name
    stored = tables.typed(tables.read(checkable.dataset, (name,)))
    units = tables.with_known_units(checkable.dataset, stored)[name]
    numbers = unit_numbers(units.combine_chunks())
    more = np.append(numbers, len(units))
    counts, has_nobody = np.bincount(numbers), units.null_count > 0
    return DatasetRows(checkable.row, counts, more, values, *conditions, has_nobody=has_nobody)


def unit_numbers(units: "pa.Array") -> "NDArray[np.int64]":
    """Return the number of each row's unit, in the order of their first rows: (rows,).

    Whole numbers close to each other are looked up, which takes a fifth of the time of hashes.
    """
    if pa.types.is_integer(units.type) and len(units) and not units.null_count:
        least, most = (one.as_py() for one in pc.min_max(units).values())
        if most - least <= _MOST_SPARSE * len(units) and most <= np.iinfo(np.int64).max:
            places = units.to_numpy(zero_copy_only=False).astype(np.int64) - least
            rows, first = np.arange(len(places)), np.zeros(most - least + 1, np.int64)
            first[places[::-1]] = rows[::-1]  # Of several, the last one that is written stays.
            own = first[places]
            numbers: NDArray[np.int64] = (np.cumsum(own == rows) - 1)[own]
            return numbers
    coded = units.dictionary_encode(null_encoding="encode").indices
    return np.asarray(coded.to_numpy(zero_copy_only=False), np.int64)


def _named_table(tables: Tables, name: str, columns: tuple[str, ...]) -> "pa.Table":
    dataset = tables.dataset(name)
    stored = tables.read(dataset.iri, columns or dataset.columns[:1])
    return tables.with_known_units(dataset.iri, tables.typed(stored))


def _column_values(iri: str, tables: Tables, name: str) -> "NDArray[np.float64] | None":
    """Return the numbers in a column of a dataset, and 0 for what is in none of its rows; None if
    there are no such numbers."""
    stored = tables.catalog.dataset(iri).find_column(name)
    if stored is None:
        return None
    cells = tables.typed(tables.read(iri, (stored,)))[stored]
    try:
        cells.slice(0, _TRIED).cast(pa.float64(), safe=False)  # Of texts, to fail takes long.
        numbers = cells.cast(pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return np.append(numbers.astype(np.float64), 0.0)


def check_joins(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
) -> None:
    """Refuse joins that give a row of the dataset of units several rows, or no partner.

    Which rows count could be chosen by a person's value. A filtered subquery is a condition, and no
    table of fewer rows. Raises NotCheckableError (K019).
    """
    is_joined = next(checkable.query.source.find_all(exp.Join), None) is not None
    if not is_joined and len(checkable.views) == 1:
        return
    count, most = _joined_rows(checkable, tables)
    if most > 1:
        message = "The joins give one row of whom the answer is about several rows."
        hint = "Let the policy name the unit in the table that has the more rows."
        raise NotCheckableError("K019", message, hint)
    if count < rows().row_counts.sum():
        message = "A row of whom the answer is about has no partner in a joined table."
        hint = "Who has none would be told by the answer. Join tables that have all of the values."
        raise NotCheckableError("K019", message, hint)


def _joined_rows(checkable: CheckableQuery, tables: "Mapping[str, pa.Table]") -> tuple[int, int]:
    """Return how many rows of the dataset of units have partners in all joined tables, and how many
    one of them has at most.

    Conditions do not count, those in subqueries neither: who asks could choose whose partners
    decide.
    """
    select = checkable.unfiltered.source.copy()
    for join in select.args.get("joins") or ():
        join.set("side", None)
    row = checkable.unfiltered.resolved(checkable.row)
    select.set("expressions", [named(row, UNIT)])
    unit = column(UNIT)
    partners = rows_of(select, [count_where(None, "n")]).where(present(unit), copy=False)
    partners = partners.group_by(unit, copy=False)
    most = named(exp.Max(this=column("n")), "most")
    counts = rows_of(partners, [count_where(None, "rows"), most])
    [one] = run_checked({"": to_sql(counts, "duckdb")}, tables)[""].to_pylist()
    return one["rows"], one["most"] or 0
