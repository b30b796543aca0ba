"""The routes of people, of who is signed in, and of keys."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import ServicesOf, allowed, anybody, cookie_name
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, add_tag
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role, Verb
from policy_engine.service.identity.signing_in import SIGN_IN_LIFE
from policy_engine.service.resources.people import (
    MOST_DAYS,
    KeyView,
    LinkView,
    NewKeyView,
    PersonView,
)
from policy_engine.service.services import Services

router = APIRouter(tags=["people"], route_class=RepeatableRoute)
sign_in_router = APIRouter(include_in_schema=False)

Self = Annotated[Actor, Depends(allowed(Verb.SEE_ONESELF))]
Manager = Annotated[Actor, Depends(allowed(Verb.MANAGE_PEOPLE))]
Subject = Annotated[str, Field(max_length=255)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class NewPerson(BaseModel):
    """Somebody who is not known yet; `party` is the IRI that policies call them by, `subject` what
    the provider of identities knows them as."""

    name: Name
    roles: list[Role] = []
    party: str = ""
    subject: Subject = ""


class PersonChange(BaseModel):
    """What changes of a person; what is left out stays."""

    roles: list[Role] | None = None
    party: str | None = None
    subject: Subject | None = None
    is_active: bool | None = None


class KeyRequest(BaseModel):
    """A key that is to be made, for so many days, with some of one's own roles."""

    name: Name
    roles: list[Role]
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 90


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


@router.get("/people")
def list_people(
    services: ServicesOf, actor: Manager, page: Annotated[Cursor, Query()]
) -> PageOf[PersonView]:
    """List people and their roles, the newest first."""
    return services.people.page(actor, page)


@router.post("/people", status_code=201, dependencies=[ONCE])
def add_person(
    services: ServicesOf, actor: Manager, person: NewPerson, response: Response
) -> PersonView:
    """Make a person known, who signs in by a link."""
    view = services.people.create(actor, person.name, person.roles, person.party, person.subject)
    add_tag(response, view.revision)
    return view


@router.patch("/people/{person_id}")
def change_person(
    services: ServicesOf,
    actor: Manager,
    person_id: str,
    change: PersonChange,
    tag: IfMatch,
    response: Response,
) -> PersonView:
    """Change the roles or the party of a person, or whether they may sign in at all."""
    view = services.people.change(actor, person_id, tag, **change.model_dump())
    add_tag(response, view.revision)
    return view


@router.post("/people/{person_id}:invite", dependencies=[ONCE])
def invite_person(services: ServicesOf, actor: Manager, person_id: str) -> LinkView:
    """Make a link by which a person signs in once, within 15 minutes. Give it to nobody else."""
    return services.people.invite(actor, person_id)


@router.get("/keys")
def list_keys(services: ServicesOf, actor: Self) -> list[KeyView]:
    """List the keys that call for you, without what is secret of them."""
    return services.people.keys(actor)


@router.post("/keys", status_code=201, dependencies=[ONCE])
def make_key(services: ServicesOf, actor: Self, key: KeyRequest) -> NewKeyView:
    """Make a key that calls for you, as `Authorization: Bearer KEY`. It is shown this one time."""
    return services.people.new_key(actor, key.name, key.roles, key.days)


@router.delete("/keys/{key_id}", status_code=204)
def end_key(services: ServicesOf, actor: Self, key_id: str) -> None:
    """End a key: calls with it are refused from now on."""
    services.people.end_key(actor, key_id)


@sign_in_router.get("/sign-in", dependencies=[Depends(anybody)])
def follow_link(services: ServicesOf, call: Request, token: str = "") -> Response:
    """Sign in by a link, once, and go on to the pages; a browser is told by them why it cannot."""
    try:
        cookie = services.identities.follow_link(token)
    except ServiceError:
        if "text/html" in call.headers.get("accept", ""):
            return RedirectResponse("/?link=over", 303)
        raise
    return welcome(services, cookie)


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
