"""The one function that says what somebody may do."""

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import ALLOWED, Verb, Whose


def reach_of(actor: Actor, verb: Verb) -> Whose | None:
    """Return of whom somebody may do something: of all, of what is theirs, or of nobody."""
    reaches = {ALLOWED[verb][role] for role in actor.roles if role in ALLOWED[verb]}
    return Whose.ALL if Whose.ALL in reaches else next(iter(reaches), None)


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
    if authorise(actor, verb) is Whose.OWN and owner_id != actor.id:
        raise nothing_there()


def nothing_there() -> PolicyEngineError:
    """Return the error of what is not there, or not for the caller: nobody learns which."""
    return ServiceError.of("N003", "There is nothing here, or nothing that you may see.")
