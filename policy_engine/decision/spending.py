"""What releases have spent of the accounts that a constraint is about, by a budget ledger."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Protocol

from policy_engine import terms
from policy_engine.policy.model import PER_DATASET, SPENT_DELTA
from policy_engine.policy.xsd.literals import read_literal
from policy_engine.policy.xsd.values import Literals
from policy_engine.release.budget.accounts import Account, Amount


class SpentBudgets(Protocol):
    """A budget ledger, as far as decisions ask it."""

    def spent(self, wider: Mapping[str, Sequence[str]]) -> Mapping[Account, Amount]:
        """Return what each account has spent; for some purposes with what was made for wider ones.

        Raises LedgerError if it cannot be read.
        """


class BudgetSpending:
    """What was spent of the budgets of assets, or of what they were made from.

    `sources` are the assets that an output is made from, none for anything else.
    """

    def __init__(self, ledger: SpentBudgets, sources: Callable[[str], Collection[str]]) -> None:
        self._ledger = ledger
        self._sources = sources

    def value(
        self,
        left_operand: str,
        unit: str,
        assets: Iterable[str],
        parties: Collection[str],
        purposes: Mapping[str, Sequence[str]],
    ) -> Literals:
        """Return the epsilon or the delta of the account that has spent most of it.

        These are, by the unit, the accounts of the datasets for everybody, or for one of the
        parties and purposes, each with the wider ones whose releases count for it as well. Raises
        as `SpentBudgets.spent` does.
        """
        datasets = self._datasets(assets)
        most = Decimal(0)
        for account, amount in self._ledger.spent(purposes).items():
            is_own = account.assignee in parties and account.purpose in purposes
            is_asked_for = not account.assignee if unit == PER_DATASET else is_own
            if is_asked_for and account.dataset in datasets:
                most = max(most, amount.delta if left_operand == SPENT_DELTA else amount.epsilon)
        return read_literal(format(most, "f"), f"{terms.XSD}decimal")

    def _datasets(self, assets: Iterable[str]) -> set[str]:
        """Return assets, the datasets of columns, and everything that they are made from."""
        datasets, queue = set[str](), [*assets]
        while queue:
            asset = queue.pop()
            if asset not in datasets:
                datasets.add(asset)
                queue += filter(None, (terms.dataset_of(asset), *self._sources(asset)))
        return datasets
