"""Who makes a call, and whether they may."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise
from policy_engine.service.identity.roles import Verb
from policy_engine.service.identity.secrets import digest_of, is_same
from policy_engine.service.services import Services, services_of
from policy_engine.service.settings import LOOPBACK

_SAFE = ("GET", "HEAD", "OPTIONS")
_BEARER = "bearer "
MOST_OF_ANYBODY = 64 * 2**10
"""Bytes of a text that is checked for somebody who is not signed in."""


def cookie_name(*, is_secure: bool) -> str:
    """Return the name of the cookie; by https, browsers keep it for this host alone."""
    return "__Host-policy_engine_session" if is_secure else "policy_engine_session"


def caller_of(call: Request, version: object = None) -> Actor:
    """Return who makes a call, by a key or by a cookie.

    `version` is that of the database, where it was asked for since the call came.
    Raises ServiceError: N001 for nobody, N010 for a cookie or a key that is not valid, N006 for one
    who calls too often, N009 for a change that a page of another site may have made.
    """
    caller: Actor | None = getattr(call.state, "actor", None)
    if caller is not None:  # a call is counted once, however often it is asked whose it is
        return caller
    services = services_of(call)
    key, cookie = key_of(call), cookie_of(call, services)
    services.calls.spend(digest_of(key or cookie) if key or cookie else address_of(call))
    if key:
        actor = services.identities.by_key(key, version)
    elif cookie:
        actor = services.identities.by_cookie(cookie)
        _check_site(call, services, actor)
    else:
        message = "You are not signed in."
        raise ServiceError.of("N001", message, "Follow the link that the service gave you.")
    call.state.person, call.state.actor = actor.id, actor
    return actor


def reader_of(call: Request, verb: Verb) -> Actor:
    """Return who reads a stream that they opened, with the roles that they have by now.

    Raises ServiceError: N010 once the sign-in or the key has ended, N002 once the role has.
    """
    services = services_of(call)
    key, cookie = key_of(call), cookie_of(call, services)
    identities = services.identities
    actor = identities.by_key(key) if key else identities.by_cookie(cookie, is_call=False)
    authorise(actor, verb)
    return actor


def check_signed_in(call: Request, size: int) -> None:
    """Check that somebody is signed in who has a large text checked. Raises ServiceError (N008)."""
    try:
        caller_of(call)
    except PolicyEngineError as error:
        message = f"Who is not signed in has texts of {MOST_OF_ANYBODY:,} bytes checked."
        hint = "Sign in, and send the X-CSRF-Token or a key."
        raise ServiceError.of("N008", f"{message} Given: {size:,}.", hint) from error


def address_of(call: Request) -> str:
    """Return the address that a call comes from."""
    return call.client.host if call.client else ""


async def anybody(call: Request) -> None:
    """Count a call that needs no sign-in. Raises ServiceError (N006) for one too many."""
    _count(call)


async def checker_of(call: Request) -> str:
    """Count a call that needs no sign-in, and return whose it is: the person's who is signed in,
    for whom others at their address do not count, or else the address.

    Raises ServiceError (N006) for one too many.
    """
    services = services_of(call)
    if key_of(call) or cookie_of(call, services):
        try:
            return (await run_in_threadpool(caller_of, call)).id
        except PolicyEngineError as error:
            if error.code == "N006":
                raise
    _count(call)
    return address_of(call)


def _count(call: Request) -> None:
    services_of(call).calls.spend(address_of(call))


class Allowed:
    """A dependency of a route: the caller, who may do what its verb says, of some things at least.

    Each route has just one, or `anybody`: the tests walk all routes by it.
    """

    def __init__(self, verb: Verb, *, is_costly: bool = False) -> None:
        self.verb, self._is_costly = verb, is_costly

    def __call__(self, call: Request) -> Actor:
        """Return the caller. Raises as `caller_of` and `authorise`."""
        return self.admit(call)

    def admit(self, call: Request, version: object = None) -> Actor:
        """Return the caller as `caller_of`. Raises as that and `authorise`."""
        actor = caller_of(call, version)
        authorise(actor, self.verb)
        if self._is_costly:
            services_of(call).costly_calls.spend(actor.id)
        return actor


class AllowedHere(Allowed):
    """A dependency of a route that whoever is on this machine may call, too, without a sign-in.

    Behind a proxy, all callers seem to be on this machine: where there is a public address, nobody
    is taken to be.
    """

    def __call__(self, call: Request) -> Actor:
        """Return the caller, who has no roles on this machine. Raises as `Allowed`."""
        if services_of(call).settings.public_url or address_of(call) not in LOOPBACK:
            return super().__call__(call)
        _count(call)
        return Actor(id="", name="", roles=())


def key_of(call: Request) -> str:
    """Return the key of who calls; empty where they have none."""
    header = call.headers.get("authorization", "")
    return header[len(_BEARER) :].strip() if header.lower().startswith(_BEARER) else ""


def cookie_of(call: Request, services: Services) -> str:
    """Return the cookie of who is signed in; empty where nobody is."""
    return call.cookies.get(cookie_name(is_secure=services.settings.is_secure), "")


def check_own_page(call: Request, services: Services) -> None:
    """Check that a form was sent by a page of ours. Raises ServiceError (N009) otherwise."""
    site, origin = (call.headers.get(name, "") for name in ("sec-fetch-site", "origin"))
    if site != "same-origin" and (site or origin not in _own_origins(call, services)):
        raise ServiceError.of("N009", "The form was not sent by a page of this service.")


def _own_origins(call: Request, services: Services) -> set[str]:
    return {services.settings.address, f"{call.url.scheme}://{call.headers.get('host', '')}"}


def _check_site(call: Request, services: Services, actor: Actor) -> None:
    """Check that a change is made by a page of ours: it knows the token, and says whence it is."""
    if call.method in _SAFE:
        return
    origin = call.headers.get("origin", "")
    is_ours = not origin or origin in _own_origins(call, services)
    site = call.headers.get("sec-fetch-site", "same-origin")
    token = call.headers.get("x-csrf-token", "")
    if not is_ours or site not in ("same-origin", "none") or not is_same(token, actor.csrf_token):
        message = "The change was not asked for by a page of this service."
        raise ServiceError.of("N009", message, "Send the X-CSRF-Token that GET /api/v1/me gives.")


async def _services(call: Request) -> Services:
    """Return the services of a call, on the loop: what is only looked up needs no thread."""
    return services_of(call)


ServicesOf = Annotated[Services, Depends(_services)]


def allowed(verb: Verb, *, is_costly: bool = False) -> Callable[[Request], Actor]:
    """Return the dependency of a route that does what a verb says."""
    return Allowed(verb, is_costly=is_costly)
