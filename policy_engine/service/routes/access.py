"""The routes of requests for access."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from policy_engine.service.calls.callers import ServicesOf, allowed
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.access import AccessView, NewAccessRequest

router = APIRouter(tags=["access"], route_class=RepeatableRoute)

Reader = Annotated[Actor, Depends(allowed(Verb.READ_ACCESS))]
Requester = Annotated[Actor, Depends(allowed(Verb.ASK_FOR_ACCESS))]
Granter = Annotated[Actor, Depends(allowed(Verb.GRANT_ACCESS))]


class Note(BaseModel):
    """What is said to the other side."""

    note: Annotated[str, Field(max_length=2000)] = ""


@router.get("/access-requests")
def list_requests(
    services: ServicesOf, actor: Reader, page: Annotated[Cursor, Query()]
) -> PageOf[AccessView]:
    """List the requests for access that you made, or have to answer, the newest first."""
    return services.access.page(actor, page)


@router.post("/access-requests", status_code=201, dependencies=[ONCE])
def ask_for_access(
    services: ServicesOf, actor: Requester, wanted: NewAccessRequest, response: Response
) -> AccessView:
    """Ask the owner of assets to let you read them together."""
    return tagged(services.access.ask(actor, wanted), response)


@router.post("/access-requests/{request_id}:grant")
def grant_access(
    services: ServicesOf,
    actor: Granter,
    request_id: str,
    note: Note,
    tag: IfMatch,
    response: Response,
) -> AccessView:
    """Grant a request: a policy that says so is in force from now on, until the moment it names."""
    return tagged(services.access.grant(actor, request_id, tag, note.note), response)


@router.post("/access-requests/{request_id}:reject")
def reject_access(
    services: ServicesOf,
    actor: Granter,
    request_id: str,
    note: Note,
    tag: IfMatch,
    response: Response,
) -> AccessView:
    """Reject a request."""
    return tagged(services.access.reject(actor, request_id, tag, note.note), response)


@router.post("/access-requests/{request_id}:revoke")
def revoke_access(
    services: ServicesOf,
    actor: Granter,
    request_id: str,
    note: Note,
    tag: IfMatch,
    response: Response,
) -> AccessView:
    """Take a grant back: its policy is no longer in force."""
    return tagged(services.access.revoke(actor, request_id, tag, note.note), response)
