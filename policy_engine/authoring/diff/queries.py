"""What changed in the tables of aggregates and in the budgets of a policy."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import reduce
from operator import or_

from policy_engine import terms
from policy_engine.authoring.diff.model import Way
from policy_engine.policy.model import Value
from policy_engine.policy.queries import Aggregate, Budget, GroupColumn, Query
from policy_engine.policy.wording import printable
from policy_engine.policy.xsd.literals import lexical

_Finding = tuple[str, str, str, Way]


def query_changes(old: Sequence[Query], new: Sequence[Query]) -> Iterator[_Finding]:
    """Yield the tables that changed: what, before, after, and the effect on what is shown.

    What another table shows may be more or less. A table that no rule releases shows nothing, and
    a change of such a rule is told of as one.
    """
    before, after = ({one.uid: one for one in some} for some in (old, new))
    for uid in dict.fromkeys((*before, *after)):
        one, other = before.get(uid), after.get(uid)
        if one is None or other is None:
            verb = "added" if one is None else "removed"
            yield f"query {verb}", _query(one), _query(other), Way.SAME
        elif one != other:
            yield "query changed", _query(one), _query(other), Way.BOTH


def budget_changes(old: Sequence[Budget], new: Sequence[Budget]) -> Iterator[_Finding]:
    """Yield the budgets that changed: a smaller one, or one more, lets less be told."""
    before, after = (
        {over: [one for one in some if one.over == over] for over in (one.over for one in some)}
        for some in (old, new)
    )
    for over in dict.fromkeys((*before, *after)):
        ones, others = before.get(over, []), after.get(over, [])
        if len(ones) == len(others) == 1:
            if ones != others:
                yield "budget changed", _budget(ones[0]), _budget(others[0]), _way(*ones, *others)
            continue
        for one in (one for one in ones if one not in others):
            yield "budget removed", _budget(one), "", Way.GROWS
        for one in (one for one in others if one not in ones):
            yield "budget added", "", _budget(one), Way.SHRINKS


def _way(old: Budget, new: Budget) -> Way:
    """Return what a changed budget lets be told: for another time, it may be more or less."""
    if (old.scope, old.renewal) != (new.scope, new.renewal):
        return Way.BOTH
    return reduce(or_, map(_bound_way, _bounds(old), _bounds(new)))


def _bounds(budget: Budget) -> tuple[Decimal | None, ...]:
    return (budget.epsilon, budget.delta, budget.lifetime_epsilon, budget.lifetime_delta)


def _bound_way(old: Decimal | None, new: Decimal | None) -> Way:
    if old == new:
        return Way.SAME
    if old is None or new is None:
        return Way.SHRINKS if old is None else Way.GROWS
    return Way.GROWS if new > old else Way.SHRINKS


# -- in words ---------------------------------------------------------------------------------


def _query(query: Query | None) -> str:
    """Return a table as a sentence; nothing for none."""
    if query is None:
        return ""
    by = f" by {', '.join(map(_column, query.group_by))}" if query.group_by else ""
    keys = f" with the keys of {_name(query.keys)}" if query.keys else ""
    rows = f" in {_text(query.rows)} rows" if query.rows else ""
    return f"{_name(query.uid)}: {', '.join(map(_figure, query.aggregates))}{by}{keys}{rows}"


def _column(column: GroupColumn) -> str:
    keys = f" ({_values(column.keys)})" if column.keys else ""
    return f"{_name(column.iri)}{keys}"


def _figure(aggregate: Aggregate) -> str:
    of = f" of {_name(aggregate.of)}" if aggregate.of else ""
    settings = [f"{name} {_text(one)}" for name, one in sorted(aggregate.settings.items())]
    settings += [f"candidates {_values(aggregate.candidates)}"] if aggregate.candidates else []
    settings += [f"named {printable(aggregate.name)}"] if aggregate.name else []
    more = f" ({', '.join(settings)})" if settings else ""
    return f"{aggregate.function}{of}{more}"


def _budget(budget: Budget) -> str:
    parts = [f"epsilon {lexical(budget.epsilon)}", f"delta {lexical(budget.delta)}"]
    parts += [f"renewed after {printable(budget.renewal)}"] if budget.renewal else []
    for name, bound in (("epsilon", budget.lifetime_epsilon), ("delta", budget.lifetime_delta)):
        parts += [] if bound is None else [f"lifetime {name} {lexical(bound)}"]
    return f"{_name(budget.over)}: {', '.join(parts)} for {printable(budget.scope)}"


def _values(values: Sequence[Value]) -> str:
    return ", ".join(map(_text, values))


def _text(value: Value) -> str:
    return printable(lexical(value.value))


def _name(iri: str) -> str:
    return printable(terms.compact(iri))
