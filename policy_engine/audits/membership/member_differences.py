"""How given members differ from the non-members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area_under
from policy_engine.audits.membership.readings import (
    FeatureReading,
    columns_of,
    keys_of,
    ranks_of,
    reading_of,
    sample_rows,
)
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.splits import Splits
from policy_engine.errors import join_names
from policy_engine.kernels.estimates import Estimate

Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]

_SIDE = 1500
_FOLDS = 5
_TREES = 100
_LEVEL = 0.05
_DRAWS = 4
"""How often the sides are drawn for each that may differ as much by chance."""
_FEWEST_DRAWS = 5_000
_BLOCK = 10_000
_ENOUGH = 10
"""The expected count on either side from which chi squared is valid."""
_ROUNDING = 1e-9
_MOST_VALUES = 50
_NAMED = 5


@dataclass(frozen=True)
class LabelClasses:
    """The label of each record, (n,), as the place of its class, and the classes' names."""

    labels: Codes
    names: Sequence[str]


def side_differences(
    records: Records, splits: Splits, other_columns: Mapping[str, NDArray[Any]] | None = None
) -> Iterator[str]:
    """Yield by what the members of records differ from the non-members.

    A forest is trained to tell the two sides by their features alone, on folds of which no record
    and no repetition of it is in two (the test of two samples by a classifier of Lopez-Paz and
    Oquab, ICLR 2017), and every column is tested by itself, the label and those of `other_columns`
    too (see `column_differences`).
    """
    rows = sample_rows(splits.target_train, _SIDE), sample_rows(splits.target_test, _SIDE)
    audited = np.concatenate(rows)
    is_member = np.arange(len(audited)) < len(rows[0])
    classifier_auc = _classifier_auc(records.features[audited].astype(np.float32), is_member)
    if classifier_auc is not None and classifier_auc.low > 0.5:
        yield (
            "Members differ from the non-members in kind: their features alone, without the model, "
            f"distinguish them with an AUC of {classifier_auc.value:.3f} (95% interval "
            f"{classifier_auc.low:.3f} to {classifier_auc.high:.3f}). An attack that gains no "
            "more has found nothing."
        )
    readings = {one.name: reading_of(one, records, audited) for one in columns_of(records)}
    readings |= {name: ranks_of(texts[audited]) for name, texts in (other_columns or {}).items()}
    yield from column_differences(
        readings, LabelClasses(records.labels[audited], records.classes), is_member
    )


def answer_differences(
    columns: Mapping[str, NDArray[Any]], classes: LabelClasses, is_member: Bools
) -> Iterator[str]:
    """Yield in which columns beside a model's answers, (n,) texts, the two sides differ."""
    readings = {name: ranks_of(texts) for name, texts in columns.items()}
    yield from column_differences(readings, classes, is_member)


def column_differences(
    columns: Mapping[str, FeatureReading], classes: LabelClasses, is_member: Bools
) -> Iterator[str]:
    """Yield in which columns the two sides differ, and whether in their labels.

    Each is tested by itself at 5% over all columns (Bonferroni): by chi squared where it has few
    values; by Kolmogorov and Smirnov's test where it has more, and of texts by both, over those
    that most have and over their order.
    """
    among = len(columns) + 1
    chances = {name: _chance(one, is_member, among) for name, one in columns.items()}
    over = f"at 5% over {among:,} columns" if columns else "at 5%"
    if _chi_squared(classes.labels, is_member, among) * among < _LEVEL:
        yield _format_label_difference(classes, is_member, over)
    differing = sorted(
        (chance, name) for name, chance in chances.items() if chance * among < _LEVEL
    )
    if differing:
        names = join_names([name for _, name in differing[:_NAMED]])
        more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        yield f"Members and non-members are distributed differently in {names}{more} ({over})."


def _format_label_difference(classes: LabelClasses, is_member: Bools, over: str) -> str:
    shares = np.stack(
        [
            np.bincount(classes.labels[side], minlength=len(classes.names)) / side.sum()
            for side in (is_member, ~is_member)
        ]
    )
    most = int(np.abs(shares[0] - shares[1]).argmax())
    return (
        f"Members and non-members differ in their labels ({over}), most in the class "
        f"{classes.names[most]!r}: {shares[0, most]:.1%} of the members have it, and "
        f"{shares[1, most]:.1%} of the non-members. A model that is more confident about some "
        "classes than about others separates the two sides without memorising anybody."
    )


def _classifier_auc(features: NDArray[np.float32], is_member: Bools) -> Estimate | None:
    """Return the cross-validated AUC with which features distinguish members."""
    if find_spec("sklearn") is None:
        return None
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (slow to import, an extra)

    keys = keys_of(features, np.zeros(len(features), np.int64))
    fold = (keys % _FOLDS).astype(int)
    scores = np.full(len(is_member), 0.5)
    for one in range(_FOLDS):
        is_member_learnt = is_member[fold != one]
        if is_member_learnt.all() or not is_member_learnt.any() or not (fold == one).any():
            continue
        forest = RandomForestClassifier(_TREES, min_samples_leaf=5, random_state=0)
        forest.fit(features[fold != one], is_member_learnt)
        scores[fold == one] = forest.predict_proba(features[fold == one])[:, 1]
    order = falling_order(scores)
    return area_under(curve(scores[order], is_member[order]))


def _chance(reading: FeatureReading, is_member: Bools, among: int) -> float:
    """Return how likely two similar sides would differ as much in a column, one among several.

    Of texts the one test or the other may say so.
    """
    distinct, codes = np.unique(reading.values, return_inverse=True)
    if len(distinct) <= _MOST_VALUES:
        return _chi_squared(codes, is_member, among)
    ordered = _kolmogorov_smirnov(codes, is_member)
    if not reading.is_text:
        return ordered
    return min(2 * min(ordered, _chi_squared(_merge_rare(codes), is_member, 2 * among)), 1.0)


def _merge_rare(codes: Codes) -> Codes:
    """Return the codes that most have, and one for all others, also where some have as many."""
    counts = np.bincount(codes)
    least = np.sort(counts)[-_MOST_VALUES]
    return np.where(counts[codes] > least, codes, len(counts))


def _kolmogorov_smirnov(codes: Codes, is_member: Bools) -> float:
    from scipy.stats import ks_2samp  # noqa: PLC0415 (slow to import)

    sides = codes[is_member], codes[~is_member]
    way = "auto" if max(map(len, sides)) <= _SIDE else "asymp"
    return float(ks_2samp(*sides, method=way).pvalue)


def _chi_squared(codes: Codes, is_member: Bools, among: int) -> float:
    """Return how likely the counts of few values would differ as much.

    Where few have a value and chi squared says that the sides differ, they are drawn anew, time and
    again, and how often they then differ as much counts: its law is of many.
    """
    from scipy.stats import chi2_contingency  # noqa: PLC0415 (slow to import)

    distinct, places = np.unique(codes, return_inverse=True)
    if len(distinct) == 1:
        return 1.0
    sides = [np.bincount(places[side], minlength=len(distinct)) for side in (is_member, ~is_member)]
    test = chi2_contingency(np.stack(sides), correction=False)
    if test.pvalue * among >= _LEVEL or test.expected_freq.min() >= _ENOUGH:
        return float(test.pvalue)
    return _resampled(sides[0], sides[0] + sides[1], among)


def _resampled(members: Codes, all_of_them: Codes, among: int) -> float:
    """Return how often random members would differ from all records as much or more."""
    draws = max(int(_DRAWS * among / _LEVEL), _FEWEST_DRAWS)
    random, size = np.random.default_rng(0), int(members.sum())
    expected = all_of_them * (size / all_of_them.sum())
    statistic, at_least = float(((members - expected) ** 2 / expected).sum()), 0
    for start in range(0, draws, _BLOCK):
        count = min(_BLOCK, draws - start)
        samples = random.multivariate_hypergeometric(all_of_them, size, count, method="marginals")
        differ = ((samples - expected) ** 2 / expected).sum(axis=1)
        at_least += int((differ >= statistic * (1 - _ROUNDING)).sum())
    return (at_least + 1) / (draws + 1)
