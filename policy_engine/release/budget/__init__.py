"""The budget ledger: what releases under differential privacy have spent, and of whose budget."""

from policy_engine.release.budget.accounts import Account, Amount, Cap, Charge
from policy_engine.release.budget.balances import Balance
from policy_engine.release.budget.entries import BudgetEntry
from policy_engine.release.budget.ledger import BudgetLedger, ReplayedAnswer, Reservation
from policy_engine.release.budget.store import LedgerFile

__all__ = [
    "Account",
    "Amount",
    "Balance",
    "BudgetEntry",
    "BudgetLedger",
    "Cap",
    "Charge",
    "LedgerFile",
    "ReplayedAnswer",
    "Reservation",
]
