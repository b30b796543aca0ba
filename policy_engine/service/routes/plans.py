"""The route of plans."""

from typing import Annotated

from fastapi import APIRouter, Depends

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.plans import PlanRequest, PlansView

router = APIRouter(tags=["plans"])

Planner = Annotated[Actor, Depends(allowed(Verb.PLAN))]


@router.post("/plans")
def make_plans(services: ServicesOf, actor: Planner, request: PlanRequest) -> PlansView:
    """Say what a policy would do to datasets, step by step; nothing is done, and nothing kept."""
    return services.plans.make(actor, request)
