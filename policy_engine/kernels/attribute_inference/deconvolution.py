"""Which sensitive values go with what is known, told by records of which nobody knows whose they
are, but how likely the masking made each of what is known.

The distribution of the values by what is known is that of the greatest likelihood, as found by EM
(Agrawal and Aggarwal: On the design and quantification of privacy preserving data mining
algorithms, PODS 2001). Of one column drawn by a matrix it is what inverting the matrix gives.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PRIOR = 2.0
"""Persons that each cell has besides its own, with the values of all: few persons overfit."""
MOST_ROUNDS = 60
"""EM ends after so many rounds, or where no share changes by more than this in a step of it."""
ENOUGH = 1e-5
_LEAST = 1e-300


class Deconvolution(NamedTuple):
    """The `shares` of the bins of values in each cell, (cells, bins), how probably each record is
    of a person of each cell, `weights` (records, cells), and the `gain`: by how many nats all
    records are likelier than if cells told nothing of values."""

    shares: Floats
    weights: Floats
    gain: float


def deconvolve(
    likelihoods: Floats, sizes: Floats, bins: Ints, counts: Floats | None = None
) -> Deconvolution:
    """Return which values go with which cells of what is known.

    `likelihoods` (records, cells) tell how likely a record is if it is of a person of a cell, but
    for a factor of the record; of these there are `sizes` (cells,). `bins` (records,) are those of
    their values, numbered from 0. If records are alike, `counts` (records,) says how many are.
    """
    counts = np.ones(len(bins)) if counts is None else counts
    order = np.argsort(bins, kind="stable")
    ends = np.searchsorted(bins[order], np.arange(int(bins.max()) + 2))
    greatest = np.maximum(likelihoods.max(axis=1), _LEAST)[:, None]
    scaled, ordered = np.ascontiguousarray((likelihoods / greatest)[order]), counts[order]
    parts = [_Part(scaled[start:end], ordered[start:end]) for start, end in pairwise(ends.tolist())]
    overall = np.array([one.counts.sum() for one in parts]) / counts.sum()
    shares = np.tile(overall, (len(sizes), 1))
    blind = _log_likelihood(parts, sizes, shares)
    for _ in range(MOST_ROUNDS):
        once = _next(parts, sizes, shares, overall)
        twice = _next(parts, sizes, once, overall)
        further = _further(shares, once, twice)
        is_better = _log_likelihood(parts, sizes, further) > _log_likelihood(parts, sizes, twice)
        shares = further if is_better else twice
        if np.abs(twice - once).max() < ENOUGH:
            break
    claims = likelihoods / greatest * (sizes * shares.T[bins])
    weights = claims / np.maximum(claims.sum(axis=1, keepdims=True), _LEAST)
    return Deconvolution(shares, weights, _log_likelihood(parts, sizes, shares) - blind)


class _Part(NamedTuple):
    """The records of one bin: the `likelihoods` (records, cells) and the `counts` (records,)."""

    likelihoods: Floats
    counts: Floats

    def likelihood(self, claims: Floats) -> Floats:
        """Return how likely each record is, (records,), by how many persons claim it by cell."""
        return np.asarray(np.maximum(self.likelihoods @ claims, _LEAST))


def _next(parts: list[_Part], sizes: Floats, shares: Floats, overall: Floats) -> Floats:
    """Return the shares that make the records of each bin the likeliest, one round on."""
    totals = np.empty_like(shares)
    for place, part in enumerate(parts):
        claims = sizes * shares[:, place]
        totals[:, place] = claims * (part.counts / part.likelihood(claims) @ part.likelihoods)
    totals += PRIOR * overall
    return np.asarray(totals / totals.sum(axis=1, keepdims=True))


def _further(shares: Floats, once: Floats, twice: Floats) -> Floats:
    """Return shares as far ahead as two steps of EM point, which are short where little is told.

    Varadhan and Roland: Simple and globally convergent methods for accelerating the convergence of
    any EM algorithm, Scandinavian Journal of Statistics 35(2), 2008 (SQUAREM, their third length).
    """
    step, turn = once - shares, (twice - once) - (once - shares)
    bend = float(np.linalg.norm(turn))
    length = max(float(np.linalg.norm(step)) / bend, 1.0) if bend > 0 else 1.0
    ahead = np.maximum(shares + 2 * length * step + length**2 * turn, 0.0)
    sums = ahead.sum(axis=1, keepdims=True)
    return np.where(sums > 0, ahead / np.where(sums > 0, sums, 1.0), twice)


def _log_likelihood(parts: list[_Part], sizes: Floats, shares: Floats) -> float:
    return sum(
        float(part.counts @ np.log(part.likelihood(sizes * share)))
        for part, share in zip(parts, shares.T, strict=True)
    )
