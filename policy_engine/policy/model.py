"""What a data owner wrote, as typed values that remember where they stood."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.errors import NOWHERE, Place, Problem
from policy_engine.policy.hierarchy import Hierarchy

Literals = str | bool | int | float
Strategy = Literal["perm", "prohibit", "invalid"]


class Written(BaseModel):
    """Anything written in a policy; `place` is where, and no part of what it says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: Annotated[Place, Field(exclude=True, repr=False)] = NOWHERE


class Value(Written):
    """A literal or an IRI on the right of a refinement."""

    value: Literals


class Refinement(Written):
    """A parameter of an action (ODRL Information Model 2.2, section 2.5.3)."""

    parameter: str
    operator: str
    values: tuple[Value, ...]


class Action(Written):
    """What may or may not be done (ODRL Information Model 2.2, section 2.4)."""

    iri: str
    refinements: tuple[Refinement, ...] = ()


class Rule(Written):
    """A permission or a prohibition (ODRL Information Model 2.2, sections 2.6.1, 2.6.2).

    Without assignees the rule holds for everybody, without purposes for every purpose.
    """

    kind: Literal["permission", "prohibition"]
    uid: str = ""
    assigner: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    targets: tuple[str, ...]
    actions: tuple[Action, ...]
    purposes: tuple[str, ...] = ()
    output: str = ""

    def label(self) -> str:
        """Return the name of the rule in messages: its uid, or where it stands."""
        return self.uid or f"{self.kind} {self.place.pointer or '?'}"


class Policy(Written):
    """A policy (ODRL Information Model 2.2, section 2.1).

    `digest` is the sha-256 of the text it was read from; `hierarchy` holds what the text says
    of its parties, assets, actions and purposes; `hints` are what could be written better.
    """

    uid: str
    type: str
    profiles: tuple[str, ...] = ()
    conflict: Strategy
    permissions: tuple[Rule, ...] = ()
    prohibitions: tuple[Rule, ...] = ()
    hierarchy: Hierarchy = Hierarchy()
    digest: str
    source: Annotated[str, Field(exclude=True)] = ""
    hints: Annotated[tuple[Problem, ...], Field(exclude=True)] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All permissions, then all prohibitions."""
        return self.permissions + self.prohibitions
