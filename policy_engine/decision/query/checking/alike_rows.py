"""How many rows are alike in all that some expressions read of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.condition_leaves import LEAF
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.sql_nodes import named
from policy_engine.decision.query.grammar import to_sql

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = "n"
_FAILS = "f"


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """Rows that are alike: their leaves, other values of them, and their number "n".

    Where a leaf `can_fail`, there is a column that says whether it does on these rows: a condition
    that fails does not hold, whatever its other leaves are.
    """

    table: "pa.Table"
    can_fail: bool

    def failing(self, leaves: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns that say whether leaves fail."""
        return tuple(failure_of(one) for one in leaves) if self.can_fail else ()


def failure_of(leaf: str) -> str:
    """Return the name of the column that says whether a leaf fails."""
    return leaf.replace(LEAF, _FAILS, 1)


def alike_rows(
    source: exp.Select,
    leaves: Mapping[str, exp.Expr],
    others: Mapping[str, exp.Expr],
    tables: "Mapping[str, pa.Table]",
) -> AlikeRows:
    """Return the rows of a query that selects nothing yet, counted by leaves and other values.

    Leaves are tried one by one only if any fails on some row, for that takes longer. Raises
    NotCheckableError (K022) if the query fails.
    """
    return _read(_counted, source, leaves, others, tables)


def leaves_of_rows(
    source: exp.Select,
    leaves: Mapping[str, exp.Expr],
    others: Mapping[str, exp.Expr],
    tables: "Mapping[str, pa.Table]",
) -> AlikeRows:
    """Return the same of each row by itself, without numbers. Raises the same."""
    return _read(_selected, source, leaves, others, tables)


def _read(
    run: "Callable[[exp.Select, Mapping[str, exp.Expr], Mapping[str, pa.Table]], pa.Table]",
    source: exp.Select,
    leaves: Mapping[str, exp.Expr],
    others: Mapping[str, exp.Expr],
    tables: "Mapping[str, pa.Table]",
) -> AlikeRows:
    values = {name: tried(one) for name, one in others.items()}
    try:
        return AlikeRows(run(source, {**leaves, **values}, tables), can_fail=False)
    except NotCheckableError:
        safe = {name: tried(one) for name, one in leaves.items()}
        fails = {failure_of(name): _fails(one) for name, one in leaves.items()}
        return AlikeRows(run(source, {**safe, **fails, **values}, tables), can_fail=True)


def _selected(
    source: exp.Select, values: Mapping[str, exp.Expr], tables: "Mapping[str, pa.Table]"
) -> "pa.Table":
    select = source.copy()
    select.set("expressions", [named(one.copy(), name) for name, one in values.items()])
    return run_checked({"": to_sql(select, "duckdb")}, tables)[""]


def _counted(
    source: exp.Select, values: Mapping[str, exp.Expr], tables: "Mapping[str, pa.Table]"
) -> "pa.Table":
    select = source.copy()
    named = [exp.alias_(one.copy(), name, quoted=True) for name, one in values.items()]
    count = exp.alias_(exp.Count(this=exp.Star()), NUMBER, quoted=True)
    select.set("expressions", [*named, count])
    if named:
        select.set("group", exp.Group(all=True))
    return run_checked({"": to_sql(select, "duckdb")}, tables)[""]


def _fails(node: exp.Expr) -> exp.Expr:
    """Return whether an expression fails on a row: a list of it is missing only then."""
    listed = exp.Try(this=exp.Array(expressions=[node.copy()]))
    return exp.Is(this=listed, expression=exp.null())
