"""The ROC curve of scores as counts, and what is read off it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import Bools, Floats
from policy_engine.audits.membership.result import Histogram, Roc

_BINS = 40
_STEPS = 140


@dataclass(frozen=True, eq=False)
class Curve:
    """How many members and others lie above each threshold, from the highest down.

    `hits` and `alarms` (points,) start at 0 and end at all; records of one score come in
    together, as no threshold tells them apart.
    """

    hits: NDArray[np.int64]
    alarms: NDArray[np.int64]

    @property
    def members(self) -> int:
        """All members."""
        return int(self.hits[-1])

    @property
    def others(self) -> int:
        """All that are none."""
        return int(self.alarms[-1])

    def area(self) -> float:
        """Return how often a member has the higher score than another record, ties as half."""
        pairs = self.members * self.others
        if not pairs:
            return 0.5
        twice = (np.diff(self.alarms) * (self.hits[1:] + self.hits[:-1])).sum()
        return float(twice) / (2 * pairs)

    def hits_at(self, fpr: float) -> int:
        """Return the most members above a threshold with a false-positive rate up to `fpr`."""
        return self.hits_within(int(fpr * self.others * (1 + 1e-12)))

    def hits_within(self, alarms: int) -> int:
        """Return the most members above a threshold with so many others above it at most."""
        return int(self.hits[np.searchsorted(self.alarms, alarms, side="right") - 1])

    def thinned(self) -> Roc:
        """Return at most about 280 points, half of them even on a logarithmic scale."""
        others, members = max(self.others, 1), max(self.members, 1)
        even = np.linspace(0, others, _STEPS)
        logarithmic = np.geomspace(1, others, _STEPS)
        wanted = np.floor(np.union1d(even, logarithmic) + 1e-9)
        chosen = np.unique(np.searchsorted(self.alarms, wanted, side="right") - 1)
        points = np.union1d(chosen, [0, len(self.hits) - 1])
        return Roc(
            fpr=tuple((self.alarms[points] / others).tolist()),
            tpr=tuple((self.hits[points] / members).tolist()),
        )


def order_of(scores: Floats) -> NDArray[np.int64]:
    """Return the records from the highest score down."""
    return np.argsort(-scores, kind="stable")


def curve(ordered: Floats, is_member: Bools) -> Curve:
    """Return the curve of records that stand from the highest score down."""
    is_last = np.append(ordered[:-1] != ordered[1:], True)[: len(ordered)]
    ends = np.flatnonzero(is_last)
    hits = np.append(0, np.cumsum(is_member, dtype=np.int64)[ends])
    return Curve(hits, np.append(0, ends + 1) - hits)


def histogram(scores: Floats, is_member: Bools) -> Histogram:
    """Return 40 even bins between the .5% and the 99.5% quantile; the outermost have the rest."""
    low, high = np.quantile(scores, [0.005, 0.995])
    if not low < high:
        low, high = scores.min(), scores.max()
    if not low + (high - low) / _BINS > low:
        low, high = low - 0.5 - abs(low) / 100, high + 0.5 + abs(high) / 100
    edges = np.linspace(low, high, _BINS + 1)
    within = np.clip(scores, low, high)
    return Histogram(
        edges=tuple(edges.tolist()),
        members=tuple(np.histogram(within[is_member], edges)[0].tolist()),
        non_members=tuple(np.histogram(within[~is_member], edges)[0].tolist()),
    )
