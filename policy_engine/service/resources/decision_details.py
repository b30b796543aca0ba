"""Single decisions of the log, with the rules that led to them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine.decision.log import Entry, log_lines
from policy_engine.decision.log.entries import LoggedMatch
from policy_engine.policy import PolicyText, Reading
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.decisions import Decisions
from policy_engine.service.resources.log_pages import LoggedView
from policy_engine.service.store.database import Database
from policy_engine.service.store.policies import PolicyVersion, StoredPolicy

_BLOCK = 2**16
"""The log is sent in blocks that end with the line that reaches so many bytes."""


class EvaluatedCondition(BaseModel):
    """A condition by what it compares, and whether it held."""

    operand: str
    state: str


class ConsideredRule(BaseModel):
    """A rule that covered the request: whether it applied, and by which conditions."""

    policy: str
    rule: str
    kind: str
    applies: bool
    conditions: tuple[EvaluatedCondition, ...]


class MissedRule(BaseModel):
    """A permission that nearly covered the request."""

    policy: str
    rule: str


class OwedDuty(BaseModel):
    """A duty that was not performed yet."""

    rule: str
    actions: tuple[str, ...]
    by: tuple[str, ...]
    state: str


class DecidingVersion(BaseModel):
    """The version of a policy of this service that decided."""

    policy: str
    name: str
    number: int


class DecisionDetail(LoggedView):
    """A decision with what led to it, as far as the caller may know that.

    `time` is the moment that it holds for; of conditions, no value is in the log. `version` is left
    out where the policy is not in the service any more, or not for the caller.
    """

    time: str
    strategy: str
    considered: tuple[ConsideredRule, ...]
    missed: tuple[MissedRule, ...]
    duties: tuple[OwedDuty, ...]
    version: DecidingVersion | None = None


@dataclass(frozen=True)
class DecisionDetails:
    """Explains what was decided, from the log alone."""

    database: Database
    decisions: Decisions

    def read(self, actor: Actor, number: int) -> DecisionDetail:
        """Return a decision by its number in the log.

        Of rules, it has those that the caller may read and the one that decided. Raises
        ServiceError (N003) where no decision has the number, or not for the caller.
        """
        entry, view = self.decisions.entry(actor, number)
        is_shown = self.decisions.may_read_policy(actor)
        with self.database.reading() as session:
            version = _version(session, entry)
        detail = _detail(view, entry, lambda uid: uid == view.policy or is_shown(uid))
        is_known = version is not None and is_shown(entry.decided.policy)
        return detail.model_copy(update={"version": version if is_known else None})

    def lines(self, actor: Actor) -> Iterator[bytes]:
        """Return the whole log, as it is now, as a file of lines, in blocks of many.

        Between two blocks, nothing of the log is held: who takes them slowly, or leaves, keeps
        nobody from deciding. Raises ServiceError (N002), and LogError (G001) if it cannot be read,
        with a block that could not be read if not the first.
        """
        authorise(actor, Verb.EXPORT_DECISIONS)
        path = self.decisions.path
        blocks = _blocks(log_lines(path)) if path.exists() else iter(())
        return chain([*islice(blocks, 1)], blocks)


def _blocks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield lines joined: each block is asked for in another thread, which takes longer."""
    block = b""
    for line in lines:
        block += line
        if len(block) >= _BLOCK:
            yield block
            block = b""
    yield block


def _detail(view: LoggedView, entry: Entry, is_shown: Callable[[str], bool]) -> DecisionDetail:
    decided = entry.decided
    return DecisionDetail(
        **view.model_dump(),
        time=decided.time,
        strategy=decided.strategy,
        considered=tuple(_considered(one) for one in decided.matches if is_shown(one.policy)),
        missed=tuple(
            MissedRule(policy=one.policy, rule=one.rule)
            for one in decided.near_misses
            if is_shown(one.policy)
        ),
        duties=tuple(
            OwedDuty(
                rule=one.rule if is_shown(one.policy) else "",
                actions=one.actions,
                by=one.by,
                state=one.state,
            )
            for one in decided.duties
        ),
    )


def _considered(match: LoggedMatch) -> ConsideredRule:
    return ConsideredRule(
        policy=match.policy,
        rule=match.rule,
        kind=match.kind,
        applies=match.applies,
        conditions=tuple(
            EvaluatedCondition(operand=one.operand, state=one.state) for one in match.conditions
        ),
    )


def _version(session: Session, entry: Entry) -> DecidingVersion | None:
    """Return the version that decided, of the policies that are in the service."""
    logged, decided = datetime.fromisoformat(entry.logged), entry.decided
    rows = (
        select(StoredPolicy.id, StoredPolicy.name, PolicyVersion)
        .join(PolicyVersion, PolicyVersion.policy_id == StoredPolicy.id)
        .where(StoredPolicy.uid == decided.policy, PolicyVersion.published.is_not(None))
        .order_by(PolicyVersion.number.desc())
    )
    for policy_id, name, version in session.execute(rows):
        is_early = version.published is not None and version.published <= logged
        if is_early and _digest(version.text) in decided.policy_digests:
            return DecidingVersion(policy=policy_id, name=name, number=version.number)
    return None


def _digest(text: str) -> str:
    return Reading().policy(PolicyText(text.encode(), "")).digest
