"""Which rows of each table may be read, where one rule has to grant all that is read together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from policy_engine.decision import Grant, RowAccess
from policy_engine.query.filters import Filter, RowTable, filter_columns, row_filter
from policy_engine.query.tables import Tables

Filters = dict[str, Filter]
"""The rows that may be read, by the IRI of the dataset."""


def row_filters(accesses: Mapping[str, RowAccess], tables: Tables) -> Filters:
    """Return the rows of each table that one rule lets be read with those of all the others.

    Of a single table, each row may be by another rule. Of several, two rules count together where
    they differ in the rows of one table alone; else rows would meet that no rule grants together.
    Raises as `row_filter` does.
    """
    rows = {iri: _row_table(access, tables, iri) for iri, access in accesses.items()}
    if len(accesses) == 1:
        return {iri: row_filter(access, rows[iri]) for iri, access in accesses.items()}
    first = next(iter(accesses.values()), None)
    grants = first.permissions if first else ()
    by_grant = [(grant, _filters(accesses, rows, (grant,))) for grant in grants]
    useful = [one for one in by_grant if not any(f.is_nothing for f in one[1].values())]
    if len(useful) < 2:
        return next(iter((*useful, *by_grant)), (None, _filters(accesses, rows, ())))[1]
    return _joined(accesses, rows, useful)


def _joined(
    accesses: Mapping[str, RowAccess],
    rows: Mapping[str, RowTable],
    useful: Sequence[tuple[Grant, Filters]],
) -> Filters:
    """Return what the first of several rules permits, and those that differ in one table alone."""
    _, filters = useful[0]
    best: tuple[Grant, ...] = ()
    table = ""
    for iri in accesses:
        same = tuple(grant for grant, other in useful if _are_same(filters, other, iri))
        if len(same) > len(best):
            best, table = same, iri
    joined = row_filter(_only(accesses[table], best), rows[table])
    return {**filters, table: joined}


def _are_same(some: Filters, others: Filters, table: str) -> bool:
    return all(some[iri].condition == others[iri].condition for iri in some if iri != table)


def _filters(
    accesses: Mapping[str, RowAccess], rows: Mapping[str, RowTable], grants: tuple[Grant, ...]
) -> Filters:
    return {iri: row_filter(_only(access, grants), rows[iri]) for iri, access in accesses.items()}


def _only(access: RowAccess, grants: Sequence[Grant]) -> RowAccess:
    known = {id(grant.rule) for grant in grants}
    kept = tuple(grant for grant in access.permissions if id(grant.rule) in known)
    return replace(access, permissions=kept)


def _row_table(access: RowAccess, tables: Tables, iri: str) -> RowTable:
    dataset = tables.catalog.dataset(iri)
    return RowTable(
        dataset=dataset,
        name=tables.names[iri],
        types=tables.types(iri, filter_columns(access, dataset)),
        others=tuple(one.iri for one in tables.catalog.datasets if one.iri != iri),
        zone=access.zone,
    )
