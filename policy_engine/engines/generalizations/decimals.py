"""Numbers as integer multiples of a power of ten, so that nothing is rounded."""

import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_texts, to_numpy

_PLAIN = r"^-?[0-9]*\.?[0-9]*$"
_LEAST_EXPONENT = -15
_EXACT = 2.0**50
_PLAIN_EXPONENTS = range(-7, 21)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Decimals:
    """Numbers `quanta` * 10 ** `exponent`; the exponent is 0 at most.

    `quanta` (m,) are 64-bit where all are below 2 ** 52, else Python integers.
    """

    quanta: NDArray[np.int64] | NDArray[np.object_]
    exponent: int


def is_number(text: str) -> bool:
    """Tell whether a label is a number, rather than a date or time."""
    return _NUMBER.fullmatch(text) is not None


def decimals(labels: NDArray[np.object_], least: int = 0) -> Decimals:
    """Return labels as numbers, (m,), with an exponent of `least` at most."""
    near = _parse_as_floats(labels, least)
    if near is not None:
        return near
    exact = [parse_scaled(label) for label in labels.tolist()]
    exponent = min([least, 0, *(power for _, power in exact)])
    numbers = [number * 10 ** (power - exponent) for number, power in exact]
    quanta = np.array([*numbers, None], dtype=object)[:-1]
    fits = max(map(abs, numbers), default=0) < 2**52
    return Decimals(quanta.astype(np.int64) if fits else quanta, exponent)


def _parse_as_floats(labels: NDArray[np.object_], least: int) -> Decimals | None:
    """Return labels parsed as floats, or None where floats are not exact enough."""
    texts = from_texts(labels.tolist())
    if not len(texts) or not pc.all(pc.match_substring_regex(texts, _PLAIN)).as_py():
        return None
    fractions = pc.utf8_rtrim(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""), characters="0")
    exponent = min(least, -pc.max(pc.binary_length(fractions)).as_py())
    if exponent < _LEAST_EXPONENT:
        return None
    numbers = to_numpy(texts.cast(pa.float64())) * 10.0**-exponent
    # Below 2^50 rounding to the nearest integer corrects any error in the last bits.
    fits = np.abs(numbers).max() < _EXACT
    return Decimals(np.rint(numbers).astype(np.int64), exponent) if fits else None


def parse_scaled(label: str) -> tuple[int, int]:
    """Return a number as (n, e), which is n * 10 ** e; n is 0 or not a multiple of ten."""
    sign, digits, exponent = Decimal(label).as_tuple()
    text = "".join(map(str, digits))
    significant = text.rstrip("0")
    if not significant:
        return 0, 0
    return (-1 if sign else 1) * int(significant), int(exponent) + len(text) - len(significant)


def plain_number(text: str) -> str:
    """Return a number as the digits that are not 0 at either end, and a power of ten.

    A text whose exponent has more than 18 digits stays as it is, in lower case.
    """
    mantissa, _, exponent = text.casefold().partition("e")
    digits_of_power = exponent.lstrip("+-").lstrip("0")
    if mantissa == "nan" or len(digits_of_power) > _LONGEST_EXPONENT:
        return text.casefold()
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    plain = digits.rstrip("0")
    own_power = int(digits_of_power or 0) * (-1 if exponent.startswith("-") else 1)
    power = own_power - len(fraction) + len(digits) - len(plain)
    sign = "-" if mantissa.startswith("-") else ""
    return f"{sign}{plain}e{power}" if plain else "0e0"


_LONGEST_EXPONENT = 18


def format_scaled(number: int, exponent: int) -> str:
    """Return number * 10 ** exponent as a label: plain, unless that would be very long."""
    if not number:
        return "0"
    sign, digits = "-" * (number < 0), str(abs(number))
    significant = digits.rstrip("0")
    if len(digits) - 1 + exponent not in _PLAIN_EXPONENTS:
        fraction = f".{significant[1:]}" * (len(significant) > 1)
        return f"{sign}{significant[0]}{fraction}e{len(digits) - 1 + exponent:+}"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    digits = digits.rjust(1 - exponent, "0")
    return (sign + digits[:exponent] + "." + digits[exponent:]).rstrip("0").rstrip(".")
