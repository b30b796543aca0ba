"""The routes by which people sign in at a provider of identities."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import ServicesOf, anybody
from policy_engine.service.identity.authorising import nothing_there
from policy_engine.service.identity.providers import CALLBACK, IdentityProvider
from policy_engine.service.identity.secrets import new_secret
from policy_engine.service.routes.links import welcome
from policy_engine.service.services import Services

router = APIRouter(tags=["people"], dependencies=[Depends(anybody)])
provider_router = APIRouter(include_in_schema=False, dependencies=[Depends(anybody)])
_LIFE = 600
"""Seconds from going to the provider to coming back."""


class SignInWays(BaseModel):
    """How people sign in: by links, and at a provider of identities, if one is named."""

    provider: str = ""


@router.get("/sign-in")
def ways_to_sign_in(services: ServicesOf) -> SignInWays:
    """Say how people sign in. Nobody needs to be signed in to ask."""
    return SignInWays(provider=urlsplit(services.settings.oidc_issuer).hostname or "")


@provider_router.get("/sign-in/provider")
def go_to_provider(services: ServicesOf) -> Response:
    """Send a browser to the provider, with a secret by which it is known when it comes back."""
    secret = new_secret()
    response = RedirectResponse(_provider(services).address(secret), 303)
    response.set_cookie(
        _cookie_name(services),
        secret,
        max_age=_LIFE,
        secure=services.settings.is_secure,
        httponly=True,
        samesite="lax",
        path="/",
    )
    return response


@provider_router.get(CALLBACK)
def come_from_provider(
    services: ServicesOf,
    call: Request,
    code: Annotated[str, Query(max_length=4096)] = "",
    state: str = "",
    iss: str = "",
) -> Response:
    """Sign in a browser that comes back from the provider, and go on to the pages."""
    provider, name = _provider(services), _cookie_name(services)
    try:
        subject = provider.subject(call.cookies.get(name, ""), state, code, iss)
        response = welcome(services, services.identities.recognise(provider.issuer, subject))
    except ServiceError as error:
        if "text/html" not in call.headers.get("accept", "") or error.code != "N010":
            raise
        response = RedirectResponse("/?provider=refused", 303)
    response.delete_cookie(name, secure=services.settings.is_secure, httponly=True)
    return response


def _provider(services: Services) -> IdentityProvider:
    if services.provider is None:
        raise nothing_there()
    return services.provider


def _cookie_name(services: Services) -> str:
    prefix = "__Host-" if services.settings.is_secure else ""
    return f"{prefix}policy_engine_provider"
