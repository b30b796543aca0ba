"""Unbiased random rounding: every value becomes one of the two multiples of a base beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.draw_tails import UNLIKELY, excess_tail
from policy_engine.kernels.normal import uniforms

Floats = NDArray[np.float64]
_NEAR = 1e-6
"""How far from a multiple a float may be, in multiples, that is meant to be one."""
_ROUNDING = 2.0**-50
"""How far it may be as a share of itself."""
MOST_EXACT = 2**53


def most_exact(decimals: int) -> float:
    """Return the numbers up to which all that have so many decimals are told apart by floats."""
    return float(MOST_EXACT / 10**decimals)


def round_at_random(values: Floats, base: Decimal | int, words: NDArray[np.uint64]) -> Floats:
    """Return a multiple of the base for each value, of the shape of the values and words.

    It is the multiple below or above the value, with such probabilities that the value is expected
    (Hundepool et al.: Statistical Disclosure Control, Wiley 2012, section 4.5): the float that is
    nearest to it. Values are up to `most_exact` of the base's decimals.
    """
    multiples, step = values / float(base), _Step.of(base)
    nearest = np.rint(multiples)
    is_near = np.abs(multiples - nearest) < _tolerance(multiples)
    low = np.where(is_near, nearest, np.floor(multiples))
    rises = uniforms(words) < multiples - low
    return np.asarray((low + rises) * step.units / step.scale)


def count_unrounded(before: Floats, after: Floats, base: Decimal | int) -> NDArray[np.int64]:
    """Return how many cells of each column, (columns,), are not a multiple of the base, or not one
    beside the value before; `before` and `after` are the same rows, (rows, columns)."""
    distances = np.abs(after - before) / float(base)
    is_near = distances < 1 + _tolerance(before / float(base))
    return np.asarray((~(_is_multiple(after, base) & is_near)).sum(axis=0))


def rounding_tally(before: Floats, after: Floats, base: Decimal | int) -> Mapping[str, Any]:
    """Return of the values of each column that are between multiples, (columns,), how many there
    are, how many were `raised`, and how many became the `nearest` multiple; and what is expected of
    both and their variance, in `PROBABILITY_UNITS`. Sums of parts are those of the whole."""
    multiples = before / float(base)
    low = np.floor(multiples)
    is_near = np.abs(multiples - np.rint(multiples)) < _tolerance(multiples)
    rises = np.rint(after / float(base)) - low
    is_between = ~is_near & ((rises == 0) | (rises == 1))
    share = np.where(is_between, multiples - low, 0.0)
    nearest = np.where(is_between, np.maximum(share, 1 - share), 0.0)
    return {
        "between": is_between.sum(axis=0),
        "raised": (is_between & (rises == 1)).sum(axis=0),
        "nearest": (is_between & ((rises == 1) == (share > _HALF))).sum(axis=0),
        "expected_raised": _units(share),
        "expected_nearest": _units(nearest),
        "variance": _units(share * (1 - share)),
    }


def unlikely_roundings(tally: Mapping[str, Any]) -> str:
    """Return of a column's `rounding_tally` what is less likely than 1e-13, empty where nothing is:
    too many values raised, too few, or too many rounded to the nearest multiple."""
    rows = int(tally["between"][0])
    variance = float(tally["variance"][0]) / PROBABILITY_UNITS + rows / PROBABILITY_UNITS
    for name, outcome, signs in _ROUNDED_SO:
        count, expected = int(tally[name][0]), float(tally[f"expected_{name}"][0])
        expected /= PROBABILITY_UNITS
        for sign in signs:
            excess = sign * (count - expected) - rows / PROBABILITY_UNITS
            mean = expected / max(rows, 1) if sign > 0 else 1 - expected / max(rows, 1)
            if excess_tail(excess, variance, mean, rows) < UNLIKELY:
                return f"{count:,} of {rows:,} values {outcome}, where {expected:,.4g} are expected"
    return ""


_ROUNDED_SO = (
    ("raised", "are rounded up", (1, -1)),
    ("nearest", "are rounded to the nearest multiple", (1,)),
)


def _units(shares: Floats) -> NDArray[np.int64]:
    # As whole numbers, whose sum no order of rows changes.
    return np.asarray(np.rint(shares * PROBABILITY_UNITS).astype(np.int64).sum(axis=0))


PROBABILITY_UNITS = 2.0**30
_HALF = 0.5


def count_other_values(values: Floats, base: Decimal | int) -> NDArray[np.int64]:
    """Return how many values of each column, (columns,), are not multiples of the base."""
    return np.asarray((~_is_multiple(values, base)).sum(axis=0))


@dataclass(frozen=True)
class _Step:
    """A base as a fraction of whole numbers."""

    units: float
    scale: float

    @classmethod
    def of(cls, base: Decimal | int) -> "_Step":
        """Return a base of up to 15 digits."""
        exponent = Decimal(base).normalize().as_tuple().exponent
        scale = 10 ** max(-exponent, 0) if isinstance(exponent, int) else 1
        return cls(float(base * scale), float(scale))


def _tolerance(multiples: Floats) -> Floats:
    return np.asarray(_NEAR + np.abs(multiples) * _ROUNDING)


def _is_multiple(values: Floats, base: Decimal | int) -> NDArray[np.bool_]:
    step = _Step.of(base)
    units = np.rint(values * step.scale)
    return np.asarray((units % step.units == 0) & (units / step.scale == values))
