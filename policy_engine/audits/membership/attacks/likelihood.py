"""The Gaussians of the likelihood-ratio attacks (Carlini et al., IEEE S&P 2022, section V)."""

from dataclasses import dataclass

import numpy as np

from policy_engine.audits.membership.attacks.references import mean_of
from policy_engine.audits.membership.observations import Bools, Floats

OWN_VARIANCE = 32
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Gaussians:
    """The normal distribution of the margins of each of n records: `mean`, `deviation`, (n,)."""

    mean: Floats
    deviation: Floats

    def distance(self, margins: Floats) -> Floats:
        """Return how many standard deviations margins are above the mean."""
        return (margins - self.mean) / self.deviation

    def log_density(self, margins: Floats) -> Floats:
        """Return the logarithm of the density, up to a constant that all share."""
        return -(self.distance(margins) ** 2) / 2 - np.log(self.deviation)


def gaussians(margins: Floats, counts: Bools) -> Gaussians:
    """Fit the margins (S, n) of the models that count, of which every record has one.

    A record for which OWN_VARIANCE models count has a variance of its own; below that the few
    squares would say little, and the variance is that within the records, over all of them.
    """
    models = counts.sum(axis=0)
    mean = mean_of(margins, counts)
    squares = np.where(counts, (margins - mean) ** 2, 0).sum(axis=0)
    freedom = models - 1
    pooled = squares.sum() / max(freedom.sum(), 1)
    own = squares / np.maximum(freedom, 1)
    variance = np.where(models >= OWN_VARIANCE, own, pooled)
    return Gaussians(mean, np.sqrt(np.maximum(variance, _LEAST**2)))
