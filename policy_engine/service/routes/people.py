"""The routes of people, of who is signed in, and of keys."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from policy_engine.service.calls.callers import ServicesOf, allowed, cookie_name
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.repeating import DONE_ONCE, ONCE, RepeatableRoute
from policy_engine.service.calls.revisions import IfMatch, tagged
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role, Verb
from policy_engine.service.resources.holdings import HoldingsView, OwnerView, StewardView
from policy_engine.service.resources.people import (
    MOST_DAYS,
    KeyView,
    LinkView,
    NewKeyView,
    PersonView,
)

router = APIRouter(tags=["people"], route_class=RepeatableRoute)

Self = Annotated[Actor, Depends(allowed(Verb.SEE_ONESELF))]
Manager = Annotated[Actor, Depends(allowed(Verb.MANAGE_PEOPLE))]
Subject = Annotated[str, Field(max_length=255)]
Reader = Annotated[Actor, Depends(allowed(Verb.READ_PEOPLE))]
Owner = Annotated[Actor, Depends(allowed(Verb.NAME_STEWARDS))]
DataReader = Annotated[Actor, Depends(allowed(Verb.READ_DATASETS))]
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


class Heir(BaseModel):
    """The owner to whom all is handed over, by their identifier."""

    to: Annotated[str, Field(max_length=64)]


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
    services: ServicesOf, actor: Reader, page: Annotated[Cursor, Query()]
) -> PageOf[PersonView]:
    """List people and their roles, the newest first."""
    return services.people.page(actor, page)


@router.post("/people", status_code=201, dependencies=[ONCE])
def add_person(
    services: ServicesOf, actor: Manager, person: NewPerson, response: Response
) -> PersonView:
    """Make a person known, who signs in by a link."""
    view = services.people.create(actor, person.name, person.roles, person.party, person.subject)
    return tagged(view, response)


@router.patch("/people/{person_id}")
def change_person(
    services: ServicesOf,
    actor: Manager,
    person_id: str,
    change: PersonChange,
    tag: IfMatch,
    response: Response,
) -> PersonView:
    """Change the roles or the party of a person, or whether they may sign in at all.

    The policies and datasets of who is no longer active stay: the answer says which.
    """
    view = services.people.change(actor, person_id, tag, **change.model_dump())
    if not view.is_active:
        view.leaves = services.holdings.of(actor, person_id)
    return tagged(view, response)


@router.post("/people/{person_id}:invite", dependencies=[DONE_ONCE])
def invite_person(services: ServicesOf, actor: Manager, person_id: str) -> LinkView:
    """Make a link by which a person signs in once, within 15 minutes. Give it to nobody else."""
    return services.people.invite(actor, person_id)


@router.get("/people/{person_id}/holdings")
def list_holdings(services: ServicesOf, actor: Reader, person_id: str) -> HoldingsView:
    """List the policies in force and the datasets of a person: what stays once they have left."""
    return services.holdings.of(actor, person_id)


@router.post("/people/{person_id}:hand-over")
def hand_over(services: ServicesOf, actor: Manager, person_id: str, heir: Heir) -> HoldingsView:
    """Hand over all that belongs to a person who is no longer active to another owner."""
    return services.holdings.hand_over(actor, person_id, heir.to)


@router.get("/owners")
def list_owners(services: ServicesOf, actor: DataReader) -> list[OwnerView]:
    """List the owners whose datasets you see: yourself, or those that you work for."""
    return services.holdings.owners(actor)


@router.get("/stewards")
def list_stewards(services: ServicesOf, actor: Owner) -> list[StewardView]:
    """List the stewards, and who of them works for you."""
    return services.holdings.stewards(actor)


@router.put("/stewards/{person_id}")
def name_steward(services: ServicesOf, actor: Owner, person_id: str) -> StewardView:
    """Let a steward work on your datasets, and plan and run what your policies ask for."""
    return services.holdings.name_steward(actor, person_id)


@router.delete("/stewards/{person_id}", status_code=204)
def dismiss_steward(services: ServicesOf, actor: Owner, person_id: str) -> None:
    """Let a steward no longer work for you."""
    services.holdings.dismiss_steward(actor, person_id)


@router.get("/keys")
def list_keys(services: ServicesOf, actor: Self) -> list[KeyView]:
    """List the keys that call for you, without what is secret of them."""
    return services.people.keys(actor)


@router.post("/keys", status_code=201, dependencies=[DONE_ONCE])
def make_key(services: ServicesOf, actor: Self, key: KeyRequest) -> NewKeyView:
    """Make a key that calls for you, as `Authorization: Bearer KEY`. It is shown this one time."""
    return services.people.new_key(actor, key.name, key.roles, key.days)


@router.delete("/keys/{key_id}", status_code=204)
def end_key(services: ServicesOf, actor: Self, key_id: str) -> None:
    """End a key: calls with it are refused from now on."""
    services.people.end_key(actor, key_id)
