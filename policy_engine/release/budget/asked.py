"""What a release of statistics is of, as a ledger records it: all of it known without data."""

from typing import Any

from pydantic import JsonValue

from policy_engine.plan.aggregates.model import Aggregation, RowCondition, Statistic


def asked_of(aggregation: Aggregation) -> dict[str, JsonValue]:
    """Return the figures, the columns that are grouped by, and the conditions on rows, as JSON."""
    question: dict[str, JsonValue] = {"figures": [_figure(one) for one in aggregation.figures]}
    if aggregation.group_by:
        question["group_by"] = [*aggregation.group_names]
    if aggregation.conditions:
        question["conditions"] = [_condition(one) for one in aggregation.conditions]
    return question


def _figure(one: Statistic) -> dict[str, JsonValue]:
    of = {"of": one.of} if one.of else {}
    return {"function": one.function, **of, **({"at": f"{one.at:f}"} if one.at else {})}


def _condition(one: RowCondition) -> dict[str, JsonValue]:
    return {"column": one.column, "comparison": one.comparison, "values": [*one.values]}


def asked_words(question: Any) -> str:
    """Return in words what `asked_of` gives; empty for what an older version recorded."""
    if not isinstance(question, dict):
        return ""
    figures = ", ".join(map(_figure_words, question.get("figures", ())))
    groups, conditions = question.get("group_by", ()), question.get("conditions", ())
    by = f"by {', '.join(groups)}" if groups else ""
    where = f"where {' and '.join(map(_condition_words, conditions))}" if conditions else ""
    return " ".join(filter(None, (figures, by, where)))


def _figure_words(figure: dict[str, str]) -> str:
    at = f" at {figure['at']}" if "at" in figure else ""
    of = f" of {figure['of']}" if "of" in figure else ""
    return f"{figure['function']}{at}{of}"


def _condition_words(one: dict[str, Any]) -> str:
    return " ".join((one["column"], one["comparison"], ", ".join(one["values"]))).rstrip()
