"""The rows of statistics as a query shows them: what is done with noisy figures costs nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from policy_engine.decision.query import running
from policy_engine.decision.query.asked_statistics import AskedFigure, AskedStatistics
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa

_TABLE = "statistics"
Name = Callable[["AskedFigure | str"], str]
"""The column of the released table that a figure, or a column that is grouped by, is."""
Column = Callable[["AskedFigure | str"], exp.Column]
"""The same column as SQL has it."""


def shown_rows(table: "pa.Table", question: AskedStatistics, name: Name) -> "pa.Table":
    """Return the columns of a released table that a query lists, with its order and its limits."""
    # DuckDB takes names that differ in case alone for the same: columns are known by their number.
    numbers = {one: str(number) for number, one in enumerate(table.column_names)}

    def column(entry: "AskedFigure | str") -> exp.Column:
        # Qualified with its table, so that it cannot be read as an alias.
        return exp.column(numbers[name(entry)], table=_TABLE, quoted=True)

    tables = {_TABLE: table.rename_columns([*numbers.values()])}
    return running.run({"": to_sql(_listed(question, name, column), "duckdb")}, tables)[""]


def shown_names(question: AskedStatistics, name: Name) -> tuple[tuple[str, str], ...]:
    """Return the columns that a query lists: what it calls each, and what the table does."""
    return tuple((alias or name(one), name(one)) for alias, one in question.shown)


def _listed(question: AskedStatistics, name: Name, column: Column) -> exp.Select:
    entries = [
        exp.alias_(column(one), alias or name(one), quoted=True) for alias, one in question.shown
    ]
    select = exp.Select(expressions=entries).from_(exp.to_identifier(_TABLE, quoted=True))
    if question.order:
        order = [_ordered(node, column(one)) for one, node in question.order]
        select.set("order", exp.Order(expressions=order))
    for limit in question.limits:
        select.set(limit.key, limit.copy())
    return select


def _ordered(node: exp.Ordered, column: exp.Column) -> exp.Ordered:
    ordered = node.copy()
    ordered.set("this", column)
    return ordered
