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


def shown_rows(table: "pa.Table", question: AskedStatistics, name: Name) -> "pa.Table":
    """Return the columns of a released table that a query lists, with its order and its limits."""
    return running.run({"": to_sql(_listed(question, name), "duckdb")}, {_TABLE: table})[""]


def shown_names(question: AskedStatistics, name: Name) -> tuple[tuple[str, str], ...]:
    """Return the columns that a query lists: what it calls each, and what the table does."""
    return tuple((alias or name(one), name(one)) for alias, one in question.shown)


def _listed(question: AskedStatistics, name: Name) -> exp.Select:
    entries = [
        exp.alias_(_column(own), alias, quoted=True) for alias, own in shown_names(question, name)
    ]
    select = exp.Select(expressions=entries).from_(exp.to_identifier(_TABLE, quoted=True))
    if question.order:
        select.set("order", exp.Order(expressions=[_ordered(*one, name) for one in question.order]))
    for one in question.limits:
        select.set(one.key, one.copy())
    return select


def _ordered(entry: "AskedFigure | str", node: exp.Ordered, name: Name) -> exp.Ordered:
    ordered = node.copy()
    ordered.set("this", _column(name(entry)))
    return ordered


def _column(name: str) -> exp.Column:
    # With the name of the table, it is never taken for an alias.
    return exp.column(name, table=_TABLE, quoted=True)
