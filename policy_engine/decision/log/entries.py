"""What a decision log holds of a decision: its structure, and never a value or a free text."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from policy_engine.decision.conditions import State, Verdict
from policy_engine.decision.history import MadeFrom
from policy_engine.decision.model import (
    Decision,
    Effect,
    Match,
    NearMiss,
    OutstandingDuty,
    Performance,
    Request,
)
from policy_engine.policy.model import Constraint, Strategy
from policy_engine.policy.model import Kind as RuleKind

Kind = Literal["sha-256", "hmac-sha-256"]
Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
START = "0" * 64
"""What the first entry holds in the place of the hash of the one before it."""


class _Logged(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class LoggedRequest(_Logged):
    """Who asked to do what with which assets, and what for."""

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str


class LoggedCondition(_Logged):
    """What a condition evaluated to, by its left operand alone, not by what that was compared with.

    Of a logical constraint whose parts were not looked at, by its operator.
    """

    operand: str
    state: State


class LoggedMatch(_Logged):
    """A rule that covered the request."""

    policy: str
    rule: str
    kind: RuleKind
    applies: bool
    conditions: tuple[LoggedCondition, ...]


class LoggedMiss(_Logged):
    """A permission that nearly covered the request."""

    policy: str
    rule: str


class LoggedDuty(_Logged):
    """A duty that was outstanding."""

    policy: str
    rule: str
    duty: str
    actions: tuple[str, ...]
    by: tuple[str, ...]
    state: Literal["outstanding", "violated"]


class LoggedCount(_Logged):
    """A rule that was exercised once, on which assets together; by whom, if not by who asked."""

    policy: str
    rule: str
    targets: tuple[str, ...]
    party: str | None = None


class LoggedOrigin(_Logged):
    """What an asset was made from, and the assigners of the rule by which it was."""

    asset: str
    by: tuple[str, ...]
    sources: tuple[str, ...]


class LogRecord(_Logged):
    """What is kept of a decision.

    Every field is named here and copied by name, so that what decisions learn to hold later is
    not logged before somebody has thought about it. `time` is the moment the decision holds
    for, in ISO 8601, empty where it has none. `counted` is there where a permit is the execution
    of other rules, or on other assets, than of the one that is named on what was asked for,
    `made_from` where what was permitted is made from something else: from what, near and far.
    """

    effect: Effect
    request: LoggedRequest
    policy: str
    rule: str
    strategy: Strategy | Literal[""]
    time: str
    time_by: Literal["caller", "clock"]
    matches: tuple[LoggedMatch, ...]
    near_misses: tuple[LoggedMiss, ...]
    duties: tuple[LoggedDuty, ...]
    policy_digests: tuple[str, ...]
    counted: tuple[LoggedCount, ...] | None = None
    made_from: tuple[LoggedOrigin, ...] | None = None

    @field_validator("time")
    @classmethod
    def _check_time(cls, time: str) -> str:
        if time:
            datetime.fromisoformat(time)
        return time

    @classmethod
    def from_decision(cls, decision: Decision) -> "LogRecord":
        """Return what is kept of a decision."""
        request = decision.request
        return cls(
            effect=decision.effect,
            request=LoggedRequest(
                assignee=request.assignee,
                action=request.action,
                targets=request.targets,
                purpose=request.purpose,
            ),
            policy=decision.policy,
            rule=decision.rule,
            strategy=decision.strategy,
            time=decision.time.isoformat() if decision.time else "",
            time_by=decision.time_by,
            matches=tuple(map(_match, decision.matches)),
            near_misses=tuple(map(_miss, decision.near_misses)),
            duties=tuple(map(_duty, decision.duties)),
            policy_digests=decision.policy_digests,
            counted=_counted(decision),
            made_from=tuple(map(_origin, decision.made_from)) or None,
        )


class LoggedDeed(_Logged):
    """That a duty was fulfilled or violated, or a prohibition infringed, by somebody at a time.

    `digest` is that of the policy as it was given then, `meaning` that of what the duty has one
    do and by whose word: another duty may be given its uid. Entries of earlier versions do not say
    it. `evidence` is the text that whoever recorded it wanted to be kept.
    """

    state: Performance
    policy: str
    digest: str
    duty: str
    by: str
    time: str
    evidence: str | None = None
    meaning: str | None = None

    @field_validator("time")
    @classmethod
    def _check_time(cls, time: str) -> str:
        datetime.fromisoformat(time)
        return time


class Entry(_Logged):
    """One decision, or deed, in the chain, and what binds it to the entry before it.

    `number` counts from 1, `previous` is the hash of the entry before, `logged` the moment of
    writing by the clock, in UTC. `hash` is that of the canonical JSON of all the rest.
    """

    format: Literal[1] = 1
    chain: Kind
    number: Annotated[int, Field(ge=1)]
    previous: Hash
    logged: str
    decision: LogRecord | None = None
    deed: LoggedDeed | None = None
    hash: Hash = START

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if (self.decision is None) == (self.deed is None):
            raise ValueError("an entry holds a decision or a deed")
        return self

    def text(self) -> bytes:
        """Return the entry as it stands in a log: canonical JSON, without the end of the line."""
        return canonical(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the entry as JSON has it."""
        return self.model_dump(exclude_none=True)

    def hashed_text(self) -> bytes:
        """Return what the hash is taken of."""
        return canonical(self.model_dump(exclude={"hash"}, exclude_none=True))

    @property
    def decided(self) -> LogRecord:
        """What is kept of the decision. Raises AttributeError where the entry is of a deed."""
        if self.decision is None:
            raise AttributeError("the entry holds no decision")
        return self.decision

    @property
    def request(self) -> Request:
        """The request that was decided, to be decided again. Raises as `decided` does."""
        logged_request = self.decided.request
        return Request(
            assignee=logged_request.assignee,
            action=logged_request.action,
            targets=logged_request.targets,
            purpose=logged_request.purpose,
        )

    @property
    def time(self) -> datetime | None:
        """The moment that the decision holds for. Raises as `decided` does."""
        return datetime.fromisoformat(self.decided.time) if self.decided.time else None


def canonical(value: Any) -> bytes:
    """Return the one JSON text of a value: keys sorted, no blanks, UTF-8, and no NaN."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def now() -> str:
    """Return this moment as entries have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _match(match: Match) -> LoggedMatch:
    return LoggedMatch(
        policy=match.policy,
        rule=match.rule,
        kind=match.kind,
        applies=match.applies,
        conditions=tuple(leaf for verdict in match.conditions for leaf in _leaves(verdict)),
    )


def _leaves(verdict: Verdict) -> Iterator[LoggedCondition]:
    if verdict.parts:
        for part in verdict.parts:
            yield from _leaves(part)
        return
    condition = verdict.condition
    operand = condition.left_operand if isinstance(condition, Constraint) else condition.operator
    yield LoggedCondition(operand=operand, state=verdict.state)


def _miss(miss: NearMiss) -> LoggedMiss:
    return LoggedMiss(policy=miss.policy, rule=miss.rule)


def _counted(decision: Decision) -> tuple[LoggedCount, ...] | None:
    """Return what a permit is an execution of, where that is more than meets the eye."""
    if decision.counted is None or decision.effect != "permit":
        return None
    counts = tuple(
        LoggedCount(policy=one.policy, rule=one.rule, targets=one.targets, party=one.party or None)
        for one in decision.counted
    )
    named_rule_count = LoggedCount(
        policy=decision.policy, rule=decision.rule, targets=decision.request.targets
    )
    return None if counts == (named_rule_count,) else counts


def _origin(one: MadeFrom) -> LoggedOrigin:
    return LoggedOrigin(asset=one.asset, by=one.by, sources=one.sources)


def _duty(duty: OutstandingDuty) -> LoggedDuty:
    return LoggedDuty(
        policy=duty.policy,
        rule=duty.rule,
        duty=duty.duty,
        actions=duty.actions,
        by=duty.by,
        state=duty.state,
    )
