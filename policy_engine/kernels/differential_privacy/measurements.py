"""OpenDP's measurements of integers, and the confirmation that they lose what we claim.

Only `opendp.measurements` and its kin are imported: `opendp.prelude` loads scikit-learn. All draws
are from the operating system's randomness and exact (Canonne, Kamath and Steinke: The Discrete
Gaussian for Differential Privacy, NeurIPS 2020): no floating-point number is ever added to.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from policy_engine.errors import InternalError

MOST = 2**62
"""Values and answers are saturated at plus and minus this, whatever the noise."""
GREATEST_SCALE = Fraction(2**60)
_KEPT = 64
_ROUNDING = 1 + Fraction(1, 2**48)
"""OpenDP's maps round up in floats, and so do we where we hand over a scale."""


def saturated(values: Sequence[int]) -> list[int]:
    """Return the values, those beyond `MOST` moved to it.

    No two values get farther apart by it, so that no sensitivity grows; what is drawn may be
    saturated as well, for that is done without the data.
    """
    return [min(max(int(value), -MOST), MOST) for value in values]


def float_above(number: Fraction) -> float:
    """Return the least float that is at least a number: of scales, the side of more noise."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


@lru_cache(_KEPT)
def laplace(scale: Fraction) -> Any:
    """Return OpenDP's discrete Laplace of vectors of integers; it loses 1 / scale for each unit."""
    from opendp.measurements import make_laplace  # noqa: PLC0415 (slow to import, an extra)
    from opendp.metrics import l1_distance  # noqa: PLC0415

    metric = l1_distance(T="i64")
    measurement = make_laplace(_vectors(), metric, scale=_checked(scale))
    return _confirmed(measurement, 1, 1 / scale)


@lru_cache(_KEPT)
def gaussian(sigma: Fraction) -> Any:
    """Return OpenDP's discrete Gaussian of vectors of integers, of rho 1 / (2 sigma^2) a unit."""
    from opendp.measurements import make_gaussian  # noqa: PLC0415 (slow to import, an extra)
    from opendp.metrics import l2_distance  # noqa: PLC0415

    metric = l2_distance(T="f64")
    measurement = make_gaussian(_vectors(), metric, scale=_checked(sigma))
    return _confirmed(measurement, 1.0, 1 / (2 * sigma * sigma))


@lru_cache(_KEPT)
def noisy_max(scale: Fraction, *, is_exponential: bool) -> Any:
    """Return OpenDP's choice of the index of the greatest score: the exponential mechanism if
    so asked, else permute-and-flip. It loses 2 / scale for each unit that scores may change by.

    Permute-and-flip (McKenna and Sheldon, NeurIPS 2020) is the greatest of the scores with
    exponential noise (Ding et al. 2021), the exponential mechanism that of Gumbel noise, whose
    rho is an eighth of the square of epsilon (Cesar and Rogers 2021).
    """
    from opendp.measurements import make_noisy_max  # noqa: PLC0415
    from opendp.measures import (  # noqa: PLC0415 (slow to import, an extra)
        max_divergence,
        zero_concentrated_divergence,
    )
    from opendp.metrics import linf_distance  # noqa: PLC0415

    measure = zero_concentrated_divergence() if is_exponential else max_divergence()
    metric = linf_distance(T="i64")
    measurement = make_noisy_max(_vectors(), metric, measure, scale=_checked(scale))
    epsilon = 2 / scale
    return _confirmed(measurement, 1, epsilon**2 / 8 if is_exponential else epsilon)


def _vectors() -> Any:
    from opendp.domains import atom_domain, vector_domain  # noqa: PLC0415 (slow to import, an extra)
    from opendp.mod import enable_features  # noqa: PLC0415

    enable_features("contrib")
    return vector_domain(atom_domain(T="i64"))


def _checked(scale: Fraction) -> float:
    if not 0 < scale <= GREATEST_SCALE:
        raise ValueError(f"A scale is above 0 and at most 2^60. Given: {scale}.")
    return float_above(scale)


def _confirmed(measurement: Any, change: float, loss: Fraction) -> Any:
    """Return the measurement. Raises InternalError if OpenDP's map is above the loss claimed."""
    theirs = Fraction(measurement.map(change))
    if theirs > loss * _ROUNDING:
        message = f"OpenDP's mechanism loses {float(theirs)!r}. Claimed: {float(loss)!r}."
        raise InternalError.of("X001", message)
    return measurement
