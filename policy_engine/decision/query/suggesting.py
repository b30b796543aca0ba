"""What of a denied query would be permitted."""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from policy_engine.decision.model import Grant, RowAccess
from policy_engine.decision.query.model import Columns
from policy_engine.decision.query.scope import Read, TableReading, read_columns
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError

Ask = Callable[[Columns], RowAccess]
"""What decides on columns of datasets that are read together."""

_MOST_COLUMNS = 200
_MOST_CHOICES = 3


def choices(ask: Ask, columns: Columns) -> tuple[Columns, ...]:
    """Return the largest choices of columns that one rule permits together, the largest first.

    At most three, and none that is part of another; none at all of very many columns.
    """
    reads = [(iri, name) for iri, names in columns.items() for name in names]
    if len(reads) > _MOST_COLUMNS:
        return ()
    by_rule: dict[tuple[str, str], list[Read]] = {}
    for iri, name in reads:
        for grant in ask({iri: (name,)}).permissions:
            by_rule.setdefault(_key(grant), []).append((iri, name))
    found: list[frozenset[Read]] = []
    for some in sorted(by_rule.values(), key=len, reverse=True):
        for chosen in _permitted(ask, some):
            if chosen and not any(chosen <= other for other in found):
                found.append(chosen)
    found.sort(key=len, reverse=True)
    return tuple(_by_dataset([r for r in reads if r in one]) for one in found[:_MOST_CHOICES])


def _permitted(ask: Ask, reads: Sequence[Read]) -> Iterator[frozenset[Read]]:
    """Yield choices of what one rule covers that may be read together, each of it in one, if few.

    All of it, unless a prohibition, or an output among it, keeps some of it apart.
    """
    left = list(reads)
    for _ in range(_MOST_CHOICES):
        others = [read for read in reads if read not in left]
        found = _largest(ask, (), [*left, *others]) if left else ()
        left = [read for read in left if read not in found]
        yield frozenset(found)


def _largest(ask: Ask, chosen: Sequence[Read], more: Sequence[Read]) -> Sequence[Read]:
    """Return what is chosen and, of more, all that may be read with it, the first before others."""
    every = (*chosen, *more)
    if not more or ask(_by_dataset(every)).permissions:
        return every
    half = len(more) // 2
    if not half:
        return chosen
    return _largest(ask, _largest(ask, chosen, more[:half]), more[half:])


def smaller_query(
    reading: TableReading, allowed: Sequence[Columns], tables: Tables, ask: Ask
) -> exp.Query | None:
    """Return the query without the entries of its select list that read anything but `allowed`.

    `allowed` are choices of columns, of which the first counts that makes a query. None where
    there is none, or it is denied as well.
    """
    tree = reading.tree
    if not reading.listed or not isinstance(tree, exp.Select) or _counts_entries(tree):
        return None
    cuts = (_cut(tree, reading.listed, one, tables, ask) for one in allowed)
    return next((cut for cut in cuts if cut is not None), None)


def _cut(
    tree: exp.Select,
    listed: Sequence[frozenset[Read]],
    allowed: Columns,
    tables: Tables,
    ask: Ask,
) -> exp.Query | None:
    kept = [
        entry.copy()
        for entry, reads in zip(tree.expressions, listed, strict=True)
        if all(name in allowed.get(iri, ()) for iri, name in reads)
    ]
    if not 0 < len(kept) < len(tree.expressions):
        return None
    cut = tree.copy()
    cut.set("expressions", kept)
    try:
        found = read_columns(cut, tables)
    except QueryError:
        return None
    return found.tree if ask(found.columns).permissions else None


def _by_dataset(reads: Sequence[Read]) -> Columns:
    found: dict[str, tuple[str, ...]] = {}
    for iri, name in reads:
        found[iri] = (*found.get(iri, ()), name)
    return found


def _key(grant: Grant) -> tuple[str, str]:
    return grant.policy, grant.rule.label()


def _counts_entries(tree: exp.Select) -> bool:
    """Tell whether the query refers to entries of its select list by their number."""
    order, group = tree.args.get("order"), tree.args.get("group")
    keys = [one.this for one in order.expressions] if order else []
    keys += group.expressions if group else []
    return any(isinstance(key, exp.Literal) for key in keys)
