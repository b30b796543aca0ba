"""What the ledger of released answers calls the aggregates of a query about their populations."""

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import CheckedAggregate
from policy_engine.decision.query.checking.measured_columns import column_statistic, pair_statistic
from policy_engine.decision.query.checking.plain_arguments import is_measured, measured_column
from policy_engine.release.output_ledger import COUNT, pair_measure, shape_measure

_PAIR = 2


def own_measure(aggregate: CheckedAggregate) -> str:
    """Return the measure of an aggregate about whom it is of: linear in rows if it is a count, a
    total or a mean, and otherwise of a kind of its own.

    A total or a mean of two values tells how many have the higher one, whatever the values are.
    """
    if aggregate.kind == "count" or _is_coded(aggregate):
        return COUNT
    is_sum = isinstance(aggregate.function, exp.Sum)
    if aggregate.kind == "binary" and is_sum:
        return COUNT
    if aggregate.kind == "total":
        return _linear(aggregate)
    if len(aggregate.arguments) == _PAIR:
        return pair_measure(*pair_statistic(aggregate))
    if aggregate.kind in ("shape", "position", "mode"):
        return shape_measure(*column_statistic(aggregate))
    return aggregate.text


def base_measure(aggregate: CheckedAggregate) -> str:
    """Return the measure of an aggregate about a population that it is not of, but would be if its
    condition held of everybody; a total of two values is a total of these, too."""
    return _linear(aggregate) if _is_coded(aggregate) else f"condition of {aggregate.text}"


def is_value_of(aggregate: CheckedAggregate, measure: str) -> bool:
    """Return whether the figure of an aggregate is the value of a measure that it has."""
    return measure != COUNT or not _is_coded(aggregate)


def _linear(aggregate: CheckedAggregate) -> str:
    kind = "sum" if isinstance(aggregate.function, exp.Sum) else "mean"
    return f"{kind}:{measured_column(aggregate.arguments[0])}"


def _is_coded(aggregate: CheckedAggregate) -> bool:
    """Return whether it is a total or a mean of a column that has two values."""
    return aggregate.kind == "binary" and is_measured(aggregate.arguments[0])
