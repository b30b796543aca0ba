"""Who owns which asset, and which policies are in force by whom, as the database has it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import ScalarSelect, func, select
from sqlalchemy.orm import Session

from policy_engine import terms
from policy_engine.decision import Decider
from policy_engine.errors import (
    PolicyEngineError,
    PolicyError,
    ServiceError,
    place_order,
)
from policy_engine.policy import InForce, Policy, PolicyText, Reading
from policy_engine.policy.claims import Claims
from policy_engine.policy.owners import (
    Owners,
    Standing,
    are_overlapping,
    issue,
    issue_all,
    owned_outputs,
    publishing_problems,
)
from policy_engine.policy.signing import PolicySignature, held_signature
from policy_engine.service.store.base import StoredTable
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import StoredDataset
from policy_engine.service.store.people import Person
from policy_engine.service.store.policies import PolicyVersion, StoredPolicy

_PERSON = "urn:policy-engine:person:"
_SERVICE = "urn:policy-engine:service"
"""An asset that the service itself owns: where somebody owns something, no rule counts for what is
not its issuer's, and so in a service without any dataset as well."""
_MOST_TEXTS = 1_000


class Ruling(NamedTuple):
    """The policies in force, each issued by the party of its owner, and who owns which dataset."""

    policies: InForce
    owners: Owners
    people: dict[str, str]
    """The people by their parties."""
    signatures: tuple[PolicySignature, ...] = ()
    """Those that the policies were published with."""

    def party_of(self, person_id: str) -> str:
        """Return the party by which somebody issues policies."""
        return next(party for party, person in self.people.items() if person == person_id)

    def owner_of(self) -> "Callable[[str], str | None]":
        """Return the function that says which person owns an asset: a dataset, a part of one, or
        what their policy makes; None where nobody does."""
        standing = Standing(owned_outputs(Claims(self.policies), self.owners, ()))

        def owner(asset: str) -> str | None:
            owners = standing.of(asset).owners
            return self.people.get(owners[0]) if len(owners) == 1 else None

        return owner


@dataclass(frozen=True)
class OwnedAssets:
    """What belongs to whom.

    A dataset belongs to who registered it, or to whom it was handed over, and so does what its IRI
    goes on with; it still does once it was deleted: what was made of it is still theirs. What a
    policy makes belongs to the policy's owner.
    """

    database: Database

    def state(self) -> tuple[int, ...]:
        """Return numbers of which one at least is another once anything has changed."""
        tables: tuple[type[StoredTable], ...] = (StoredDataset, StoredPolicy, Person)
        with self.database.reading() as session:
            row = session.execute(select(*map(_changes, tables))).one()
        return tuple(one or 0 for one in row)

    def policies_of(self, person_id: str) -> frozenset[str]:
        """Return the uids of the policies of an owner that are, or were, in force."""
        rows = select(StoredPolicy.uid).where(
            StoredPolicy.owner_id == person_id, StoredPolicy.uid.is_not(None)
        )
        with self.database.reading() as session:
            return frozenset(filter(None, session.scalars(rows)))

    def owned_policies(self) -> frozenset[tuple[str, str]]:
        """Return the uids of all policies that are, or were, in force, each with its owner."""
        rows = select(StoredPolicy.uid, StoredPolicy.owner_id).where(StoredPolicy.uid.is_not(None))
        with self.database.reading() as session:
            return frozenset((uid, owner) for uid, owner in session.execute(rows) if uid)

    def ruling(self, but: str = "") -> Ruling:
        """Return what decides: the policies in force, but for one of them, and who owns what."""
        with self.database.reading() as session:
            return ruling(session, but)


def ruling(session: Session, but: str = "") -> Ruling:
    """Return what decides, without the policy `but`, as a transaction sees it."""
    parties = _parties(session)
    rows = session.execute(
        select(
            StoredPolicy.owner_id, StoredPolicy.name, PolicyVersion.text, PolicyVersion.signature
        )
        .join(PolicyVersion, PolicyVersion.policy_id == StoredPolicy.id)
        .where(PolicyVersion.number == StoredPolicy.published, StoredPolicy.id != but)
        .order_by(PolicyVersion.id)
    ).all()
    texts = [(owner, _read(name, text)) for owner, name, text, _ in rows]
    together = Reading().policies_in_force(*(one for _, one in texts)) if texts else InForce(())
    policies = issue_all(together, {one.uid: parties[owner] for owner, one in texts})
    people = {party: person for person, party in parties.items()}
    signatures = (held_signature(signature) for *_, signature in rows)
    return Ruling(policies, _owners(session, parties), people, tuple(filter(None, signatures)))


def ruling_state(session: Session, but: str = "") -> object:
    """Return what is equal to what was returned before only if `ruling` would give the same."""
    rows = session.execute(
        select(StoredPolicy.owner_id, StoredPolicy.uid, PolicyVersion.id)
        .join(PolicyVersion, PolicyVersion.policy_id == StoredPolicy.id)
        .where(PolicyVersion.number == StoredPolicy.published, StoredPolicy.id != but)
        .order_by(PolicyVersion.id)
    )
    parties = _parties(session)
    return [tuple(one) for one in rows], _stated(session, parties), parties


def party_of(session: Session, person_id: str) -> str:
    """Return the party by which somebody issues policies and owns datasets."""
    return _parties(session)[person_id]


def owners_by_iri(session: Session) -> dict[str, str]:
    """Return the parties who own datasets, by the IRI of each."""
    return _stated(session, _parties(session))


def check_publishing(
    session: Session, policy_id: str, owner_id: str, policy: Policy, most_rules: int
) -> None:
    """Check that an owner may publish a policy beside all others that are in force.

    Raises PolicyError (P019, P024, P025) with the places of all that is not theirs to rule, and
    ServiceError (N004) where requests could no longer be decided: by whose fault is not told, and
    where all policies together would have too many rules.
    """
    rules = ruling(session, policy_id)
    if sum(len(one.rules) for one in (*rules.policies, policy)) > most_rules:
        message = f"All policies in force have {most_rules:,} rules at most, and would have more."
        raise ServiceError.of("N004", message, "Withdraw what is not needed any more.")
    party = party_of(session, owner_id)
    problems = [*publishing_problems(policy, party, rules.policies, rules.owners)]
    if problems:
        raise PolicyError(*sorted(dict.fromkeys(problems), key=place_order), source=policy.source)
    try:
        Decider(InForce((*rules.policies, issue(policy, party))), owners=rules.owners)
    except PolicyEngineError as error:
        message = f"The policy cannot be in force beside the others ({error.code})."
        hint = "Another one makes the same output, or claims what this one does."
        raise ServiceError.of("N004", message, hint) from None


def check_claim(session: Session, owner_id: str, iri: str) -> None:
    """Check that a dataset of somebody may have an IRI.

    Raises ServiceError (N004) where what is another's has it, lies in it, contains it or may be
    taken for it: a dataset, even one that was deleted, or what a policy in force makes.
    """
    conflict = next((one for one in _claimed(session, owner_id) if are_overlapping(one, iri)), None)
    if conflict is not None:
        message = (
            f"The IRI {iri} is, lies in or could be confused with what belongs to somebody else."
        )
        hint = "Take another one, or ask an administrator whose it is."
        raise ServiceError.of("N004", message, hint)


def _claimed(session: Session, owner_id: str) -> Iterator[str]:
    """Yield the IRIs of all that does not belong to somebody."""
    yield from session.scalars(
        select(StoredDataset.iri).where(StoredDataset.owner_id != owner_id).distinct()
    )
    rules = ruling(session)
    own = party_of(session, owner_id)
    for policy in rules.policies:
        for rule in policy.permissions:
            if rule.output and own not in rule.issued_by:
                yield rule.output


def _changes(table: type[StoredTable]) -> ScalarSelect[int]:
    """Return what grows whenever a row of a table is made or changed: none is ever removed."""
    return select(func.sum(table.__table__.c.revision)).scalar_subquery()


def _parties(session: Session) -> dict[str, str]:
    """Return the party of each person: what policies call them by, or else their identifier.

    Of several who have the same one, it is that of the first.
    """
    parties: dict[str, str] = {}
    party_names: set[str] = set()
    for person, party in session.execute(select(Person.id, Person.party).order_by(Person.created)):
        name = terms.canonical(party) if party else ""
        parties[person] = name if name and name not in party_names else f"{_PERSON}{person}"
        party_names.add(name)
    return parties


def _stated(session: Session, parties: dict[str, str]) -> dict[str, str]:
    rows = session.execute(
        select(StoredDataset.iri, StoredDataset.owner_id).order_by(
            StoredDataset.created, StoredDataset.id
        )
    )
    return {_SERVICE: _SERVICE, **{iri: parties[owner] for iri, owner in rows}}


def _owners(session: Session, parties: dict[str, str]) -> Owners:
    return Owners.of(_stated(session, parties))


@lru_cache(maxsize=_MOST_TEXTS)
def _read(name: str, text: str) -> Policy:
    policies_read = Reading().policies_in_force(PolicyText(text.encode(), name))
    policies: tuple[Policy, ...] = (*policies_read, *policies_read.ended)
    return policies[0]
