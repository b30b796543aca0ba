"""What a decision log records of a decision: its structure, but never a value or a free text."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Self

from pydantic import field_validator, model_validator

from policy_engine.data.chain.entries import ChainEntry, ChainRecord
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
    Signed,
    WithdrawnOutput,
)
from policy_engine.policy.model import Constraint, Strategy
from policy_engine.policy.model import Kind as RuleKind


class LoggedRequest(ChainRecord):
    """Who asked to do what with which assets, and for which purpose."""

    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str


class LoggedCondition(ChainRecord):
    """The result of a condition, by its left operand only, without the values it was compared with.

    For a logical constraint whose parts were not evaluated, by its operator.
    """

    operand: str
    state: State


class LoggedMatch(ChainRecord):
    """A rule that covered the request."""

    policy: str
    rule: str
    kind: RuleKind
    applies: bool
    conditions: tuple[LoggedCondition, ...]


class LoggedMiss(ChainRecord):
    """A permission that nearly covered the request."""

    policy: str
    rule: str


class LoggedDuty(ChainRecord):
    """A duty that was outstanding."""

    policy: str
    rule: str
    duty: str
    actions: tuple[str, ...]
    by: tuple[str, ...]
    state: Literal["outstanding", "violated"]


class LoggedCount(ChainRecord):
    """A rule that was exercised once, on which assets; by whom, if not by the requester."""

    policy: str
    rule: str
    targets: tuple[str, ...]
    party: str | None = None


class LoggedOrigin(ChainRecord):
    """What an asset was made from, and the assigners of the rule that made it."""

    asset: str
    by: tuple[str, ...]
    sources: tuple[str, ...]


class LoggedWithdrawal(ChainRecord):
    """An output of which a release was withdrawn, and since when, in ISO 8601."""

    asset: str
    since: str


class LoggedSignature(ChainRecord):
    """A signature that a decision rested on, by which key and when, in ISO 8601."""

    kind: Literal["policy", "proof"]
    of: str
    key: str
    created: str
    signature: str

    @field_validator("created")
    @classmethod
    def _check_time(cls, time: str) -> str:
        if datetime.fromisoformat(time).tzinfo is None:
            raise ValueError("a time without its zone")
        return time


class LogRecord(ChainRecord):
    """What is recorded of a decision.

    Every field is declared here and copied by name, so that fields added to decisions later are not
    logged before somebody has thought about it. `time` is the moment for which the decision holds,
    in ISO 8601, empty if it has none. `counted` is present if a permit is the execution of other
    rules, or on other assets, than the named rule on the requested targets; `made_from` is present
    if the permitted targets were made from something else, directly or indirectly; `withdrawn` if a
    release of the targets was withdrawn; `trust`, the sha-256 of the trust file, and `signed_by`,
    what the decision rested on, if there was one. Entries of earlier versions lack both.
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
    withdrawn: tuple[LoggedWithdrawal, ...] | None = None
    trust: str | None = None
    signed_by: tuple[LoggedSignature, ...] | None = None

    @field_validator("time")
    @classmethod
    def _check_time(cls, time: str) -> str:
        if time:
            datetime.fromisoformat(time)
        return time

    @classmethod
    def from_decision(cls, decision: Decision) -> "LogRecord":
        """Return what is recorded of a decision."""
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
            withdrawn=tuple(map(_withdrawal, decision.withdrawn)) or None,
            trust=decision.trust or None,
            signed_by=tuple(map(_signature, decision.signed_by)) or None,
        )


class LoggedDeed(ChainRecord):
    """A duty was fulfilled or violated, or a prohibition infringed, by a party at a time.

    `digest` is that of the policy at the time, `meaning` identifies what the duty requires and who
    issued it, since its uid may be reused for another duty. Entries of earlier versions lack it.
    `evidence` is a text given by the person who recorded the event.
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


class Entry(ChainEntry):
    """One decision or duty event in the chain."""

    decision: LogRecord | None = None
    deed: LoggedDeed | None = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if (self.decision is None) == (self.deed is None):
            raise ValueError("an entry holds a decision or a deed")
        return self

    @property
    def decided(self) -> LogRecord:
        """What was recorded of the decision. Raises AttributeError for a duty event."""
        if self.decision is None:
            raise AttributeError("the entry has no decision")
        return self.decision

    @property
    def request(self) -> Request:
        """The request that was decided, to decide it again. Raises as `decided` does."""
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
    """Return what a permit is an execution of, if that is more than its rule on its targets."""
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


def _withdrawal(one: WithdrawnOutput) -> LoggedWithdrawal:
    return LoggedWithdrawal(asset=one.asset, since=one.since.isoformat())


def _duty(duty: OutstandingDuty) -> LoggedDuty:
    return LoggedDuty(
        policy=duty.policy,
        rule=duty.rule,
        duty=duty.duty,
        actions=duty.actions,
        by=duty.by,
        state=duty.state,
    )


def _signature(one: Signed) -> LoggedSignature:
    return LoggedSignature(
        kind=one.kind,
        of=one.of,
        key=one.key,
        created=one.created.isoformat(),
        signature=one.signature,
    )
