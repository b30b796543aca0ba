"""What a release was charged, for who made it."""

from collections.abc import Mapping
from dataclasses import dataclass

from policy_engine.release.budget.accounts import Amount
from policy_engine.release.budget.charging import LedgerCharging


@dataclass(frozen=True)
class Receipt:
    """What statistics cost; nothing `is_charged` for an answer that the ledger had kept, unless to
    accounts that had not paid for it. An answer `is_new` where it was drawn.

    `remaining` is what remains of the budget of each dataset that has one, for the owner: balances
    tell what others asked.
    """

    amount: Amount
    is_charged: bool
    is_new: bool
    remaining: Mapping[str, Amount]


def receipt_of(charging: LedgerCharging, *, is_owner: bool) -> Receipt:
    """Return what was charged for an answer that was given."""
    charge = charging.charge
    whole = {one for one in charging.ledger.accounts_of(charge) if not one.assignee}
    balances = charging.ledger.balances() if is_owner else ()
    remaining = {
        one.account.dataset: one.remaining
        for one in balances
        if one.account in whole and one.remaining is not None
    }
    return Receipt(charge.amount, charging.is_charged, charging.is_new, remaining)
