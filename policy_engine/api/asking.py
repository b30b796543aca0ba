"""Queries that are answered with noise: decided, charged, and only then drawn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine import terms
from policy_engine.api.acting import ActingParty, MakingRequest
from policy_engine.api.binding import adjacent_proofs, bind_plans
from policy_engine.api.inputs import Inputs
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.vouching import Vouched
from policy_engine.data.catalog import Catalog, make_catalog
from policy_engine.data.keys import Key
from policy_engine.decision import Decider, World
from policy_engine.decision.history import History
from policy_engine.decision.query.allowed_statistics import AllowedStatistics, AnswerLoss
from policy_engine.decision.query.asked_statistics import AskedFigure
from policy_engine.decision.query.grammar import depth_guard, parse_query, to_sql
from policy_engine.decision.query.granting_statistics import (
    GrantedAnswer,
    StatisticsRequest,
    granted_answer,
    no_statistics,
    refused,
    statistics_hint,
)
from policy_engine.decision.query.model import QueryResult, StatisticsCost
from policy_engine.decision.query.query_limits import (
    check_limits,
    current_limits,
    query_limits,
)
from policy_engine.decision.query.showing_statistics import Name, shown_names, shown_rows
from policy_engine.decision.query.tables import Tables
from policy_engine.decision.telling import Telling, unchanged
from policy_engine.engines.launching import Launcher, launch_engine
from policy_engine.errors import DeniedError, PlanError, PolicyEngineError
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product
from policy_engine.plan.spelling import respell_hierarchies
from policy_engine.policy import Hierarchy, InForce
from policy_engine.policy.owners import Owners
from policy_engine.release.budget.accounts import Account, Amount
from policy_engine.release.budget.charging import Chargeable, LedgerCharging, charging_of
from policy_engine.release.budget.ledger import BudgetLedger
from policy_engine.release.statistics import charged_statistics, digest_of_input, to_table

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.decision.log import DecisionLog
    from policy_engine.decision.log.log import Transaction


Exact = str | int | Decimal


class _NothingSpent:
    """The budget of a query that is not drawn: whether it may be asked for at all."""

    def spent(self, _wider: Mapping[str, Sequence[str]]) -> Mapping[Account, Amount]:
        return {}


@dataclass(frozen=True)
class Asker:
    """Who asks for statistics of data, for which purpose, and what decides and charges it.

    `data` are paths or tables by the IRIs of datasets. Without a `ledger`, nothing is drawn; a
    `log` is of the decisions. `taxonomies` are files of keys, where they are not beside the policy.
    """

    policies: InForce
    assignee: str
    purpose: str
    data: Mapping[str, Any]
    proofs: Sequence[Proof] = ()
    hierarchy: Hierarchy | None = None
    world: World | None = None
    owners: Owners | None = None
    ledger: str | Path | None = None
    ledger_key: Key = None
    log: "DecisionLog | None" = None
    taxonomies: Mapping[str, Any] | None = None
    told: Telling = unchanged
    """What of a decision is told to who asks."""

    @cached_property
    def catalog(self) -> Catalog:
        """The data, of which only the names of columns are read."""
        return make_catalog(dict(self.data), in_buckets=True)

    @cached_property
    def decider(self) -> Decider:
        """What decides, by the policies, the certificates and the ledger."""
        state, columns = self.world or World(), self.owners.columns if self.owners else ()
        hierarchies = [self.hierarchy or Hierarchy(), state.memberships]
        spelled = respell_hierarchies(self.catalog, self.policies, hierarchies, columns)
        assets = [one.iri for one in self.catalog.datasets]
        budgets = BudgetLedger(self.ledger, self.ledger_key) if self.ledger else _NothingSpent()
        adjacent = adjacent_proofs(self.data, Launcher())
        proofs: Sequence[Proof]
        if isinstance(self.proofs, Vouched):
            proofs = self.proofs.joined(adjacent)
        else:
            proofs = [*self.proofs, *adjacent]
        return Decider(self.policies, proofs, spelled, self.owners, assets, budgets).as_of(state)

    @cached_property
    def request(self) -> StatisticsRequest:
        """The request, at one moment for the whole query."""
        state = self.world or World()
        now = state.model_copy(update={"time": state.time or datetime.now(UTC)})
        request = StatisticsRequest(self.decider, self.assignee, self.purpose, now, told=self.told)
        return replace(request, time_by="caller") if state.time else request

    @contextmanager
    def logged(self) -> "Iterator[tuple[History | None, Transaction | None]]":
        """Return the history of the log, held exclusively, and what to append to."""
        if self.log is None:
            yield None, None
        else:
            with self.log.transaction() as transaction:
                yield transaction.history, transaction


def ask_statistics(
    sql: str,
    epsilon: Exact,
    delta: Exact,
    asker: Asker,
    dialect: str = "duckdb",
    *,
    run: bool = True,
) -> QueryResult:
    """Return what a query asks of statistics under differential privacy, with noise, or why not.

    It is decided on the query, the policies and the ledger alone; budget is reserved, the decision
    is logged, and only then are rows read. Without `run`, the result has what it would cost, and
    nothing is charged or logged; with a ledger, it says whether the budget allows it, and whether
    it was answered before. Raises QueryError for a query that cannot be parsed, or is ended before
    rows are read (Q011, Q012, as `query_limits` says; it is not charged then), RequestError (D003)
    for numbers that are not a loss, PlanError (M018) without a ledger, and as `apply_policy` does.
    """
    if asker.ledger is None and run:
        message = "Statistics under differential privacy are charged to a budget, and no ledger is "
        raise PlanError.of("M018", f"{message}given.", "Give the file of one: ledger=FILE.")
    loss = AnswerLoss.of(epsilon, delta)
    tree, tables = parse_query(sql, dialect), Tables(asker.catalog)
    text = to_sql(tree, dialect)
    with asker.logged() as (history, log), depth_guard():
        granted = granted_answer(tree, loss, tables, asker.request, history)
        if granted.answer is None and log is not None and run:
            log.append(granted.decision)
    if granted.answer is None:
        decision = asker.told(granted.decision)
        return QueryResult(permitted=False, decision=decision, reasons=granted.reasons)
    try:
        table, cost = _answered(asker, granted, run=run)
    except DeniedError as error:
        return _denied(asker, granted, error, run=run)
    decision = asker.told(granted.decision)
    return QueryResult(permitted=True, sql=text, table=table, decision=decision, cost=cost)


def with_statistics_hint(
    result: QueryResult, sql: str, asker: Asker, dialect: str = "duckdb"
) -> QueryResult:
    """Return a denial of a query of rows with how statistics of them may be asked for, if so."""
    if result.permitted or not result.reasons:
        return result
    assets = {part.iri: one.iri for one in asker.catalog.datasets for part in one.parts()}
    datasets = tuple(dict.fromkeys(assets.get(one, one) for one in result.columns))
    try:
        hint = statistics_hint(parse_query(sql, dialect), asker.request, datasets)
    except PolicyEngineError:
        return result
    first, *others = result.reasons
    first = replace(first, hint=" ".join(filter(None, (first.hint, hint))))
    return replace(result, reasons=(first, *others))


def _denied(asker: Asker, granted: GrantedAnswer, error: DeniedError, *, run: bool) -> QueryResult:
    """Return the denial of what the ledger or the log did not let be answered; log it if run."""
    # What was spent, and by how much more it would be, is for the owner of the ledger alone.
    reasons = tuple(replace(one, values=()) for one in error.problems)
    decision = refused(granted.decision, reasons[0].message)
    if asker.log is not None and run:
        asker.log.append(decision)
    return QueryResult(permitted=False, decision=asker.told(decision), reasons=reasons)


@dataclass
class _LoggedCharging:
    """Charges an answer that was granted, and logs the permit: once, while its budget is reserved.

    So no row is read without an entry, and what the budget refuses counts as no execution. Limits
    of time, and leaving, end it until then and at no cost. From there on it is carried out: who
    could end it for nothing would learn from when it is charged how long the rows take to read.
    """

    charging: LedgerCharging
    asker: Asker
    granted: GrantedAnswer
    is_logged: bool = False

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The other releases of the data."""
        return self.charging.uncovered

    def answer(self, data: str, prepare: Callable[[], Callable[[], bytes]]) -> bytes:
        """Return what is drawn, as `LedgerCharging` does."""

        def logged() -> Callable[[], bytes]:
            check_limits()
            self._log()
            return prepare()

        answer = self.charging.answer(data, logged)
        self._log()  # Of an answer that was kept, nothing is prepared.
        return answer

    def _log(self) -> None:
        """Log the permit. Raises DeniedError (Q006) where the log does not allow it any more."""
        if self.is_logged or self.granted.answer is None:
            return
        allowed, [dataset] = self.granted.answer[0], self.granted.decision.request.targets
        with self.asker.logged() as (history, log):
            if log is not None:
                decision = self.asker.request.decide(dataset, allowed, history)
                if not decision.permitted:
                    raise DeniedError(no_statistics([dataset], self.asker.told(decision).reason))
                log.append(decision)
        self.is_logged = True


def _answered(
    asker: Asker, granted: GrantedAnswer, *, run: bool
) -> "tuple[pa.Table | None, StatisticsCost]":
    """Return the rows that answer a query, None unless it is run, and what they cost."""
    assert granted.answer is not None  # noqa: S101 (it is permitted)
    allowed, question, part = granted.answer
    name = _column_names(allowed)
    figures = {one.name: one for one in part.aggregation.figures}
    cost = StatisticsCost(
        part.aggregation.epsilon,
        part.aggregation.delta_spent,
        {own: figures[column] for own, column in shown_names(question, name) if column in figures},
    )
    if asker.ledger is None:
        return None, replace(cost, is_charged=True)
    product, policy = Product(None, statistics=part), allowed.policy
    dataset = terms.canonical(part.rule.targets[0].iri)
    data = {one: table for one, table in asker.data.items() if terms.canonical(one) == dataset}
    # Others decide, too; of what is read, only those that are for it say how it was made.
    proofs = [one for one in asker.proofs if terms.canonical(proof_asset(one)) == dataset]
    making = _making(asker, allowed)
    making.check_consents({part.rule.output}, with_prohibitions=False)
    with launch_engine("local") as launcher:
        inputs = Inputs(data=data, taxonomies=asker.taxonomies, certificates=proofs)
        [bound] = bind_plans(policy, [product], launcher, inputs)
        plan = _for_asker(making.with_consents(bound.plan), granted)
        chargeable = Chargeable(
            policy,
            part.rule,
            plan,
            asker.policies,
            bound.upstream,
            memberships=making.memberships.joined([asker.hierarchy or Hierarchy()]),
        )
        charging = charging_of(chargeable, asker.ledger, asker.ledger_key)
        assert isinstance(charging, LedgerCharging)  # noqa: S101 (statistics, and a ledger)
        engine = launcher.engine(bound.catalog)
        # What cannot be shown is refused before it is paid for: a table without rows shows that.
        shown_rows(to_table(plan.require_aggregate(), []), question, name)
        table = None
        if run:
            logged = _LoggedCharging(charging, asker, granted)
            check_limits()
            released, _ = charged_statistics(plan, engine, logged, bound.upstream)
            with query_limits(current_limits().memory):  # it is paid for, however long that took
                table = shown_rows(released, question, name)
        else:
            charging.foresee(digest_of_input(plan, engine, bound.upstream).digest)
        engine.close()
    return table, replace(cost, is_charged=charging.is_charged)


def _column_names(allowed: AllowedStatistics) -> Name:
    """Return what tells the column of the released table that an entry of a query is."""
    names = {figure: one.name for figure, one in allowed.askable.items()}

    def name(entry: AskedFigure | str) -> str:
        return entry if isinstance(entry, str) else names[entry]

    return name


def _for_asker(plan: Plan, granted: GrantedAnswer) -> Plan:
    """Return a plan for who asks alone: their accounts are charged, and those they belong to."""
    audience = {"assignees": granted.names("party"), "purposes": granted.names("purpose")}
    return plan.model_copy(update=audience)


def _making(asker: Asker, allowed: AllowedStatistics) -> MakingRequest:
    acting = ActingParty(asker.assignee, asker.purpose, world=asker.world)
    owners, assets = asker.owners or Owners(), tuple(asker.data)
    return MakingRequest(allowed.policy, asker.policies, owners, assets, acting, asker.decider)
