"""What people hold: whose stewards they are, and what is handed over once they have left."""

from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session

from policy_engine.errors import ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, nothing_there
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.store.access import AccessRequest
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset
from policy_engine.service.store.models import StoredModel
from policy_engine.service.store.people import Person, Stewardship
from policy_engine.service.store.policies import StoredPolicy
from policy_engine.service.store.reviews import StoredReview
from policy_engine.service.store.runs import RunSubject


class HeldView(BaseModel):
    """A policy or a dataset of somebody, by what policies call it by."""

    id: str
    name: str
    iri: str


class HoldingsView(BaseModel):
    """What belongs to somebody: their policies in force and their datasets."""

    policies: list[HeldView]
    datasets: list[HeldView]


class StewardView(BaseModel):
    """A steward, and whether they work for the caller."""

    id: str
    name: str
    is_yours: bool


class OwnerView(BaseModel):
    """An owner for whom the caller registers datasets: themselves, or one they work for."""

    id: str
    name: str


@dataclass(frozen=True)
class Holdings:
    """Who works for whom, and what goes from one owner to another."""

    database: Database

    def of(self, actor: Actor, person_id: str) -> HoldingsView:
        """Return what somebody holds. Raises ServiceError (N003)."""
        authorise(actor, Verb.READ_PEOPLE)
        with self.database.reading() as session:
            _person(session, person_id)
            policies = session.scalars(
                select(StoredPolicy)
                .where(StoredPolicy.owner_id == person_id, StoredPolicy.published.is_not(None))
                .order_by(StoredPolicy.created)
            )
            datasets = session.scalars(
                select(StoredDataset)
                .where(StoredDataset.owner_id == person_id, StoredDataset.deleted.is_(None))
                .order_by(StoredDataset.created)
            )
            return HoldingsView(
                policies=[HeldView(id=p.id, name=p.name, iri=p.uid or "") for p in policies],
                datasets=[HeldView(id=d.id, name=d.name, iri=d.iri) for d in datasets],
            )

    def hand_over(self, actor: Actor, person_id: str, heir_id: str) -> HoldingsView:
        """Return what an owner holds to whom all was handed over of a person who has left.

        Policies and grants go on, and are the heir's from now on; so are open requests for access
        and reviews. Raises ServiceError: N003, N004 for a person who is active, or an heir who is
        no owner.
        """
        authorise(actor, Verb.MANAGE_PEOPLE)
        with self.database.writing() as session:
            person, heir = _person(session, person_id), _person(session, heir_id)
            if person.is_active:
                message = f"{person.name} is active: what is theirs is theirs to give."
                raise ServiceError.of("N004", message, "Deactivate them first.")
            if not heir.is_active or Role.OWNER not in heir.roles:
                raise ServiceError.of("N004", f"{heir.name} is not an active owner.")
            for table in (StoredPolicy, StoredDataset, StoredModel, AccessRequest, StoredReview):
                change = update(table).where(table.owner_id == person_id)
                session.execute(change.values(owner_id=heir_id, revision=table.revision + 1))
            _hand_over_runs(session, person_id, heir_id)
            session.execute(delete(Stewardship).where(Stewardship.owner_id == person_id))
        return self.of(actor, heir_id)

    def stewards(self, actor: Actor) -> list[StewardView]:
        """Return the stewards that there are, by name."""
        authorise(actor, Verb.NAME_STEWARDS)
        with self.database.reading() as session:
            own = {*session.scalars(_stewards_of(actor.id))}
            people = session.scalars(select(Person).where(Person.is_active).order_by(Person.name))
            return [
                StewardView(id=one.id, name=one.name, is_yours=one.id in own)
                for one in people
                if Role.STEWARD in one.roles
            ]

    def name_steward(self, actor: Actor, person_id: str) -> StewardView:
        """Return a steward who works for the caller from now on. Raises ServiceError (N003)."""
        authorise(actor, Verb.NAME_STEWARDS)
        with self.database.writing() as session:
            person = _person(session, person_id)
            if not person.is_active or Role.STEWARD not in person.roles:
                raise nothing_there()
            session.merge(Stewardship(owner_id=actor.id, steward_id=person_id))
            return StewardView(id=person.id, name=person.name, is_yours=True)

    def dismiss_steward(self, actor: Actor, person_id: str) -> None:
        """Let a steward no longer work for the caller."""
        authorise(actor, Verb.NAME_STEWARDS)
        with self.database.writing() as session:
            session.execute(
                delete(Stewardship).where(
                    Stewardship.owner_id == actor.id, Stewardship.steward_id == person_id
                )
            )

    def owners(self, actor: Actor) -> list[OwnerView]:
        """Return the owners whose datasets the caller reads, by name."""
        reach = authorise(actor, Verb.READ_DATASETS)
        with self.database.reading() as session:
            people = session.scalars(select(Person).where(Person.is_active).order_by(Person.name))
            own = {actor.id, *actor.serves}
            return [
                OwnerView(id=one.id, name=one.name)
                for one in people
                if Role.OWNER in one.roles and (reach is Whose.ALL or one.id in own)
            ]


def _person(session: Session, person_id: str) -> Person:
    person = session.get(Person, person_id)
    if person is None:
        raise nothing_there()
    return person


def _stewards_of(owner_id: str) -> Select[str]:
    return select(Stewardship.steward_id).where(Stewardship.owner_id == owner_id)


def _hand_over_runs(session: Session, person_id: str, heir_id: str) -> None:
    """Let runs that are about what was another's be about an heir's: nobody else reads of them, or
    starts others that are about them."""
    heirs = {*session.scalars(select(RunSubject.run_id).where(RunSubject.person_id == heir_id))}
    was_theirs = RunSubject.person_id == person_id
    runs = {*session.scalars(select(RunSubject.run_id).where(was_theirs))}
    session.execute(delete(RunSubject).where(was_theirs))
    session.add_all(RunSubject(run_id=one, person_id=heir_id) for one in sorted(runs - heirs))
