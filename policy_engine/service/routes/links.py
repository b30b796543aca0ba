"""The routes by which people sign in by a link."""

from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.calls.callers import (
    ServicesOf,
    anybody,
    check_own_page,
    cookie_name,
    cookie_of,
)
from policy_engine.service.identity.signing_in import SIGN_IN_LIFE
from policy_engine.service.services import Services

router = APIRouter(include_in_schema=False)

_SITES_OF_USERS = ("", "none", "same-origin")
"""What browsers say of a link that is followed in the address line, or on a page of ours."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_CONFIRMING = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Sign in to policy_engine</title>
<main><h1>Sign in as {name}?</h1>
<p>A link asks for this. {present}If you did not ask for a link, close this page.</p>
<form method="post" action="/sign-in"><input type="hidden" name="token" value="{token}">
<button>Sign in as {name}</button></form></main></html>"""


@router.get("/sign-in", dependencies=[Depends(anybody)])
def follow_link(services: ServicesOf, call: Request, token: str = "") -> Response:
    """Sign in by a link, once, and go on to the pages; a browser is told by them why it cannot.

    Who comes from a page of another site, or is signed in as somebody else, is asked first: a link
    of a stranger would let them work in the stranger's name.
    """
    try:
        person, name = services.identities.person_of_link(token)
        present = _present(services, call)
        is_sent = call.headers.get("sec-fetch-site", "") not in _SITES_OF_USERS
        if is_sent or (present and present[0] != person):
            return _confirming(name, present[1] if present else "", token)
        return _signed_in(services, token)
    except ServiceError:
        if "text/html" in call.headers.get("accept", ""):
            return RedirectResponse("/?link=over", 303)
        raise


@router.post("/sign-in", dependencies=[Depends(anybody)])
async def confirm_link(services: ServicesOf, call: Request) -> Response:
    """Sign in by a link, as its page asks. Raises ServiceError (N009) for another site's page."""
    check_own_page(call, services)
    fields = parse_qs((await call.body()).decode("utf-8", "replace"))
    token = (fields.get("token") or [""])[0]
    return await run_in_threadpool(_signed_in, services, token)


def _present(services: Services, call: Request) -> tuple[str, str] | None:
    """Return who is signed in, by identifier and name."""
    cookie = cookie_of(call, services)
    try:
        actor = services.identities.by_cookie(cookie, is_call=False) if cookie else None
    except PolicyEngineError:
        return None
    return (actor.id, actor.name) if actor else None


def _confirming(name: str, present: str, token: str) -> Response:
    words = f"You are signed in as {escape(present)} now. " if present else ""
    page = _CONFIRMING.format(name=escape(name), present=words, token=escape(token))
    return HTMLResponse(page, headers=_HEADERS)


def _signed_in(services: Services, token: str) -> Response:
    return welcome(services, services.identities.follow_link(token))


def welcome(services: Services, cookie: str) -> Response:
    """Return the way to the pages for a browser that has signed in, with its cookie."""
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
