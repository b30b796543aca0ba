"""The tables that a query runs on: copies of its views' rows and columns."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.decision.query import running
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.operands import may_be_nan
from policy_engine.decision.query.rewriting import TableView
from policy_engine.decision.query.shuffling import fresh_key, has_codes, order, take_rows
from policy_engine.decision.query.tables import Tables

if TYPE_CHECKING:
    import pyarrow as pa


def read_views(
    views: Mapping[str, TableView], tables: Tables, key: bytes | None, *, numbered: str = ""
) -> "dict[str, pa.Table]":
    """Return the contents of views, by table name, and the views by dataset.

    A column called `numbered`, if any, has the number of each row among all rows of its dataset.

    The order of the rows depends only on the key, and is as they are stored without one, which is
    for results that no order of rows shows in. The types of CSV columns come from the visible
    rows: types derived from all rows would reveal how the hidden ones are written. Raises what
    `running.run` does, and DataError if the data cannot be read.
    """
    tables_read = {view.table: _read(view, tables, iri) for iri, view in views.items()}
    filtered_views = [view for view in views.values() if not view.rows.is_everything]
    filtered = running.run(
        {view.table: _numbers(view, tables_read[view.table]) for view in filtered_views},
        {view.table: _numbered(view, tables_read[view.table], tables) for view in filtered_views},
    )
    visible = {}
    for iri, view in views.items():
        table = tables_read[view.table]
        # If no column is read, a single one, for the number of rows.
        table = table.select(view.columns or table.column_names[:1])
        rows = filtered[view.table].num_rows if view.table in filtered else table.num_rows
        row_numbers = np.arange(rows) if key is None else order(rows, key, view.table)
        if view.table in filtered:
            row_numbers = filtered[view.table].column(0).to_numpy()[row_numbers]
        is_as_stored = key is None and rows == table.num_rows and not has_codes(table)
        typed = tables.typed(table if is_as_stored else take_rows(table, row_numbers))
        visible[view.table] = tables.with_known_units(iri, typed)
        if numbered:
            column = pa.array(row_numbers)
            visible[view.table] = visible[view.table].append_column(numbered, column)
    return visible


def nan_columns(
    views: Mapping[str, TableView], tables: Tables, read: "Mapping[str, pa.Table]"
) -> dict[str, frozenset[str]]:
    """Return the columns of views that may contain NaN, by the views' datasets.

    `read` are the visible rows already read, by table; for CSV only they are used, since types
    derived from all rows would reveal something about the hidden ones.
    """
    unread = {
        iri: view
        for iri, view in views.items()
        if view.table not in read and tables.catalog.dataset(iri).format.startswith("csv")
    }
    tables_read = {**read, **read_views(unread, tables, fresh_key())}
    columns = {}
    for iri, view in views.items():
        if view.table in tables_read:
            schema = tables_read[view.table].schema
            kinds = dict(zip(schema.names, schema.types, strict=True))
        else:
            kinds = dict(tables.types(iri, view.columns))
        columns[iri] = frozenset(name for name in view.columns if may_be_nan(kinds[name]))
    return columns


def _read(view: TableView, tables: Tables, iri: str) -> "pa.Table":
    names = {*_compared(view), *view.columns}
    return tables.read(iri, tuple(n for n in tables.catalog.dataset(iri).columns if n in names))


def _compared(view: TableView) -> list[str]:
    """Return the columns in the row condition of a view."""
    return list(dict.fromkeys(one.name for one in view.rows.condition.find_all(exp.Column)))


def _numbered(view: TableView, table: "pa.Table", tables: Tables) -> "pa.Table":
    """Return the columns that rows are filtered by, and the number of each row."""
    nan_columns = pa.array(np.arange(table.num_rows))
    return tables.typed(table.select(_compared(view))).append_column(_number(table), nan_columns)


def _numbers(view: TableView, table: "pa.Table") -> str:
    return to_sql(replace(view, columns=(_number(table),)).select(), "duckdb")


def _number(table: "pa.Table") -> str:
    """Return a name that no column has, in any case."""
    name = "row"
    while name in {other.lower() for other in table.column_names}:
        name += "_"
    return name
