"""Why a query is denied, and which smaller one would not be."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from policy_engine.decision import RowAccess
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.model import Columns, QueryResult
from policy_engine.decision.query.query_decision import QueryDecision, not_understood
from policy_engine.decision.query.query_request import QueryRequest
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.suggesting import permitted_choices, smaller_query
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import Problem, join_names
from policy_engine.policy.wording import rule_name


def denial(
    reading: TableReading,
    decided: QueryDecision,
    tables: Tables,
    asker: QueryRequest,
    dialect: str,
) -> QueryResult:
    """Return that a query is denied: the reasons, the columns that could be read together instead,
    and a query of these, in an SQL dialect, if there is one."""
    filters = decided.filters
    together = replace(decided.together, decision=asker.told(decided.together.decision))
    allowed: tuple[Columns, ...] = ()
    is_apart = False
    if not filters:
        datasets = {iri: tables.catalog.dataset(iri).columns for iri in reading.columns}
        columns_read = {iri: names or datasets[iri] for iri, names in reading.columns.items()}
        allowed = permitted_choices(asker.ask, columns_read)
        is_apart = len(columns_read) > 1 and all(
            asker.ask({iri: names}).permissions for iri, names in columns_read.items()
        )
    cut = smaller_query(reading, allowed, tables, asker.ask)
    return QueryResult(
        permitted=False,
        columns=reading.columns,
        decision=together.decision,
        allowed=allowed,
        reasons=tuple(_denial_reasons(reading.columns, together, filters, tables, is_apart)),
        suggestion=to_sql(cut, dialect) if cut else "",
    )


def _denial_reasons(
    columns: Columns,
    together: RowAccess,
    filters: Mapping[str, Filter],
    tables: Tables,
    is_apart: bool,
) -> Iterator[Problem]:
    for iri, rows in filters.items():
        if rows.is_nothing:
            subject = _format_columns(columns[iri])
            yield Problem("Q006", f"{tables.names[iri]}: no row of {subject} may be read.")
            yield from not_understood(rows)
    if filters:
        return
    decision = together.decision
    misses = [
        f"{rule_name(miss.rule, miss.policy)}: {', and '.join(miss.missing)}."
        for miss in decision.near_misses[1:]
    ]
    table_texts = [
        f"{tables.names[iri]}: {_format_columns(names)}" for iri, names in columns.items()
    ]
    subject = " and ".join(table_texts) + (", all of it together," if len(table_texts) > 1 else "")
    unsatisfied = [line for line in decision.derivation if line.startswith("its constraint")]
    hint = " ".join(misses or (f"{line[0].upper()}{line[1:]}." for line in unsatisfied))
    yield Problem("Q006", f"{subject} may not be read. {decision.reason}", hint)
    if is_apart:
        message = f"Each of {join_names(tables.names[iri] for iri in columns)} may be read alone."
        yield Problem("Q006", message, "One permission has to name all of them as its target.")


def _format_columns(columns: tuple[str, ...]) -> str:
    if len(columns) == 1:
        return f"the column {columns[0]!r}"
    return f"the columns {join_names(columns)} together" if columns else "the whole table"
