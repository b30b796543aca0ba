"""Which numbers of a column can be counted with in steps, as floats tell all of these steps apart;
and how they are written."""

from decimal import Decimal
from fractions import Fraction

LEAST_STEP, MOST_NUMBER = Decimal("1e-12"), Decimal("1e15")
"""Far from what floats take for 0, or for infinite, where a result would depend on the data."""
MOST_STEPS = 2**31
"""So many steps are between 0 and a bound, at most: sums of fewer than 2^31 rows do not saturate,
and a float is nearer to its step than by a part in 2^20."""
MOST_SQUARED_STEPS = 2**20
"""The same of a variance, which sums squares."""


def countable_problem(function: str, lower: Decimal, upper: Decimal, step: Decimal) -> str:
    """Return what is wrong with bounds and a grid, or the candidates of a quantile; else nothing.

    `function` is the name of what is made of the numbers.
    """
    numbers = f"Given: {plain(lower)} to {plain(upper)} in steps of {plain(step)}."
    largest = max(map(abs, map(Fraction, (lower, upper))))
    if step < LEAST_STEP or largest > Fraction(MOST_NUMBER):
        return (
            f"The numbers of a {function} are from -10^15 to 10^15, in steps of at least 10^-12. "
            f"{numbers}"
        )
    most = MOST_SQUARED_STEPS if function == "variance" else MOST_STEPS
    span = Fraction(upper) - Fraction(lower)
    if max(largest, span) / Fraction(step) > most:
        what, of = ("candidates", "them") if function == "quantile" else ("bounds", "its grid")
        return f"A {function} has {what} of at most {most:,} steps of {of}. {numbers}"
    return ""


def plain(number: Decimal) -> str:
    """Return a number without an exponent, unless that would be very long."""
    text = f"{number.normalize() if number else Decimal(0):f}"
    return text if len(text) <= _LONGEST else f"{number:.6g}"


_LONGEST = 40
