"""The one function that says what somebody may do."""

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import ALLOWED, Role, Verb, Whose


def reach_of(actor: Actor, verb: Verb) -> Whose | None:
    """Return of whom somebody may do something: of all, of theirs (`owners_of`), or of nobody."""
    reaches = {ALLOWED[verb][role] for role in actor.roles if role in ALLOWED[verb]}
    serves_all = actor.serves_all and Whose.SERVED in reaches
    if not reaches:
        return None
    return Whose.ALL if Whose.ALL in reaches or serves_all else Whose.OWN


def owners_of(actor: Actor, verb: Verb) -> frozenset[str]:
    """Return whose things somebody may do something with, where it is not with those of all.

    Their own, and those of the owners that they are a steward of, if it is a steward's to do.
    """
    is_served = Role.STEWARD in actor.roles and ALLOWED[verb].get(Role.STEWARD) is Whose.SERVED
    return frozenset({actor.id, *(actor.serves if is_served else ())})


def authorise(actor: Actor, verb: Verb) -> Whose:
    """Return of whom somebody may do something. Raises ServiceError (N002) where of nobody."""
    reach = reach_of(actor, verb)
    if reach is None:
        roles = ", ".join(role.value for role in ALLOWED[verb])
        message = f"Your roles do not let you {verb.value}. Roles that do: {roles}."
        raise ServiceError.of("N002", message)
    return reach


def authorise_on(actor: Actor, verb: Verb, owner_id: str | None) -> None:
    """Check that somebody may do something with what an owner has.

    Raises ServiceError: N002 where their roles let them do so with nothing at all, N003 where not
    with what is another's: as where there is nothing.
    """
    if authorise(actor, verb) is Whose.OWN and owner_id not in owners_of(actor, verb):
        raise nothing_there()


def nothing_there() -> PolicyEngineError:
    """Return the error of what is not there, or not for the caller: nobody learns which."""
    return ServiceError.of("N003", "There is nothing here, or nothing that you may see.")
