"""Requests, states of the world, and decisions with everything that led to them."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from policy_engine import terms
from policy_engine.decision.conditions import Verdict
from policy_engine.decision.history import MadeFrom
from policy_engine.plan.output_checks import CHECKED_OPERANDS
from policy_engine.policy import Hierarchy, Rule
from policy_engine.policy.hierarchy import PARTS, Part
from policy_engine.policy.model import JOINTLY, Kind, Strategy
from policy_engine.policy.naming import each_once
from policy_engine.policy.xsd.literals import FINE_TIME, check_time

_OWN_PLACES = {
    f"{terms.ODRL}dateTime": "the time of the world",
    f"{terms.ODRL}purpose": "the purpose of the request",
    JOINTLY: "the targets of the request",
}
_FINE_FRACTION = re.compile("[.,][0-9]{6}[0-9]*[1-9]")
Effect = Literal["permit", "deny"]
Fact = str | bool | int | float | Decimal | datetime | date | time
Performance = Literal["fulfilled", "violated"]


def _several(value: Any) -> Any:
    """Return one fact or several as a tuple. Raises ValueError for a number that is not finite."""
    facts = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    for one in facts:
        is_finite = one.is_finite() if isinstance(one, Decimal) else _is_finite(one)
        if not is_finite:
            raise ValueError(f"a number must be finite; given: {one!r:.40}")
        check_time(one)
    return facts


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


def expand_hierarchy(hierarchy: Hierarchy) -> Hierarchy:
    """Return a hierarchy with every name expanded and spelled as in requests.

    A member spelled differently would otherwise escape a prohibition of its group.
    """
    return Hierarchy(
        **{
            part: tuple(
                (terms.expand_term(_checked(narrow)), terms.expand_term(_checked(wide)))
                for narrow, wide in edges
            )
            for part, edges in vars(hierarchy).items()
            if part in (*PARTS, "implied", "perhaps")
        }
    )


def _moment(value: Any) -> Any:
    """Return a moment from an ISO 8601 text. A number would be read as seconds since 1970."""
    if isinstance(value, datetime) or value is None:
        return value
    if isinstance(value, date):  # as YAML reads a day without quotes
        return datetime.combine(value, time())
    if isinstance(value, str) and _FINE_FRACTION.search(value):
        raise ValueError(FINE_TIME.format(repr(value)[:60]))
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"a time is an ISO 8601 text such as 2026-06-01T12:00:00Z; given: {value!r:.40}"
        ) from None


def _checked(name: str) -> str:
    """Return a name. Raises ValueError for one that no IRI can have, or that is too long."""
    problem = terms.name_problem(name)
    if problem:
        raise ValueError(problem[1].removesuffix("."))
    return name


def _check_places(values: Mapping[str, Any]) -> None:
    """Raise ValueError for a value that has a field of its own."""
    for name, part in _OWN_PLACES.items():
        if name in values:
            raise ValueError(f"give {terms.compact(name)} as {part}, not among the values")
    for name in CHECKED_OPERANDS & values.keys():
        raise ValueError(f"nobody states {terms.compact(name)}: a check of the answer shows it")


def _count(value: Any) -> Any:
    """Return a count, or counts by the labels of a policy's rules."""
    for one in value.values() if isinstance(value, Mapping) else (value,):
        if not isinstance(one, int) or isinstance(one, bool) or one < 0:
            raise ValueError(f"a count is an integer of 0 or more; given: {one!r:.40}")
    return value


def _performance(value: Any) -> Any:
    """Return the state of a duty, or states by the labels of a policy's duties."""
    allowed = get_args(Performance)
    for one in value.values() if isinstance(value, Mapping) else (value,):
        if one not in allowed:
            raise ValueError(f"a duty is {' or '.join(allowed)}; given: {one!r:.40}")
    return value


Count = Annotated[int | Mapping[str, int], BeforeValidator(_count)]
Performed = Annotated[Performance | Mapping[str, Performance], BeforeValidator(_performance)]
Facts = Annotated[tuple[Fact, ...], BeforeValidator(_several)]


def _expand_facts(values: Mapping[str, Facts]) -> dict[str, Facts]:
    return each_once((terms.expand_term(_checked(name)), facts) for name, facts in values.items())


def _canonical_labels(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return statements about rules by label, with uids in their canonical spelling."""
    return each_once(
        (
            terms.canonical(_checked(label)) if terms.has_known_scheme(label) else label,
            _canonical_labels(inner) if isinstance(inner, Mapping) else inner,
        )
        for label, inner in stated.items()
    )


class Request(BaseModel):
    """A party asks to do something with assets, together, for a purpose (empty if none)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str = ""

    @field_validator("assignee", "action", "purpose")
    @classmethod
    def _one_spelling(cls, iri: str) -> str:
        return terms.canonical(_checked(iri))

    @field_validator("targets")
    @classmethod
    def _some(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        if not targets:
            raise ValueError("a request names at least one target")
        if any(terms.count_levels(target) > terms.MOST_LEVELS for target in targets):
            raise ValueError(f"a target has at most {terms.MOST_LEVELS} levels")
        return tuple(terms.canonical(_checked(target)) for target in targets)


class World(BaseModel):
    """The state of the world for a decision; whatever is missing here is unknown.

    `time` is the moment, in UTC if it has no time zone; if it is missing, the clock is used, and
    the decision says so. `values` has the values of left operands, by IRI or short name; `of` has
    those of a single party, asset or action, by its IRI: refinements of a party or an asset see
    only these. `counts` says how often rules were exercised before the request, which counts as one
    more (so do counts in `values` and `of`), and `duties` the state of duties, by
    the uid of the rule or, if it has none, by its label. A label that rules of several policies
    share is ignored unless it is given under the uid of its policy: {policy: {rule: 2}}.
    `memberships` is added to what the policies say about who and what belongs to what.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True
    )

    is_before_request: ClassVar[bool] = True
    """Whether the requested execution is still to be added to its counts."""

    time: Annotated[datetime | None, BeforeValidator(_moment)] = None
    values: Mapping[str, Facts] = Field(default_factory=dict)
    of: Mapping[str, Mapping[str, Facts]] = Field(default_factory=dict)
    counts: Mapping[str, Count] = Field(default_factory=dict)
    duties: Mapping[str, Performed] = Field(default_factory=dict)
    memberships: Hierarchy = Field(default_factory=Hierarchy)

    if TYPE_CHECKING:  # the fields accept more types than they store

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
    def _require_zone(cls, time: datetime | None) -> datetime | None:
        return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time

    @field_validator("values")
    @classmethod
    def _expand_names(cls, values: Mapping[str, Facts]) -> Mapping[str, Facts]:
        expanded = _expand_facts(values)
        _check_places(expanded)
        return expanded

    @field_validator("of")
    @classmethod
    def _both_in_full(
        cls, of: Mapping[str, Mapping[str, Facts]]
    ) -> Mapping[str, Mapping[str, Facts]]:
        expanded = each_once(
            (terms.expand_term(_checked(about)), _expand_facts(values))
            for about, values in of.items()
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
            raise ValueError(
                "only a vocabulary may leave open whether one thing is part of another"
            )
        return expand_hierarchy(memberships)


class DerivationStep(BaseModel):
    """How one part of the request is included in that part of a rule: the path and its two ends."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    part: Part
    path: tuple[str, ...]


class Match(BaseModel):
    """A rule that covers the request, with the paths of inclusion and its evaluated conditions.

    `applies` says whether it permits (everything is satisfied, no duty is outstanding) or prohibits
    (nothing is known to be unsatisfied).
    """

    model_config = ConfigDict(frozen=True, defer_build=True, arbitrary_types_allowed=True)

    policy: str
    rule: str
    kind: Kind
    applies: bool
    steps: tuple[DerivationStep, ...] = ()
    conditions: tuple[Verdict, ...] = ()


class NearMiss(BaseModel):
    """A permission that nearly covered the request, with a sentence for each missing thing."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    missing: tuple[str, ...]


class OutstandingDuty(BaseModel):
    """An outstanding duty: what must be done, by whom, and under which rule."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    duty: str
    actions: tuple[str, ...]
    by: tuple[str, ...] = ()
    state: Literal["outstanding", "violated"] = "outstanding"


class Counted(BaseModel):
    """An execution of a rule on assets that were read together, which a permit counts as.

    `party` is set if it is not the requester: the party that grants the use with the owner's
    consent.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    policy: str
    rule: str
    targets: tuple[str, ...]
    party: str = ""


class WithdrawnOutput(BaseModel):
    """An output of which a release was withdrawn, and since when."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    asset: str
    since: datetime


class Signed(BaseModel):
    """A signature that a decision rests on: of a policy, or of the proof of an output.

    `of` is the uid of the policy, or the asset that the proof is for; `key` signed it (a did:key)
    at `created`, by its word, and `signature` is what it wrote.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: Literal["policy", "proof"]
    of: str
    key: str
    created: datetime
    signature: str


class Decision(BaseModel):
    """The answer to a request: permit or deny, by which rule, and how it was derived.

    `reason` is one sentence; `derivation` has the steps to it, in order. `matches` are the rules
    that cover the request, `near_misses` the permissions that nearly did (at most three), `duties`
    the outstanding ones. `strategy` is the conflict strategy that decided between a permission and
    a prohibition, empty if none was needed. `time` is the moment for which the decision holds,
    given by the caller or by the clock. `policy_digests` are those of the policies considered, and
    `notes` say which ones were not because they are no longer in force. `counted` are the rules
    that a permit is an execution of: the permissions, the consents they rely on, and prohibitions
    of the permitted use that limit how often; None stands for the named rule alone. For a permit,
    `made_from` says what the targets were made from, directly and indirectly. `signatures` says
    whether policies and certificates were compared with a trust file: without one they are taken
    for what they say, and the answer is `unsigned`. `trust` is the sha-256 of that file, and
    `signed_by` the signatures that the decision rests on: of the policies that matched, and of what
    proves the targets. `withdrawn` are releases of the targets that do not count any more.
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
    signatures: Literal["unsigned", "trusted"] = "unsigned"
    trust: str = ""
    signed_by: tuple[Signed, ...] = ()
    withdrawn: tuple[WithdrawnOutput, ...] = ()

    def _repr_html_(self) -> str:
        from policy_engine.decision.page import decision_html  # noqa: PLC0415 (for notebooks alone)

        return decision_html(self)

    @property
    def permitted(self) -> bool:
        """Whether the request is permitted."""
        return self.effect == "permit"


@dataclass(frozen=True)
class CarriedOutRule:
    """The rule that is carried out by making something, by the uid of its policy and its label.

    Other permissions to make the same thing count only if they do not prescribe how. What is made
    `on_the_way` needs no certificate yet.
    """

    policy: str
    rule: str
    on_the_way: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Grant:
    """A rule that matches a request in everything that does not depend on single rows."""

    policy: str
    conflict: Strategy
    rule: Rule


@dataclass(frozen=True)
class RowAccess:
    """The rules that decide on the rows of one dataset, once everything else is settled.

    Without `permissions` nothing may be read, and `decision` says why. A row may be read if all
    constraints of one of the `permissions` are satisfied, and no prohibition has all its
    constraints satisfied or unknown; a prohibition of a policy with the strategy `perm` yields to
    permissions of the same policy. The results of constraints that are not about rows are in the
    matches of `decision`. `zone` is the time zone of dates and times that name none. `decided`
    returns the decision by which the rows of some of the permissions are read, as an execution of
    these.
    """

    decision: Decision
    permissions: tuple[Grant, ...]
    prohibitions: tuple[Grant, ...]
    zone: tzinfo
    decided: Callable[[Collection[Grant]], Decision]
