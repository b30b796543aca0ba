"""Whether members and holdout are of one distribution, and whether they are apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import (
    Bools,
    Floats,
    Ints,
    Material,
    RecordSet,
    Scores,
)
from policy_engine.audits.generative.record_marks import record_marks
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area_under
from policy_engine.errors import Problem, format_count
from policy_engine.kernels.components import first_numbers
from policy_engine.kernels.estimates import Estimate, clopper_pearson

MOST_SHIFT = 0.55
"""The area above which members and holdout are shown to be of two distributions."""
_MOST = 2_000
_FOLDS = 3


def measured_shift(material: Material) -> Estimate:
    """Return how well a classifier tells members from the holdout without any generator.

    It is the area under the ROC curve, .5 where they are of one distribution, over at most 2,000
    records of each side, with their classes, one of each person, each scored by random trees that
    have not seen it (a classifier two-sample test: Lopez-Paz and Oquab, ICLR 2017).
    """
    material = material.one_each()
    generator = np.random.default_rng([material.seed, _FOLDS])
    sides = [_some(one, generator) for one in (material.members, material.holdout)]
    values = np.concatenate([one.values for one in sides])
    if not material.is_table:
        values = _in_few(values)
    if all(one.labels is not None for one in sides):
        classes = np.concatenate([_classes(one, len(material.classes)) for one in sides])
        values = np.concatenate([values, classes], axis=1)
    return _told_apart(values, len(sides[0]), generator)


def class_shift(material: Material) -> Estimate:
    """Return the same by the classes alone, .5 where there are none."""
    material = material.one_each()
    members, holdout = material.members.labels, material.holdout.labels
    if members is None or holdout is None:
        return Estimate(value=0.5, low=0.5, high=0.5)
    generator = np.random.default_rng([material.seed, _FOLDS])
    sides = [_some(one, generator) for one in (material.members, material.holdout)]
    classes = np.concatenate([_classes(one, len(material.classes)) for one in sides])
    return _told_apart(classes, len(sides[0]), generator)


def _told_apart(values: Floats, members: int, generator: np.random.Generator) -> Estimate:
    is_member = np.arange(len(values)) < members
    scores = _scores(values, is_member, generator)
    order = falling_order(scores)
    return area_under(curve(scores[order], is_member[order]))


def _classes(records: RecordSet, count: int) -> Floats:
    """Return the classes as numbers, and the first of many as columns of their own: trees are
    quicker to tell one from the others."""
    labels = np.zeros(0, np.int64) if records.labels is None else records.labels
    return np.column_stack([labels, labels[:, None] == np.arange(min(count, _MOST_CLASSES))])


_MOST_CLASSES = 32


def _some(records: RecordSet, generator: np.random.Generator) -> RecordSet:
    if len(records) <= _MOST:
        return records
    rows = generator.choice(len(records), _MOST, replace=False)
    return records.taken(rows)


def _in_few(values: Floats) -> Floats:
    """Return records by their 20 principal components, which no label decides."""
    centred = np.asarray(values, np.float64) - values.mean(axis=0, dtype=np.float64)
    centred /= np.abs(centred).max(initial=0.0) or 1.0
    few: Floats
    if len(centred) >= centred.shape[1]:
        _, axes = np.linalg.eigh(centred.T @ centred)
        few = centred @ axes[:, -_COMPONENTS:]
    else:  # Images have more pixels than there are images: products of these say the same.
        squares, places = np.linalg.eigh(centred @ centred.T)
        few = places[:, -_COMPONENTS:] * np.sqrt(np.maximum(squares[-_COMPONENTS:], 0))
    return few


_COMPONENTS = 20


def _scores(values: Floats, is_member: Bools, generator: np.random.Generator) -> Scores:
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415 (slow to import, an extra)

    folds = generator.permutation(len(values)) % _FOLDS
    filled = np.column_stack([*map(_for_trees, values.T)])
    scores = np.zeros(len(values))
    for fold in range(_FOLDS):
        inside = folds == fold
        model = ExtraTreesClassifier(_TREES, min_samples_leaf=5, random_state=fold)
        model.fit(filled[~inside], is_member[~inside])
        shares = model.predict_proba(filled[inside])[:, -1]
        # Folds are compared with each other: their scores are centred.
        scores[inside] = shares - shares.mean()
    return scores


_TREES, _MISSING = 40, -1e9
_LARGEST = 1e30


def _for_trees(values: Floats) -> Floats:
    """Return a column for trees, which compare numbers of 32 bits: as it is, or the ranks of its
    numbers where these are too large, too small or too near for that."""
    plain = np.clip(np.nan_to_num(values, nan=_MISSING), -_LARGEST, _LARGEST)
    distinct, ranks = np.unique(values, return_inverse=True)
    if len(np.unique(plain.astype(np.float32))) < len(distinct):
        return np.where(np.isnan(values), -1.0, ranks)
    return plain


def uneven_persons(material: Material) -> Iterator[str]:
    """Yield how many records persons are scored by, where many are left out of one side."""
    subjects = material.subjects
    if subjects.places is None or subjects.are_counted is None:
        return
    sides = np.split(subjects.are_counted, [len(material.members)])
    if min(one.mean() for one in sides) > _MOST_COUNTED:
        return
    sizes = len(sides[0]) / subjects.members, len(sides[1]) / subjects.others
    counted, others = (f"{int(one.sum()):,} of the {len(one):,}" for one in sides)
    sentence = (
        f"Members have {sizes[0]:.1f} records in the mean, and persons of the holdout "
        f"{sizes[1]:.1f}: each is scored by as many as on the other side, drawn at random, "
        f"{counted} records of members and {others} of the holdout."
    )
    if sides[0].mean() <= _MOST_COUNTED:
        sentence += (
            " What the other records of members show is not found: give a holdout of persons with "
            "as many."
        )
    yield sentence


_MOST_COUNTED = 0.95


def overlaps(material: Material) -> Iterator[Problem]:
    """Yield that two of the members, the holdout and the references have records in common (A030).

    Records count once on either side. Persons may be alike: there are too many where more are equal
    to one of the other side than records are to one another on either of them, as a chance of so
    many equal records explains; or where each is on both sides equally often, as nobody is by
    chance, equal records divided by what all of a side have in common. Where a column tells persons
    apart, none may be on two sides, and equal records of one person count once.
    """
    for first, second in combinations(_sides(material), 2):
        yield from _same_persons(first, second)
    for one in _pairs(material):
        if one.is_proof:
            message = f"{one.equal:,} of the {one.records:,} records of the {one.name} are equal "
            hint = "All must be of other persons: whoever is in two of them is counted as both."
            yield Problem("A030", f"{message}to a {one.other}.", hint)


def overlap_warnings(material: Material) -> Iterator[str]:
    """Yield how many records two of them have in common where persons may be alike."""
    for one in _pairs(material):
        if one.equal and not one.is_proof:
            verb = "is" if one.equal == 1 else "are"
            yield (
                f"{one.equal:,} of the {one.records:,} distinct records of the {one.name} {verb} "
                f"equal to a {one.other}: if they are of the same persons, attacks find less than "
                "there is."
            )


@dataclass(frozen=True)
class _Pair:
    """How many of the distinct `records` of a side are `equal` to one of the other, and whether
    that proves that persons are on both."""

    name: str
    other: str
    equal: int
    records: int
    is_proof: bool


def _pairs(material: Material) -> Iterator[_Pair]:
    sides = {"member": material.members, "record of the holdout": material.holdout}
    for one, name, other in (
        ("member", "holdout", material.holdout),
        ("member", "references", material.reference),
        ("record of the holdout", "references", material.reference),
    ):
        if other is None:
            continue
        first, second = map(_without_common_factor, _counts(sides[one], other))
        equal, records = int(((first > 0) & (second > 0)).sum()), int((second > 0).sum())
        is_proof = _are_too_many(equal, first, second) or _are_too_even(first, second)
        yield _Pair(name, one, equal, records, is_proof)


def _counts(first: RecordSet, second: RecordSet) -> tuple[Ints, Ints]:
    """Return how often each distinct record is on either side."""
    marks = [_marks(first), _marks(second)]
    values, places = np.unique(np.concatenate(marks), return_inverse=True)
    ones, others = (
        np.bincount(one, minlength=len(values)) for one in np.split(places.ravel(), [len(marks[0])])
    )
    return ones, others


def _marks(records: RecordSet) -> NDArray[np.void]:
    """Return a mark of each record, one of all equal ones of a person."""
    marks = record_marks(records)
    if records.persons is None:
        return marks
    pairs = np.stack([first_numbers(marks), records.persons])
    return marks[np.unique(pairs, axis=1, return_index=True)[1]]


def _without_common_factor(counts: Ints) -> Ints:
    """Return counts divided by what they have in common: a table that is there twice is one."""
    factor: Ints = counts // max(int(np.gcd.reduce(counts)), 1)
    return factor


def _sides(material: Material) -> Iterator[tuple[RecordSet, str]]:
    """Yield the sides on which nobody may be twice, each with what a person of it is."""
    yield material.members, "members"
    yield material.holdout, "of the holdout"
    if material.reference is not None:
        yield material.reference, "references"


def _same_persons(first: tuple[RecordSet, str], second: tuple[RecordSet, str]) -> Iterator[Problem]:
    (one, are), (other, others_are) = first, second
    if one.persons is None or other.persons is None:
        return
    both = len(np.intersect1d(one.persons, other.persons))
    if both:
        message = f"{format_count(both, 'person')} of those who are {others_are} are {are}, too."
        hint = "Divide persons, not records: whoever is on both sides is counted as both."
        yield Problem("A030", message, hint)


_SLACK = 0.01


def _are_too_many(equal: int, first: Ints, second: Ints) -> bool:
    """Return whether more distinct records are on both sides than those of either are alike.

    Of independent records, one of the second is equal to one of the first as probably as another of
    the first is, and as another of the second to so many. That one side repeats its records is no
    reason for the two to share them.
    """
    larger = max(first, second, key=np.sum)
    distinct, least = int((larger > 0).sum()), min(int(first.sum()), int(second.sum()))
    alike = min(_alike(one, least) for one in (first, second))
    return clopper_pearson(equal, distinct, 0.999).low > alike + _SLACK


def _alike(counts: Ints, among: int) -> float:
    """Return the share of a side's records that are equal to one of `among` of the side, at most
    (99%)."""
    from scipy.special import gammaln  # noqa: PLC0415 (slow to import, an extra)

    total, present = int(counts.sum()), counts[counts > 0]
    drawn, others = among - 1, total - 1
    left = others - (present - 1)  # no draw of so many leaves a double out where fewer are left
    room = np.maximum(left - drawn, 0)
    logarithms = gammaln(left + 1) - gammaln(room + 1)
    logarithms += gammaln(others - drawn + 1) - gammaln(others + 1)
    none = np.where(left >= drawn, np.exp(np.minimum(logarithms, 0)), 0.0)
    share = float((present * (1 - none)).sum() / total)
    return clopper_pearson(round(share * total), total, 0.99).high


def _are_too_even(first: Ints, second: Ints) -> bool:
    """Return whether distinct records are on both sides equally often beyond chance.

    Persons with several equal records hide an overlap from shares. Of t records that are equal,
    and on both sides, t/2 are on the first with a probability that is known: if they are of other
    persons, it is that of t draws.
    """
    from scipy.stats import binom, poisson  # noqa: PLC0415 (slow to import, an extra)

    # Where only one record is on each side, there is no other way to be on both.
    shared = (first > 0) & (second > 0) & (first + second > _PAIR)
    total = (first + second)[shared]
    share = first.sum() / (first.sum() + second.sum())
    halves = np.where(total % 2 == 0, binom.pmf(total // 2, total, share), 0.0)
    expected = float((halves / (1 - share**total - (1 - share) ** total)).sum())
    even = int((first == second)[shared].sum())
    enough = even - expected > _SLACK * int((second > 0).sum())
    return bool(enough and poisson.sf(even - 1, expected) < _CHANCE)


_PAIR, _CHANCE = 2, 1e-4
