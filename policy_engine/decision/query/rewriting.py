"""Rewrites a query so that every table is replaced by its readable rows and columns."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query import logic
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.scope import DATASET
from policy_engine.errors import InternalError

NOTHING = "_"
"""The column that stands for the rows of a table if no column of it is read."""


@dataclass(frozen=True)
class TableView:
    """The readable columns and rows of one table; `table` is its name in SQL.

    If no column is read, there is a column of ones, so that rows can be counted. Columns in
    `numbers` may contain NaN, which is shown as missing.
    """

    table: str
    columns: tuple[str, ...]
    rows: Filter
    numbers: frozenset[str] = frozenset()

    def select(self) -> exp.Select:
        """Return the query for the view."""
        selection = exp.select(*map(self._column, self.columns))
        if not self.columns:
            selection = exp.select(exp.alias_(exp.Literal.number(1), NOTHING, quoted=True))
        selection = selection.from_(exp.table_(self.table, quoted=True))
        if self.rows.is_everything:
            return selection
        return selection.where(self.rows.condition.copy())

    def _column(self, name: str) -> exp.Expr:
        column = exp.column(name, table=self.table, quoted=True)
        if name not in self.numbers:
            return column
        return exp.alias_(logic.nan_to_null(column), name, quoted=True)


def rewrite(tree: exp.Query, views: Mapping[str, TableView]) -> exp.Query:
    """Return a query that reads its tables through views, by the IRI of the dataset.

    The views replace the tables themselves, so they hold in the rest of the query: in joins of
    every kind, in subqueries, and below every aggregate.
    """
    copied = tree.copy()
    for table in list(copied.find_all(exp.Table)):
        iri = table.meta.get(DATASET)
        if iri is None:
            continue
        # A parenthesised join keeps its joins beside its first table.
        joins = table.args.get("joins")
        name = exp.to_identifier(table.alias_or_name, quoted=True)
        view = exp.Subquery(this=views[iri].select(), alias=exp.TableAlias(this=name))
        table.replace(view)
        if joins:
            view.set("joins", joins)
    if any(not _is_known(table, views) for table in copied.find_all(exp.Table)):
        raise InternalError.of("X001", "A table of a query was not replaced.")
    return copied


def _is_known(table: exp.Table, views: Mapping[str, TableView]) -> bool:
    """Return whether a table is one that a view reads, or one defined by WITH."""
    if any(table.name == view.table for view in views.values()):
        above = table.find_ancestor(exp.Select)
        return above is not None and isinstance(above.parent, exp.Subquery)
    return any(
        one.alias.lower() == table.name.lower()
        for clause in table.root().find_all(exp.With)
        for one in clause.expressions
    )
