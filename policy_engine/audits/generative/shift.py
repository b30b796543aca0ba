"""Whether members and holdout are of one distribution, and whether they are apart."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Bools, Floats, Material, RecordSet, Scores
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area_under
from policy_engine.errors import Problem
from policy_engine.kernels.estimates import Estimate, clopper_pearson

MOST_SHIFT = 0.55
"""The area above which members and holdout are shown to be of two distributions."""
_MOST = 2_000
_FOLDS = 3


def measured_shift(material: Material) -> Estimate:
    """Return how well a classifier tells members from the holdout without any generator.

    It is the area under the ROC curve, .5 where they are of one distribution, over at most 2,000
    records of each side, each scored by random trees that have not seen it (a classifier
    two-sample test: Lopez-Paz and Oquab, ICLR 2017).
    """
    generator = np.random.default_rng([material.seed, _FOLDS])
    sides = [_some(one.values, generator) for one in (material.members, material.holdout)]
    values = np.concatenate(sides)
    is_member = np.arange(len(values)) < len(sides[0])
    if not material.is_table:
        values = _in_few(values)
    scores = _scores(values, is_member, generator)
    order = falling_order(scores)
    return area_under(curve(scores[order], is_member[order]))


def _some(values: Floats, generator: np.random.Generator) -> Floats:
    if len(values) <= _MOST:
        return values
    return values[generator.choice(len(values), _MOST, replace=False)]


def _in_few(values: Floats) -> Floats:
    """Return records by their 20 principal components, which no label decides."""
    centred = np.asarray(values, np.float64) - values.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    few: Floats = centred @ axes[:, -20:]
    return few


def _scores(values: Floats, is_member: Bools, generator: np.random.Generator) -> Scores:
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415 (slow to import, an extra)

    folds = generator.permutation(len(values)) % _FOLDS
    filled = np.clip(np.nan_to_num(values, nan=_MISSING), -_LARGEST, _LARGEST)
    scores = np.zeros(len(values))
    for fold in range(_FOLDS):
        inside = folds == fold
        model = ExtraTreesClassifier(_TREES, min_samples_leaf=5, random_state=fold)
        model.fit(filled[~inside], is_member[~inside])
        shares = model.predict_proba(filled[inside])[:, -1]
        # Folds are compared with each other: their scores are centred.
        scores[inside] = shares - np.median(shares)
    return scores


_TREES, _MISSING = 40, -1e9
_LARGEST = 1e30
"""Trees compare numbers of 32 bits."""


def overlaps(material: Material) -> Iterator[Problem]:
    """Yield that two of the members, the holdout and the references have records in common (A030).

    Persons may be alike: there are too many where more are equal to one of the others than those
    are to one another, as a chance of so many equal records explains; or where each is on both
    sides equally often, as nobody is by chance.
    """
    sides = {"member": material.members, "record of the holdout": material.holdout}
    for one, name, other in (
        ("member", "holdout", material.holdout),
        ("member", "references", material.reference),
        ("record of the holdout", "references", material.reference),
    ):
        if other is None:
            continue
        others, records = _rows(sides[one]), _rows(other)
        equal = int(np.isin(records, others).sum())
        if _are_too_many(equal, records, others) or _are_too_even(others, records):
            message = f"{equal:,} of the {len(records):,} records of the {name} are equal to a "
            hint = "All must be of other persons: whoever is in two of them is counted as both."
            yield Problem("A030", f"{message}{one}.", hint)


_SLACK = 0.01


def _are_too_many(equal: int, records: NDArray[Any], others: NDArray[Any]) -> bool:
    _, counts = np.unique(others, return_counts=True)
    repeated = clopper_pearson(len(others) - int((counts == 1).sum()), len(others), 0.99).high
    return clopper_pearson(equal, len(records), 0.999).low > repeated + _SLACK


def _are_too_even(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Return whether distinct records are on both sides equally often beyond chance.

    Persons with several equal records hide an overlap from shares. Of t records that are equal,
    and on both sides, t/2 are on the first with a probability that is known: if they are of other
    persons, it is that of t draws.
    """
    from scipy.stats import binom, poisson  # noqa: PLC0415 (slow to import, an extra)

    values, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ones = np.bincount(places.ravel()[: len(first)], minlength=len(values))
    others = np.bincount(places.ravel()[len(first) :], minlength=len(values))
    # Where only one record is on each side, there is no other way to be on both.
    shared = (ones > 0) & (others > 0) & (ones + others > _PAIR)
    total = (ones + others)[shared]
    share = len(first) / (len(first) + len(second))
    halves = np.where(total % 2 == 0, binom.pmf(total // 2, total, share), 0.0)
    expected = float((halves / (1 - share**total - (1 - share) ** total)).sum())
    even = int((ones == others)[shared].sum())
    enough = even - expected > _SLACK * int((others > 0).sum())
    return bool(enough and poisson.sf(even - 1, expected) < _CHANCE)


_PAIR, _CHANCE = 2, 1e-4


def _rows(records: RecordSet) -> NDArray[Any]:
    """Return a fingerprint of each record, (n,), equal for equal ones."""
    values = np.ascontiguousarray(np.nan_to_num(records.values, nan=-np.inf) + 0.0)
    return values.view(np.dtype((np.void, values.dtype.itemsize * values.shape[1]))).ravel()
