"""A query of aggregates as the check of its answer sees it: keys, aggregates, and what is shown."""

from dataclasses import dataclass
from typing import Literal, get_args

from sqlglot import exp

from policy_engine.audits.outputs.model import Statbarn
from policy_engine.errors import Problem

Kind = Literal[
    "count", "units", "binary", "total", "position", "mode", "extreme", "shape", "coefficient"
]
"""What evidence an aggregate needs: `binary` is the total or the mean of a yes or no."""
KINDS = get_args(Kind)


class NotCheckableError(Exception):
    """A query whose answer cannot be checked, and so is not given: with the coded problem."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.problem = Problem(code, message, hint)


@dataclass(frozen=True)
class CheckedAggregate:
    """One aggregate of a query, over expressions of its rows.

    `function` is the aggregate of columns called "x0" and "x1", which are its `arguments` where its
    `condition` holds; a count has none. `tail` is the share of units beyond a percentile, and of so
    many `parameters` an estimate is one. `is_group` says whether the condition is one that the
    query writes, and so a group of its own. Where an argument has two values, `low` is the lower.
    """

    function: exp.Expr
    kind: Kind
    statbarn: Statbarn
    arguments: tuple[exp.Expr, ...] = ()
    condition: exp.Expr | None = None
    tail: float = 0.0
    parameters: int = 1
    is_group: bool = False
    low: str = "0"

    @property
    def text(self) -> str:
        """What tells it from other aggregates of the query."""
        parts = [self.function, *self.arguments, self.condition]
        return " | ".join(one.sql("duckdb") for one in parts if one is not None)

    @property
    def words(self) -> str:
        """How people read it: the function of its arguments, under its condition."""
        arguments = {f"x{number}": one for number, one in enumerate(self.arguments)}

        def written(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            return arguments[node.name].copy() if node.name in arguments else exp.Star()

        text = self.function.copy().transform(written).sql("duckdb")
        return f"{text} WHERE {self.condition.sql('duckdb')}" if self.condition else text


@dataclass(frozen=True)
class ShownColumn:
    """A column of the answer: an expression of the columns "k0", "k1" ... of keys, "t0" ..., which
    are 1 in totals over a key, and "a0", "a1" ... of aggregates. `aggregates` are those in it."""

    name: str
    expression: exp.Expr
    aggregates: frozenset[int]


@dataclass(frozen=True)
class CheckedQuery:
    """A query of aggregates, taken apart.

    `source` selects nothing from the tables, joined and filtered; `keys` are expressions of its
    rows, and `sets` the keys of each grouping set, as their numbers. `condition` (HAVING), `order`,
    `limit` and `offset` are about the columns of `ShownColumn`.
    """

    source: exp.Select
    keys: tuple[exp.Expr, ...]
    sets: tuple[tuple[int, ...], ...]
    aggregates: tuple[CheckedAggregate, ...]
    columns: tuple[ShownColumn, ...]
    condition: ShownColumn | None = None
    order: tuple[exp.Expr, ...] = ()
    limit: exp.Expr | None = None
    offset: exp.Expr | None = None

    @property
    def has_ties(self) -> bool:
        """Whether the order of rows decides what is shown: which of several modes is."""
        return any(one.kind == "mode" for one in self.aggregates)
