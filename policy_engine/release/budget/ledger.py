"""The budget ledger: reserve, commit, draw, keep the answer; never draw for one release twice."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType, TracebackType
from typing import Any

from policy_engine.data.chain.entries import START, now
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import (
    Head,
    InvalidEntryError,
    Verification,
    parse_entry,
)
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.budget.accounts import Account, Amount, Charge, Link
from policy_engine.release.budget.balances import Balance, balance_of, check_caps, check_units
from policy_engine.release.budget.entries import (
    LEDGER,
    BudgetEntry,
    RecordedCharge,
    UncoveredRelease,
    make_entry,
)
from policy_engine.release.budget.lineage import DataLineage, related, spread, whole_of
from policy_engine.release.budget.processes import current_owner, is_gone
from policy_engine.release.budget.state import LedgerState, ReleaseState, Step
from policy_engine.release.budget.store import BUDGET, LedgerFile
from policy_engine.release.budget.verifying import answer_fault, kept_answer, verify_ledger
from policy_engine.release.ledger_chain import LedgerChain
from policy_engine.release.ledger_file import LedgerStore, StoredLedger
from policy_engine.release.remembered_ledger import RememberedLedger

WAIT = 600.0
"""How many seconds to wait for another run that is making the same release."""

_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.2


class _UndoneError(Exception):
    """A transaction of which nothing is to be kept."""


@dataclass(frozen=True)
class ReplayedAnswer:
    """The kept answer of a release that was made before, and the entry that reserved for it.

    It `is_charged` to accounts that had not paid for it, if there are any.
    """

    answer: bytes
    number: int
    amount: Amount
    is_charged: bool = False


@dataclass(frozen=True)
class Reservation:
    """Budget that is held for one release, until it is committed or cancelled.

    As a context, it gives the budget back if it was not committed, and gives the answer up if it
    was committed and none was kept.
    """

    ledger: "BudgetLedger"
    number: int
    head: Head

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.ledger.give_up(self)
        except PolicyEngineError:
            if error is None:
                raise


class BudgetLedger:
    """The charges of releases under differential privacy, in a chain that reveals every change.

    Balances are computed from the entries, and remembered between calls; they are never stored. Any
    number of threads and processes may use one ledger at once. Order: `reserve`, `commit`, and only
    then draw noise, `keep` the answer, write it, certify it. What was committed is spent, whatever
    happens afterwards; what was only reserved is given back, by a later caller if its process died.
    """

    def __init__(self, store: str | Path | LedgerStore, key: Key = None) -> None:
        """Open the ledger in a file, which is made by the first charge if there is none.

        With a key, the chain uses HMACs, which nobody can recreate without it. Raises DataError
        (C013) for a key that is missing or too short.
        """
        self.store = LedgerFile(Path(store)) if isinstance(store, str | Path) else store
        self.chain = HashChain(read_chain_key(key))
        reader = LedgerChain(self.chain, LEDGER, BUDGET, self.store.source)
        self._remembered = RememberedLedger(
            self.store, reader, lambda: LedgerState(self.chain), self._broken_error
        )

    # -- a release ---------------------------------------------------------------------------------

    def reserve(self, charge: Charge, wait: float = WAIT) -> Reservation | ReplayedAnswer:
        """Return budget that is held for a release, or the answer of the same release, if kept.

        The answer is free for the accounts that have paid for it; for others, such as another
        assignee's, it is charged to those alone. While another run makes the same release, it is
        waited for so many seconds.

        Raises DeniedError (B009) if a cap does not allow it, whose problem tells numbers as its
        `values` alone; LedgerError if the run that was waited for did not finish (B010), for a
        charge that cannot be recorded (B008) or is of another unit than others of its data (B012),
        or for a ledger that cannot be used (B001 to B007).
        """
        return self._obtain(charge, wait, is_spent=False)

    def spend(self, charge: Charge, wait: float = WAIT) -> Reservation | ReplayedAnswer:
        """Return budget that is reserved and committed in one step, or the answer that is kept.

        Noise may be drawn at once. Raises as `reserve` does.
        """
        return self._obtain(charge, wait, is_spent=True)

    def would_charge(self, charge: Charge) -> bool:
        """Return whether any account would be charged for a release; nothing is changed.

        Nothing would be for the answer of a release that was made before, or is being made.
        Raises as `reserve` does.
        """
        RecordedCharge.of(charge)
        if not self.store.exists():
            check_caps(charge, charge.accounts, LedgerState(self.chain))
            return True
        is_charged = True
        with suppress(_UndoneError), self.transaction() as ledger:
            outcome = ledger.attempt(charge, 0, is_spent=False)
            if isinstance(outcome, ReplayedAnswer):
                is_charged = outcome.is_charged
            elif isinstance(outcome, int):
                paid = ledger.state.reservations[outcome].keys
                is_charged = any(one.key not in paid for one in charge.accounts)
            raise _UndoneError  # What was appended is rolled back.
        return is_charged

    def _obtain(
        self, charge: Charge, wait: float, *, is_spent: bool
    ) -> Reservation | ReplayedAnswer:
        RecordedCharge.of(charge)  # What cannot be recorded is refused before a ledger is made.
        until, pause, awaited = time.monotonic() + wait, _FIRST_PAUSE, 0
        while True:
            with self.transaction(create=True) as ledger:
                outcome = ledger.attempt(charge, awaited, is_spent=is_spent)
            if not isinstance(outcome, int):
                return outcome
            awaited = outcome
            while self._is_being_made(awaited):
                if time.monotonic() > until:
                    raise self._busy_error(wait)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def commit(self, reservation: Reservation) -> Head:
        """Spend what was reserved, and return the entry that says so: it is on the disk.

        Only now may noise be drawn. Raises LedgerError (B011) if the reservation is no longer held.
        """
        with self.transaction() as ledger:
            ledger.release(reservation.number, "reserved")
            return _head(ledger.append(state="spent", of=reservation.number))

    def cancel(self, reservation: Reservation) -> None:
        """Give back what was reserved, and never committed. Raises LedgerError (B011) otherwise."""
        with self.transaction() as ledger:
            ledger.release(reservation.number, "reserved")
            ledger.append(state="cancelled", of=reservation.number)

    def keep(self, reservation: Reservation, answer: bytes) -> Head:
        """Keep the answer of a release, which is returned from now on instead of a new one.

        Raises LedgerError (B011) if the reservation was not committed, has an answer, or was given
        up.
        """
        with self.transaction() as ledger:
            ledger.release(reservation.number, "spent")
            ledger.stored.add_answer(reservation.number, answer)
            digest = hashlib.sha256(answer).hexdigest()
            return _head(ledger.append(state="kept", of=reservation.number, answer=digest))

    def give_up(self, reservation: Reservation) -> None:
        """Give back what was not committed; say of what was that no answer will be kept.

        Nothing happens to a release that is complete.
        """
        with self.transaction() as ledger:
            held = ledger.state.reservations.get(reservation.number)
            if held is not None:
                ledger.give_up(held)

    def list_uncovered(
        self,
        datasets: Sequence[str],
        release: str,
        *,
        links: Iterable[Link] = (),
        origins: Iterable[Link] = (),
    ) -> None:
        """Record a release of some datasets that is not charged, once: no epsilon covers it.

        `links` and `origins` are remembered as those of a charge are.
        """
        uncovered = UncoveredRelease(
            datasets=tuple(datasets),
            release=release,
            links=tuple(links) or None,
            origins=tuple(origins) or None,
        )
        with self.transaction(create=True) as ledger:
            if not ledger.state.has_listed(uncovered):
                ledger.append(state="uncovered", uncovered=uncovered)

    # -- what it says ------------------------------------------------------------------------------

    def balances(self) -> tuple[Balance, ...]:
        """Return what each account has spent and what remains, in the order of their first charge.

        Raises LedgerError if the ledger cannot be read (B001 to B007), as all that follow do.
        """
        moment = datetime.now(UTC)
        with self.reading() as ledger:
            return tuple(
                balance_of(one, ledger.state, moment) for one in ledger.state.accounts.values()
            )

    def spent(self, wider: Mapping[str, Sequence[str]] = _NONE) -> dict[Account, Amount]:
        """Return what each account has spent, without what is only reserved.

        For some purposes, what was made for a `wider` one is added, which may be used for them too.
        Nothing is spent by a ledger that does not exist yet.
        """
        if not self.store.exists():
            return {}
        with self.reading() as ledger:
            amounts = {one.account: one.spent for one in ledger.state.accounts.values()}
            wholes = [one for one in amounts if one.assignee and not one.purpose]
            for account in (replace(one, purpose=name) for one in wholes for name in wider):
                more = ledger.state.made_for_wider(account, wider[account.purpose])
                amounts[account] = amounts.get(account, Amount()).plus(more)
        return amounts

    def uncovered(
        self, datasets: Iterable[str], stated: DataLineage | None = None
    ) -> tuple[str, ...]:
        """Return the releases that no epsilon covers and that tell of persons in some datasets, in
        the order of their names: by what the ledger knows of lineage, and by what else is `stated`.
        """
        with self.reading() as ledger:
            lineages = (ledger.state.lineage, stated or DataLineage())
            releases = set[str]().union(*ledger.state.uncovered.values())
            persons = {*whole_of(datasets, *lineages)}
            same = [one for one in releases if not persons.isdisjoint(related(one, *lineages))]
        return tuple(sorted(same))

    def accounts_of(self, charge: Charge) -> tuple[Account, ...]:
        """Return the accounts that a charge goes to, by what the ledger knows of lineage."""
        with self.reading() as ledger:
            return spread(charge, ledger.state.lineage).accounts

    def uncovered_by_dataset(self) -> dict[str, tuple[str, ...]]:
        """Return the releases of each dataset that no epsilon covers, by names in their order."""
        with self.reading() as ledger:
            return {
                one: tuple(sorted(some)) for one, some in sorted(ledger.state.uncovered.items())
            }

    def history(self) -> tuple[BudgetEntry, ...]:
        """Return the entries in order."""
        with self.reading() as ledger:
            return tuple(parse_entry(row, LEDGER) for row in ledger.stored.rows())

    def verify(self, expect: str | int | Head | None = None) -> Verification:
        """Return every break of the chain, wrong step of a release, and missing answer.

        Entries that were cut off at the end are found with `expect`, a head that was kept elsewhere
        and that the ledger must still have. Raises RequestError (U001) if it is not a head.
        """
        with self.store.reading() as stored:
            return verify_ledger(stored, self.chain, expect)

    # -- transactions ------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, create: bool = False) -> "Iterator[LedgerTransaction]":
        """Return the ledger held exclusively: what is appended is on the disk at the end."""
        if create:
            self._remembered.begin(self._first_entry)
        with self._remembered.appending() as (stored, state):
            yield LedgerTransaction(self, stored, state)

    @contextmanager
    def reading(self) -> "Iterator[LedgerTransaction]":
        """Return the ledger as it is now."""
        with self._remembered.reading() as (stored, state):
            yield LedgerTransaction(self, stored, state)

    def _first_entry(self) -> BudgetEntry:
        opened = {"state": "opened", "ledger": token_hex(16)}
        return make_entry(self.chain, (0, START), now(), **opened)

    def _broken_error(self, error: InvalidEntryError) -> PolicyEngineError:
        message = f"The budget ledger does not show what was spent: {error}."
        hint = "`budget verify` lists every problem."
        return LedgerError.of("B004", message, hint, self.store.source)

    def _is_being_made(self, number: int) -> bool:
        """Return whether a living process still holds a reservation."""
        with self.reading() as ledger:
            held = ledger.state.reservations.get(number)
        return held is not None and not is_gone(held.owner, held.logged)

    def _busy_error(self, wait: float) -> PolicyEngineError:
        message = f"Another run has been making the same release for more than {wait:g} s."
        hint = "Run it again later: its answer is then returned at no cost."
        return LedgerError.of("B010", message, hint, self.store.source)


@dataclass(frozen=True)
class LedgerTransaction:
    """A ledger and its state, nobody else writing to it."""

    ledger: BudgetLedger
    stored: StoredLedger
    state: LedgerState

    def append(self, **parts: Any) -> BudgetEntry:
        """Add an entry; its time is never before that of the last."""
        mark = self.state.mark
        logged = max(now(), self.state.logged)
        entry = make_entry(self.ledger.chain, (mark.number, mark.hash), logged, **parts)
        self.stored.add(entry)
        self.state.add(entry)
        return entry

    def attempt(
        self, stated: Charge, awaited: int, *, is_spent: bool
    ) -> Reservation | ReplayedAnswer | int:
        """Return the reservation or the kept answer, or the number of a reservation to wait for.

        What is charged goes to all datasets that the ledger knows to tell of the same persons.
        """
        charge = spread(stated, self.state.lineage)
        recorded = RecordedCharge.of(charge)
        for held in [*self.state.reservations.values()]:
            if is_gone(held.owner, held.logged):
                self.give_up(held)
        earlier = self.state.releases.get(charge.identity)
        if earlier is not None:
            kept = earlier.step == "kept"
            return self.replay(earlier, charge, recorded) if kept else earlier.number
        if awaited in self.state.lost:
            raise self._unfinished_error()
        check_units(charge, self.state)
        check_caps(charge, charge.accounts, self.state)
        entry = self.append(state="reserved", charge=recorded, owner=current_owner())
        number = entry.number
        if is_spent:
            entry = self.append(state="spent", of=number)
        return Reservation(self.ledger, number, _head(entry))

    def replay(
        self, release: ReleaseState, charge: Charge, recorded: RecordedCharge
    ) -> ReplayedAnswer:
        """Return a kept answer, charged to accounts that have not paid for it."""
        answer = kept_answer(self.stored, release)
        if answer is None:
            raise LedgerError.of("B004", answer_fault(release), source=self.ledger.store.source)
        unpaid = tuple(one for one in charge.accounts if one.key not in release.keys)
        if unpaid:
            check_units(charge, self.state)
            check_caps(charge, unpaid, self.state)
        entries = dict(zip(charge.accounts, recorded.accounts, strict=True))
        accounts = tuple([entries[one] for one in unpaid])
        paid = tuple(
            entries[one].model_copy(update={"caps": None})
            for one in charge.accounts
            if one not in unpaid and release.is_new_to(one.key, charge.purposes)
        )
        update = {"accounts": accounts, "paid": paid or None}
        new = recorded.model_copy(update=update) if accounts or paid else None
        self.append(state="replayed", of=release.number, charge=new)
        return ReplayedAnswer(answer, release.number, release.amount, bool(unpaid))

    def release(self, number: int, step: Step) -> ReleaseState:
        """Return a release at that step. Raises LedgerError (B011) if it is at another."""
        held = self.state.reservations.get(number)
        if held is None or held.step != step:
            what = "committed and unanswered" if step == "spent" else "held and uncommitted"
            message = f"The reservation of entry {number} is not {what} any more."
            hint = "It was committed, cancelled or answered, or others took its process for dead."
            raise LedgerError.of("B011", message, hint, self.ledger.store.source)
        return held

    def give_up(self, held: ReleaseState) -> None:
        """Give back what was not committed; say of what was that no answer will be kept."""
        self.append(state="lost" if held.step == "spent" else "cancelled", of=held.number)

    def _unfinished_error(self) -> PolicyEngineError:
        message = "The run that was making the same release ended after it was charged, and left "
        hint = "Run it again: it is charged again, since noise may have been drawn."
        source = self.ledger.store.source
        return LedgerError.of("B010", f"{message}no answer.", hint, source)


def _head(entry: BudgetEntry) -> Head:
    return Head(entry.number, entry.hash)
