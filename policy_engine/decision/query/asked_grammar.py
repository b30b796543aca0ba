"""The parts of SQL that queries of statistics may have: all others are refused, never ignored."""

from collections.abc import Mapping

from sqlglot import exp

from policy_engine.decision.query.row_comparisons import NotAskableError, short_sql

_BOTH = frozenset({"this", "expression"})
_THIS = frozenset({"this"})
_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset({"expressions", "from_", "where", "group", "order", "limit", "offset"}),
    exp.From: _THIS,
    exp.Table: frozenset({"this", "alias"}),
    exp.TableAlias: _THIS,
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Paren: _THIS,
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: _THIS,
    exp.Null: frozenset(),
    exp.Neg: _THIS,
    exp.Count: frozenset({"this", "big_int"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Sum: _THIS,
    exp.Avg: _THIS,
    exp.VariancePop: _THIS,
    exp.Median: _THIS,
    exp.Quantile: frozenset({"this", "quantile"}),
    exp.PercentileCont: _BOTH,
    exp.PercentileDisc: _BOTH,
    exp.WithinGroup: _BOTH,
    exp.Where: _THIS,
    exp.And: _BOTH,
    exp.Not: _THIS,
    exp.EQ: _BOTH,
    exp.NEQ: _BOTH,
    exp.LT: _BOTH,
    exp.LTE: _BOTH,
    exp.GT: _BOTH,
    exp.GTE: _BOTH,
    exp.Is: _BOTH,
    exp.In: frozenset({"this", "expressions"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Group: frozenset({"expressions", "all"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
}
"""What is understood of each part. Of the others, the parser may know what the reader does not."""


def check_understood(tree: exp.Expr) -> None:
    """Raise NotAskableError for the first part of a query that is not understood."""
    for node in tree.walk(bfs=False):
        if type(node) not in _PARTS:
            raise NotAskableError(f"{short_sql(node)} is not answered.")
        check_parts(node)


def check_parts(node: exp.Expr) -> None:
    """Raise NotAskableError for the parts of a node itself that are not understood."""
    where = "" if isinstance(node, exp.Select) else f" in {short_sql(node)}"
    unknown = [
        part.strip("_").replace("_", " ").upper()
        for part, value in node.args.items()
        if value and part not in _PARTS[type(node)]
    ]
    if unknown:
        raise NotAskableError(*(f"{words} is not answered{where}." for words in unknown))
