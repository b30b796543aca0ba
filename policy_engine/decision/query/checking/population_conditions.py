"""Which condition somebody has to satisfy to be in what an aggregate is about."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import (
    CheckedAggregate,
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.condition_leaves import columns_of, is_presence
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows, conjuncts

MOST_COLUMNS = 6
"""How many columns a condition may have besides keys."""


@dataclass(frozen=True)
class PopulationCondition:
    """The parts of a condition, all of which hold of who is in a population.

    `presence` are the measured values that a row must have to count at all: nobody writes them as a
    condition, and rows without them are neither in the population nor left out of it.
    """

    parts: tuple[exp.Expr, ...]
    presence: tuple[exp.Expr, ...] = ()

    @property
    def whole(self) -> exp.Expr:
        """The condition as one expression."""
        return exp.and_(*(exp.paren(one.copy()) for one in self.parts or (exp.true(),)))

    @property
    def presence_text(self) -> str:
        """What tells the measured values from those of other conditions."""
        return " AND ".join(one.sql("duckdb") for one in self.presence)

    @property
    def text(self) -> str:
        """What tells it from other conditions."""
        return " AND ".join(one.sql("duckdb") for one in (*self.parts, exp.null(), *self.presence))


def population_condition(
    queries: EvidenceQueries, number: int, rows: UnfilteredRows
) -> PopulationCondition:
    """Return the condition of the rows that an aggregate counts or is of: that of WHERE, and its
    own. Of a yes or no, it is that of the rows that say yes."""
    aggregate = queries.query.aggregates[number]
    own = [rows.resolved(one) for one in conjuncts(aggregate.condition)]
    implied = own if _is_plain_count(aggregate) else []
    presence = [one for one in implied if is_presence(one)]
    parts = [*conjuncts(rows.condition), *(one for one in own if one not in presence)]
    for argument in aggregate.arguments:
        value = rows.resolved(argument)
        if not isinstance(value, exp.Literal):
            presence.append(_is_present(value))
    if aggregate.kind == "binary":
        parts.append(_says_yes(rows.resolved(aggregate.arguments[0]), aggregate.low))
    return PopulationCondition(tuple(parts), tuple(presence))


def base_condition(
    queries: EvidenceQueries, number: int, rows: UnfilteredRows
) -> PopulationCondition:
    """Return the condition of the rows among whom an aggregate's own condition holds or not: of a
    yes or no, those that say either, how many of which a mean tells."""
    aggregate = queries.query.aggregates[number]
    if aggregate.kind != "binary":
        return PopulationCondition((*conjuncts(rows.condition),))
    own = [*map(rows.resolved, conjuncts(aggregate.condition))]
    values = known_parts(rows.resolved(aggregate.arguments[0]))
    presence = tuple(one for one in values if is_presence(one))
    parts = (*conjuncts(rows.condition), *own, *(one for one in values if one not in presence))
    return PopulationCondition(parts, presence)


def has_base(aggregate: CheckedAggregate) -> bool:
    """Return whether an aggregate is about others, too, than those of whom its own condition
    holds."""
    return aggregate.kind == "binary" or (aggregate.condition is not None and aggregate.is_group)


def _is_plain_count(aggregate: CheckedAggregate) -> bool:
    return aggregate.kind == "count" and not aggregate.is_group


def _is_present(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.paren(node.copy()), expression=exp.null()))


def _says_yes(node: exp.Expr, low: str) -> exp.Expr:
    """Return the condition that a yes or no is a yes: as it is written, where it can be read."""
    node = node.unnest()
    branches = node.args["ifs"] if isinstance(node, exp.Case) and node.this is None else []
    if len(branches) == 1 and low == "0":
        result, default = branches[0].args["true"], node.args.get("default") or exp.null()
        if isinstance(result, exp.Case) and isinstance(default, exp.Null):
            return _says_yes(result, low)
        if result.sql() == "1" and default.sql() in ("0", "NULL"):
            condition: exp.Expr = branches[0].this
            return condition.copy()
    return exp.NEQ(this=exp.paren(node.copy()), expression=exp.Literal.number(low))


def known_parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of the condition that the value of a yes or no is known on a row.

    It is known whether columns have values. Of two conditions joined by AND or OR, one may decide
    where the other is not known. Of what is computed in other ways, it is the condition itself.
    """
    node = node.unnest()
    if not columns_of(node) or isinstance(node, exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
        return []
    if isinstance(node, exp.Not):
        return known_parts(node.this)
    if isinstance(node, exp.And | exp.Or):
        return _known_of_both(node)
    if isinstance(node, exp.Case):
        return _known_of_case(node)
    if isinstance(node, _COMPARISONS) and all(
        isinstance(one, _TOTAL) for one in node.find_all(exp.Condition) if one is not node
    ):
        return [_is_present(one) for one in dict.fromkeys(node.find_all(exp.Column))]
    return [_is_present(node)]


_COMPARISONS = (
    *(exp.Column, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.Between, exp.In, exp.Like, exp.ILike),
)
_TOTAL = (exp.Column, exp.Literal, exp.Boolean, exp.Paren, exp.Neg, exp.Floor, exp.Round)
"""What has a value wherever its columns have."""


def _known_of_both(node: exp.Connector) -> list[exp.Expr]:
    sides = [node.left, node.right]
    values = [one for side in sides for one in known_parts(side)]
    if not values:
        return []
    is_and = isinstance(node, exp.And)
    decided = [exp.Not(this=exp.paren(one.copy())) if is_and else one.copy() for one in sides]
    return [exp.or_(exp.and_(*values), *decided)]


def _known_of_case(node: exp.Case) -> list[exp.Expr]:
    """Return the same of a CASE, whose value is missing where it says so."""
    default, branches = node.args.get("default"), node.args["ifs"]
    results = [one.args["true"].unnest() for one in branches]
    if default is not None and all(isinstance(one, exp.Literal) for one in [*results, default]):
        return []
    test = branches[0].this.unnest()
    is_known = isinstance(test, exp.Not) and isinstance(test.this.unnest(), exp.Is)
    if default is None and len(branches) == 1 and node.this is None and is_known:
        return [*known_parts(test.this.unnest().this), *known_parts(results[0])]
    return [_is_present(node)]


def key_columns(keys: Iterable[exp.Expr]) -> frozenset[str]:
    """Return the columns that are keys by themselves, as they are written in SQL."""
    return frozenset(
        one.unnest().sql("duckdb") for one in keys if isinstance(one.unnest(), exp.Column)
    )


def settled_keys(keys: Iterable[exp.Expr], rows: UnfilteredRows) -> frozenset[int]:
    """Return the numbers of the keys of which the condition of WHERE leaves one value, because it
    names it: that all rows have it says nothing of anybody."""
    values = {text for one in conjuncts(rows.condition) if (text := _settled(one))}
    resolved = (rows.resolved(one).unnest().sql("duckdb") for one in keys)
    return frozenset(number for number, text in enumerate(resolved) if text in values)


def _settled(node: exp.Expr) -> str:
    """Return the column that a condition names the value of; empty for any other condition."""
    node = node.unnest()
    if isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Column):
        node = node.this.unnest()
    sides = [node.this.unnest(), node.expression.unnest()] if isinstance(node, exp.EQ) else [node]
    columns = [one for one in sides if isinstance(one, exp.Column)]
    others = [one for one in sides if not isinstance(one, exp.Column)]
    is_named = all(isinstance(one, exp.Literal | exp.Boolean) for one in others)
    return columns[0].sql("duckdb") if len(columns) == 1 and is_named else ""


def check_keys(keys: Iterable[exp.Expr], rows: UnfilteredRows) -> None:
    """Refuse a key that is computed of several columns.

    By some of them persons could be chosen, and by others a secret of theirs decide in which cell
    they are. Raises NotCheckableError (K017).
    """
    for key in keys:
        if len(columns_of(rows.resolved(key))) > 1:
            message = "A key of several columns is not allowed in a query whose answer is checked."
            hint = "Group by columns, or by expressions of one column each."
            raise NotCheckableError("K017", message, hint)


def check_columns(query: CheckedQuery, rows: UnfilteredRows) -> None:
    """Refuse a condition on too many columns, before anything is computed of it.

    Raises NotCheckableError (K046).
    """
    queries, keys = EvidenceQueries(query, None), [*map(rows.resolved, query.keys)]
    settled = [key_columns(keys[number] for number in own) for own in query.sets]
    for number in range(len(query.aggregates)):
        parts = population_condition(queries, number, rows).parts
        if has_base(query.aggregates[number]):
            parts += base_condition(queries, number, rows).parts
        columns = frozenset[str]().union(*map(columns_of, parts))
        if any(len(columns - one) > MOST_COLUMNS for one in settled):
            message = f"A condition on more than {MOST_COLUMNS} columns is for a person to decide."
            raise NotCheckableError("K046", message, "Ask with fewer conditions, or ask a checker.")
