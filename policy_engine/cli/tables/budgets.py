"""What accounts have spent, as a table on a terminal and as JSON."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.cli.tables.losses import loss_text
from policy_engine.cli.tables.tables import table_without_dashes
from policy_engine.release.budget import Amount, Balance, Cap
from policy_engine.release.budget.accounts import UNBOUNDED

_Bound: TypeAlias = tuple[Decimal | None, Decimal | None]
"""The most of epsilon and of delta, None of one that is not bounded."""

_DIGITS = 15
"""As many digits as every reader of JSON keeps."""

_NAMES = ("dataset", "unit", "assignee", "purpose", "spent", "reserved", "cap", "remaining")


def balances_table(balances: Sequence[Balance]) -> Table:
    """Return a row per account: epsilon, and delta where there is one."""
    rows = [tuple(map(escape, _cells(one))) for one in balances]
    accounts = f"{len(rows):,} {'account' if len(rows) == 1 else 'accounts'}"
    return table_without_dashes(accounts, _NAMES, rows)


def balance_json(balance: Balance) -> dict[str, Any]:
    """Return an account and its balance.

    Numbers have at most 15 digits, since many readers keep no more: what is spent is rounded up,
    what remains is rounded down. Without a bound on one of them, an epsilon or a delta is None.
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
        "cap": _bound_json(_least(bounds)) if bounds else None,
        "remaining": _bound_json(_remaining(balance)) if bounds else None,
        "caps": [*map(_cap_json, balance.caps)],
    }


def _cap_json(cap: Cap) -> dict[str, Any]:
    json: dict[str, Any] = {**_bound_json(_bound(cap.bound))}
    if cap.lifetime:
        json |= {"renewal": cap.renewal, "lifetime": _bound_json(_bound(cap.lifetime))}
    return json | ({"set_by": cap.set_by} if cap.set_by else {})


def _amount_json(amount: Amount, rounding: str) -> dict[str, float]:
    return {
        "epsilon": _number(amount.epsilon, rounding),
        "delta": _number(amount.delta, rounding),
    }


def _bound_json(bound: _Bound) -> dict[str, float | None]:
    epsilon, delta = (None if one is None else _number(one, ROUND_FLOOR) for one in bound)
    return {"epsilon": epsilon, "delta": delta}


def _number(amount: Decimal, rounding: str) -> float:
    rounded = Context(prec=_DIGITS, rounding=rounding).plus(amount)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)


def _bound(amount: Amount) -> _Bound:
    """Return the numbers of a bound, None for one that bounds nothing."""
    epsilon, delta = amount
    return (
        None if epsilon >= UNBOUNDED.epsilon else epsilon,
        None if delta >= UNBOUNDED.delta else delta,
    )


def _least(bounds: Sequence[Amount]) -> _Bound:
    return _bound(Amount(min(one.epsilon for one in bounds), min(one.delta for one in bounds)))


def _remaining(balance: Balance) -> _Bound:
    """Return what remains, None of what no cap bounds."""
    least = _least([cap.bound for cap in balance.caps])
    numbers = balance.remaining or Amount()
    epsilon, delta = (
        None if most is None else one for one, most in zip(numbers, least, strict=True)
    )
    return epsilon, delta


def _cells(balance: Balance) -> tuple[str, ...]:
    account = balance.account
    names = account.dataset, account.unit, account.assignee, account.purpose
    caps = "; ".join(dict.fromkeys(map(_cap_words, balance.caps)))
    reserved = "" if balance.reserved == Amount() else _words(balance.reserved)
    remaining = _bound_words(_remaining(balance)) if balance.caps else ""
    cells = (*map(terms.compact, names), _words(balance.spent), reserved, caps, remaining)
    return tuple(one or "-" for one in cells)


def _cap_words(cap: Cap) -> str:
    bound = _bound_words(_bound(cap.bound))
    if cap.lifetime is None:
        return bound
    return f"{bound} in {cap.renewal}, {_bound_words(_bound(cap.lifetime))} ever"


def _bound_words(bound: _Bound) -> str:
    """Return an epsilon and a delta, each where there is one: a delta of 0 is a bound."""
    epsilon, delta = bound
    parts = ("" if epsilon is None else loss_text(epsilon), "" if delta is None else _delta(delta))
    return ", ".join(filter(None, parts))


def _words(amount: Amount) -> str:
    """Return an epsilon, and a delta unless it is 0, in as few digits as they have."""
    epsilon = loss_text(amount.epsilon)
    return f"{epsilon}, {_delta(amount.delta)}" if amount.delta else epsilon


def _delta(delta: Decimal) -> str:
    return f"delta {loss_text(delta)}"
