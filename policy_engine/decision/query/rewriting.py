"""A query with every table in it replaced by the rows and columns of it that may be read."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query import logic
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.scope import DATASET
from policy_engine.errors import InternalError

NOTHING = "_"
"""The column of a table of which no column is read, so that it has rows."""


@dataclass(frozen=True)
class TableView:
    """What may be read of one table: columns, and rows; `table` is what it is called in SQL.

    Where no column is read, there is one of ones, that the rows can be counted. Of the columns
    in `numbers`, which could hold NaN, that is shown as missing.
    """

    table: str
    columns: tuple[str, ...]
    rows: Filter
    numbers: frozenset[str] = frozenset()

    def select(self) -> exp.Select:
        """Return the query for it."""
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

    The views stand in the places of the tables themselves, so that they hold whatever the rest
    of the query does: in joins of every kind, in subqueries, and below every aggregate.
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
        raise InternalError.of("X001", "A table of a query was left as it was.")
    return copied


def _is_known(table: exp.Table, views: Mapping[str, TableView]) -> bool:
    """Tell whether a table is what a view reads, or what WITH made."""
    if any(table.name == view.table for view in views.values()):
        above = table.find_ancestor(exp.Select)
        return above is not None and isinstance(above.parent, exp.Subquery)
    return any(
        one.alias.lower() == table.name.lower()
        for clause in table.root().find_all(exp.With)
        for one in clause.expressions
    )
