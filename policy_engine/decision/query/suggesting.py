"""The permitted parts of a denied query."""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from policy_engine.decision.model import Grant, RowAccess
from policy_engine.decision.query.model import Columns
from policy_engine.decision.query.scope import Read, TableReading, read_columns
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError

Ask = Callable[[Columns], RowAccess]
"""Decides on columns of datasets that are read together."""

_MOST_COLUMNS = 200
_MOST_CHOICES = 3


def permitted_choices(ask: Ask, columns: Columns) -> tuple[Columns, ...]:
    """Return the largest sets of columns that one rule permits together, largest first.

    At most three, none part of another; none if there are very many columns.
    """
    reads = [(iri, name) for iri, names in columns.items() for name in names]
    if len(reads) > _MOST_COLUMNS:
        return ()
    by_rule: dict[tuple[str, str], list[Read]] = {}
    for iri, name in reads:
        for grant in ask({iri: (name,)}).permissions:
            by_rule.setdefault(_rule_key(grant), []).append((iri, name))
    chosen_sets: list[frozenset[Read]] = []
    for reads_of_rule in sorted(by_rule.values(), key=len, reverse=True):
        for choice in _permitted_choices(ask, reads_of_rule):
            if choice and not any(choice <= other for other in chosen_sets):
                chosen_sets.append(choice)
    chosen_sets.sort(key=len, reverse=True)
    return tuple(
        _group_by_dataset([r for r in reads if r in one]) for one in chosen_sets[:_MOST_CHOICES]
    )


def _permitted_choices(ask: Ask, reads: Sequence[Read]) -> Iterator[frozenset[Read]]:
    """Yield sets of columns covered by one rule that may be read together; single ones, if few.

    All of them, unless a prohibition, or an output among them, keeps some apart.
    """
    remaining = list(reads)
    for _ in range(_MOST_CHOICES):
        rest = [read for read in reads if read not in remaining]
        largest = _largest(ask, (), [*remaining, *rest]) if remaining else ()
        remaining = [read for read in remaining if read not in largest]
        yield frozenset(largest)


def _largest(ask: Ask, chosen: Sequence[Read], more: Sequence[Read]) -> Sequence[Read]:
    """Return the chosen columns and all others that may be read with them, earlier ones first."""
    all_reads = (*chosen, *more)
    if not more or ask(_group_by_dataset(all_reads)).permissions:
        return all_reads
    half = len(more) // 2
    if not half:
        return chosen
    return _largest(ask, _largest(ask, chosen, more[:half]), more[half:])


def smaller_query(
    reading: TableReading, allowed: Sequence[Columns], tables: Tables, ask: Ask
) -> exp.Query | None:
    """Return the query without select entries that read anything but `allowed` columns.

    `allowed` are sets of columns; the first one that gives a query is used. None if there is none,
    or it is denied as well.
    """
    tree = reading.tree
    if not reading.listed or not isinstance(tree, exp.Select) or _counts_entries(tree):
        return None
    cuts = (_cut_query(tree, reading.listed, one, tables, ask) for one in allowed)
    return next((cut for cut in cuts if cut is not None), None)


def _cut_query(
    tree: exp.Select,
    listed: Sequence[frozenset[Read]],
    allowed: Columns,
    tables: Tables,
    ask: Ask,
) -> exp.Query | None:
    entries = [
        entry.copy()
        for entry, reads in zip(tree.expressions, listed, strict=True)
        if all(name in allowed.get(iri, ()) for iri, name in reads)
    ]
    if not 0 < len(entries) < len(tree.expressions):
        return None
    cut = tree.copy()
    cut.set("expressions", entries)
    try:
        reading = read_columns(cut, tables)
    except QueryError:
        return None
    return reading.tree if ask(reading.columns).permissions else None


def _group_by_dataset(reads: Sequence[Read]) -> Columns:
    groups: dict[str, tuple[str, ...]] = {}
    for iri, name in reads:
        groups[iri] = (*groups.get(iri, ()), name)
    return groups


def _rule_key(grant: Grant) -> tuple[str, str]:
    return grant.policy, grant.rule.label()


def _counts_entries(tree: exp.Select) -> bool:
    """Return whether the query refers to entries of its select list by number."""
    order, group = tree.args.get("order"), tree.args.get("group")
    keys = [one.this for one in order.expressions] if order else []
    keys += group.expressions if group else []
    return any(isinstance(key, exp.Literal) for key in keys)
