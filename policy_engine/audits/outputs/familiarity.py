"""How like earlier outputs an output is, with a threshold of which few of their kind fall short.

Split conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic learning in a random world",
2005, section 4.2): half of the earlier outputs are kept, and the distances of the other half to the
nearest of them say which distances are usual.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.output_records import RecordArrays
from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES, FOURTEEN_RULES

Floats = NDArray[np.float64]

_APART = 10.0
"""How far outputs are from each other of which one lacks what the other has, or of two types."""

_KINDS = [one.kind for one in ATTRIBUTES]
_SHARES = np.array([kind in ("share", "answer") for kind in _KINDS])


@dataclass(frozen=True, eq=False)
class Familiarity:
    """Earlier outputs as points (n, d), and the usual distances (m,) to the nearest, ascending."""

    points: Floats
    distances: Floats

    @classmethod
    def of(cls, records: RecordArrays, random: np.random.Generator) -> "Familiarity":
        """Return what is usual of some outputs, at least two; a half of them is kept."""
        points = _points(records)[random.permutation(len(records))]
        kept, held_out = points[::2], points[1::2]
        return cls(kept, np.sort(_to_nearest(kept, held_out)))

    def shares(self, records: RecordArrays) -> Floats:
        """Return for n outputs the share of earlier ones that are no nearer to the others, (n,).

        Of a further output of their kind the share is at most `a` with a probability of at most
        `a`. It is 1 / (m + 1) at least.
        """
        distances = _to_nearest(self.points, _points(records))
        nearer = np.searchsorted(self.distances, distances, side="left")
        shares: Floats = (len(self.distances) - nearer + 1) / (len(self.distances) + 1)
        return shares


def _points(records: RecordArrays) -> Floats:
    """Return outputs as points: logarithms of numbers, shares, what is there, and the type."""
    values = np.where(np.isnan(records.values), 0.0, records.values)
    numbers = np.where(_SHARES, values, np.sign(values) * np.log1p(np.abs(values)))
    types = np.zeros((len(records), len(FOURTEEN_RULES) + 1))
    types[np.arange(len(records)), records.rules] = _APART  # -1 is the column behind them all
    is_there = ~np.isnan(records.values) * _APART
    secret = records.is_confidential[:, None] * _APART
    return np.hstack([numbers, is_there, types, secret])


def _to_nearest(points: Floats, others: Floats) -> Floats:
    """Return the distance of each of the others to the nearest of the points, (n,)."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 (slow to import, an extra)

    if not len(others):
        return np.empty(0)
    distances, _ = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(others)
    nearest: Floats = distances[:, 0]
    return nearest
