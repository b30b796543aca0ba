"""Who calls."""

from pydantic import BaseModel, ConfigDict

from policy_engine.service.identity.roles import Role


class Actor(BaseModel):
    """A person who calls, by a browser that is signed in or by a key, with the roles they have so.

    `party` is the IRI that policies call them by. `csrf_token` is what a page that is theirs sends
    with changes; empty where a key calls, which no browser sends by itself.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    roles: tuple[Role, ...]
    party: str = ""
    serves: tuple[str, ...] = ()
    """The owners that they are a steward of, by identifier."""
    serves_all: bool = False
    """Whether they are a steward of all owners."""
    csrf_token: str = ""

    @property
    def is_by_key(self) -> bool:
        """Whether a key calls."""
        return not self.csrf_token
