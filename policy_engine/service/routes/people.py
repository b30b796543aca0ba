"""The routes of who is signed in."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from policy_engine.service.calls.callers import ServicesOf, allowed, anybody, cookie_name
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.identity.signing_in import SIGN_IN_LIFE

router = APIRouter(tags=["people"])
sign_in_router = APIRouter(include_in_schema=False)

Self = Annotated[Actor, Depends(allowed(Verb.SEE_ONESELF))]


@router.get("/me")
def see_oneself(actor: Self) -> Actor:
    """Say who is signed in, with the token that changes from a browser need."""
    return actor


@router.post("/me:sign-out", status_code=204)
def sign_out(services: ServicesOf, _: Self, call: Request) -> Response:
    """End the sign-in of this browser."""
    name = cookie_name(is_secure=services.settings.is_secure)
    services.identities.sign_out(call.cookies.get(name, ""))
    response = Response(status_code=204)
    response.delete_cookie(name, secure=services.settings.is_secure, httponly=True)
    return response


@sign_in_router.get("/sign-in", dependencies=[Depends(anybody)])
def follow_link(services: ServicesOf, call: Request, token: str = "") -> Response:
    """Sign in by a link, once, and go on to the pages."""
    services.sign_ins.spend(call.client.host if call.client else "")
    cookie = services.identities.follow_link(token)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        cookie_name(is_secure=services.settings.is_secure),
        cookie,
        max_age=int(SIGN_IN_LIFE.total_seconds()),
        secure=services.settings.is_secure,
        httponly=True,
        samesite="lax",
        path="/",
    )
    return response
