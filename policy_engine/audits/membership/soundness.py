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
from policy_engine.audits.membership.nearness import again, nearly_again
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
_SAMPLE = 4000
_SIDE = 1500
_FOLDS = 5
_LEVEL = 0.05
_DRAWS = 4
"""How often the sides are drawn for each that may differ as much by chance."""
_FEWEST_DRAWS = 5_000
_BLOCK = 10_000
_ENOUGH = 10
"""Of values that so many ought to have on either side chi squared holds."""
_ROUNDING = 1e-9
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
    """Yield how many members stand there again as they were read, or but for last digits."""
    exact = _keys(records.features, np.stack([records.labels, _as_read(records, _READ)], axis=1))
    same = again(exact, splits)
    digits = np.zeros_like(same)
    for keys in _near_keys(records, records.labels):
        digits |= again(keys, splits) & ~same
    said = _as_read(records, _WORDS) * len(records.classes) + records.labels
    nearly, cells = nearly_again(records, splits, said, same)
    near = digits | nearly
    found = int((same | near).any(axis=0).sum())
    if found >= max(_TOLD * same.shape[1], 1):
        grid = f" Numbers count as the same within 1/{cells} of their column's deviation."
        yield f"{_repeated(same, near, exact)}{'' if (near == digits).all() else grid}"


def _repeated(same: NDArray[np.bool_], near: NDArray[np.bool_], exact: NDArray[np.uint64]) -> str:
    members = f" of the {same.shape[1]:,} members stand"
    judged, pool = (
        [(int(one.sum()), how) for one, how in zip(side, _HOW, strict=True) if one.any()]
        for side in zip(same, near, strict=True)
    )
    (count, how), *digits = judged or [(0, _HOW[not same.any()])]
    more = f", and {digits[0][0]:,} {digits[0][1]}," if digits else ""
    also = " and ".join(f"{count:,} {how}" for count, how in pool)
    also = also and f", and {also} among the records that the shadow models are trained on"
    different = f" Of {len(exact):,} records {len(np.unique(exact)):,} are different."
    return (
        f"{count:,}{members} {how}{more} among the judged records that are to be no members{also}."
        f"{different if same.any() else ''} Who stands on both sides cannot be told, so attacks "
        "find fewer than they would among different records: leave repetitions out."
    )


_HOW = ("word for word", "but for last digits of numbers")


def _near_keys(records: Records, labels: NDArray[np.int64]) -> Iterator[NDArray[np.uint64]]:
    """Yield numbers that records share which are the same but for last digits of numbers.

    Numbers are rounded at two places, so that no two lie on two sides of every boundary; texts
    are as they were read.
    """
    said = np.stack([labels, _as_read(records, _TEXTS)], axis=1)
    if records.features.dtype == np.uint8:
        yield _keys(records.features, said)
        return
    scale = np.maximum(records.features.std(axis=0, dtype=np.float64), _LEAST) / _NEAR
    steps = records.features / scale
    for shift in (0.0, 0.5):
        yield _keys(np.round(steps + shift), said)


def _as_read(records: Records, kinds: frozenset[str]) -> NDArray[np.int64]:
    """Return a number for each record, the same where all columns of some kinds are read so, (n,).

    Features are not what was read: rare texts share one, and numbers lose digits.
    """
    found = np.zeros(len(records), np.int64)
    for one in records.encoding:
        if one.kind in kinds and one.name in records.columns:
            codes = _codes(records.columns[one.name])
            found = np.unique(found * (codes.max() + 1) + codes, return_inverse=True)[1]
    return found


_WORDS = frozenset({"one-hot"})
_TEXTS = _WORDS | {"levels"}
_READ = _TEXTS | {"number"}


def _codes(texts: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return a number for each text; texts of one number have one, however it is written."""
    codes: dict[str, int] = {}
    rows = np.array([codes.setdefault(text, len(codes)) for text in texts.tolist()], np.int64)
    try:
        numbers = np.array([float(text) for text in codes])
    except ValueError:
        return rows
    return np.unique(numbers, return_inverse=True)[1][rows]


def _keys(features: NDArray[Any], said: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each record, the same for those that are the same."""
    rows = np.ascontiguousarray(features + features.dtype.type(0))  # -0.0 is 0.0
    whole = rows.view(np.uint8).reshape(len(rows), -1) if rows.size else rows
    found = [
        blake2b(row.tobytes() + more.tobytes(), digest_size=8).digest()
        for row, more in zip(whole, said, strict=True)
    ]
    return np.frombuffer(b"".join(found), np.uint64)


# -- labels that the features contain -------------------------------------------------------------


def _labels_in_features(records: Records) -> Iterator[str]:
    rows = _some(np.arange(len(records)), _SAMPLE)
    features, labels = records.features[rows], records.labels[rows]
    rare = 1 - np.bincount(labels).max() / len(labels)
    half = _half(records)[rows]
    telling = [
        (one.name, wrong)
        for one in _columns(records)
        if (wrong := _errors(_read_values(one, records, rows), labels, half, coded=one.is_coded))
        <= min(_ERRORS, rare / _GAIN)
    ]
    if telling:
        names = listed([name for name, _ in telling[:_FOLDS]])
        right = 1 - min(wrong for _, wrong in telling)
        yield _contained(f"{names} alone", right)
    else:
        bits = [one for one in _columns(records) if _are_bits(one, features)]
        yield from _indicated({one.name: _values(one, features) for one in bits}, labels)


def _contained(names: str, right: float) -> str:
    return (
        f"The label follows from {names}, in {right:.1%} of cases: the features contain it. A "
        "model that reads it off learns nothing else, and an audit of that model says nothing of "
        "one that is of use."
    )


def _half(records: Records) -> NDArray[np.bool_]:
    """Return a half of the records, (n,), in which a record stands with all its repetitions."""
    keys = next(_near_keys(records, np.zeros(len(records), np.int64)))
    return np.asarray(keys % 2 == 0)


def _errors(
    values: NDArray[Any], labels: NDArray[np.int64], half: NDArray[np.bool_], *, coded: bool
) -> float:
    """Return how often a label is not what a column's value says, learnt from the other half.

    Of a text that the other half does not have nothing is said; 1 where most are such.
    """
    wrong, asked = 0, 0
    for known in (half, ~half):
        where = ~known & np.isin(values, values[known]) if coded else ~known
        if known.any() and where.any():
            said = _told(values[known], labels[known], values[where])
            wrong += int((said != labels[where]).sum())
            asked += int(where.sum())
    return wrong / asked if 2 * asked >= len(labels) else 1.0


def _indicated(bits: Mapping[str, NDArray[Any]], labels: NDArray[np.int64]) -> Iterator[str]:
    """Yield that there is a column of 0 and 1 for each class, but one, that says whether it is."""
    classes = np.eye(int(labels.max()) + 1)[labels]
    if not bits or classes.shape[1] <= 2:
        return
    told = np.stack(list(bits.values()), axis=1)
    differ = told.sum(axis=0)[:, None] + classes.sum(axis=0) - 2 * told.T @ classes
    wrong = np.minimum(differ, len(labels) - differ) / len(labels)
    shares = classes.mean(axis=0)
    least = np.minimum(_ERRORS, np.minimum(shares, 1 - shares) / _GAIN)
    found = np.flatnonzero((wrong.min(axis=0) <= least) & (shares > 0))
    if len(found) >= (shares > 0).sum() - 1 >= 1:
        columns = [list(bits)[place] for place in wrong.argmin(axis=0)[found].tolist()]
        right = 1 - float(wrong.min(axis=0)[found].sum())
        yield _contained(f"{listed(columns[:_FOLDS])} together", right)


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
    chances = {name: _chance(values, is_member, len(columns)) for name, values in columns.items()}
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


def _chance(values: NDArray[Any], is_member: NDArray[np.bool_], among: int) -> float:
    """Return how likely two sides of one kind would differ as much in a column, one among so many.

    Where few have a value and chi squared says that the sides differ, they are drawn anew, time and
    again, and how often they then differ as much counts: its law is of many.
    """
    from scipy.stats import chi2_contingency, ks_2samp  # noqa: PLC0415 (slow to import)

    known, codes = np.unique(values, return_inverse=True)
    if len(known) == 1:
        return 1.0
    if len(known) > _MOST_VALUES:
        return float(ks_2samp(values[is_member], values[~is_member]).pvalue)
    sides = [np.bincount(codes[side], minlength=len(known)) for side in (is_member, ~is_member)]
    found = chi2_contingency(np.stack(sides), correction=False)
    if found.pvalue * among >= _LEVEL or found.expected_freq.min() >= _ENOUGH:
        return float(found.pvalue)
    return _drawn(sides[0], sides[0] + sides[1], among)


def _drawn(members: NDArray[np.int64], all_of_them: NDArray[np.int64], among: int) -> float:
    """Return how often members drawn by lot would differ from the whole as much or more."""
    draws = max(int(_DRAWS * among / _LEVEL), _FEWEST_DRAWS)
    random, size = np.random.default_rng(0), int(members.sum())
    expected = all_of_them * (size / all_of_them.sum())
    seen, as_much = float(((members - expected) ** 2 / expected).sum()), 0
    for start in range(0, draws, _BLOCK):
        count = min(_BLOCK, draws - start)
        others = random.multivariate_hypergeometric(all_of_them, size, count, method="marginals")
        differ = ((others - expected) ** 2 / expected).sum(axis=1)
        as_much += int((differ >= seen * (1 - _ROUNDING)).sum())
    return (as_much + 1) / (draws + 1)


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


def _read_values(column: _Column, records: Records, rows: Rows) -> NDArray[Any]:
    """Return one figure for each of some records, of texts another for each that was read."""
    if column.is_coded and column.name in records.columns:
        return _codes(records.columns[column.name][rows])
    return _values(column, records.features[rows])


def _are_bits(column: _Column, features: NDArray[Any]) -> bool:
    return not column.is_coded and bool(np.isin(features[:, column.features], (0, 1)).all())


def _some(rows: Rows, most: int) -> Rows:
    """Return rows, so many of them at most, drawn in a way that is always the same."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).permutation(rows)[:most])
