"""Decisions under all policies in force, and the log that has every one of them."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Annotated

from pydantic import BaseModel, Field

from policy_engine.certificate.vouching import Given, VouchingGrounds
from policy_engine.certificate.withdrawals import Withdrawals
from policy_engine.decision import Decider, Decision, Request, read_request
from policy_engine.decision.knowing import Known
from policy_engine.decision.log import DecisionLog, Entry, verify_log
from policy_engine.decision.spending import SpentBudgets
from policy_engine.decision.telling import Telling, told, unchanged
from policy_engine.errors import LogError, RequestError, ServiceError
from policy_engine.policy.owners import Standing
from policy_engine.service.files.keys import key_file
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    nothing_there,
    owners_of,
    reach_of,
)
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.resources.decision_turns import DecisionTurns
from policy_engine.service.resources.kept_trust import KeptTrust
from policy_engine.service.resources.log_heads import DECISIONS_NAME, LogHead
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

Proofs = tuple[Given, ...]


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
    owned: frozenset[tuple[str, str]] = frozenset()
    """The uids of policies that are or were in force, each with its owner."""


@dataclass(frozen=True)
class Decisions:
    """Answers requests by all policies in force and all releases, and logs every answer."""

    ownership: OwnedAssets
    folder: Path
    proofs: Callable[[], tuple[object, Callable[[], Proofs]]]
    """What the proofs of the releases are known again by, and how they are read."""
    budgets: SpentBudgets | None = None
    """What says how much of a budget was spent, where policies ask for it."""
    trust: KeptTrust | None = None
    """Whose signatures count; without one, signatures are not looked at."""
    tally: EventTally = field(default_factory=EventTally, repr=False)
    """How many decisions there were, by their effect."""
    _compiled: _Compiled = field(default_factory=_Compiled, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _turns: DecisionTurns = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Take requests in turn from now on."""
        version = self.ownership.database.version
        turns = DecisionTurns(self.log, version, self.tally, lambda: self.head)
        object.__setattr__(self, "_turns", turns)

    def decide(self, actor: Actor, question: AccessQuestion) -> Decision:
        """Return the answer to a request, which is in the log before it is returned.

        In the log is all of it; returned is what may be told to the caller (`told`).

        Raises ServiceError (N002) for a request in the name of another party, where the role does
        not let the caller ask for it; RequestError (D001) for names that stand for nothing.
        """
        return self.ask(lambda _version: actor, question).result()

    def ask(
        self, caller: Callable[[object], Actor], question: AccessQuestion
    ) -> "Future[Decision]":
        """Return the answer to a request as `decide`, which is in the log once it is there.

        Who asks is found out when it is their turn, at a version of the database that was read
        after they have called.
        """
        return self._turns.ask(partial(self._asked, caller, question))

    def _asked(
        self, caller: Callable[[object], Actor], question: AccessQuestion, version: object
    ) -> tuple[Decider, Request, Telling]:
        """Return what is asked, what decides it, and what of the answer is told. Raises as
        `decide`, and as the caller does."""
        actor = caller(version)
        assignee = self.assignee_of(actor, question.assignee)
        decider = self.decider(version)
        parts = (assignee, question.action, question.target, question.purpose)
        request = self.request(actor, *parts, decider)
        if assignee != actor.party and authorise(actor, Verb.DECIDE) is Whose.OWN:
            self._check_owned(actor, request, decider)
        return decider, request, self.told(actor, version)

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

    def request(
        self,
        actor: Actor,
        assignee: str,
        action: str,
        target: Sequence[str],
        purpose: str,
        decider: Decider,
    ) -> Request:
        """Return a request of names as in the policies in force.

        Raises RequestError (D001), which says of policies only what the caller may read.
        """
        parts = assignee, action, target, purpose
        try:
            return read_request(*parts, decider.policies)
        except RequestError:
            may_read = self.may_read_policy(actor)
            read_request(*parts, [one for one in decider.policies if may_read(one.uid)])
        message = "A name does not mean the same in all policies in force."
        raise RequestError.of("D001", message, "Write the whole IRI of each.")

    def told(self, actor: Actor, version: object = None) -> Telling:
        """Return what of a decision is told to somebody: of rules, those of policies that they may
        read, and of the one that decided."""
        if reach_of(actor, Verb.READ_POLICIES) is Whose.ALL:
            return unchanged
        return partial(told, may_read=self.may_read_policy(actor, version))

    def may_read_policy(self, actor: Actor, version: object = None) -> Callable[[str], bool]:
        """Return whether somebody may read the policy of a uid that is or was in force."""
        reach = reach_of(actor, Verb.READ_POLICIES)
        if reach is Whose.ALL:
            return lambda _uid: True
        self.decider(version)
        owners = owners_of(actor, Verb.READ_POLICIES) if reach else ()
        owned = self._compiled.owned
        return lambda uid: any((uid, one) in owned for one in owners)

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

    def decider(self, version: object = None) -> Decider:
        """Return what decides, compiled anew once policies or releases have changed.

        `version` is that of the database, where it was asked for since the call came.
        """
        trust_state = None if self.trust is None else self.trust.state()
        version = version or self.ownership.database.version(), trust_state
        compiled = self._compiled
        if compiled.version == version and compiled.decider is not None:
            return compiled.decider
        proofs_key, read_proofs = self.proofs()
        key = self.ownership.state(), proofs_key, trust_state
        with self._lock:
            if self._compiled.decider is None or self._compiled.key != key:
                rules, proofs = self.ownership.ruling(), read_proofs()
                if self.trust is None:
                    vouched = VouchingGrounds(None, Withdrawals(), proofs).at(datetime.now(UTC))
                else:
                    vouched = self.trust.vouched(rules.policies, proofs, rules.signatures)
                self._compiled.decider = Decider(
                    rules.policies, vouched, owners=rules.owners, ledger=self.budgets
                )
                self._compiled.people, self._compiled.key = rules.people, key
                self._compiled.owned = self.ownership.owned_policies()
            self._compiled.version = version
            return self._compiled.decider

    def log(self) -> DecisionLog:
        """Return the log, in which every decision is; it remembers what was read of it. Raises
        LogError (G002) for one that was cut since the service wrote it."""
        with self._lock:
            if self._compiled.log is None:
                self.head.check()
                self._compiled.log = DecisionLog.open(self.path, self.key, stays_open=True)
            return self._compiled.log

    def close(self) -> None:
        """Answer who waits, and let go of the log."""
        self._turns.close()
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
        """Return whether the log is as it was written, and has the last entry that is known."""
        authorise(actor, Verb.READ_DECISIONS)
        try:
            if not self.path.exists():
                self.head.check()
                return LogIntegrity(intact=True, entries=0, head="", problems=[])
            result = verify_log(self.path, self.key, self.head.kept())
        except LogError as error:
            problems = [str(one) for one in error.problems]
            return LogIntegrity(intact=False, entries=0, head="", problems=problems)
        return LogIntegrity(
            intact=result.intact,
            entries=result.entries,
            head=str(result.head),
            problems=[str(one) for one in result.problems],
        )

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self.folder / DECISIONS_NAME

    @property
    def key(self) -> Path:
        """The file of the key that the log is chained with. Raises ServiceError (N013) where it is
        lost."""
        return key_file(self.folder, "decisions", of=self.path)

    @property
    def head(self) -> LogHead:
        """The last entry of the log that is known."""
        return LogHead(self.path, self.key)


def _is_anything(_decided: object) -> bool:
    return True
