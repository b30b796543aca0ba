"""The ROC curve of scores as counts, and what is read off it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.figures import Histogram, Roc
from policy_engine.audits.membership.observations import Bools, Floats

_BINS = 40
_STEPS = 140
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class MembersBefore:
    """How many members rank before an other: `above` for sure, and of its equals by draw.

    `shares` (tied + 1,) are the probabilities that so many of these or fewer do.
    """

    above: int
    shares: Floats

    def fewest(self, missed: float) -> int:
        """Return the count below which they are with a probability of at most `missed`."""
        return self.above + int(np.searchsorted(self.shares, missed - _ROUNDING, side="right"))

    def most(self, missed: float) -> int:
        """Return the count above which they are with a probability of at most `missed`."""
        place = int(np.searchsorted(self.shares, 1 - missed + _ROUNDING, side="left"))
        return self.above + min(place, len(self.shares) - 1)


@dataclass(frozen=True, eq=False)
class Curve:
    """The number of members and non-members above each threshold, from the highest down.

    `true_positives` and `false_positives` (points,) start at 0 and end at all; records of one score
    come in together, as no threshold tells them apart.
    """

    true_positives: NDArray[np.int64]
    false_positives: NDArray[np.int64]

    @property
    def members(self) -> int:
        """All members."""
        return int(self.true_positives[-1])

    @property
    def non_members(self) -> int:
        """All others."""
        return int(self.false_positives[-1])

    def area(self) -> float:
        """Return how often a member has the higher score than another record, ties as half."""
        pairs = self.members * self.non_members
        if not pairs:
            return 0.5
        twice = (
            np.diff(self.false_positives) * (self.true_positives[1:] + self.true_positives[:-1])
        ).sum()
        return float(twice) / (2 * pairs)

    def wins(self) -> tuple[Floats, Floats]:
        """Return in how many of its pairs the member scores higher, ties as half.

        (points - 1,) for a member that lies between two thresholds, against all others, and for
        an other that does, against all members: the placements of DeLong, DeLong and
        Clarke-Pearson (Biometrics 1988). The mean of either over its records is the area.
        """
        of_members = 1 - (self.false_positives[1:] + self.false_positives[:-1]) / (
            2 * self.non_members
        )
        return of_members, (self.true_positives[1:] + self.true_positives[:-1]) / (2 * self.members)

    def true_positives_at(self, fpr: float) -> float:
        """Return how many members are called where a share `fpr` of the others are.

        Interpolated between thresholds: of the records of one score some are called by a coin.
        """
        wanted = fpr * self.non_members
        place = min(self._last_within(wanted), len(self.true_positives) - 2)
        false_positives = self.false_positives[place : place + 2]
        true_positives = self.true_positives[place : place + 2]
        return float(
            np.interp(wanted, false_positives, true_positives)
            if false_positives[0] < false_positives[1]
            else true_positives[1]
        )

    def needs_coin(self, fpr: float, most: int) -> bool:
        """Return whether `fpr` is reached, for the most part, by a coin among equal scores alone.

        It is where more others than `most` have the score at which that rate lies, and no
        threshold above finds half as many members.
        """
        place = min(self._last_within(fpr * self.non_members), len(self.true_positives) - 2)
        tied = int(self.false_positives[place + 1] - self.false_positives[place])
        return tied > most and 2 * int(self.true_positives[place]) <= self.true_positives_at(fpr)

    def _last_within(self, count: float) -> int:
        return int(np.searchsorted(self.false_positives, count * (1 + 1e-12), side="right")) - 1

    def members_before(self, non_members: int) -> MembersBefore:
        """Return how many members rank before so many others, from 1 on, ties in random order.

        All members where there are fewer others.
        """
        if non_members > self.non_members:
            return MembersBefore(self.members, np.ones(1))
        end = int(np.searchsorted(self.false_positives, non_members, side="left"))
        above = int(self.true_positives[end - 1])
        members = int(self.true_positives[end]) - above
        tied = int(self.false_positives[end] - self.false_positives[end - 1])
        return MembersBefore(
            above,
            _rank_probabilities(non_members - int(self.false_positives[end - 1]), tied, members),
        )

    def thin(self) -> Roc:
        """Return at most about 280 points, half of them even on a logarithmic scale."""
        non_members, members = max(self.non_members, 1), max(self.members, 1)
        even = np.linspace(0, non_members, _STEPS)
        logarithmic = np.geomspace(1, non_members, _STEPS)
        counts = np.floor(np.union1d(even, logarithmic) + 1e-9)
        chosen = np.unique(np.searchsorted(self.false_positives, counts, side="right") - 1)
        points = np.union1d(chosen, [0, len(self.true_positives) - 1])
        return Roc(
            fpr=tuple((self.false_positives[points] / non_members).tolist()),
            tpr=tuple((self.true_positives[points] / members).tolist()),
        )


def _rank_probabilities(others: int, tied: int, members: int) -> Floats:
    """Return how likely 0, 1, ... `members` or fewer come before one of `tied` others, by draw.

    It is the other that comes as number `others` among these: the negative hypergeometric law.
    """
    from scipy.special import gammaln  # noqa: PLC0415 (slow to import, an extra)

    count = np.arange(members + 1.0)
    later, remaining = tied - others, members - count
    before = gammaln(count + others) - gammaln(count + 1) - gammaln(others)
    after = gammaln(remaining + later + 1) - gammaln(remaining + 1) - gammaln(later + 1)
    weights = np.exp(before + after - (before + after).max())
    return np.asarray(np.cumsum(weights) / weights.sum(), np.float64)


def falling_order(scores: Floats) -> NDArray[np.int64]:
    """Return the records from the highest score down."""
    return np.argsort(-scores, kind="stable")


def curve(ordered: Floats, is_member: Bools) -> Curve:
    """Return the curve of records that are sorted from the highest score down."""
    is_last = np.append(ordered[:-1] != ordered[1:], True)[: len(ordered)]
    ends = np.flatnonzero(is_last)
    true_positives = np.append(0, np.cumsum(is_member, dtype=np.int64)[ends])
    return Curve(true_positives, np.append(0, ends + 1) - true_positives)


def histogram(scores: Floats, is_member: Bools) -> Histogram:
    """Return 40 even bins between the .5% and the 99.5% quantile; the outermost have the rest."""
    low, high = np.quantile(scores, [0.005, 0.995])
    if not low < high:
        low, high = scores.min(), scores.max()
    if not low + (high - low) / _BINS > low:
        low, high = low - 0.5 - abs(low) / 100, high + 0.5 + abs(high) / 100
    edges = np.linspace(low, high, _BINS + 1)
    clipped = np.clip(scores, low, high)
    return Histogram(
        edges=tuple(edges.tolist()),
        members=tuple(np.histogram(clipped[is_member], edges)[0].tolist()),
        non_members=tuple(np.histogram(clipped[~is_member], edges)[0].tolist()),
    )
