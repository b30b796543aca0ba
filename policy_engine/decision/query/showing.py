"""What a query is run on: copies of the rows and columns that its views show."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.decision.query import running
from policy_engine.decision.query.grammar import as_text
from policy_engine.decision.query.operands import may_be_nan
from policy_engine.decision.query.rewriting import TableView
from policy_engine.decision.query.shuffling import fresh_key, order, taken
from policy_engine.decision.query.tables import Tables

if TYPE_CHECKING:
    import pyarrow as pa


def shown(views: Mapping[str, TableView], tables: Tables, key: bytes) -> "dict[str, pa.Table]":
    """Return what views show, by the names of their tables; the views by their datasets.

    The rows come in an order of the key's, whatever is done with them afterwards.
    The types of CSV are those of the rows that are shown: those of all rows would tell how the
    hidden ones are written. Raises what `running.run` does, and DataError where the data cannot
    be read.
    """
    read = {view.table: _read(view, tables, iri) for iri, view in views.items()}
    cut = [view for view in views.values() if not view.rows.is_everything]
    kept = running.run(
        {view.table: _numbers(view, read[view.table]) for view in cut},
        {view.table: _numbered(view, read[view.table], tables) for view in cut},
    )
    found = {}
    for view in views.values():
        table = read[view.table]
        # Of no columns, one alone, for the number of rows.
        table = table.select(view.columns or table.column_names[:1])
        rows = kept[view.table].num_rows if view.table in kept else table.num_rows
        numbers = order(rows, key, view.table)
        if view.table in kept:
            numbers = kept[view.table].column(0).to_numpy()[numbers]
        found[view.table] = tables.typed(taken(table, numbers))
    return found


def numbers(
    views: Mapping[str, TableView], tables: Tables, read: "Mapping[str, pa.Table]"
) -> dict[str, frozenset[str]]:
    """Return the columns of views that could hold NaN, by the views' datasets.

    `read` is what is shown already, by table; of CSV that is not, it is looked up here, for the
    types of all rows would tell of the hidden ones.
    """
    written = {
        iri: view
        for iri, view in views.items()
        if view.table not in read and tables.catalog.dataset(iri).format.startswith("csv")
    }
    seen = {**read, **shown(written, tables, fresh_key())}
    found = {}
    for iri, view in views.items():
        if view.table in seen:
            schema = seen[view.table].schema
            kinds = dict(zip(schema.names, schema.types, strict=True))
        else:
            kinds = dict(tables.types(iri, view.columns))
        found[iri] = frozenset(name for name in view.columns if may_be_nan(kinds[name]))
    return found


def _read(view: TableView, tables: Tables, iri: str) -> "pa.Table":
    names = {*_compared(view), *view.columns}
    return tables.read(iri, tuple(n for n in tables.catalog.dataset(iri).columns if n in names))


def _compared(view: TableView) -> list[str]:
    """Return the columns that the condition on the rows of a view speaks of."""
    return list(dict.fromkeys(one.name for one in view.rows.condition.find_all(exp.Column)))


def _numbered(view: TableView, table: "pa.Table", tables: Tables) -> "pa.Table":
    """Return the columns that rows are filtered by, and the number of each row."""
    numbers = pa.array(np.arange(table.num_rows))
    return tables.typed(table.select(_compared(view))).append_column(_number(table), numbers)


def _numbers(view: TableView, table: "pa.Table") -> str:
    return as_text(replace(view, columns=(_number(table),)).select(), "duckdb")


def _number(table: "pa.Table") -> str:
    """Return a name that no column has, in any case."""
    name = "row"
    while name in {other.lower() for other in table.column_names}:
        name += "_"
    return name
