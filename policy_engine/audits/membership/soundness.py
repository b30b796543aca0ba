"""Whether records are fit for an audit: repeated ones, and labels that the features contain."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.near_duplicates import (
    nearly_repeated_members,
    repeated_members,
)
from policy_engine.audits.membership.readings import (
    FeatureColumn,
    codes_of,
    columns_of,
    keys_of,
    read_values,
    sample_rows,
    values_of,
)
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.result import AuditSide
from policy_engine.audits.membership.splits import Splits
from policy_engine.errors import AuditError, join_names
from policy_engine.kernels.estimates import clopper_pearson

_TOLD = 0.01
"""The share of members from which on repetitions are reported."""
_NEAR = 100_000
"""Into how many parts a deviation is cut, where records are to be the same but for last digits.

Larger parts would hold different records by chance, where there are few columns."""
_LEAST = 1e-12
_SAMPLE = 4000
_FOLDS = 5
_ERRORS = 0.01
_GAIN = 10


def data_warnings(records: Records, splits: Splits) -> Iterator[str]:
    """Yield warnings about the records of an audit: repetitions, labels in the features."""
    yield from _repetitions(records, splits)
    yield from _labels_in_features(records)


# -- features without information -----------------------------------------------------------------


def check_informative(records: Records) -> None:
    """Raise AuditError (A022) where all records that a model learns from have the same features.

    It learns nothing but the frequency of the labels, and attacks on it would show nothing.
    """
    if len(records) and not _varies(records).any():
        message = f"All {len(records):,} records that the model learns from have the same features:"
        message += " it learns nothing, and an audit of it would show nothing."
        hint = "Generalise less, or name other features."
        raise AuditError.of("A022", message, hint)


def constant_feature_warning(records: Records) -> Iterator[str]:
    """Yield a warning about columns whose features are the same in all training records."""
    varies, start, names = _varies(records), 0, []
    for one in records.encoding:
        names += [] if varies[start : start + one.width].any() else [one.name]
        start += one.width
    if names:
        yield (
            f"The model learns nothing from {join_names(names)}: these features are the same in "
            "all of its records."
        )


def accuracy_warning(records: Records, test_side: AuditSide) -> Iterator[str]:
    """Yield a warning where a model is not shown to beat the commonest class.

    It is compared on the `test_side`, whose records it never saw.
    """
    common = float(np.bincount(records.labels).max() / len(records))
    right = clopper_pearson(round(test_side.accuracy * test_side.records), test_side.records)
    if right.low <= common:
        yield (
            "The model is not shown to have learnt anything useful: it is right about "
            f"{right.value:.0%} of the records that it never saw (95% interval {right.low:.0%} to "
            f"{right.high:.0%}), and always predicting the most common class about {common:.0%}. "
            "Attacks that find nothing in it may find members in a model that learns."
        )


def _varies(records: Records) -> NDArray[np.bool_]:
    """Return which features (width,) have two values or more."""
    flat = records.features.reshape(len(records), -1)
    return np.asarray((flat != flat[:1]).any(axis=0))


# -- repeated records -----------------------------------------------------------------------------


def _repetitions(records: Records, splits: Splits) -> Iterator[str]:
    """Yield how many members are repeated, exactly or up to the last digits of numbers."""
    exact = keys_of(
        records.features, np.stack([records.labels, _read_codes(records, _READ)], axis=1)
    )
    same = repeated_members(exact, splits)
    digits = np.zeros_like(same)
    for keys in _near_keys(records, records.labels):
        digits |= repeated_members(keys, splits) & ~same
    text_codes = _read_codes(records, _WORDS) * len(records.classes) + records.labels
    nearly, cells = nearly_repeated_members(records, splits, text_codes, same)
    near = digits | nearly
    repeated = int((same | near).any(axis=0).sum())
    if repeated >= max(_TOLD * same.shape[1], 1):
        grid = f" Numbers count as the same within 1/{cells} of their column's deviation."
        yield f"{_format_repetitions(same, near, exact)}{'' if (near == digits).all() else grid}"


def _format_repetitions(
    same: NDArray[np.bool_], near: NDArray[np.bool_], exact: NDArray[np.uint64]
) -> str:
    members = f" of the {same.shape[1]:,} members are repeated"
    among_audited, among_pool = (
        [
            (int(one.sum()), manner)
            for one, manner in zip(side, _REPEATED_HOW, strict=True)
            if one.any()
        ]
        for side in zip(same, near, strict=True)
    )
    (count, manner), *digits = among_audited or [(0, _REPEATED_HOW[not same.any()])]
    more = f", and {digits[0][0]:,} {digits[0][1]}," if digits else ""
    also = " and ".join(f"{count:,} {manner}" for count, manner in among_pool)
    also = also and f", and {also} among the records that the shadow models are trained on"
    different = f" Of {len(exact):,} records {len(np.unique(exact)):,} are different."
    return (
        f"{count:,}{members} {manner}{more} among the audited non-members{also}."
        f"{different if same.any() else ''} Attacks cannot find records that are on both sides, "
        "so they find fewer than they would among different records: leave repetitions out."
    )


_REPEATED_HOW = ("exactly", "up to the last digits of numbers")


def _near_keys(records: Records, labels: NDArray[np.int64]) -> Iterator[NDArray[np.uint64]]:
    """Yield numbers that records share which are the same but for last digits of numbers.

    Numbers are rounded at two places, so that no two lie on two sides of every boundary; texts
    are as they were read.
    """
    text_codes = np.stack([labels, _read_codes(records, _TEXTS)], axis=1)
    if records.features.dtype == np.uint8:
        yield keys_of(records.features, text_codes)
        return
    scale = np.maximum(records.features.std(axis=0, dtype=np.float64), _LEAST) / _NEAR
    steps = records.features / scale
    for shift in (0.0, 0.5):
        yield keys_of(np.round(steps + shift), text_codes)


def _read_codes(records: Records, kinds: frozenset[str]) -> NDArray[np.int64]:
    """Return a number for each record, the same where all columns of some kinds are read so, (n,).

    Features are not what was read: rare texts share one, and numbers lose digits.
    """
    codes_so_far = np.zeros(len(records), np.int64)
    for one in records.encoding:
        if one.kind in kinds and one.name in records.columns:
            codes = codes_of(records.columns[one.name])
            codes_so_far = np.unique(codes_so_far * (codes.max() + 1) + codes, return_inverse=True)[
                1
            ]
    return codes_so_far


_WORDS = frozenset({"one-hot"})
_TEXTS = _WORDS | {"levels"}
_READ = _TEXTS | {"number"}


# -- labels that the features contain -------------------------------------------------------------


def _labels_in_features(records: Records) -> Iterator[str]:
    rows = sample_rows(np.arange(len(records)), _SAMPLE)
    features, labels = records.features[rows], records.labels[rows]
    rare = 1 - np.bincount(labels).max() / len(labels)
    half = _half(records)[rows]
    telling = [
        (one.name, wrong)
        for one in columns_of(records)
        if (wrong := _errors(read_values(one, records, rows), labels, half, coded=one.is_coded))
        <= min(_ERRORS, rare / _GAIN)
    ]
    if telling:
        names = join_names([name for name, _ in telling[:_FOLDS]])
        right = 1 - min(wrong for _, wrong in telling)
        yield _format_contained(f"{names} alone", right)
    else:
        bits = [one for one in columns_of(records) if _are_bits(one, features)]
        yield from _one_hot_labels({one.name: values_of(one, features) for one in bits}, labels)


def _format_contained(names: str, right: float) -> str:
    return (
        f"The label follows from {names}, in {right:.1%} of cases: the features contain it. A "
        "model that uses it learns nothing else, and an audit of that model shows nothing about a "
        "useful one."
    )


def _half(records: Records) -> NDArray[np.bool_]:
    """Return half of the records, (n,), each together with all of its repetitions."""
    keys = next(_near_keys(records, np.zeros(len(records), np.int64)))
    return np.asarray(keys % 2 == 0)


def _errors(
    values: NDArray[Any], labels: NDArray[np.int64], half: NDArray[np.bool_], *, coded: bool
) -> float:
    """Return how often a label is not what a column's value says, learnt from the other half.

    Of a text that the other half does not have nothing is said; 1 where most are such.
    """
    wrong, tested = 0, 0
    for is_learnt in (half, ~half):
        is_tested = ~is_learnt & np.isin(values, values[is_learnt]) if coded else ~is_learnt
        if is_learnt.any() and is_tested.any():
            predicted = _usual_labels(values[is_learnt], labels[is_learnt], values[is_tested])
            wrong += int((predicted != labels[is_tested]).sum())
            tested += int(is_tested.sum())
    return wrong / tested if 2 * tested >= len(labels) else 1.0


def _one_hot_labels(bits: Mapping[str, NDArray[Any]], labels: NDArray[np.int64]) -> Iterator[str]:
    """Yield that there is a column of 0 and 1 for each class, but one, that says whether it is."""
    if not bits or labels.max() < 2:
        return
    classes = np.eye(int(labels.max()) + 1)[labels]
    table = np.stack(list(bits.values()), axis=1)
    differ = table.sum(axis=0)[:, None] + classes.sum(axis=0) - 2 * table.T @ classes
    wrong = np.minimum(differ, len(labels) - differ) / len(labels)
    shares = classes.mean(axis=0)
    least = np.minimum(_ERRORS, np.minimum(shares, 1 - shares) / _GAIN)
    classes_found = np.flatnonzero((wrong.min(axis=0) <= least) & (shares > 0))
    if len(classes_found) >= (shares > 0).sum() - 1 >= 1:
        columns = [list(bits)[place] for place in wrong.argmin(axis=0)[classes_found].tolist()]
        right = 1 - float(wrong.min(axis=0)[classes_found].sum())
        yield _format_contained(f"{join_names(columns[:_FOLDS])} together", right)


def _usual_labels(
    values: NDArray[Any], labels: NDArray[np.int64], values_asked: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the usual label of each value, or of the nearest one that is known."""
    distinct, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), int(labels.max()) + 1), np.int64)
    np.add.at(counts, (codes, labels), 1)
    above = np.clip(np.searchsorted(distinct, values_asked), 1, max(len(distinct) - 1, 1))
    below = above - 1
    above = np.minimum(above, len(distinct) - 1)
    nearer = np.where(
        np.abs(values_asked - distinct[below]) <= np.abs(distinct[above] - values_asked),
        below,
        above,
    )
    usual: NDArray[np.int64] = counts[nearer].argmax(axis=1)
    return usual


def _are_bits(column: FeatureColumn, features: NDArray[Any]) -> bool:
    return not column.is_coded and bool(np.isin(features[:, column.features], (0, 1)).all())
