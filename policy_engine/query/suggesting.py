"""What of a denied query would be permitted."""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from policy_engine.decision.model import Grant, RowAccess
from policy_engine.errors import QueryError
from policy_engine.query.scope import Reading, read_columns
from policy_engine.query.tables import Tables

Ask = Callable[[str, tuple[str, ...]], RowAccess]
"""What decides on columns of a dataset that are read together."""

_MOST_COLUMNS = 200
_MOST_CHOICES = 3


def choices(ask: Ask, iri: str, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the largest choices of columns that one rule permits together, the largest first.

    At most three, and none that is part of another; none at all of very many columns.
    """
    if len(columns) > _MOST_COLUMNS:
        return ()
    by_rule: dict[tuple[str, str], list[str]] = {}
    for name in columns:
        for grant in ask(iri, (name,)).permissions:
            by_rule.setdefault(_key(grant), []).append(name)
    found: list[frozenset[str]] = []
    for names in sorted(by_rule.values(), key=len, reverse=True):
        chosen = frozenset(names)
        if not any(chosen <= other for other in found) and ask(iri, tuple(names)).permissions:
            found.append(chosen)
    kept = found[:_MOST_CHOICES]
    return tuple(tuple(name for name in columns if name in chosen) for chosen in kept)


def smaller_query(
    reading: Reading, allowed: Mapping[str, tuple[str, ...]], tables: Tables, ask: Ask
) -> exp.Query | None:
    """Return the query without the entries of its select list that read anything but `allowed`.

    `allowed` holds columns of the tables that are denied. None where that is no query, or one
    that is denied as well.
    """
    tree = reading.tree
    if not reading.listed or not isinstance(tree, exp.Select) or _counts_entries(tree):
        return None
    kept = [
        entry.copy()
        for entry, reads in zip(tree.expressions, reading.listed, strict=True)
        if all(iri not in allowed or name in allowed[iri] for iri, name in reads)
    ]
    if not 0 < len(kept) < len(tree.expressions):
        return None
    cut = tree.copy()
    cut.set("expressions", kept)
    try:
        found = read_columns(cut, tables)
    except QueryError:
        return None
    permitted = all(ask(iri, names).permissions for iri, names in found.columns.items())
    return found.tree if permitted else None


def _key(grant: Grant) -> tuple[str, str]:
    return grant.policy, grant.rule.label()


def _counts_entries(tree: exp.Select) -> bool:
    """Tell whether the query refers to entries of its select list by their number."""
    order, group = tree.args.get("order"), tree.args.get("group")
    keys = [one.this for one in order.expressions] if order else []
    keys += group.expressions if group else []
    return any(isinstance(key, exp.Literal) for key in keys)
