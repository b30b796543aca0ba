"""Decisions under all policies in force, and the log that has every one of them."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, Decision, Request, read_request
from policy_engine.decision.knowing import Known
from policy_engine.decision.log import DecisionLog, Entry, read_log, verify_log
from policy_engine.decision.log.log import Transaction
from policy_engine.decision.model import Effect
from policy_engine.decision.spending import SpentBudgets
from policy_engine.errors import InternalError, PolicyEngineError, ServiceError
from policy_engine.policy.owners import Standing
from policy_engine.service.calls.timestamps import Moment
from policy_engine.service.files.keys import key_file
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, owners_of
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources.ownership import OwnedAssets

Proofs = tuple[Certificate | Attestation, ...]
_NAME = "decisions.sqlite"


class AccessQuestion(BaseModel):
    """Who asks to do what with which assets, for which purpose: in IRIs, or in the short names that
    policies have."""

    assignee: str = ""
    action: str = "read"
    target: Annotated[list[str], Field(max_length=100)]
    purpose: str = ""


class LoggedView(BaseModel):
    """An entry of the log: a decision, without what it was about the world."""

    number: int
    logged: datetime
    effect: Effect
    assignee: str
    action: str
    targets: tuple[str, ...]
    purpose: str
    policy: str
    rule: str
    policy_digests: tuple[str, ...]


class LogFilter(BaseModel):
    """Which entries of the log are meant; those with all that is given."""

    effect: Effect | Literal[""] = ""
    assignee: str = ""
    target: str = ""
    policy: str = ""
    since: Moment | None = None
    until: Moment | None = None

    def has(self, entry: Entry) -> bool:
        """Return whether an entry is meant."""
        decided = entry.decision
        if decided is None:
            return False
        moment = datetime.fromisoformat(entry.logged)
        return (
            self.effect in ("", decided.effect)
            and self.assignee in ("", decided.request.assignee)
            and (not self.target or self.target in decided.request.targets)
            and self.policy in ("", decided.policy)
            and (self.since is None or self.since <= moment)
            and (self.until is None or moment < self.until)
        )


class LogPage(BaseModel):
    """A page of the log, the newest first; `next` is the cursor of the page after it, if any."""

    items: list[LoggedView]
    next: int | None = None


class LogIntegrity(BaseModel):
    """Whether the log is intact, and its head, which is worth keeping elsewhere."""

    intact: bool
    entries: int
    head: str
    problems: list[str]


@dataclass
class _Ticket:
    """A request that waits for its answer to be in the log."""

    decider: Decider
    request: Request
    decision: Decision | None = None
    error: PolicyEngineError | None = None
    is_done: bool = False


@dataclass(frozen=True)
class _Turns:
    """Decides all waiting requests in one transaction of the log.

    Each request still sees the effect of those before it. Syncing the log to disk is what takes
    long, and it is done once for all of them.
    """

    waiting: deque[_Ticket] = field(default_factory=deque)
    turn: Lock = field(default_factory=Lock)

    def decide(self, log: DecisionLog, ticket: _Ticket) -> Decision:
        """Return the answer to a request, once it is in the log."""
        self.waiting.append(ticket)
        with self.turn:
            if not ticket.is_done:
                self._decide_all(log)
        if ticket.decision is None:
            raise ticket.error or InternalError.of("X001", "A request has no answer.")
        return ticket.decision

    def _decide_all(self, log: DecisionLog) -> None:
        tickets = [self.waiting.popleft() for _ in range(len(self.waiting))]
        answers: list[Decision | PolicyEngineError] = []
        try:
            with log.transaction() as transaction:
                answers += [_answer(transaction, one) for one in tickets]
        except PolicyEngineError as error:
            answers = [error] * len(tickets)
        for one, answer in zip(tickets, answers, strict=True):
            if isinstance(answer, Decision):
                one.decision = answer
            else:
                one.error = answer
            one.is_done = True


def _answer(transaction: Transaction, ticket: _Ticket) -> Decision | PolicyEngineError:
    try:
        decision = ticket.decider.decide(ticket.request, None, transaction.history)
    except PolicyEngineError as error:
        return error
    transaction.append(decision)
    return decision


@dataclass
class _Compiled:
    """The policies in force as they were compiled, and by what they are known again."""

    key: object = None
    decider: Decider | None = None
    log: DecisionLog | None = None
    people: Mapping[str, str] = field(default_factory=dict)
    """The people by the parties by which they own assets and issue policies."""


@dataclass(frozen=True)
class Decisions:
    """Answers requests by all policies in force and all releases, and logs every answer."""

    ownership: OwnedAssets
    folder: Path
    proofs: Callable[[], tuple[object, Callable[[], Proofs]]]
    """What the proofs of the releases are known again by, and how they are read."""
    budgets: SpentBudgets | None = None
    """What says how much of a budget was spent, where policies ask for it."""
    tally: EventTally = field(default_factory=EventTally, repr=False)
    """How many decisions there were, by their effect."""
    _compiled: _Compiled = field(default_factory=_Compiled, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _turns: _Turns = field(default_factory=_Turns, repr=False)

    def decide(self, actor: Actor, question: AccessQuestion) -> Decision:
        """Return the answer to a request, which is in the log before it is returned.

        Raises ServiceError (N002) for a request in the name of another party, where the role does
        not let the caller ask for it; RequestError (D001) for names that stand for nothing.
        """
        assignee = self.assignee_of(actor, question.assignee)
        decider = self.decider()
        parts = (assignee, question.action, question.target, question.purpose)
        request = read_request(*parts, decider.policies)
        if assignee != actor.party and authorise(actor, Verb.DECIDE) is Whose.OWN:
            self._check_owned(actor, request)
        ticket = _Ticket(decider, request)
        decision = self._turns.decide(self.log(), ticket)
        self.tally.add(decision.effect)
        return decision

    def assignee_of(self, actor: Actor, assignee: str, verb: Verb = Verb.DECIDE) -> str:
        """Return in whose name somebody asks: in their own, or in that of any party."""
        if assignee in ("", actor.party) and actor.party:
            return actor.party
        if not assignee:
            message = "You have no IRI that policies call you by."
            raise ServiceError.of("N004", message, "Ask an administrator to give you one.")
        is_others = Role.OWNER in actor.roles or Role.STEWARD in actor.roles
        if verb is not Verb.DECIDE or not is_others:
            raise ServiceError.of("N002", f"You ask as {actor.party or 'nobody'}, not as others.")
        return assignee

    def _check_owned(self, actor: Actor, request: Request) -> None:
        """Check that a request in another's name is about what belongs to the caller's owners."""
        owners = owners_of(actor, Verb.DECIDE)
        if not {self.owner_of(one) for one in request.targets} <= owners:
            message = "You ask in the name of others about what is yours, or your owners', alone."
            raise ServiceError.of("N002", message, "Ask in your own name: leave the assignee out.")

    def owner_of(self, asset: str) -> str | None:
        """Return who owns an asset, as a person; None where nobody does."""
        owners = Standing(self.decider().owners).of(asset).owners
        return self._compiled.people.get(owners[0]) if len(owners) == 1 else None

    def decider(self) -> Decider:
        """Return what decides, compiled anew once policies or releases have changed."""
        proofs_key, read_proofs = self.proofs()
        key = self.ownership.state(), proofs_key
        with self._lock:
            if self._compiled.decider is None or self._compiled.key != key:
                rules = self.ownership.ruling()
                self._compiled.decider = Decider(
                    rules.policies, read_proofs(), owners=rules.owners, ledger=self.budgets
                )
                self._compiled.people, self._compiled.key = rules.people, key
            return self._compiled.decider

    def log(self) -> DecisionLog:
        """Return the log, in which every decision is; it remembers what was read of it."""
        with self._lock:
            if self._compiled.log is None:
                self._compiled.log = DecisionLog.open(self.path, self.key)
            return self._compiled.log

    def page(self, actor: Actor, wanted: LogFilter, limit: int, before: int | None) -> LogPage:
        """Return a page of the log: all of it, or what is about the caller's party.

        `before` is the number of the entry that the page is before.
        """
        is_own = authorise(actor, Verb.READ_DECISIONS) is Whose.OWN
        is_readable = self._own_entries(actor) if is_own else None
        matches: deque[Entry] = deque(maxlen=limit + 1)
        for entry in self._entries():
            if before is not None and entry.number >= before:
                break
            if wanted.has(entry) and (is_readable is None or is_readable(entry)):
                matches.append(entry)
        items = [_view(one) for one in reversed(matches)][:limit]
        if is_own and Role.OWNER not in actor.roles:
            items = [*map(self._without_names(actor), items)]
        return LogPage(items=items, next=items[-1].number if len(matches) > limit else None)

    def _own_entries(self, actor: Actor) -> Callable[[Entry], bool]:
        """Return whether somebody may read an entry: one of their own requests or, of owners, one
        about what belongs to them."""
        standing = Standing(self.decider().owners)
        parties = {one for one, person in self._compiled.people.items() if person == actor.id}
        is_owner = Role.OWNER in actor.roles

        def is_readable(entry: Entry) -> bool:
            decided = entry.decision
            if decided is None:
                return False
            if actor.party and decided.request.assignee == actor.party:
                return True
            targets = decided.request.targets if is_owner else ()
            return any(standing.of(one).own(parties) for one in targets)

        return is_readable

    def _without_names(self, actor: Actor) -> Callable[[LoggedView], LoggedView]:
        """Return entries of a log for who may not know all names of columns that a query meant.

        A denied query of all columns names them: of those that no policy names to the party, the
        dataset is told.
        """
        decider = self.decider()
        knowledge, datasets = Known(decider, actor.party), decider.owners.statements_by_asset

        def name(target: str) -> str:
            dataset = terms.dataset_of(target)
            is_hidden = dataset in datasets and not (
                knowledge.has(target) or knowledge.has(dataset)
            )
            return dataset if is_hidden else target

        def without(view: LoggedView) -> LoggedView:
            targets = tuple(dict.fromkeys(map(name, view.targets)))
            return view.model_copy(update={"targets": targets})

        return without

    def verify(self, actor: Actor) -> LogIntegrity:
        """Return whether the log is as it was written."""
        authorise(actor, Verb.READ_DECISIONS)
        if not self.path.exists():
            return LogIntegrity(intact=True, entries=0, head="", problems=[])
        result = verify_log(self.path, self.key)
        return LogIntegrity(
            intact=result.intact,
            entries=result.entries,
            head=str(result.head),
            problems=[str(one) for one in result.problems],
        )

    def _entries(self) -> Iterator[Entry]:
        return read_log(self.path) if self.path.exists() else iter(())

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self.folder / _NAME

    @property
    def key(self) -> Path:
        """The file of the key that the log is chained with."""
        return key_file(self.folder, "decisions")


def _view(entry: Entry) -> LoggedView:
    decided = entry.decided
    request = decided.request
    return LoggedView(
        number=entry.number,
        logged=datetime.fromisoformat(entry.logged),
        effect=decided.effect,
        assignee=request.assignee,
        action=request.action,
        targets=request.targets,
        purpose=request.purpose,
        policy=decided.policy,
        rule=decided.rule,
        policy_digests=decided.policy_digests,
    )
