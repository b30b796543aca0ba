"""The decision on a query: what of its columns may be read together, and which rows of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from policy_engine.decision import Decision, Grant, RowAccess
from policy_engine.decision.history import History
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import depth_guard
from policy_engine.decision.query.granting import GrantedRows, row_filters
from policy_engine.decision.query.query_request import QueryRequest
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.tables import Tables
from policy_engine.decision.telling import Telling, unchanged
from policy_engine.errors import Problem, join_names
from policy_engine.policy.wording import rule_name

if TYPE_CHECKING:
    from policy_engine.decision.log import DecisionLog


@dataclass(frozen=True)
class QueryDecision:
    """The decision on everything a query reads, and the readable rows of each table.

    `entry` is its number and hash in the log, if it is logged.
    """

    together: RowAccess
    rows: GrantedRows
    history: History | None
    entry: str = ""

    @property
    def filters(self) -> Mapping[str, Filter]:
        """Which rows of each table may be read, by its IRI."""
        return self.rows.filters

    @property
    def is_something(self) -> bool:
        """Whether every table has readable rows."""
        return bool(self.filters) and not any(rows.is_nothing for rows in self.filters.values())

    @property
    def decision(self) -> Decision:
        """The decision of the rules whose rows are read."""
        return self.together.decided(self.rows.grants)

    @property
    def logged(self) -> Decision:
        """The decision to log: rules that give no rows were not exercised."""
        changes = {} if self.is_something else {"counted": ()}
        return self.decision.model_copy(update=changes)

    def notes(self, tables: Tables, telling: Telling = unchanged) -> Iterator[Problem]:
        """Yield the constraints that were not understood, and the rows that are left out, with the
        names of rules that `telling` leaves in the decision."""
        for rows in self.filters.values():
            yield from not_understood(rows)
        if self.rows.left:
            decision = telling(self.decision)
            uids = {decision.policy, *(one.policy for one in decision.matches)}
            some = join_names(_names(self.rows.left, uids))
            message = f"Rows that {some} permits are left out."
            names = join_names(tables.names[iri] for iri in self.filters)
            by = join_names(_names(self.rows.grants, uids))
            hint = f"One rule must grant everything read from {names} together; here it is {by}."
            yield Problem("Q009", message, hint)


def decide_query(
    asker: QueryRequest, reading: TableReading, tables: Tables, log: "DecisionLog | None"
) -> QueryDecision:
    """Return what may be read of a query's columns, decided by the log and added to it, if any."""
    if log is None:
        return grant(asker, reading, tables, None)
    with log.transaction() as transaction:
        history = transaction.history
    # Read the data now, so that nobody waits for it while the log is locked.
    grant(asker, reading, tables, history)
    with log.transaction() as transaction:
        decision = grant(asker, reading, tables, transaction.history)
        entry = transaction.append(decision.logged)
    return replace(decision, entry=f"{entry.number}:{entry.hash}")


def grant(
    asker: QueryRequest, reading: TableReading, tables: Tables, history: History | None
) -> QueryDecision:
    """Return what may be read of a query's columns, given what was read before."""
    asker = replace(asker, history=history)
    together = asker.ask(reading.columns)
    rows = GrantedRows()
    if together.permissions:
        with depth_guard():
            accesses = asker.ask_each(reading.columns, together)
            rows = row_filters(accesses, tables, asker.asset)
    return QueryDecision(together, rows, history)


def _names(grants: Iterable[Grant], uids: Collection[str]) -> Iterator[str]:
    """Yield the names of rules, those of policies that are not shown all by the same."""
    names = (
        rule_name(one.rule.label(), one.policy) if one.policy in uids else "another rule"
        for one in grants
    )
    yield from dict.fromkeys(names)


def not_understood(rows: Filter) -> Iterator[Problem]:
    """Yield the rules that were not understood, which permit or prohibit as if unknown."""
    yield from (Problem("Q007", note) for note in rows.not_understood)
