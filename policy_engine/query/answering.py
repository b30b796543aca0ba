"""A query from its text to its rows: read, decided, cut down to what may be read, and run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.catalog import Catalog, Dataset, column_iri
from policy_engine.certificate import Certificate
from policy_engine.decision import Decider, Request, RowAccess, World, read_request
from policy_engine.errors import Problem, listed
from policy_engine.policy import Hierarchy, Policy
from policy_engine.policy.model import READ
from policy_engine.policy.naming import Names
from policy_engine.query import logic, running
from policy_engine.query.filters import (
    Filter,
    RowTable,
    filter_columns,
    row_filter,
)
from policy_engine.query.grammar import as_text, nesting, parse_query
from policy_engine.query.model import QueryResult
from policy_engine.query.outputs import check_certified
from policy_engine.query.rewriting import View, rewrite
from policy_engine.query.scope import Reading, read_columns
from policy_engine.query.showing import numbers, shown
from policy_engine.query.suggesting import choices, smaller_query
from policy_engine.query.tables import Tables
from policy_engine.spelling import in_spelling_of
from policy_engine.wording import rule_name

if TYPE_CHECKING:
    import pyarrow as pa

Access = Callable[[Request, str], RowAccess]
"""What decides on columns of one dataset, or the dataset as a whole, that are read together."""


def query(
    sql: str,
    policies: Sequence[Policy],
    assignee: str,
    catalog: Catalog,
    purpose: str = "",
    *,
    certificates: Sequence[Certificate] = (),
    hierarchy: Hierarchy | None = None,
    world: World | None = None,
    dialect: str = "duckdb",
    run: bool = True,
) -> QueryResult:
    """Return the rows of a query that the policies let an assignee read for a purpose.

    A table is called by the last segment of its dataset's IRI, in any case, or by the whole IRI
    in double quotes. Assignee and purpose are IRIs, or short names as they are in the policies.
    Without `run` the query is rewritten and nothing more: of the data, the types of columns are
    looked at, which those of CSV have by their values. Raises RequestError (D001) for a name that
    is no IRI, DataError where a policy names a column that the data lacks (C005), CertificateError
    (V004) where the data of an output is not what was certified, and what `answer` raises.
    """
    given = world or World()
    known = in_spelling_of(catalog, policies, [hierarchy or Hierarchy(), given.memberships])
    decider = Decider(policies, certificates, known)
    # One moment for all tables: a constraint on the time must not change between two of them.
    now = given.model_copy(update={"time": given.time or datetime.now(UTC)})

    def access(request: Request, dataset: str) -> RowAccess:
        found = decider.row_access(request, now, dataset)
        by = {"time_by": "caller" if given.time else "clock"}
        return replace(found, decision=found.decision.model_copy(update=by))

    def verify(dataset: Dataset) -> None:
        check_certified(dataset, catalog, decider)

    targets = [dataset.iri for dataset in catalog.datasets] or [READ]
    request = read_request(assignee, _reading(policies), targets, purpose, policies)
    asker = Asker(request, access, verify)
    return answer(sql, asker, catalog, dialect, run=run)


def _reading(policies: Sequence[Policy]) -> str:
    """Return what reading is called in the policies: ODRL's name where they do not agree."""
    found = {Names([policy]).full("read", "action") for policy in policies}
    return found.pop() if len(found) == 1 else READ


@dataclass(frozen=True)
class Asker:
    """Who asks, for which purpose (a request whose targets do not count), and what decides.

    `verify` refuses data that is not what it is given for.
    """

    request: Request
    access: Access
    verify: Callable[[Dataset], None]

    def ask(self, iri: str, columns: tuple[str, ...]) -> RowAccess:
        """Return which rows of the columns, of the dataset as a whole without any, may be read."""
        targets = tuple(column_iri(iri, name) for name in columns) or (iri,)
        update = {"targets": tuple(map(terms.canonical, targets))}
        return self.access(self.request.model_copy(update=update), terms.canonical(iri))


def answer(
    sql: str, asker: Asker, catalog: Catalog, dialect: str = "duckdb", *, run: bool = True
) -> QueryResult:
    """Return the rows of a query that the asker may read, or why there are none.

    The columns that the query reads of one table, wherever in it, are decided on together; a
    table of which it names no column is decided on as a whole. Raises QueryError for a query
    that is not understood (Q001 to Q005), a policy whose constraint cannot be a filter (Q007),
    and a query that fails on the data (Q008); DataError where the data cannot be read.
    """
    tables = Tables(catalog)
    reading = read_columns(parse_query(sql, dialect), tables)
    accesses = {iri: asker.ask(iri, names) for iri, names in reading.columns.items()}
    with nesting():
        filters = {
            iri: _rows(access, tables, iri)
            for iri, access in accesses.items()
            if access.permissions
        }
    if any(iri not in filters or filters[iri].is_nothing for iri in accesses):
        return _denial(reading, accesses, filters, tables, asker, dialect)
    views = {
        iri: View(tables.names[iri], reading.columns[iri], rows) for iri, rows in filters.items()
    }
    for iri in views if run else ():
        asker.verify(catalog.dataset(iri))
    read = shown(views, tables) if run else {}
    could_be_nan = numbers(views, tables, read)
    printed = {iri: replace(view, numbers=could_be_nan[iri]) for iri, view in views.items()}
    with nesting():
        text = as_text(rewrite(reading.tree, printed), dialect)
        table = _run(reading, views, read) if run else None
    return QueryResult(
        permitted=True,
        sql=text,
        table=table,
        columns=reading.columns,
        decisions={iri: access.decision for iri, access in accesses.items()},
        reasons=tuple(note for rows in filters.values() for note in _notes(rows)),
    )


def _rows(access: RowAccess, tables: Tables, iri: str) -> Filter:
    dataset = tables.catalog.dataset(iri)
    table = RowTable(
        dataset=dataset,
        name=tables.names[iri],
        types=tables.types(iri, filter_columns(access, dataset)),
        others=tuple(one.iri for one in tables.catalog.datasets if one.iri != iri),
        zone=access.zone,
    )
    return row_filter(access, table)


def _run(reading: Reading, views: Mapping[str, View], read: "Mapping[str, pa.Table]") -> "pa.Table":
    """Run a query on copies of what its views show.

    The rows that may not be read are gone before the query is looked at: one that fails on a
    value, or takes its time over it, would else tell of them.
    """
    plain = {
        iri: View(view.table, view.columns, Filter(logic.true())) for iri, view in views.items()
    }
    text = as_text(rewrite(reading.tree, plain), "duckdb")
    return running.run({"": text}, read)[""]


# -- denials ------------------------------------------------------------------------------------


def _denial(
    reading: Reading,
    accesses: Mapping[str, RowAccess],
    filters: Mapping[str, Filter],
    tables: Tables,
    asker: Asker,
    dialect: str,
) -> QueryResult:
    refused = [iri for iri in accesses if iri not in filters]
    allowed = {
        iri: choices(asker.ask, iri, reading.columns[iri] or tables.catalog.dataset(iri).columns)
        for iri in refused
    }
    first = {iri: found[0] if found else () for iri, found in allowed.items()}
    is_one_cut = len(refused) > 0 and all(not f.is_nothing for f in filters.values())
    cut = smaller_query(reading, first, tables, asker.ask) if is_one_cut else None
    lines = [
        line
        for iri, access in accesses.items()
        if iri not in filters or filters[iri].is_nothing
        for line in _why(tables.names[iri], reading.columns[iri], access, filters.get(iri))
    ]
    return QueryResult(
        permitted=False,
        columns=reading.columns,
        decisions={iri: access.decision for iri, access in accesses.items()},
        allowed=allowed,
        reasons=tuple(lines),
        suggestion=as_text(cut, dialect) if cut else "",
    )


def _why(
    table: str, columns: tuple[str, ...], access: RowAccess, rows: Filter | None
) -> Iterator[Problem]:
    what = f"the columns {listed(columns)} together" if len(columns) > 1 else "the whole table"
    what = f"the column {columns[0]!r}" if len(columns) == 1 else what
    if rows is not None:
        yield Problem("Q006", f"{table}: no row of {what} may be read.")
        yield from _notes(rows)
        return
    misses = [
        f"{rule_name(miss.rule, miss.policy)}: {', and '.join(miss.missing)}."
        for miss in access.decision.near_misses[1:]
    ]
    message = f"{table}: {what} may not be read. {access.decision.reason}"
    yield Problem("Q006", message, " ".join(misses))


def _notes(rows: Filter) -> Iterator[Problem]:
    """Yield the rules that were not understood, and so permit or prohibit as if unknown."""
    yield from (Problem("Q007", note) for note in rows.not_understood)
