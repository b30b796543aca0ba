"""The readable rows of each table, if one rule must grant everything that is read together."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from policy_engine.decision import Grant, RowAccess
from policy_engine.decision.query import logic
from policy_engine.decision.query.filters import Filter, RowTable, filter_columns, row_filter
from policy_engine.decision.query.tables import Tables

Filters = dict[str, Filter]
"""The readable rows, by the IRI of the dataset."""


@dataclass(frozen=True)
class GrantedRows:
    """The readable rows of each table, and the rules that permit reading them.

    `left` are rules that would permit reading other rows together.
    """

    filters: Filters = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    left: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class _ConditionParts:
    """The parts of a row condition that must all hold, and those of which one must, as SQL."""

    text: str
    all_of: frozenset[str]
    any_of: frozenset[str]

    @classmethod
    def of(cls, rows: Filter) -> "_ConditionParts":
        node = rows.condition
        every, some = logic.parts(node, exp.And), logic.parts(node, exp.Or)
        if logic.is_true(node):
            every = frozenset()
        return cls(node.sql(), every, some)

    def covers(self, other: "_ConditionParts") -> bool:
        """Return whether these rows certainly include all rows of the other condition."""
        return self.all_of <= other.all_of or other.any_of <= self.any_of


@dataclass(frozen=True)
class _UsefulRule:
    """A rule, and the rows of each table that it permits to be read with those of the others."""

    grant: Grant
    filters: Filters
    parts: Mapping[str, _ConditionParts]

    def covers(self, other: "_UsefulRule") -> bool:
        """Return whether it certainly permits reading everything that another rule does."""
        return all(self.parts[iri].covers(parts) for iri, parts in other.parts.items())


_Rank = tuple[int, int, list[str]]


def _rank(some: Sequence[_UsefulRule], table: str = "") -> _Rank:
    """Return an order of rules by their meaning: a rule comes after those that it is part of.

    Rules that are used together differ in the rows of one table only.
    """
    first, *rest = some
    parts = [[part] for iri, part in first.parts.items() if iri != table]
    parts += [[one.parts[table] for one in (first, *rest)]] if table else []
    bounds = sum(min(len(part.all_of) for part in each) for each in parts)
    alternatives = sum(len(part.any_of) for each in parts for part in each)
    return bounds, -alternatives, sorted(part.text for each in parts for part in each)


def row_filters(
    accesses: Mapping[str, RowAccess], tables: Tables, asset: Callable[[str], str] = str
) -> GrantedRows:
    """Return the rows of each table that one rule permits to be read with those of all the others.

    In a single table, each row may be permitted by another rule. With several tables, two rules are
    used together only if they differ in the rows of one table; otherwise rows would be joined that
    no single rule grants together. If there is a choice, the rules that permit most are taken, then
    those with the simplest conditions; the order of rules does not matter. `asset` returns the IRI
    of the dataset that a table is of, which its columns have theirs from. Raises as `row_filter`
    does.
    """
    rows = {iri: _row_table(access, tables, iri, asset) for iri, access in accesses.items()}
    first = next(iter(accesses.values()), None)
    grants = first.permissions if first else ()
    by_grant = [(grant, _filters(accesses, rows, (grant,))) for grant in grants]
    useful = [
        _UsefulRule(grant, filters, {iri: _ConditionParts.of(one) for iri, one in filters.items()})
        for grant, filters in by_grant
        if not any(one.is_nothing for one in filters.values())
    ]
    if len(accesses) == 1:
        return GrantedRows(_filters(accesses, rows, grants), tuple(_needed_grants(useful)))
    if not useful:
        return GrantedRows(by_grant[0][1] if by_grant else _filters(accesses, rows, ()))
    table, useful_together = min(_options(accesses, useful), key=lambda one: _rank(one[1], one[0]))
    filters = {**useful_together[0].filters}
    if len(useful_together) > 1:
        together = _restrict(accesses[table], [one.grant for one in useful_together])
        filters[table] = row_filter(together, rows[table])
    left_rules = (
        one.grant for one in useful if not any(other.covers(one) for other in useful_together)
    )
    return GrantedRows(filters, tuple(_needed_grants(useful_together)), tuple(left_rules))


def _options(
    accesses: Mapping[str, RowAccess], useful: Sequence[_UsefulRule]
) -> Iterator[tuple[str, list[_UsefulRule]]]:
    """Yield, for each table, the rules that are equal in the rows of all the others."""
    for table in accesses:
        alike = defaultdict[tuple[str, ...], list[_UsefulRule]](list)
        for one in useful:
            alike[tuple(part.text for iri, part in one.parts.items() if iri != table)].append(one)
        yield from ((table, some) for some in alike.values())


def _needed_grants(useful: Sequence[_UsefulRule]) -> Iterator[Grant]:
    """Yield rules, without those that permit reading nothing that the others do not."""
    needed_rules: list[_UsefulRule] = []
    for one in sorted(useful, key=lambda one: _rank([one])):
        if not any(other.covers(one) for other in needed_rules):
            needed_rules.append(one)
            yield one.grant


def _filters(
    accesses: Mapping[str, RowAccess], rows: Mapping[str, RowTable], grants: tuple[Grant, ...]
) -> Filters:
    return {
        iri: row_filter(_restrict(access, grants), rows[iri]) for iri, access in accesses.items()
    }


def _restrict(access: RowAccess, grants: Sequence[Grant]) -> RowAccess:
    rules = {id(grant.rule) for grant in grants}
    permissions = tuple(grant for grant in access.permissions if id(grant.rule) in rules)
    return replace(access, permissions=permissions)


def _row_table(
    access: RowAccess, tables: Tables, iri: str, asset: Callable[[str], str]
) -> RowTable:
    dataset = tables.catalog.dataset(iri)._replace(iri=asset(iri))
    return RowTable(
        dataset=dataset,
        name=tables.names[iri],
        types=tables.types(iri, filter_columns(access, dataset)),
        others=tuple({asset(one.iri) for one in tables.catalog.datasets} - {dataset.iri}),
        zone=access.zone,
    )
