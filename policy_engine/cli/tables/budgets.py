"""What accounts have spent, as a table on a terminal and as JSON."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.cli.tables.tables import table_without_dashes
from policy_engine.release.budget import Amount, Balance, Cap
from policy_engine.release.budget.entries import plain

_DIGITS = 15
"""As many digits as every reader of JSON keeps."""

_SMALL = -4
"""What is smaller than ten to the power of this is written with an exponent."""

_NAMES = ("dataset", "unit", "assignee", "purpose", "spent", "reserved", "cap", "remaining")


def balances_table(balances: Sequence[Balance]) -> Table:
    """Return a row per account: epsilon, and delta where there is one."""
    rows = [tuple(map(escape, _cells(one))) for one in balances]
    accounts = f"{len(rows):,} {'account' if len(rows) == 1 else 'accounts'}"
    return table_without_dashes(accounts, _NAMES, rows)


def balance_json(balance: Balance) -> dict[str, Any]:
    """Return an account and its balance.

    Numbers have at most 15 digits, since many readers keep no more: what is spent is rounded up,
    what remains is rounded down.
    """
    account = balance.account
    bounds = [cap.bound for cap in balance.caps]
    return {
        "dataset": account.dataset,
        "unit": account.unit,
        "assignee": account.assignee or None,
        "purpose": account.purpose or None,
        "spent": _amount_json(balance.spent, ROUND_CEILING),
        "reserved": _amount_json(balance.reserved, ROUND_CEILING),
        "cap": _amount_json(_least(bounds), ROUND_FLOOR) if bounds else None,
        "remaining": _amount_json(balance.remaining, ROUND_FLOOR) if balance.remaining else None,
        "caps": [*map(_cap_json, balance.caps)],
    }


def _cap_json(cap: Cap) -> dict[str, Any]:
    json: dict[str, Any] = _amount_json(cap.bound, ROUND_FLOOR)
    if cap.lifetime:
        lifetime = _amount_json(cap.lifetime, ROUND_FLOOR)
        json |= {"renewal": cap.renewal, "lifetime": lifetime}
    return json


def _amount_json(amount: Amount, rounding: str) -> dict[str, float]:
    return {
        "epsilon": _number(amount.epsilon, rounding),
        "delta": _number(amount.delta, rounding),
    }


def _number(amount: Decimal, rounding: str) -> float:
    rounded = Context(prec=_DIGITS, rounding=rounding).plus(amount)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)


def _least(bounds: Sequence[Amount]) -> Amount:
    return Amount(min(one.epsilon for one in bounds), min(one.delta for one in bounds))


def _cells(balance: Balance) -> tuple[str, ...]:
    account = balance.account
    names = account.dataset, account.unit, account.assignee, account.purpose
    caps = "; ".join(map(_cap_words, balance.caps))
    reserved = "" if balance.reserved == Amount() else _words(balance.reserved)
    remaining = _words(balance.remaining) if balance.remaining else ""
    cells = (*map(terms.compact, names), _words(balance.spent), reserved, caps, remaining)
    return tuple(one or "-" for one in cells)


def _cap_words(cap: Cap) -> str:
    if cap.lifetime is None:
        return _words(cap.bound)
    return f"{_words(cap.bound)} in {cap.renewal}, {_words(cap.lifetime)} ever"


def _words(amount: Amount) -> str:
    """Return an epsilon, and a delta unless it is 0, in as few digits as they have."""
    epsilon, delta = _short(amount.epsilon), _short(amount.delta)
    return f"{epsilon}, delta {delta}" if amount.delta else epsilon


def _short(amount: Decimal) -> str:
    is_small = amount and amount.adjusted() < _SMALL
    return f"{amount.normalize():e}" if is_small else plain(amount)
