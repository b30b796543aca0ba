"""The state of a budget ledger, computed from its entries: balances, reservations, kept answers."""

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.reading import Mark, Plain, entries_after
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import InvalidEntryError
from policy_engine.policy.xsd.durations import subtract_duration
from policy_engine.release.budget.accounts import SUMS, Account, Amount, Cap, renewal_of
from policy_engine.release.budget.entries import (
    LEDGER,
    AnnouncedRelease,
    BudgetEntry,
    Owner,
    UncoveredRelease,
    caps_of,
)
from policy_engine.release.budget.lineage import DataLineage
from policy_engine.release.budget.processes import has_ended

Identity: TypeAlias = tuple[str, str, str, str]
Key: TypeAlias = tuple[str, str, str, str]
"""An account: dataset, unit, assignee and purpose."""

Uses: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""What a release is for: the purposes that were stated, and all that an assignee is charged for."""

Expense: TypeAlias = tuple[str, Amount]
"""When something was spent, and what."""

_DONE: Plain = MappingProxyType({})
_FIRST = datetime.min.replace(tzinfo=UTC)
_UNREADABLE = (KeyError, TypeError, AttributeError, ArithmeticError, ValueError)


class _StepError(ValueError):
    """Why an entry cannot follow those before it, as the end of a sentence about it."""


class AccountState:
    """What an account has spent, when, and its caps.

    `standing` are the budgets that policies set, by the uid of the policy, as it last set them.
    """

    def __init__(self, account: Account) -> None:
        self.account = account
        self.recorded: Plain = {}
        self.standing: dict[str, tuple[Cap, ...]] = {}
        self._policies: Sequence[str] = ()
        self._epsilon = self._delta = Decimal(0)
        self._expenses: list[Expense] = []
        self._windows: dict[str, _Window] = {}
        self._by_purposes: dict[Uses, Amount] = {}

    @property
    def spent(self) -> Amount:
        """All that was ever spent."""
        return Amount(self._epsilon, self._delta)

    @property
    def caps(self) -> tuple[Cap, ...]:
        """Those of the rule that was charged last, and the budgets of policies."""
        of_rule = (one for one in caps_of(self.recorded, self.account) if not one.set_by)
        return (*of_rule, *(cap for caps in self.standing.values() for cap in caps))

    def note(self, recorded: Plain, policies: Sequence[str]) -> None:
        """Note what a charge says of it, and the budgets that some policies set now."""
        if recorded == self.recorded and policies == self._policies:
            return
        self.recorded, self._policies = recorded, policies
        for uid in policies:
            self.standing.pop(uid, None)
        for cap in caps_of(recorded, self.account):
            if cap.set_by:
                self.standing[cap.set_by] = (*self.standing.get(cap.set_by, ()), cap)

    def pay(self, expense: Expense) -> None:
        """Add what is spent."""
        amount = expense[1]
        self._epsilon = SUMS.add(self._epsilon, amount.epsilon)
        if amount.delta:
            self._delta = SUMS.add(self._delta, amount.delta)
        self._expenses.append(expense)

    def note_purposes(self, amount: Amount, uses: Uses, before: Uses | None) -> None:
        """Note what a release costs, and what it is for: all uses, and those noted before."""
        if before is not None:
            self._by_purposes[before] = self._by_purposes[before].minus(amount)
        self._by_purposes[uses] = self._by_purposes.get(uses, Amount()).plus(amount)

    def made_for(self, purposes: Iterable[str], but: str) -> Amount:
        """Return what was made for any of some purposes, and is not charged to another one."""
        total, sought = Amount(), frozenset(purposes)
        for (stated, charged), amount in self._by_purposes.items():
            if but not in charged and not stated.isdisjoint(sought):
                total = total.plus(amount)
        return total

    def spent_since_renewal(self, cap: Cap, now: datetime) -> Amount:
        """Return what counts as spent under a cap: all, or what was spent in its last period."""
        if not cap.renewal:
            return self.spent
        start = subtract_duration(now, renewal_of(cap.renewal))
        return self._windows.setdefault(cap.renewal, _Window()).sum(self._expenses, start)


@dataclass
class _Window:
    """The sum of the expenses after a moment, `start`: those from `first` to `end`."""

    start: datetime = _FIRST
    first: int = 0
    end: int = 0
    amount: Amount = field(default_factory=Amount)

    def sum(self, expenses: list[Expense], start: datetime) -> Amount:
        """Return the sum after a moment, fast where that only moves on."""
        if start < self.start:  # the clock was wrong, now or before: nothing is renewed by that
            self.first, self.end, self.amount = 0, 0, Amount()
        self.start = start
        for _, amount in expenses[self.end :]:
            self.amount = self.amount.plus(amount)
        self.end = len(expenses)
        while self.first < self.end and datetime.fromisoformat(expenses[self.first][0]) <= start:
            self.amount = self.amount.minus(expenses[self.first][1])
            self.first += 1
        return self.amount


Step: TypeAlias = Literal["reserved", "spent", "kept"]


@dataclass(slots=True)
class ReleaseState:
    """How far a release has come that was neither given back nor given up.

    `entry` is what reserved for it, while it is being made, and `answer` the digest of what is
    kept. The accounts of `keys` have paid for it, or are going to. `uses` says what it is for, by
    the accounts of assignees for all purposes.
    """

    number: int
    identity: Identity
    keys: tuple[Key, ...]
    amount: Amount
    entry: Plain
    step: Step = "reserved"
    answer: str = ""
    uses: dict[Key, Uses] = field(default_factory=dict)

    def is_new_to(self, key: Key, purposes: Iterable[str]) -> bool:
        """Tell whether an account is an assignee's, who was not given it for all these purposes."""
        stated = self.uses[key][0] if key in self.uses else frozenset[str]()
        return bool(key[2]) and not key[3] and not stated.issuperset(purposes)

    @property
    def owner(self) -> Owner:
        """The process that makes it."""
        return Owner.model_validate(self.entry["owner"])

    @property
    def logged(self) -> str:
        """When it was reserved for."""
        return str(self.entry["logged"])


@dataclass(slots=True)
class PublishedRelease:
    """A release without an epsilon that was announced, and not said to be unpublished.

    It `is_settled` once an entry says that it was published; until then it may have been.
    """

    number: int
    entry: Plain
    is_settled: bool = False

    @property
    def announced(self) -> AnnouncedRelease:
        """What was announced."""
        return AnnouncedRelease.model_validate_json(json.dumps(self.entry["announced"]))

    @property
    def release(self) -> str:
        """The IRI of what was announced."""
        return str(self.entry["announced"]["release"])

    @property
    def is_abandoned(self) -> bool:
        """Whether the process that was publishing it is known to have ended before it said so."""
        owner = Owner.model_validate(self.entry["owner"])
        return not self.is_settled and has_ended(owner)


@dataclass
class LedgerState:
    """The state of a ledger up to a mark; every entry was verified when it was read.

    `releases` are those that are kept or are being made, `reservations` the latter by the number of
    the entry, `lost` the numbers of those that were spent for nothing. `units` are what the budgets
    of datasets protect, once something was spent; `uncovered` has the other releases of each
    dataset, by its IRI, `published` those of them whose entries say more, by the number of the
    entry, and `lineage` says which are parts of others, or made of them. Of the `unsaid` ones
    nothing was announced when they were listed. The random `name` is that of the ledger.
    """

    chain: HashChain
    mark: Mark = field(default_factory=Mark)
    logged: str = ""
    accounts: dict[Key, AccountState] = field(default_factory=dict)
    releases: dict[Identity, ReleaseState] = field(default_factory=dict)
    reservations: dict[int, ReleaseState] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    units: dict[str, str] = field(default_factory=dict)
    uncovered: dict[str, set[str]] = field(default_factory=dict)
    lineage: DataLineage = field(default_factory=DataLineage)
    published: dict[int, PublishedRelease] = field(default_factory=dict)
    unsaid: set[str] = field(default_factory=set)
    name: str = ""

    def read(self, rows: Iterator[Row]) -> None:
        """Add the rows from the mark on; the first is the one that was read last.

        Raises InvalidEntryError if what follows does not continue it; the state is then of no use.
        """
        if self.mark.number:
            next(rows, None)
        entry: Plain | None = None
        try:
            with _no_collecting():
                for entry, _ in entries_after(self.mark, rows, self.chain, LEDGER):
                    _RECORDERS[entry["state"]](self, entry)
        except InvalidEntryError:
            raise
        except _UNREADABLE as error:
            number = entry["number"] if entry else 0
            reason = f": {error}" if isinstance(error, _StepError) else ""
            message = f"entry {number} does not say what was charged{reason}"
            raise InvalidEntryError(message) from None
        if entry is not None:
            self.logged = entry["logged"]
            self.mark = Mark(entry["number"], entry["hash"], entry["number"])
        if not self.mark.number:
            raise InvalidEntryError("it has no entries, not even the first: it was truncated")

    def add(self, entry: BudgetEntry) -> None:
        """Add the next entry, as this process has just written it."""
        _RECORDERS[entry.state](self, entry.to_json())
        self.logged = entry.logged
        self.mark = Mark(entry.number, entry.hash, entry.number)

    def reserved(self, key: Key, wider: Sequence[str] = ()) -> Amount:
        """Return what is held of an account for releases that are being made, those for wider
        purposes among them."""
        amount = Amount()
        for one in self.reservations.values():
            if one.step == "reserved" and (key in one.keys or _is_for(one, key, wider)):
                amount = amount.plus(one.amount)
        return amount

    def made_for_wider(self, account: Account, wider: Sequence[str]) -> Amount:
        """Return what its assignee was given for wider purposes, and was not charged to it."""
        whole = self.accounts.get(replace(account, purpose="").key) if wider else None
        return whole.made_for(wider, account.purpose) if whole else Amount()

    def unit(self, dataset: str) -> str | None:
        """Return what the budget of a dataset protects, None where nothing was charged to it."""
        held = (key for one in self.reservations.values() for key in one.keys)
        return self.units.get(dataset) or next((key[1] for key in held if key[0] == dataset), None)

    def has_listed(self, one: UncoveredRelease) -> bool:
        """Tell whether all that another release says is known."""
        listed = (one.release in self.uncovered.get(dataset, ()) for dataset in one.datasets)
        return all(listed) and self.lineage.has(one.links or (), one.origins or ())

    # -- what an entry says ------------------------------------------------------------------------

    def begin(self, entry: Plain) -> None:
        """Record the beginning of a ledger."""
        if entry["number"] != 1:
            raise _StepError("it begins the ledger again")
        self.name = entry["ledger"]

    def reserve(self, entry: Plain) -> None:
        """Record that budget is held."""
        charge, number = entry["charge"], entry["number"]
        identity = _identity(charge)
        if identity in self.releases:
            raise _StepError("its release was already made, or is being made")
        release = ReleaseState(
            number, identity, self._keys(charge["accounts"]), _amount(charge), entry
        )
        self.releases[identity] = self.reservations[number] = release

    def spend(self, entry: Plain) -> None:
        """Record that what was reserved is spent."""
        release = self._release(entry, "reserved")
        release.step = "spent"
        charge = release.entry["charge"]
        self._pay(release.keys, (entry["logged"], release.amount), charge)
        self._note_uses(release, release.keys, charge)

    def cancel(self, entry: Plain) -> None:
        """Record that what was reserved was given back."""
        self._forget(self._release(entry, "reserved"))

    def keep(self, entry: Plain) -> None:
        """Record that an answer is kept."""
        release = self._release(entry, "spent")
        release.step, release.answer, release.entry = "kept", entry["answer"], _DONE
        del self.reservations[release.number]

    def lose(self, entry: Plain) -> None:
        """Record that there will be no answer."""
        release = self._release(entry, "spent")
        self._forget(release)
        self.lost.add(release.number)

    def replay(self, entry: Plain) -> None:
        """Record that a kept answer was given again, and who paid for it the first time."""
        charge = entry.get("charge")
        if charge is None:
            return
        release, amount = self.releases[_identity(charge)], _amount(charge)
        if release.number != entry["of"] or release.step != "kept":
            raise _StepError("it replays another release")
        keys = self._keys(charge["accounts"])
        self._pay(keys, (entry["logged"], amount), charge)
        self._note_uses(release, (*keys, *self._keys(charge.get("paid", ()))), charge)
        release.keys += keys

    def list_uncovered(self, entry: Plain) -> None:
        """Record a release of which no epsilon says anything."""
        listed = entry["uncovered"]
        if all(one.release != listed["release"] for one in self.published.values()):
            self.unsaid.add(listed["release"])
        for dataset in listed["datasets"]:
            self.uncovered.setdefault(dataset, set()).add(listed["release"])
            self.lineage.add_origins([(listed["release"], dataset)])
        self.lineage.add(listed.get("links", ()))
        self.lineage.add_origins(listed.get("origins", ()))

    def announce(self, entry: Plain) -> None:
        """Record a release that is about to be published."""
        announced = entry["announced"]
        self.published[entry["number"]] = PublishedRelease(entry["number"], entry)
        self.lineage.add(announced.get("links") or ())
        self.lineage.add_origins(announced.get("origins") or ())
        datasets = announced["datasets"]
        self.lineage.add_origins([(announced["release"], one) for one in datasets])

    def publish(self, entry: Plain) -> None:
        """Record that what was announced was published."""
        self._announced(entry).is_settled = True

    def unpublish(self, entry: Plain) -> None:
        """Record that what was announced was not published."""
        del self.published[self._announced(entry).number]

    def _announced(self, entry: Plain) -> PublishedRelease:
        release = self.published.get(entry["of"])
        if release is None or release.is_settled:
            raise _StepError(f"entry {entry['of']} is not an announcement that it may follow")
        return release

    # -- parts of it -------------------------------------------------------------------------------

    def _keys(self, accounts: Iterable[Plain]) -> tuple[Key, ...]:
        """Return the keys of the accounts of a charge, which exist from then on."""
        keys = []
        for recorded in accounts:
            get = recorded.get
            key = recorded["dataset"], recorded["unit"], get("assignee", ""), get("purpose", "")
            if key not in self.accounts:
                self.accounts[key] = AccountState(Account(*key))
            keys.append(key)
        return tuple(keys)

    def _pay(self, keys: Sequence[Key], expense: Expense, charge: Plain) -> None:
        """Add what is spent, and note what the charge says: what is given back has said nothing."""
        policies = charge.get("policies", ())
        self.lineage.add(charge.get("links", ()))
        self.lineage.add_origins(charge.get("origins", ()))
        for key, recorded in zip(keys, charge["accounts"], strict=True):
            account = self.accounts[key]
            account.note(recorded, policies)
            account.pay(expense)
            self.units[key[0]] = key[1]

    def _note_uses(self, release: ReleaseState, keys: Sequence[Key], charge: Plain) -> None:
        """Note what assignees are given a release for now, and which purposes that is charged to.

        The release costs each of them once, whatever it was given for before.
        """
        purposes = charge.get("purposes", ())
        for key in dict.fromkeys((*one[:3], "") for one in keys if one[2]) if purposes else ():
            before = release.uses.get(key)
            stated, charged = before or (frozenset[str](), frozenset[str]())
            uses = (
                stated.union(purposes),
                charged.union(one[3] for one in keys if one[:3] == key[:3]),
            )
            if uses != before and key in self.accounts:
                self.accounts[key].note_purposes(release.amount, uses, before)
                release.uses[key] = uses

    def _release(self, entry: Plain, step: Step) -> ReleaseState:
        release = self.reservations.get(entry["of"])
        if release is None or release.step != step:
            raise _StepError(f"entry {entry['of']} is not a reservation that it may follow")
        return release

    def _forget(self, release: ReleaseState) -> None:
        del self.releases[release.identity]
        del self.reservations[release.number]


_RECORDERS: Mapping[str, Callable[[LedgerState, Plain], None]] = {
    "opened": LedgerState.begin,
    "reserved": LedgerState.reserve,
    "spent": LedgerState.spend,
    "cancelled": LedgerState.cancel,
    "kept": LedgerState.keep,
    "lost": LedgerState.lose,
    "replayed": LedgerState.replay,
    "uncovered": LedgerState.list_uncovered,
    "announced": LedgerState.announce,
    "published": LedgerState.publish,
    "unpublished": LedgerState.unpublish,
}


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Search for no cycles of objects, of which entries make none: it takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _is_for(release: ReleaseState, key: Key, purposes: Sequence[str]) -> bool:
    """Tell whether a release is for the assignee of an account, for one of some purposes."""
    stated = release.entry["charge"].get("purposes", ()) if purposes else ()
    return (*key[:3], "") in release.keys and not {*purposes}.isdisjoint(stated)


def _identity(charge: Mapping[str, Any]) -> Identity:
    return charge["policy"], charge["plan"], charge["data"], charge["release"]


def _amount(charge: Mapping[str, Any]) -> Amount:
    """Return what a charge costs. Raises InvalidEntryError for less than nothing."""
    return _parsed_amount(charge["epsilon"], charge["delta"])


@lru_cache(1024)  # most releases cost the same as others
def _parsed_amount(epsilon_text: str, delta_text: str) -> Amount:
    epsilon, delta = Decimal(epsilon_text), Decimal(delta_text)
    if not (epsilon >= 0 and delta >= 0):
        raise _StepError("it would give budget back")
    return Amount(epsilon, delta)
