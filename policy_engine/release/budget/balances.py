"""What an account has spent, what remains, and whether its caps allow a charge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from policy_engine import terms
from policy_engine.errors import DeniedError, LedgerError, PolicyEngineError, Problem
from policy_engine.release.budget.accounts import Account, Amount, Cap, Charge
from policy_engine.release.budget.entries import plain
from policy_engine.release.budget.state import AccountState, LedgerState


@dataclass(frozen=True)
class Balance:
    """What an account has spent, what is reserved for releases that are being made, its caps by the
    last charge and by policies, and what remains under all of them: None without a cap.
    """

    account: Account
    spent: Amount
    reserved: Amount
    caps: tuple[Cap, ...]
    remaining: Amount | None


def balance_of(account: AccountState, state: LedgerState, moment: datetime) -> Balance:
    """Return the balance of an account at a moment."""
    caps, reserved = account.caps, state.reserved(account.account.key)
    remainders = [
        bound.minus(used) for cap in caps for bound, used in _bounds(cap, account, state, moment)
    ]
    remaining = None
    if remainders:
        remaining = Amount(
            max(min(one.epsilon for one in remainders), Decimal(0)),
            max(min(one.delta for one in remainders), Decimal(0)),
        )
    return Balance(account.account, account.spent, reserved, caps, remaining)


def _bounds(
    cap: Cap, account: AccountState, state: LedgerState, moment: datetime
) -> Iterator[tuple[Amount, Amount]]:
    """Yield each bound of a cap, and what counts as spent or reserved under it."""
    more = state.reserved(cap.account.key, cap.wider)
    more = more.plus(state.made_for_wider(cap.account, cap.wider))
    yield cap.bound, account.spent_since_renewal(cap, moment).plus(more)
    if cap.lifetime:
        yield cap.lifetime, account.spent.plus(more)


def check_units(charge: Charge, state: LedgerState) -> None:
    """Raise LedgerError (B012) where a dataset was charged for another unit: what a row loses is
    not what a person loses."""
    for account in charge.accounts:
        unit = state.unit(account.dataset)
        if unit not in (None, account.unit):
            message = f"The budget of {account.dataset} is that of its {unit!r}, and this "
            message += f"release protects its {account.unit!r}."
            hint = "Name one unit of privacy in all policies on a dataset."
            raise LedgerError.of("B012", message, hint)


def check_caps(charge: Charge, accounts: Iterable[Account], state: LedgerState) -> None:
    """Raise DeniedError (B009) if the cap of one of the accounts does not allow a charge.

    The message is for the assignee, and has no numbers: they would tell what others asked. The
    `values` of the problem are for the owner.
    """
    moment, excesses = datetime.now(UTC), []
    for cap in _caps(charge, accounts, state):
        account = state.accounts.get(cap.account.key) or AccountState(cap.account)
        for bound, used in _bounds(cap, account, state, moment):
            if not used.plus(charge.amount).is_within(bound):
                excesses.append(_excess(cap.account, used, bound, charge.amount))
    if excesses:
        raise _denial(charge, tuple(excesses))


def _caps(charge: Charge, accounts: Iterable[Account], state: LedgerState) -> Iterator[Cap]:
    """Yield the caps of some accounts: those of a charge, and what other policies set before."""
    chosen = dict.fromkeys(accounts)
    yield from (cap for cap in charge.caps if cap.account in chosen)
    for account in chosen:
        account_state = state.accounts.get(account.key)
        for uid, caps in account_state.standing.items() if account_state else ():
            yield from caps if uid not in charge.policies else ()


def _denial(charge: Charge, excesses: tuple[str, ...]) -> PolicyEngineError:
    message = f"The privacy budget of {charge.dataset!r} does not allow this release."
    return DeniedError(Problem("B009", message, values=excesses))


def _excess(account: Account, used: Amount, bound: Amount, request: Amount) -> str:
    """Return by how much a bound is exceeded, for the owner."""
    who = f" of {terms.compact(account.assignee)}" if account.assignee else ""
    why = f" for {terms.compact(account.purpose)}" if account.purpose else ""
    return (
        f"{account.dataset}{who}{why}: {_words(used)} of {_words(bound)} is spent or reserved, "
        f"{_words(request)} is asked"
    )


def _words(amount: Amount) -> str:
    return f"epsilon {plain(amount.epsilon)} and delta {plain(amount.delta)}"
