"""Decisions under all policies in force, and the log that has every one of them."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Annotated

from pydantic import BaseModel, Field

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.data.chain.rows import reason
from policy_engine.decision import Decider, Decision, Request, read_request
from policy_engine.decision.knowing import Known
from policy_engine.decision.log import DecisionLog, Entry, verify_log
from policy_engine.decision.log.log import Transaction
from policy_engine.decision.spending import SpentBudgets
from policy_engine.errors import InternalError, OutputError, PolicyEngineError, ServiceError
from policy_engine.policy.owners import Standing
from policy_engine.service.files.keys import key_file
from policy_engine.service.files.turn_lock import TurnLock
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import authorise, nothing_there, owners_of
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources.log_pages import (
    LogFilter,
    LoggedView,
    LogPage,
    entry_view,
    read_entry,
    read_page,
)
from policy_engine.service.resources.log_readings import LogReading
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
        try:
            with TurnLock(log.path.with_suffix(".turn")).held():
                self._decide_taken(log)
        except OSError as error:
            message = f"The decision log cannot be written: {reason(error)}."
            tickets = self._taken()
            _give(tickets, [OutputError.of("O002", message)] * len(tickets))

    def _taken(self) -> list[_Ticket]:
        """Return the requests that wait by now, whose turn it is."""
        return [self.waiting.popleft() for _ in range(len(self.waiting))]

    def _decide_taken(self, log: DecisionLog) -> None:
        tickets = self._taken()
        answers: list[Decision | PolicyEngineError] = []
        try:
            with log.transaction() as transaction:
                answers += [_answer(transaction, one) for one in tickets]
        except PolicyEngineError as error:
            answers = [error] * len(tickets)
        _give(tickets, answers)


def _give(tickets: list[_Ticket], answers: Sequence[Decision | PolicyEngineError]) -> None:
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
    """The policies in force as they were compiled, and by what they are known again.

    `version` is that of the database, under which nothing needs to be asked; `key` is what they
    depend on, for much else is written.
    """

    version: object = None
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
            self._check_owned(actor, request, decider)
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

    def _check_owned(self, actor: Actor, request: Request, decider: Decider) -> None:
        """Check that a request in another's name is about what belongs to the caller's owners."""
        owners = owners_of(actor, Verb.DECIDE)
        if not {self._owner_by(decider, one) for one in request.targets} <= owners:
            message = "You ask in the name of others about what is yours, or your owners', alone."
            raise ServiceError.of("N002", message, "Ask in your own name: leave the assignee out.")

    def owner_of(self, asset: str) -> str | None:
        """Return who owns an asset, as a person; None where nobody does."""
        return self._owner_by(self.decider(), asset)

    def _owner_by(self, decider: Decider, asset: str) -> str | None:
        owners = Standing(decider.owners).of(asset).owners
        return self._compiled.people.get(owners[0]) if len(owners) == 1 else None

    def decider(self) -> Decider:
        """Return what decides, compiled anew once policies or releases have changed."""
        version = self.ownership.database.version()
        compiled = self._compiled
        if compiled.version == version and compiled.decider is not None:
            return compiled.decider
        proofs_key, read_proofs = self.proofs()
        key = self.ownership.state(), proofs_key
        with self._lock:
            if self._compiled.decider is None or self._compiled.key != key:
                rules = self.ownership.ruling()
                self._compiled.decider = Decider(
                    rules.policies, read_proofs(), owners=rules.owners, ledger=self.budgets
                )
                self._compiled.people, self._compiled.key = rules.people, key
            self._compiled.version = version
            return self._compiled.decider

    def log(self) -> DecisionLog:
        """Return the log, in which every decision is; it remembers what was read of it."""
        with self._lock:
            if self._compiled.log is None:
                self._compiled.log = DecisionLog.open(self.path, self.key, stays_open=True)
            return self._compiled.log

    def close(self) -> None:
        """Let go of the log."""
        with self._lock:
            if self._compiled.log is not None:
                self._compiled.log.close()

    def page(self, actor: Actor, wanted: LogFilter, limit: int, before: int | None) -> LogPage:
        """Return a page of the log: all of it, or what is about the caller's party.

        `before` is the number of the entry that the page is before.
        """
        if authorise(actor, Verb.READ_DECISIONS) is not Whose.OWN:
            return read_page(self.path, wanted, _is_anything, limit, before)
        reading = self._reading(actor)
        if wanted.target and reading.name(wanted.target) != wanted.target:
            return LogPage(items=[])  # nor is it told whether a name was guessed
        if Role.OWNER not in actor.roles:
            if not actor.party or wanted.assignee not in ("", actor.party):
                return LogPage(items=[])
            wanted = wanted.model_copy(update={"assignee": actor.party})
        is_readable = partial(reading.may_read, wanted=wanted)
        page = read_page(self.path, wanted, is_readable, limit, before)
        return LogPage(items=[*map(reading.shown, page.items)], next=page.next)

    def entry(self, actor: Actor, number: int) -> tuple[Entry, LoggedView]:
        """Return an entry of the log, whole and as the caller may see it on a page.

        Raises ServiceError (N003) where no decision has the number, or not for the caller.
        """
        is_own = authorise(actor, Verb.READ_DECISIONS) is Whose.OWN
        entry = read_entry(self.path, number)
        if entry is None:
            raise nothing_there()
        view = entry_view(entry)
        if not is_own:
            return entry, view
        reading = self._reading(actor)
        if not reading.may_read(entry.decided.model_dump()):
            raise nothing_there()
        return entry, reading.shown(view)

    def _reading(self, actor: Actor) -> LogReading:
        """Return what somebody may read of the log: their own requests and, of owners, those about
        what belongs to them."""
        decider = self.decider()
        is_owner = Role.OWNER in actor.roles
        people = self._compiled.people.items()
        return LogReading(
            party=actor.party,
            knowledge=Known(decider, actor.party),
            datasets=decider.owners.statements_by_asset.keys(),
            standing=Standing(decider.owners),
            parties=frozenset(one for one, person in people if is_owner and person == actor.id),
            policies=self.ownership.policies_of(actor.id) if is_owner else frozenset(),
        )

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

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self.folder / _NAME

    @property
    def key(self) -> Path:
        """The file of the key that the log is chained with."""
        return key_file(self.folder, "decisions")


def _is_anything(_decided: object) -> bool:
    return True
