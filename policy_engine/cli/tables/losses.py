"""Epsilons and deltas on a terminal: one form of each."""

from decimal import ROUND_DOWN, Context, Decimal

from policy_engine.release.budget.entries import plain

_SMALL = -4
"""What is smaller than ten to the power of this is written with an exponent."""
_PART = Context(prec=6, rounding=ROUND_DOWN)


def loss_text(number: Decimal) -> str:
    """Return an epsilon or a delta, exactly: 0.0001, and 1e-5 for what is smaller."""
    is_small = number and number.adjusted() < _SMALL
    return f"{number.normalize():e}" if is_small else plain(number)


def part_text(number: Decimal) -> str:
    """Return a part of a loss, rounded down: the parts are no more than the whole."""
    return loss_text(_PART.plus(number))
