"""The routes of budgets of differential privacy."""

from typing import Annotated

from fastapi import APIRouter, Depends

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.budgets import BudgetsView, OwnAccountsView
from policy_engine.service.resources.decisions import LogIntegrity

router = APIRouter(tags=["budgets"])

Querier = Annotated[Actor, Depends(allowed(Verb.QUERY))]
Reader = Annotated[Actor, Depends(allowed(Verb.READ_BUDGETS))]


@router.get("/budgets")
def list_budgets(services: ServicesOf, actor: Reader) -> BudgetsView:
    """List what releases of each dataset spent, what remains, and for whom it was."""
    return services.budgets.all(actor)


@router.post("/budgets:verify")
def verify_budgets(services: ServicesOf, actor: Reader) -> LogIntegrity:
    """Say whether the ledger is as it was written, with the head worth keeping elsewhere."""
    return services.budgets.verify(actor)


@router.get("/me/budgets")
def list_own_budgets(services: ServicesOf, actor: Querier) -> OwnAccountsView:
    """List what statistics that you asked for spent of each dataset, and what remains to you."""
    return services.budgets.own(actor)
