"""What the aggregates of a query read of each row, each value once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedAggregate
from policy_engine.decision.query.checking.sql_nodes import column, present

_SAFE = (exp.Column, exp.Literal, exp.Null, exp.Boolean)
_PAIR = 2


@dataclass(frozen=True)
class Contribution:
    """What some aggregates read of a row, and the kinds of evidence that they need of it."""

    arguments: tuple[exp.Expr, ...]
    condition: exp.Expr | None
    kinds: frozenset[str]
    low: str = "0"

    @property
    def is_every_row(self) -> bool:
        """Whether it is only that there is a row."""
        return not self.arguments and self.condition is None

    def row_values(self) -> list[exp.Expr]:
        """Return the values of a row: missing where the condition does not hold, or they fail."""
        arguments = list(self.arguments) or [exp.Literal.number(1)]
        if self.condition is None:
            return [tried(one) for one in arguments]
        first = exp.case().when(self.condition.copy(), arguments[0].copy())
        return [tried(first), *(tried(one) for one in arguments[1:])]

    def value_where_present(self, place: int, letter: str = "x") -> exp.Expr:
        """Return the column of its first value, missing where any of its values is."""
        first = column(f"{letter}{place}_0")
        if len(self.arguments) < _PAIR:
            return first
        return exp.case().when(present(column(f"{letter}{place}_1")), first)


def contributions_of(aggregates: Sequence[CheckedAggregate]) -> tuple[Contribution, ...]:
    """Return what aggregates read of a row, each once."""
    shared: dict[str, list[CheckedAggregate]] = {}
    for one in aggregates:
        shared.setdefault(_key(one), []).append(one)
    return tuple(
        Contribution(
            some[0].arguments,
            some[0].condition,
            frozenset(one.kind for one in some),
            some[0].low,
        )
        for some in shared.values()
    )


def contribution_numbers(aggregates: Sequence[CheckedAggregate]) -> tuple[int, ...]:
    """Return the number of the contribution of each aggregate."""
    names = [_key(one) for one in aggregates]
    unique = list(dict.fromkeys(names))
    return tuple(unique.index(name) for name in names)


def _key(aggregate: CheckedAggregate) -> str:
    parts = [*aggregate.arguments, aggregate.condition]
    texts = ["" if one is None else one.sql("duckdb") for one in parts]
    return " | ".join([*texts, aggregate.low])


def tried(node: exp.Expr) -> exp.Expr:
    """Return an expression that is missing in rows on which it fails."""
    return node.copy() if isinstance(node, _SAFE) else exp.Try(this=node.copy())


def tried_parts(node: exp.Expr) -> exp.Expr:
    """Return the condition of a join; equal columns stay, for joins by them are fast."""
    if isinstance(node, exp.And):
        return exp.and_(tried_parts(node.left), tried_parts(node.right))
    if isinstance(node, exp.Paren):
        return exp.paren(tried_parts(node.this))
    is_plain = isinstance(node, exp.EQ) and all(
        isinstance(one, exp.Column) for one in (node.left, node.right)
    )
    return node.copy() if is_plain else tried(node)
