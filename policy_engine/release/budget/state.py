"""The state of a budget ledger, computed from its entries: balances, reservations, kept answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.reading import Mark, Plain
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import InvalidEntryError
from policy_engine.policy.xsd.durations import subtract_duration
from policy_engine.release.budget.accounts import Account, Amount, Cap, renewal_of
from policy_engine.release.budget.entries import (
    LEDGER,
    BudgetEntry,
    Owner,
    account_of,
    caps_of,
)

Identity: TypeAlias = tuple[str, str, str, str]
_Key: TypeAlias = tuple[str, str, str, str]


@dataclass
class AccountState:
    """What an account has spent and holds reserved, when, and its caps by the last charge."""

    account: Account
    spent: Amount = field(default_factory=Amount)
    reserved: Amount = field(default_factory=Amount)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    expenses: list[tuple[str, Amount]] = field(default_factory=list)
    windows: dict[str, "_Window"] = field(default_factory=dict)

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that the last charge was under."""
        return caps_of(self.recorded, self.account)

    def pay(self, amount: Amount, logged: str) -> None:
        """Add what is spent."""
        self.spent += amount
        self.expenses.append((logged, amount))

    def spent_since_renewal(self, cap: Cap, now: datetime) -> Amount:
        """Return what counts as spent under a cap: all, or what was spent in its last period."""
        if not cap.renewal:
            return self.spent
        start = subtract_duration(now, renewal_of(cap.renewal))
        return self.windows.setdefault(cap.renewal, _Window()).sum(self.expenses, start)


@dataclass
class _Window:
    """The sum of the expenses after a moment that only moves on: those from `first` to `end`."""

    first: int = 0
    end: int = 0
    amount: Amount = field(default_factory=Amount)

    def sum(self, expenses: list[tuple[str, Amount]], start: datetime) -> Amount:
        for _, amount in expenses[self.end :]:
            self.amount += amount
        self.end = len(expenses)
        while self.first < self.end and datetime.fromisoformat(expenses[self.first][0]) <= start:
            self.amount -= expenses[self.first][1]
            self.first += 1
        return self.amount


@dataclass
class Open:
    """A reservation that was neither given back, nor answered, nor lost."""

    number: int
    identity: Identity
    keys: tuple[_Key, ...]
    amount: Amount
    owner: Mapping[str, Any]
    logged: str
    is_spent: bool = False

    @property
    def process(self) -> Owner:
        """The process that reserved."""
        return Owner.model_validate(self.owner)


@dataclass
class LedgerState:
    """The state of a ledger up to a mark; every entry was verified when it was read."""

    chain: HashChain
    mark: Mark = field(default_factory=Mark)
    logged: str = ""
    spendings: dict[_Key, AccountState] = field(default_factory=dict)
    reservations: dict[int, Open] = field(default_factory=dict)
    pending: dict[Identity, int] = field(default_factory=dict)
    kept: dict[Identity, tuple[int, str, Amount]] = field(default_factory=dict)
    paid: dict[Identity, set[_Key]] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)

    def read(self, rows: Iterator[Row]) -> None:
        """Add the rows from the mark on; the first is the one that was read last.

        Raises InvalidEntryError if what follows does not continue it.
        """
        if self.mark.number:
            next(rows, None)
        for row in rows:
            self._read_row(row)
        if not self.mark.number:
            raise InvalidEntryError("it has no entries, not even the first: it was truncated")

    def add(self, entry: BudgetEntry) -> None:
        """Add the next entry, as this process has just written it."""
        self._record(entry.to_json())
        self.mark = Mark(entry.number, entry.hash, entry.number)

    def _read_row(self, row: Row) -> None:
        entry, mark = self.mark.next(row, self.chain, LEDGER)
        try:
            self._record(entry)
        except (KeyError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
            reason = f": {error}" if isinstance(error, InvalidEntryError) else ""
            message = f"entry {mark.number} does not say what was charged{reason}"
            raise InvalidEntryError(message) from None
        self.mark = mark

    def _record(self, entry: Plain) -> None:
        _RECORDERS[entry["state"]](self, entry)
        self.logged = entry["logged"]

    # -- what an entry says ------------------------------------------------------------------------

    def opened(self, entry: Plain) -> None:
        """Record the beginning of a ledger."""
        if entry["number"] != 1:
            raise InvalidEntryError("it begins the ledger again")

    def reserve(self, entry: Plain) -> None:
        """Record that budget is held."""
        charge = entry["charge"]
        identity = _identity(charge)
        if identity in self.pending or identity in self.kept:
            raise InvalidEntryError("its release was already made, or is being made")
        amount = _amount(charge)
        keys = tuple(self._noted(one) for one in charge["accounts"])
        for key in keys:
            spending = self.spendings[key]
            spending.reserved += amount
        number = entry["number"]
        self.reservations[number] = Open(
            number, identity, keys, amount, entry["owner"], entry["logged"]
        )
        self.pending[identity] = number

    def spend(self, entry: Plain) -> None:
        """Record that what was reserved is spent."""
        reservation = self._open(entry, is_spent=False)
        reservation.is_spent = True
        for key in reservation.keys:
            spending = self.spendings[key]
            spending.reserved -= reservation.amount
            spending.pay(reservation.amount, entry["logged"])

    def cancel(self, entry: Plain) -> None:
        """Record that what was reserved was given back."""
        reservation = self._close(entry, is_spent=False)
        for key in reservation.keys:
            self.spendings[key].reserved -= reservation.amount

    def keep(self, entry: Plain) -> None:
        """Record that an answer is kept."""
        reservation = self._close(entry, is_spent=True)
        identity = reservation.identity
        self.kept[identity] = reservation.number, entry["answer"], reservation.amount
        self.paid[identity] = {*reservation.keys}

    def lose(self, entry: Plain) -> None:
        """Record that there will be no answer."""
        self._close(entry, is_spent=True)
        self.lost.add(entry["of"])

    def replay(self, entry: Plain) -> None:
        """Record that a kept answer was given again, and who paid for it the first time."""
        charge = entry.get("charge")
        if charge is None:
            return
        identity = _identity(charge)
        if self.kept[identity][0] != entry["of"]:
            raise InvalidEntryError("it replays another release")
        amount = _amount(charge)
        for one in charge["accounts"]:
            key = self._noted(one)
            self.spendings[key].pay(amount, entry["logged"])
            self.paid[identity].add(key)

    # -- parts of it -------------------------------------------------------------------------------

    def _noted(self, recorded: dict[str, Any]) -> _Key:
        """Return the key of an account, whose caps are noted."""
        account = account_of(recorded)
        key = account.dataset, account.unit, account.assignee, account.purpose
        if key not in self.spendings:
            self.spendings[key] = AccountState(account)
        self.spendings[key].recorded = recorded
        return key

    def _open(self, entry: Plain, *, is_spent: bool) -> Open:
        reservation = self.reservations.get(entry["of"])
        if reservation is None or reservation.is_spent != is_spent:
            raise InvalidEntryError(f"entry {entry['of']} is not a reservation that it may follow")
        return reservation

    def _close(self, entry: Plain, *, is_spent: bool) -> Open:
        reservation = self._open(entry, is_spent=is_spent)
        del self.reservations[reservation.number]
        del self.pending[reservation.identity]
        return reservation


_RECORDERS: Mapping[str, Callable[[LedgerState, Plain], None]] = {
    "opened": LedgerState.opened,
    "reserved": LedgerState.reserve,
    "spent": LedgerState.spend,
    "cancelled": LedgerState.cancel,
    "kept": LedgerState.keep,
    "lost": LedgerState.lose,
    "replayed": LedgerState.replay,
}


def _identity(charge: Mapping[str, Any]) -> Identity:
    return charge["policy"], charge["plan"], charge["data"], charge["release"]


def _amount(charge: Mapping[str, Any]) -> Amount:
    """Return what a charge costs. Raises InvalidEntryError for less than nothing."""
    epsilon, delta = Decimal(charge["epsilon"]), Decimal(charge["delta"])
    if not (epsilon >= 0 and delta >= 0):
        raise InvalidEntryError("it would give budget back")
    return Amount(epsilon, delta)
