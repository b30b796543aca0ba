"""What a data owner wrote, as typed values that remember where they stood."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from policy_engine.errors import NOWHERE, Place, Problem
from policy_engine.policy.hierarchy import Hierarchy

Literals = str | bool | int | float
Kind = Literal["permission", "prohibition"]
Strategy = Literal["perm", "prohibit", "invalid"]


@dataclass(frozen=True)
class Value:
    """A literal or an IRI on the right of a refinement.

    `settings` holds what is said of a column in its place, by property.
    """

    value: Literals
    place: Place = field(default=NOWHERE, compare=False)
    settings: Mapping[str, "Value"] = field(default_factory=dict)


@dataclass(frozen=True)
class Refinement:
    """A parameter of an action (ODRL Information Model 2.2, section 2.5.3)."""

    parameter: str
    operator: str
    values: tuple[Value, ...]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Action:
    """What may or may not be done (ODRL Information Model 2.2, section 2.4)."""

    iri: str
    refinements: tuple[Refinement, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Rule:
    """A permission or a prohibition (ODRL Information Model 2.2, sections 2.6.1, 2.6.2).

    Without assignees the rule holds for everybody, without purposes for every purpose.
    """

    kind: Kind
    targets: tuple[str, ...]
    actions: tuple[Action, ...]
    uid: str = ""
    assigner: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    output: str = ""
    place: Place = field(default=NOWHERE, compare=False)

    def label(self) -> str:
        """Return the name of the rule in messages: its uid, or where it stands."""
        return self.uid or f"{self.kind} {self.place.pointer or '?'}"


@dataclass(frozen=True)
class Policy:
    """A policy (ODRL Information Model 2.2, section 2.1).

    `digest` is the sha-256 of the text it was read from; `hierarchy` holds what the text says
    of its parties, assets, actions and purposes; `source` names the text in messages, and
    `hints` are what could be written better.
    """

    uid: str
    type: str
    conflict: Strategy
    digest: str
    profiles: tuple[str, ...] = ()
    permissions: tuple[Rule, ...] = ()
    prohibitions: tuple[Rule, ...] = ()
    hierarchy: Hierarchy = field(default_factory=Hierarchy)
    source: str = field(default="", compare=False)
    hints: tuple[Problem, ...] = field(default=(), compare=False)
    place: Place = field(default=NOWHERE, compare=False)
