"""What is asked, what the world is like, and the answer with all that led to it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from policy_engine import terms
from policy_engine.decision.conditions import Verdict
from policy_engine.decision.history import MadeFrom
from policy_engine.policy import Hierarchy, Rule
from policy_engine.policy.hierarchy import PARTS, Part
from policy_engine.policy.model import JOINTLY, Kind, Strategy
from policy_engine.policy.naming import each_once

_OWN_PLACES = {
    f"{terms.ODRL}dateTime": "the time of the world",
    f"{terms.ODRL}purpose": "the purpose of the request",
    JOINTLY: "the targets of the request",
}
Effect = Literal["permit", "deny"]
Fact = str | bool | int | float | Decimal | datetime | date | time
Performance = Literal["fulfilled", "violated"]


def _several(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)


def expand_hierarchy(hierarchy: Hierarchy) -> Hierarchy:
    """Return a hierarchy with every name in it as requests have theirs: in full, in one spelling.

    A member who is written in another spelling would pass a prohibition of the group.
    """
    return Hierarchy(
        **{
            part: tuple(
                (terms.expand_term(narrow), terms.expand_term(wide)) for narrow, wide in edges
            )
            for part, edges in vars(hierarchy).items()
            if part in (*PARTS, "implied", "perhaps")
        }
    )


def _moment(value: Any) -> Any:
    """Return a moment, from a text by ISO 8601. A number would be read as seconds since 1970."""
    if isinstance(value, datetime) or value is None:
        return value
    if isinstance(value, date):  # as YAML reads a day without quotes
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"a time is an ISO 8601 text such as 2026-06-01T12:00:00Z; given: {value!r:.40}"
        ) from None


def _check_places(values: Mapping[str, Any]) -> None:
    """Raise ValueError for a value that has a place of its own."""
    for name, part in _OWN_PLACES.items():
        if name in values:
            raise ValueError(f"{terms.compact(name)} is given as {part}, not among the values")


def _count(value: Any) -> Any:
    """Return how often something was done, alone or by the labels of a policy's rules."""
    for one in value.values() if isinstance(value, Mapping) else (value,):
        if not isinstance(one, int) or isinstance(one, bool) or one < 0:
            raise ValueError(f"a count is an integer of 0 or more; given: {one!r:.40}")
    return value


def _performance(value: Any) -> Any:
    """Return what became of a duty, alone or by the labels of a policy's duties."""
    allowed = get_args(Performance)
    for one in value.values() if isinstance(value, Mapping) else (value,):
        if one not in allowed:
            raise ValueError(f"a duty is {' or '.join(allowed)}; given: {one!r:.40}")
    return value


Count = Annotated[int | Mapping[str, int], BeforeValidator(_count)]
Performed = Annotated[Performance | Mapping[str, Performance], BeforeValidator(_performance)]
Facts = Annotated[tuple[Fact, ...], BeforeValidator(_several)]


def _expand_facts(values: Mapping[str, Facts]) -> dict[str, Facts]:
    return each_once((terms.expand_term(name), facts) for name, facts in values.items())


def _canonical_labels(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of rules by their labels, uids among these in one spelling."""
    return each_once(
        (
            terms.canonical(label) if terms.has_known_scheme(label) else label,
            _canonical_labels(inner) if isinstance(inner, Mapping) else inner,
        )
        for label, inner in stated.items()
    )


class Request(BaseModel):
    """Somebody asks to do something with assets, together, for a purpose (or for none said)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str = ""

    @field_validator("assignee", "action", "purpose")
    @classmethod
    def _one_spelling(cls, iri: str) -> str:
        return terms.canonical(iri)

    @field_validator("targets")
    @classmethod
    def _some(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        if not targets:
            raise ValueError("a request names at least one target")
        if any(terms.count_levels(target) > terms.MOST_LEVELS for target in targets):
            raise ValueError(f"a target has at most {terms.MOST_LEVELS} levels")
        return tuple(map(terms.canonical, targets))


class World(BaseModel):
    """What is known of the world when a request is decided; what is not here is unknown.

    `time` is the moment, in UTC where it names no zone; without one it is the clock's, and the
    decision says so. `values` holds what left operands are, by their IRI or their short name; `of`
    what they are of one party, asset or action alone, by its IRI; a refinement of a party or an
    asset sees nothing else. `counts` says how often rules were exercised, and `duties` what became
    of duties, by the uid of the rule or, where it has none, by its label. Where rules of several
    policies have it, it says nothing but under the uid of the policy: {policy: {rule: 2}}.
    `memberships` adds to what the policies say of who and what belongs to what.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True
    )

    time: Annotated[datetime | None, BeforeValidator(_moment)] = None
    values: Mapping[str, Facts] = Field(default_factory=dict)
    of: Mapping[str, Mapping[str, Facts]] = Field(default_factory=dict)
    counts: Mapping[str, Count] = Field(default_factory=dict)
    duties: Mapping[str, Performed] = Field(default_factory=dict)
    memberships: Hierarchy = Field(default_factory=Hierarchy)

    if TYPE_CHECKING:  # what is read into the fields is more than what they hold

        def __init__(
            self,
            *,
            time: datetime | date | str | None = None,
            values: Mapping[str, Fact | Collection[Fact]] = ...,
            of: Mapping[str, Mapping[str, Fact | Collection[Fact]]] = ...,
            counts: Mapping[str, int | Mapping[str, int]] = ...,
            duties: Mapping[str, Performance | Mapping[str, Performance]] = ...,
            memberships: Hierarchy = ...,
        ) -> None: ...

    @field_validator("time")
    @classmethod
    def _in_a_zone(cls, time: datetime | None) -> datetime | None:
        return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time

    @field_validator("values")
    @classmethod
    def _in_full(cls, values: Mapping[str, Facts]) -> Mapping[str, Facts]:
        expanded = _expand_facts(values)
        _check_places(expanded)
        return expanded

    @field_validator("of")
    @classmethod
    def _both_in_full(
        cls, of: Mapping[str, Mapping[str, Facts]]
    ) -> Mapping[str, Mapping[str, Facts]]:
        expanded = each_once(
            (terms.expand_term(about), _expand_facts(values)) for about, values in of.items()
        )
        for values in expanded.values():
            _check_places(values)
        return expanded

    @field_validator("counts", "duties")
    @classmethod
    def _labels_once(cls, stated: Mapping[str, Any]) -> Mapping[str, Any]:
        return _canonical_labels(stated)

    @field_validator("memberships")
    @classmethod
    def _members_in_full(cls, memberships: Hierarchy) -> Hierarchy:
        if memberships.perhaps:
            raise ValueError("what may be part of what is for vocabularies to leave open")
        return expand_hierarchy(memberships)


class DerivationStep(BaseModel):
    """How one part of the request is included in a part of a rule: the way up, both ends."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    part: Part
    path: tuple[str, ...]


class Match(BaseModel):
    """A rule that covers the request: by which ways, and what its conditions evaluated to.

    `applies` tells whether it permits (all satisfied, no duty outstanding) or prohibits (not
    known to be unsatisfied).
    """

    model_config = ConfigDict(frozen=True, defer_build=True, arbitrary_types_allowed=True)

    policy: str
    rule: str
    kind: Kind
    applies: bool
    steps: tuple[DerivationStep, ...] = ()
    conditions: tuple[Verdict, ...] = ()


class NearMiss(BaseModel):
    """A permission that nearly covered the request, and what was missing, a sentence each."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    missing: tuple[str, ...]


class OutstandingDuty(BaseModel):
    """A duty that is outstanding: what has to be done, by whom, and under which rule."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    duty: str
    actions: tuple[str, ...]
    by: tuple[str, ...] = ()
    state: Literal["outstanding", "violated"] = "outstanding"


class Counted(BaseModel):
    """An execution of a rule, on assets that were read together, that a permit counts as.

    By a `party` where that is another one than who asks: who granted it by the owner's leave.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    targets: tuple[str, ...]
    party: str = ""


class Decision(BaseModel):
    """The answer to a request: permit or deny, by which rule, and how that was derived.

    `reason` is one sentence; `derivation` the steps to it, in order. `matches` are the rules
    that cover the request, `near_misses` the permissions that nearly did (at most three),
    `duties` what is still to be done. `strategy` is the conflict strategy that decided between
    a permission and a prohibition, empty where none had to. `time` is the moment it holds for,
    by the caller's word or by the clock. `policy_digests` name the policies looked at, and
    `notes` say which were not, since they are in force no longer. `counted` are the rules that a
    permit is an execution of: those that permit it, those by whose leave they count, and
    prohibitions of what is permitted that have a bound on how often; None: the rule that is named.
    `made_from` tells, of a permit, what the targets were made from, and what that was made from in
    turn.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    effect: Effect
    request: Request
    reason: str
    policy: str = ""
    rule: str = ""
    derivation: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    duties: tuple[OutstandingDuty, ...] = ()
    strategy: Strategy | Literal[""] = ""
    time: datetime | None = None
    time_by: Literal["caller", "clock"] = "clock"
    policy_digests: tuple[str, ...] = ()
    counted: tuple[Counted, ...] | None = None
    notes: tuple[str, ...] = ()
    made_from: tuple[MadeFrom, ...] = ()

    @property
    def permitted(self) -> bool:
        """Whether the answer is yes."""
        return self.effect == "permit"


@dataclass(frozen=True)
class CarriedOutRule:
    """The rule that is carried out by making something, by its policy's uid and its label.

    Of other permissions to make it, those count that leave open how. What is made `on_the_way`
    needs no certificate yet.
    """

    policy: str
    rule: str
    on_the_way: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Grant:
    """A rule that matches all of a request but, perhaps, what depends on single rows."""

    policy: str
    conflict: Strategy
    rule: Rule


@dataclass(frozen=True)
class RowAccess:
    """Which rules decide over the rows of one dataset, once all but the rows is settled.

    Without `permissions` there is none: then `decision` says why. A row may be read where all
    constraints of one of the `permissions` are satisfied, and of no prohibition are all
    satisfied or unknown; a prohibition of a policy whose strategy is `perm` yields to that
    policy's own permissions. What constraints not about rows evaluated to stands in the matches of
    `decision`. `zone` is the time zone of dates and times that name none. `decided` returns the
    decision by which the rows of some of the permissions are read, an execution of these.
    """

    decision: Decision
    permissions: tuple[Grant, ...]
    prohibitions: tuple[Grant, ...]
    zone: tzinfo
    decided: Callable[[Collection[Grant]], Decision]
