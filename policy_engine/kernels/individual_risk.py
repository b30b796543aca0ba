"""The risk of single records of a sample, and what intruders of different knowledge expect to find.

`frequencies`, (classes,), are how many records of the sample share each combination of key
variables, and `population`, (classes,), how many persons of the population do: counted in a table
of the population, or estimated as the sum of the records' weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EVEN_ODDS = 1.0
_LONG = 50
"""From this frequency on, the series below ends after a few terms, whatever the population."""
_TERMS = 80


def individual_risk(frequencies: Ints, population: Floats) -> Floats:
    """Return by class the risk that a record of it is linked to the right person: E(1/F | f).

    Benedetti and Franconi (1998): given f, the population frequency F has a negative binomial
    distribution with the success probability pi = f / F', F' being the estimate `population`.
    Exact for every f, where common software replaces it by pi / (f - (1 - pi)) from f = 3 on; 1/f
    if the population is the sample. Frequencies are at least 1 and populations at least as much.
    """
    share = np.minimum(frequencies / population, 1.0)
    odds = (1 - share) / share
    is_recursive = (odds > _EVEN_ODDS) & (frequencies < _LONG)
    risk = _sum_series(frequencies.astype(float), share)
    risk[is_recursive] = _recur(frequencies[is_recursive], odds[is_recursive])
    return risk


def _sum_series(frequencies: Floats, share: Floats) -> Floats:
    # E(1/F) = pi/f 2F1(1, 1; f+1; 1-pi): all terms are positive, and none is lost to cancellation.
    term = np.ones(len(share))
    total = term.copy()
    for at in range(1, _TERMS):
        term = term * (1 - share) * at / (frequencies + at)
        total += term
    return share / frequencies * total


def _recur(frequencies: Ints, odds: Floats) -> Floats:
    # E(1/F) is the integral R_f of s^(f-1) / (1 + x s) from 0 to 1 for the odds x = (1-pi)/pi, and
    # x R_(f+1) = 1/f - R_f, where every step divides the error by x.
    risk = np.log1p(odds) / odds
    for at in range(1, int(frequencies.max(initial=1))):
        risk = np.where(frequencies > at, (1 / at - risk) / odds, risk)
    return risk


@dataclass(frozen=True)
class IntruderRisks:
    """The largest risk of a record for an intruder of one kind of knowledge, and the mean risk."""

    largest: float
    mean: float


def prosecutor_risks(frequencies: Ints) -> IntruderRisks:
    """Return the risks if the intruder knows that a person is in the sample: 1/f of each record."""
    return IntruderRisks(1 / int(frequencies.min()), len(frequencies) / int(frequencies.sum()))


def journalist_risks(frequencies: Ints, population: Ints) -> IntruderRisks:
    """Return the risks if the intruder knows the population and not who is in the sample: 1/F.

    The mean over the records is that of the marketer, who links as many as possible:
    1/n times the sum of f/F (Dankar and El Emam, 2010).
    """
    mean = float(np.sum(np.sort(frequencies / population))) / int(frequencies.sum())
    return IntruderRisks(1 / int(population.min()), mean)


def share_above(frequencies: Ints, risks: Floats, threshold: float) -> float:
    """Return the share of the records whose class has a risk above a threshold."""
    return int(frequencies[risks > threshold].sum()) / int(frequencies.sum())


def k_map(population: Ints) -> int:
    """Return the size of the rarest class in the population: the k of k-map (Sweeney, 2001).

    `population` holds the classes of the sample alone.
    """
    return int(population.min())


def presence(frequencies: Ints, population: Ints) -> tuple[float, float]:
    """Return the bounds of delta-presence: the least and the largest f/F of any population class.

    Nergiz, Atzori and Clifton (SIGMOD 2007). Here `population` holds every class of the population,
    and `frequencies` 0 where the sample has none of it.
    """
    shares = frequencies / population
    return float(shares.min()), float(shares.max())
