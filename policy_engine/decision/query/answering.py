"""A query from its text to its rows: parse it, decide, rewrite it to what may be read, run it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.data.catalog import Catalog, Dataset
from policy_engine.decision import Decider, Decision, Request, RowAccess, World, read_request
from policy_engine.decision.history import History
from policy_engine.decision.model import Grant
from policy_engine.decision.query import logic, running
from policy_engine.decision.query.checking.checkable_query import (
    dataset_rows,
    make_checkable,
    with_known_units,
)
from policy_engine.decision.query.checking.checked_answer import answer_checked
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.checked_task import (
    CheckedTask,
    answer_ledger,
    file_digests,
)
from policy_engine.decision.query.checking.permitted_checks import checked_world
from policy_engine.decision.query.checking.protecting import ProtectionInputs
from policy_engine.decision.query.checking.reviewed_cells import AnswerReview
from policy_engine.decision.query.checking.unit_columns import ROW
from policy_engine.decision.query.checking.weighing_mitigations import weigh_mitigations
from policy_engine.decision.query.denying import denial
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import depth_guard, parse_query, to_sql
from policy_engine.decision.query.model import QueryResult
from policy_engine.decision.query.outputs import check_certified, is_certified
from policy_engine.decision.query.private_copies import private_copies
from policy_engine.decision.query.query_decision import QueryDecision, decide_query, grant
from policy_engine.decision.query.query_request import QueryRequest
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import TableReading, read_columns
from policy_engine.decision.query.showing import nan_columns, read_views
from policy_engine.decision.query.shuffling import fresh_key
from policy_engine.decision.query.tables import Tables
from policy_engine.decision.telling import Telling, unchanged
from policy_engine.errors import LedgerError, PolicyEngineError, RequestError
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.plan.output_checks import checks_of
from policy_engine.plan.spelling import respell_hierarchies
from policy_engine.policy import Hierarchy, Policy
from policy_engine.policy.model import READ
from policy_engine.policy.naming import Names
from policy_engine.policy.owners import Owners

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.decision.log import DecisionLog
    from policy_engine.release.output_ledger import OutputLedger


def query(
    sql: str,
    policies: Sequence[Policy],
    assignee: str,
    catalog: Catalog,
    purpose: str = "",
    *,
    certificates: Sequence[Certificate | Attestation] = (),
    hierarchy: Hierarchy | None = None,
    world: World | None = None,
    dialect: str = "duckdb",
    run: bool = True,
    key: bytes = b"",
    log: "DecisionLog | None" = None,
    owners: Owners | None = None,
    output_ledger: "OutputLedger | None" = None,
    noise_key: bytes | None = None,
    weighs: Decimal | None = None,
    review: AnswerReview | None = None,
    telling: Telling = unchanged,
    compiled: Decider | None = None,
) -> QueryResult:
    """Return the rows of a query that the policies let an assignee read for a purpose.

    A table is called by the last segment of its dataset's IRI, in any case, or by the whole IRI in
    double quotes. Assignee and purpose are IRIs, or short names as in the policies. Without `run`
    the query is only rewritten: of the data, only the column types are read, which for CSV are
    derived from the values. With a `log`, the query is decided with it, and the decision is logged
    before the query runs. Answers that have to pass output checks are checked against an
    `output_ledger` and recorded in it; where their policy asks for noise, it follows from the
    `noise_key`. If it `weighs` costs, nothing is answered, but what each way of protecting the
    answer would cost, for the owner: under differential privacy, by that epsilon. With a `review`,
    the answer says what a person may let out, or is what somebody accepted. Of the decision, the
    result has what `telling` returns. What decides by the policies may be `compiled` already, so
    that not every query does it.

    Raises RequestError (D001) for a name that is not an IRI, (K025) if the answer is not one that
    is checked, DataError if a policy names a column that the data lacks (C005), CertificateError
    (V004) if the data of an output is not what was certified, and what `answer` raises.
    """
    state = world or World()
    columns = owners.columns if owners else ()
    hierarchies = [hierarchy or Hierarchy(), state.memberships]
    spelled = respell_hierarchies(catalog, policies, hierarchies, columns)
    data = [dataset.iri for dataset in catalog.datasets]
    # One moment for the whole query: a constraint on the time must not change in between, nor what
    # counts by it, of which data has to be what was certified.
    now = state.model_copy(update={"time": state.time or datetime.now(UTC)})
    if compiled is None:
        decider = Decider(policies, certificates, spelled, owners, data).as_of(now)
    else:
        decider = compiled.as_of(now).extended(spelled)

    by = {"time_by": "caller" if state.time else "clock"}

    def asker_in(world: World) -> QueryRequest:
        def access(
            request: Request,
            datasets: Collection[str],
            together: tuple[str, ...],
            history: History | None,
        ) -> RowAccess:
            row_access = decider.row_access(request, world, datasets, together, history)

            def decided(grants: Collection[Grant]) -> Decision:
                return row_access.decided(grants).model_copy(update=by)

            return replace(
                row_access, decision=row_access.decision.model_copy(update=by), decided=decided
            )

        needed = partial(is_certified, decider=decider)
        return QueryRequest(request, access, verify, needed, _assets(catalog), told=telling)

    def verify(dataset: Dataset, history: History | None) -> None:
        dataset_request = request.model_copy(update={"targets": (dataset.iri,)})
        check_certified(dataset, catalog, decider, now, history, dataset_request)

    targets = [dataset.iri for dataset in catalog.datasets] or [READ]
    request = read_request(assignee, _reading_action(policies), targets, purpose, policies)
    return answer(
        sql,
        asker_in(now),
        catalog,
        dialect,
        run=run,
        key=key,
        log=log,
        checks={check: asker_in(checked_world(now, check)) for check in checks_of(policies)},
        output_ledger=output_ledger,
        hierarchy=spelled.joined(policy.hierarchy for policy in policies),
        noise_key=noise_key,
        weighs=weighs,
        review=review,
    )


def _assets(catalog: Catalog) -> Mapping[str, Dataset]:
    """Return the datasets that tables belong to, by the IRI of the table."""
    return {part.iri: dataset for dataset in catalog.datasets for part in dataset.parts()}


def _reading_action(policies: Sequence[Policy]) -> str:
    """Return the action of reading in the policies: ODRL's name if they do not agree."""
    names = {Names([policy]).full("read", "action") for policy in policies}
    return names.pop() if len(names) == 1 else READ


def answer(
    sql: str,
    asker: QueryRequest,
    catalog: Catalog,
    dialect: str = "duckdb",
    *,
    run: bool = True,
    key: bytes = b"",
    log: "DecisionLog | None" = None,
    checks: Mapping[OutputCheck, QueryRequest] = MappingProxyType({}),
    output_ledger: "OutputLedger | None" = None,
    hierarchy: Hierarchy | None = None,
    noise_key: bytes | None = None,
    weighs: Decimal | None = None,
    review: AnswerReview | None = None,
) -> QueryResult:
    """Return the rows of a query that the asker may read, or why there are none.

    All columns that the query reads, anywhere in it and from any table, are decided together; a
    table without a named column is read as a whole. The rows of each table are shuffled before the
    query runs, with a fresh key unless one is given, so that no result reveals the stored order;
    those of a checked answer only where the order could show, in ties.
    Where the rows may not be read, but their aggregates once they have passed one of the `checks`,
    each with who asks then, the answer is checked by the first that permits it. Raises QueryError
    for a query that is not understood (Q001 to Q005), a policy with a constraint that cannot be a
    filter (Q007), and a query that fails on the data (Q008); LedgerError (K023) for an answer to be
    checked without a ledger of earlier ones; DataError if the data cannot be read.
    """
    tables = Tables(catalog.with_tables())
    reading = read_columns(parse_query(sql, dialect), tables)
    check, asker = _choose(asker, checks, reading, tables, log)
    if check is not None and run and weighs is None and output_ledger is None:
        raise _no_ledger_error(check)
    granted = decide_query(asker, reading, tables, log) if reading.columns else None
    if granted and not granted.is_something:
        asker = replace(asker, history=granted.history)
        return denial(reading, granted, tables, asker, dialect)
    filters = granted.filters if granted else {}
    views = {
        iri: TableView(tables.names[iri], reading.columns[iri], rows)
        for iri, rows in filters.items()
    }
    if check is not None and granted is not None:
        with private_copies(views if run else {}, tables, asker) as (copied, of_copies):
            parts = (reading, views, check, copied, of_copies, dialect)
            task = CheckedTask(*parts, output_ledger, hierarchy, noise_key, review)
            return _checked(task, granted, run=run, key=key, weighs=weighs)
    if weighs is not None:
        message = "What protecting it would cost is told of an answer that has to pass a check."
        raise RequestError.of("K025", message, "This one is not checked.")
    with private_copies(views if run else {}, tables, asker) as (copied, of_copies):
        visible = _read_verified(views, copied, of_copies, key or fresh_key()) if run else {}
    could_be_nan = nan_columns(views, tables, visible)
    printed = {iri: replace(view, numbers=could_be_nan[iri]) for iri, view in views.items()}
    with depth_guard():
        text = to_sql(rewrite(reading.tree, printed), dialect)
        table = _run(reading, views, visible) if run else None
    return QueryResult(
        permitted=True,
        sql=text,
        table=table,
        columns=reading.columns,
        decision=asker.told(granted.decision) if granted else None,
        reasons=tuple(granted.notes(tables, asker.told)) if granted else (),
    )


def _choose(
    asker: QueryRequest,
    checks: Mapping[OutputCheck, QueryRequest],
    reading: TableReading,
    tables: Tables,
    log: "DecisionLog | None",
) -> tuple[OutputCheck | None, QueryRequest]:
    """Return who asks, and the check that the answer has to pass, None if rows may be read."""
    if not checks or not reading.columns:
        return None, asker
    history = None
    if log is not None:
        with log.transaction() as transaction:
            history = transaction.history
    if grant(asker, reading, tables, history).is_something:
        return None, asker
    for check, other in checks.items():
        if grant(other, reading, tables, history).is_something:
            return check, other
    return None, asker


def _no_ledger_error(check: OutputCheck) -> PolicyEngineError:
    message = (
        f"The answer has to pass {check.profile.title} and be checked against earlier answers, "
    )
    message += "which together tell what none tells alone, and no ledger of them is given."
    return LedgerError.of("K023", message, "Give its file: output_ledger=FILE.")


def _checked(
    task: CheckedTask, granted: QueryDecision, *, run: bool, key: bytes, weighs: Decimal | None
) -> QueryResult:
    """Return the answer to a query that the decision lets be read once it has passed a check."""
    reading, asker = task.reading, task.asker
    tables = with_known_units(task.tables, task.views, task.check, asker.asset)
    result = QueryResult(
        permitted=False,
        columns=reading.columns,
        decision=asker.told(granted.decision),
        reasons=tuple(granted.notes(tables, asker.told)),
        check=task.check,
    )
    try:
        checkable = make_checkable(reading, task.views, task.check, tables, asker.asset)
        if not run:
            text = to_sql(rewrite(reading.tree, task.views), task.dialect)
            return replace(result, permitted=True, sql=text)
        views = checkable.views
        digests = file_digests(task, views)
        order_key = (key or fresh_key()) if checkable.query.has_ties else None
        visible = _read_verified(views, tables, asker, order_key, numbered=ROW)
        if weighs is not None:
            parts = (checkable.is_plain, partial(dataset_rows, checkable, tables), visible, key)
            inputs = ProtectionInputs(*parts)
            comparisons = weigh_mitigations(checkable, visible, inputs, weighs)
            return replace(result, permitted=True, comparisons=comparisons)
        with depth_guard():
            checked = answer_checked(
                checkable,
                visible,
                partial(dataset_rows, checkable, tables),
                answer_ledger(task, checkable, granted.entry, digests),
                task.noise_key,
                task.review,
            )
    except NotCheckableError as error:
        return replace(result, reasons=(error.problem, *result.reasons))
    return replace(result, permitted=checked.is_released, table=checked.table, checked=checked)


def _read_verified(
    views: Mapping[str, TableView],
    tables: Tables,
    asker: QueryRequest,
    key: bytes | None,
    *,
    numbered: str = "",
) -> "Mapping[str, pa.Table]":
    """Return the rows of views, with the data of outputs verified before and after reading."""
    datasets = list({asker.asset(iri): asker.dataset(iri) for iri in views}.values())
    for dataset in datasets:
        asker.verify(dataset, asker.history)
    visible = read_views(views, tables, key, numbered=numbered)
    for dataset in datasets:
        asker.verify(dataset, asker.history)
    return visible


def _run(
    reading: TableReading, views: Mapping[str, TableView], read: "Mapping[str, pa.Table]"
) -> "pa.Table":
    """Run a query on copies of its views' rows.

    Rows that may not be read are removed before the query is considered: otherwise a query that
    fails on a value, or takes long because of it, would reveal them.
    """
    plain = {
        iri: TableView(view.table, view.columns, Filter(logic.true()))
        for iri, view in views.items()
    }
    text = to_sql(rewrite(reading.tree, plain), "duckdb")
    return running.run({"": text}, read)[""]
