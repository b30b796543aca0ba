"""Whether records bear an audit: repeated ones, members of another kind, labels in features."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.curves import curve, order_of
from policy_engine.audits.membership.intervals import area_under
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.splits import Rows, Splits
from policy_engine.errors import listed
from policy_engine.estimates import Estimate

_TOLD = 0.01
"""The share of the members from which on repetitions are told."""
_NEAR = 100_000
"""Into how many parts a deviation is cut, where records are to be the same but for last digits.

Larger parts would hold different records by chance, where there are few columns."""
_LEAST = 1e-12
_SAMPLE = 1000
_SIDE = 1500
_FOLDS = 5
_LEVEL = 0.05
_MOST_VALUES = 50
_ERRORS = 0.01
_GAIN = 10


def of_data(records: Records, splits: Splits) -> Iterator[str]:
    """Yield what is wrong with records on which the target was trained by lot or was told."""
    yield from _repetitions(records, splits)
    yield from _labels_in_features(records)


def of_sides(records: Records, splits: Splits) -> Iterator[str]:
    """Yield by what members, of whom it was told that they are, differ from the others.

    A forest is trained to tell the two sides by their features alone, on folds of which no record
    and no repetition of it is in two (the test of two samples by a classifier of Lopez-Paz and
    Oquab, ICLR 2017), and every column is tested by itself, by Kolmogorov and Smirnov's test or
    chi squared, at 5% over all columns (Bonferroni).
    """
    rows = _some(splits.target_train, _SIDE), _some(splits.target_test, _SIDE)
    judged = np.concatenate(rows)
    is_member = np.arange(len(judged)) < len(rows[0])
    features = records.features[judged].astype(np.float32)
    told = _telling(features, is_member)
    if told is not None and told.low > 0.5:
        yield (
            "Members differ from the others in kind: by their features alone, whatever the model "
            f"says, they are told apart with an AUC of {told.value:.3f} (95% interval "
            f"{told.low:.3f} to {told.high:.3f}). An attack that gains no more has found nothing."
        )
    names = {one.name: _values(one, records.features[judged]) for one in _columns(records)}
    yield from _different_columns(names, is_member)


def of_answers(columns: Mapping[str, NDArray[Any]], is_member: NDArray[np.bool_]) -> Iterator[str]:
    """Yield in which columns of texts beside a model's answers members differ from the others."""
    coded = {
        name: np.unique(texts.astype(str), return_inverse=True)[1]
        for name, texts in columns.items()
    }
    few = {name: codes for name, codes in coded.items() if codes.max(initial=0) < _MOST_VALUES}
    yield from _different_columns(few, is_member)


# -- records that stand there several times -------------------------------------------------------


def _repetitions(records: Records, splits: Splits) -> Iterator[str]:
    keys = _keys(records.features, records.labels)
    exact = _shared(keys, splits)
    if exact.of_members:
        yield exact.sentence("word for word", len(records), len(np.unique(keys)))
        return
    if records.features.dtype != np.uint8:
        # Rounded at two places, so that no two records lie on two sides of every boundary.
        scale = np.maximum(records.features.std(axis=0, dtype=np.float64), _LEAST) / _NEAR
        steps = records.features / scale
        near = [_keys(np.round(steps + shift), records.labels) for shift in (0.0, 0.5)]
        found = max((_shared(one, splits) for one in near), key=lambda one: one.of_members)
        if found.of_members:
            yield found.sentence("but for last digits of numbers", len(records), 0)


@dataclass(frozen=True)
class _Shared:
    members: int
    of_members: int
    of_pool: int

    def sentence(self, how: str, records: int, distinct: int) -> str:
        pool = (
            f", and {self.of_pool:,} among the records that the shadow models are trained on"
            if self.of_pool
            else ""
        )
        whole = f" Of {records:,} records {distinct:,} are different." if distinct else ""
        return (
            f"{self.of_members:,} of the {self.members:,} members stand {how} among the judged "
            f"records that are to be no members{pool}.{whole} Who stands on both sides cannot be "
            "told, so attacks find fewer than they would among different records: leave "
            "repetitions out."
        )


def _shared(keys: NDArray[np.uint64], splits: Splits) -> _Shared:
    """Return how many members stand on the other side too; none where they are hardly any."""
    members = keys[splits.target_train]
    among = np.isin(members, keys[splits.target_test])
    pools = [*splits.shadow_train, *splits.shadow_test]
    pool = np.isin(members, keys[np.unique(np.concatenate(pools))]) if pools else among[:0]
    found = max(int(among.sum()), int(pool.sum()))
    if found < max(_TOLD * len(members), 1):
        return _Shared(len(members), 0, 0)
    return _Shared(len(members), int(among.sum()), int(pool.sum()))


def _keys(features: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each record, the same for those that are the same."""
    rows = np.ascontiguousarray(features + features.dtype.type(0))  # -0.0 is 0.0
    whole = rows.view(np.uint8).reshape(len(rows), -1) if rows.size else rows
    said = [
        blake2b(row.tobytes() + label.tobytes(), digest_size=8).digest()
        for row, label in zip(whole, labels, strict=True)
    ]
    return np.frombuffer(b"".join(said), np.uint64)


# -- labels that the features contain -------------------------------------------------------------


def _labels_in_features(records: Records) -> Iterator[str]:
    rows = _some(np.arange(len(records)), _SAMPLE)
    features, labels = records.features[rows], records.labels[rows]
    rare = 1 - np.bincount(labels).max() / len(labels)
    telling = [
        (one.name, wrong)
        for one in _columns(records)
        if (wrong := _errors(_values(one, features), labels)) <= min(_ERRORS, rare / _GAIN)
    ]
    if telling:
        names = listed([name for name, _ in telling[:_FOLDS]])
        right = 1 - min(wrong for _, wrong in telling)
        yield (
            f"The label follows from {names} alone, in {right:.1%} of cases: the features contain "
            "it. A model that reads it off learns nothing else, and an audit of that model says "
            "nothing of one that is of use."
        )


def _errors(values: NDArray[Any], labels: NDArray[np.int64]) -> float:
    """Return how often a label is not what a column's value says, learnt from the other half."""
    half = np.arange(len(labels)) % 2 == 0
    wrong = 0
    for known in (half, ~half):
        wrong += int((_told(values[known], labels[known], values[~known]) != labels[~known]).sum())
    return wrong / len(labels)


def _told(
    values: NDArray[Any], labels: NDArray[np.int64], asked: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the usual label of each value, or of the nearest one that is known."""
    known, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((len(known), int(labels.max()) + 1), np.int64)
    np.add.at(counts, (codes, labels), 1)
    above = np.clip(np.searchsorted(known, asked), 1, max(len(known) - 1, 1))
    below = above - 1
    above = np.minimum(above, len(known) - 1)
    nearer = np.where(np.abs(asked - known[below]) <= np.abs(known[above] - asked), below, above)
    usual: NDArray[np.int64] = counts[nearer].argmax(axis=1)
    return usual


# -- members of another kind ----------------------------------------------------------------------


def _telling(features: NDArray[np.float32], is_member: NDArray[np.bool_]) -> Estimate | None:
    """Return the AUC with which features tell members, without learning from those it asks."""
    if find_spec("sklearn") is None:
        return None
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (slow to import, an extra)

    keys = _keys(features, np.zeros(len(features), np.int64))
    fold = (keys % _FOLDS).astype(int)
    scores = np.full(len(is_member), 0.5)
    for one in range(_FOLDS):
        learnt = is_member[fold != one]
        if learnt.all() or not learnt.any() or not (fold == one).any():
            continue
        forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
        forest.fit(features[fold != one], learnt)
        scores[fold == one] = forest.predict_proba(features[fold == one])[:, 1]
    order = order_of(scores)
    return area_under(curve(scores[order], is_member[order]))


def _different_columns(
    columns: Mapping[str, NDArray[Any]], is_member: NDArray[np.bool_]
) -> Iterator[str]:
    chances = {name: _chance(values, is_member) for name, values in columns.items()}
    found = sorted(
        (chance, name) for name, chance in chances.items() if chance * len(chances) < _LEVEL
    )
    if found:
        names = listed([name for _, name in found[:_FOLDS]])
        more = f" and {len(found) - _FOLDS} more" if len(found) > _FOLDS else ""
        yield (
            f"Members and others are distributed differently in {names}{more} (at 5% over "
            f"{len(chances):,} columns)."
        )


def _chance(values: NDArray[Any], is_member: NDArray[np.bool_]) -> float:
    """Return how likely two sides of one kind would differ as much in a column."""
    from scipy.stats import chi2_contingency, ks_2samp  # noqa: PLC0415 (slow to import)

    known, codes = np.unique(values, return_inverse=True)
    if len(known) == 1:
        return 1.0
    if len(known) > _MOST_VALUES:
        return float(ks_2samp(values[is_member], values[~is_member]).pvalue)
    sides = [np.bincount(codes[side], minlength=len(known)) for side in (is_member, ~is_member)]
    return float(chi2_contingency(np.stack(sides)).pvalue)


# -- columns as they were before they became features ---------------------------------------------


@dataclass(frozen=True)
class _Column:
    name: str
    features: slice
    is_coded: bool


def _columns(records: Records) -> Iterator[_Column]:
    """Yield the columns of the records; each feature by itself where they are an array."""
    start = 0
    for one in records.encoding:
        end = start + one.width
        if one.width == 1 or one.kind == "one-hot":
            yield _Column(one.name, slice(start, end), one.width > 1)
        else:
            for number in range(one.width):
                place = slice(start + number, start + number + 1)
                yield _Column(f"{one.name} {number}", place, is_coded=False)
        start = end


def _values(column: _Column, features: NDArray[Any]) -> NDArray[Any]:
    """Return one figure for each record: a feature, or which of several it has."""
    own = features[:, column.features]
    if not column.is_coded:
        return own[:, 0].astype(np.float64)
    # What has none of the values that are known is one more.
    codes: NDArray[Any] = np.where(own.any(axis=1), own.argmax(axis=1), own.shape[1])
    return codes


def _some(rows: Rows, most: int) -> Rows:
    """Return rows, so many of them at most, drawn in a way that is always the same."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).permutation(rows)[:most])
