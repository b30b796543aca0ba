"""How exact numbers are written for people."""

from decimal import Decimal

_LONGEST = 40


def plain(number: Decimal) -> str:
    """Return a number without an exponent, unless that would be very long."""
    text = f"{number.normalize() if number else Decimal(0):f}"
    return text if len(text) <= _LONGEST else f"{number:.6g}"
