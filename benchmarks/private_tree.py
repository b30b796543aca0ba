"""A decision tree under differential privacy, which the other trees are compared with.

Friedman and Schuster: Data mining with differential privacy, KDD 2010: each level chooses its
decisions by the exponential mechanism, by the Gini impurity of both sides (one record more lowers
it, as a sum over records, by 2 at most), and leaves have noisy counts (Laplace). The nodes of a
level share no record, so each level costs its epsilon once. Who has one record more or less is
protected; the domains of the columns, and so the decisions to choose from, are taken to be public.
The noise is of floating-point numbers: good for a comparison, not for a release.
"""

from dataclasses import dataclass

import numpy as np

AGES = range(20, 90, 5)


def candidates(records):
    """Return which records satisfy each decision, (decisions, records): an age below a bound, or
    one category: 1 or 0."""
    rows = [[float(one["age"]) < age for one in records] for age in AGES]
    for name in records[0]:
        if name not in ("age", "income"):
            values = sorted({one[name] for one in records})
            rows += [[one[name] == value for one in records] for value in values]
    return np.array(rows, dtype=np.int32)


@dataclass(frozen=True)
class PrivateTree:
    """A tree of `depth` levels; half of `epsilon` is for decisions, and half for leaves."""

    depth: int
    epsilon: float

    def labels(self, decisions, is_high, members, random):
        """Return the label of each record, (records,), by a tree that is grown on `members`."""
        labels = np.zeros(len(is_high), dtype=bool)
        everybody = np.ones(len(is_high), dtype=bool)
        self._grow(labels, everybody, self.depth, (decisions, is_high, members, random))
        return labels

    def _grow(self, labels, here, left, data):
        decisions, is_high, members, random = data
        seen = here & members
        if not left:
            counts = np.array([(seen & ~is_high).sum(), (seen & is_high).sum()], dtype=float)
            counts += random.laplace(scale=2 / self.epsilon, size=2)
            labels[here] = counts[1] > counts[0]
            return
        high, low = decisions @ (seen & is_high), decisions @ (seen & ~is_high)
        others = (seen & is_high).sum() - high, (seen & ~is_high).sum() - low
        purity = -_impurity(high, low) - _impurity(*others)
        share = self.epsilon / 2 / self.depth
        chosen = np.argmax(share / (2 * _SENSITIVITY) * purity + random.gumbel(size=len(purity)))
        best = decisions[chosen] == 1
        self._grow(labels, here & best, left - 1, data)
        self._grow(labels, here & ~best, left - 1, data)


_SENSITIVITY = 2


def _impurity(high, low):
    """Return the Gini impurity of sides, times their records."""
    return 2 * high * low / np.maximum(high + low, 1)


def membership_auc(is_right, members, others):
    """Return the AUC of the attack by loss on a tree that gives labels, which are right or not."""
    return 0.5 + (is_right[members].mean() - is_right[others].mean()) / 2
