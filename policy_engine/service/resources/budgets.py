"""Budgets of differential privacy: what releases of each dataset spent, and whose it was."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy import select

from policy_engine import terms
from policy_engine.errors import LedgerError, PolicyEngineError, ServiceError
from policy_engine.release.budget import Amount, Balance, BudgetEntry, BudgetLedger, Cap
from policy_engine.release.budget.asked import asked_words
from policy_engine.release.budget.entries import plain
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.decisions import LogIntegrity
from policy_engine.service.resources.log_heads import budget_head
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset


class AmountView(BaseModel):
    """An epsilon and a delta, as exact decimals."""

    epsilon: str
    delta: str


class CapView(AmountView):
    """The most that may be spent, or may be spent within each `renewal`; `set_by` is the policy
    that says so for all who ask, if it is one."""

    renewal: str = ""
    lifetime: AmountView | None = None
    set_by: str = ""


class AccountView(BaseModel):
    """What has been spent of a dataset: by all who ask, or by one party for a purpose."""

    unit: str
    assignee: str
    purpose: str
    spent: AmountView
    reserved: AmountView
    remaining: AmountView | None = None
    caps: list[CapView]


class OwnAccountView(BaseModel):
    """What was spent of a dataset for somebody, for a purpose, and what remains to them by their
    own limits: those of all who ask together are not told, since they tell what others asked."""

    dataset: str
    unit: str
    purpose: str
    spent: AmountView
    reserved: AmountView
    remaining: AmountView | None = None


class OwnAccountsView(BaseModel):
    """The accounts of somebody."""

    items: list[OwnAccountView]


class SpendingView(BaseModel):
    """A release that was charged: for whom, for which purposes, and what was asked.

    Its `state` is that of the ledger: `reserved`, `spent` once noise may be drawn, `kept` with its
    answer, or `lost`.
    """

    number: int
    at: datetime
    release: str
    epsilon: str
    delta: str
    assignees: list[str]
    purposes: list[str]
    asked: str
    state: str


class BudgetView(BaseModel):
    """The budget of a dataset; of `uncovered` releases no epsilon says anything."""

    dataset: str
    accounts: list[AccountView]
    spending: list[SpendingView]
    uncovered: list[str]


class BudgetsView(BaseModel):
    """The budgets of datasets."""

    items: list[BudgetView]


@dataclass(frozen=True)
class Budgets:
    """The budget ledger of the service, which runs charge that release statistics."""

    database: Database
    folders: RunFolders

    @property
    def ledger(self) -> BudgetLedger:
        """The ledger, which is made by the first charge. Raises LedgerError (B004) for one that was
        cut or is gone, ServiceError (N013) where its key is lost."""
        head = budget_head(self.folders)
        head.check()
        head.follow()
        return BudgetLedger(self.path, head.key)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folders.ledger

    def all(self, actor: Actor) -> BudgetsView:
        """Return the budgets of all datasets, or of one's own: balances tell what others asked.

        Raises LedgerError for a ledger that does not show what was spent.
        """
        reach = authorise(actor, Verb.READ_BUDGETS)
        ledger = self.ledger
        if not self.path.exists():
            return BudgetsView(items=[])
        balances, uncovered = ledger.balances(), ledger.uncovered_by_dataset()
        names = dict.fromkeys([*(one.account.dataset for one in balances), *uncovered])
        if reach is Whose.OWN:
            names = {one: None for one in names if one in self._owned(actor)}
        charges = [*_charges(ledger.history())]
        items = [
            BudgetView(
                dataset=name,
                accounts=[_account(one) for one in balances if one.account.dataset == name],
                spending=[view for datasets, view in charges if name in datasets],
                uncovered=list(uncovered.get(name, ())),
            )
            for name in names
        ]
        return BudgetsView(items=items)

    def own(self, actor: Actor) -> OwnAccountsView:
        """Return what was spent for somebody, and what remains to them; nothing for whom policies
        do not know. Raises LedgerError as `all`."""
        authorise(actor, Verb.QUERY)
        ledger = self.ledger
        if not (actor.party and self.path.exists()):
            return OwnAccountsView(items=[])
        party = terms.canonical(actor.party)
        balances = [one for one in ledger.balances() if one.account.assignee == party]
        return OwnAccountsView(items=[*map(_own_account, balances)])

    def verify(self, actor: Actor) -> LogIntegrity:
        """Return whether the ledger is as it was written, and has the last entry that is known.
        Raises ServiceError (N004) for none that has begun, N013 for one whose key is lost."""
        authorise(actor, Verb.READ_BUDGETS)
        try:
            ledger = self.ledger
        except LedgerError as error:
            problems = [str(one) for one in error.problems]
            return LogIntegrity(intact=False, entries=0, head="", problems=problems)
        if not self.path.exists():
            raise _empty_error()
        result = ledger.verify()
        return LogIntegrity(
            intact=result.intact,
            entries=result.entries,
            head=str(result.head),
            problems=[str(one) for one in result.problems],
        )

    def _owned(self, actor: Actor) -> set[str]:
        own = select(StoredDataset.iri).where(StoredDataset.owner_id == actor.id)
        with self.database.reading() as session:
            return set(session.scalars(own))


def _charges(entries: tuple[BudgetEntry, ...]) -> Iterator[tuple[set[str], SpendingView]]:
    """Yield what was charged and not given back, with the datasets whose accounts it went to."""
    states = {one.of: one.state for one in entries if one.of and one.state != "replayed"}
    for one in entries:
        state = states.get(one.number, one.state)
        if one.charge is None or state == "cancelled":
            continue
        charge = one.charge
        assignees = dict.fromkeys(some.assignee for some in charge.accounts if some.assignee)
        view = SpendingView(
            number=one.number,
            at=datetime.fromisoformat(one.logged),
            release=charge.release,
            epsilon=charge.epsilon,
            delta=charge.delta,
            assignees=list(assignees),
            purposes=[some for some in charge.purposes or () if some],
            asked=asked_words(charge.asked),
            state=state,
        )
        yield {some.dataset for some in charge.accounts}, view


def _account(balance: Balance) -> AccountView:
    account, remaining = balance.account, balance.remaining
    return AccountView(
        unit=account.unit,
        assignee=account.assignee,
        purpose=account.purpose,
        spent=_amount(balance.spent),
        reserved=_amount(balance.reserved),
        remaining=None if remaining is None else _amount(remaining),
        caps=[_cap(one) for one in balance.caps],
    )


def _own_account(balance: Balance) -> OwnAccountView:
    whole = _account(balance)
    return OwnAccountView(
        dataset=balance.account.dataset,
        unit=whole.unit,
        purpose=whole.purpose,
        spent=whole.spent,
        reserved=whole.reserved,
        remaining=whole.remaining,
    )


def _amount(amount: Amount) -> AmountView:
    return AmountView(epsilon=plain(amount.epsilon), delta=plain(amount.delta))


def _cap(cap: Cap) -> CapView:
    lifetime = None if cap.lifetime is None else _amount(cap.lifetime)
    parts = _amount(cap.bound).model_dump()
    return CapView(**parts, renewal=cap.renewal, lifetime=lifetime, set_by=cap.set_by)


def _empty_error() -> PolicyEngineError:
    return ServiceError.of("N004", "There is no ledger yet: nothing has been charged to a budget.")
