"""Whether the files of an audit of a generator fit together: kinds, codes, scales and classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.columns import BySide, ReadColumn, Texts, is_number
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.record_marks import record_marks
from policy_engine.errors import Problem, format_count, join_names

_ORIGINALS = ("members", "holdout")
_HARDLY = 0.05
"""Where a smaller share lies in the range of the others, the scales may be two."""
_SCALES = 20.0
"""Ranges of arrays are on one scale if none is so many times as wide as another."""
_BYTE = 255


def misfits(columns: Sequence[ReadColumn]) -> Iterator[Problem]:
    """Yield the columns whose values on one side are of another code or scale (A031)."""
    for one in columns:
        yield from (_other_ranges if one.column.is_number else _other_codes)(one)


def _known(texts: Texts) -> set[str]:
    return {text for text in texts[1] if text is not None}


def _original(by_side: BySide) -> set[str]:
    return {text for side in _ORIGINALS for text in _known(by_side[side])}


def _other_codes(one: ReadColumn) -> Iterator[Problem]:
    name, by_side = one.column.name, one.texts
    if "synthetic" not in by_side:
        return
    values, own = _original(by_side), _known(by_side["synthetic"])
    if own and values and not own & values and _chance_of_none(one) < _HARDLY_CHANCE:
        message = f"No synthetic value of {name!r} is one of the members or of the holdout."
        yield Problem("A031", message, "Are its categories coded in another way?")
        return
    plain = {_plain(text): text for text in values}
    other = sorted(text for text in own - values if _plain(text) in plain)
    if other:
        message = (
            f"The synthetic records write {format_count(len(other), 'value')} of {name!r} in "
            "another way than the members or the holdout."
        )
        hint = "Write equal values alike in all files: case, blanks and zeros in front count."
        pair = other[0], plain[_plain(other[0])]
        yield Problem("A031", message, hint, values=pair)


def _chance_of_none(one: ReadColumn) -> float:
    """Return how probable it is that no synthetic value is a member's, by how many of the holdout
    are: of names, that nobody shares, none is expected to be."""
    members, holdout, synthetic = (one.values[side] for side in (*_ORIGINALS, "synthetic"))
    present = holdout[holdout >= 0]
    if not len(present):
        return 1.0
    shared = float(np.isin(present, members).mean())
    return float((1 - shared) ** int((synthetic >= 0).sum()))


_HARDLY_CHANCE = 1e-3


def _plain(text: str) -> str:
    """Return a text without what tells two ways of writing one value."""
    return text.strip().casefold().lstrip("0") or "0"


def _finite(values: NDArray[Any]) -> NDArray[np.float64]:
    finite: NDArray[np.float64] = values[np.isfinite(values)]
    return finite


def _ranges_by_side(
    one: ReadColumn,
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the numbers of members and holdout, and those of the other sides, where there are."""
    original = _finite(np.concatenate([one.values[side] for side in _ORIGINALS]))
    others = {
        side: _finite(values) for side, values in one.values.items() if side not in _ORIGINALS
    }
    return original, {side: own for side, own in others.items() if len(own) and len(original)}


def _other_ranges(one: ReadColumn) -> Iterator[Problem]:
    original, others = _ranges_by_side(one)
    for side, own in others.items():
        if _are_apart(own, original):
            message = (
                f"No number of {one.column.name!r} in the {side} records is in the range of those "
                "of the members and the holdout."
            )
            ranges = _range(own), _range(original)
            yield Problem("A031", message, "Are they on another scale?", values=ranges)


def _are_apart(one: NDArray[np.floating[Any]], other: NDArray[np.floating[Any]]) -> bool:
    return bool(one.min() > other.max() or one.max() < other.min())


def _range(numbers: NDArray[np.floating[Any]]) -> str:
    return f"{numbers.min():g} to {numbers.max():g}"


def scale_warnings(columns: Sequence[ReadColumn]) -> Iterator[str]:
    """Yield the columns of numbers whose range is hardly that of the members and the holdout, or
    that are distributed in another way than chance explains."""
    for one in columns:
        if not one.column.is_number:
            continue
        original, others = _ranges_by_side(one)
        for side, own in sorted(others.items()):
            if _shared_range(own, original) < _HARDLY:
                yield (
                    f"The numbers of {one.column.name!r} in the {side} records are hardly in the "
                    "range of those of the members and the holdout: if they are on another scale, "
                    "attacks do not find what is copied."
                )
            elif (distance := _distance(own, original)) > _most_distance(own, original):
                yield (
                    f"The numbers of {one.column.name!r} in the {side} records are distributed in "
                    "another way than those of the members and the holdout (shares of records up "
                    f"to some number differ by {distance:.0%}): if they are on another scale, "
                    "attacks do not find what is copied."
                )


def _distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the greatest difference of the shares of two samples up to any number: Kolmogorov's
    and Smirnov's distance, from 0 to 1."""
    numbers = np.concatenate([one, other])
    shares = [
        np.searchsorted(np.sort(own), numbers, side="right") / len(own) for own in (one, other)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def _most_distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the distance that is no reason for doubt: generators are not exact, and small samples
    are apart by chance, here with a probability of about one in a million (Smirnov 1939)."""
    by_chance = np.sqrt(np.log(2 / _RARE) / 2 * (1 / len(one) + 1 / len(other)))
    return max(_INEXACT, float(by_chance))


_RARE, _INEXACT = 1e-6, 0.15


def _shared_range(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the smaller share of either numbers that is in the range of the others."""
    shares = [
        float(((inner >= outer.min()) & (inner <= outer.max())).mean())
        for inner, outer in ((one, other), (other, one))
    ]
    return min(shares)


def new_categories(columns: Sequence[ReadColumn]) -> Iterator[str]:
    """Yield the columns in which the synthetic records have values that nobody has."""
    for one in columns:
        if one.column.is_number or "synthetic" not in one.texts:
            continue
        new = _known(one.texts["synthetic"]) - _original(one.texts)
        if new:
            yield (
                f"Neither members nor holdout have {format_count(len(new), 'synthetic value')} of "
                f"{one.column.name!r}."
            )


# -- classes ---------------------------------------------------------------------------------------


def class_order(name: str) -> tuple[bool, float, str]:
    """Return the place of a class among others: numbers by their value, then texts."""
    return (False, float(name), name) if is_number(name) else (True, 0.0, name)


def classes_without_samples(
    sets: Mapping[str, RecordSet], classes: Sequence[str]
) -> Iterator[Problem]:
    """Yield that records of a class cannot be compared, since no synthetic one is of it (A031)."""
    synthetic = sets.get("synthetic")
    audited = [one.labels for one in (sets["members"], sets["holdout"]) if one.labels is not None]
    if synthetic is None or synthetic.labels is None or not audited:
        return
    counts = np.bincount(np.concatenate(audited), minlength=len(classes))
    lacking = np.setdiff1d(np.flatnonzero(counts), synthetic.labels)
    if len(lacking):
        noun = "class has" if len(lacking) == 1 else "classes have"
        message = (
            f"{len(lacking):,} {noun} no synthetic record, and {counts[lacking].sum():,} members "
            "and records of the holdout."
        )
        hint = "Are classes written in another way? Else leave out these records, or the label."
        names = tuple(classes[place] for place in lacking)
        yield Problem("A031", message, hint, values=names)


# -- arrays ----------------------------------------------------------------------------------------


def precision_problems(features: Mapping[str, NDArray[Any]]) -> Iterator[Problem]:
    """Yield the sides whose numbers no float of 64 bits has, or that are as good as infinite, and
    that some are rounded so that records of others would be equal (A031)."""
    for side, one in features.items():
        with np.errstate(over="ignore", invalid="ignore"):
            is_exact = bool((one.astype(np.float64).astype(one.dtype) == one).all())
        if not is_exact:
            message = f"Some numbers of the {side} have more digits than floats of 64 bits."
            yield Problem("A031", message, "Subtract the same number from all, or divide them.")
        elif max(abs(float(one.min())), abs(float(one.max()))) > _LARGEST:
            message = f"Some values of the {side} are beyond {_LARGEST:g}."
            yield Problem("A031", message, "Give all on a scale near 1.")
    single = [side for side, one in features.items() if one.dtype in _SINGLE]
    for side, one in features.items():
        if single and one.dtype == np.float64:
            plain = RecordSet(side, one.reshape(len(one), -1))
            rounded = replace(plain, values=plain.values.astype(np.float32))
            if len({*record_marks(rounded).tolist()}) < len({*record_marks(plain).tolist()}):
                message = (
                    f"The {join_names(single)} are rounded to 32 bits, by which different records "
                    f"of the {side} are equal."
                )
                yield Problem("A031", message, "Save all with 64 bits.")


_LARGEST = 1e150
"""Squares of larger numbers are infinite."""
_SINGLE = (np.float16, np.float32)


def scaled_arrays(features: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.floating[Any]]]:
    """Return flat features, (n, d), bytes as shares of 255, all of 32 bits or all of 64.

    Bytes are shares where all sides are bytes, and where the others are floats from 0 to 1. What 32
    bits would round has 64, unless others are rounded already.
    """
    are_bytes = {side: one.dtype == np.uint8 for side, one in features.items()}
    others = [one for side, one in features.items() if not are_bytes[side]]
    are_shares = all(one.dtype.kind == "f" and one.min() >= 0 and one.max() <= 1 for one in others)
    wide = any(features[side].max() > 1 for side, is_bytes in are_bytes.items() if is_bytes)
    is_scaled = any(are_bytes.values()) and are_shares and wide
    is_rounded = is_scaled or any(one.dtype in _SINGLE for one in others)
    is_plain = is_rounded or all(map(_are_single, features.values()))
    kind: type[np.floating[Any]] = np.float32 if is_plain else np.float64
    return {
        side: one.reshape(len(one), -1).astype(kind)
        / kind(_BYTE if are_bytes[side] and is_scaled else 1)
        for side, one in features.items()
    }


def _are_single(values: NDArray[Any]) -> bool:
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


def array_scales(features: Mapping[str, NDArray[np.floating[Any]]]) -> Iterator[Problem]:
    """Yield the sides whose values are on another scale than the members' (A031)."""
    members = features["members"]
    for side, one in features.items():
        spans = [_span(values) for values in (members, one)]
        if not min(spans):
            continue
        if _are_apart(one, members) or max(spans) > _SCALES * min(spans):
            message = f"The values of the {side} are on another scale than those of the members."
            ranges = _range(one), _range(members)
            yield Problem("A031", message, "Give all on one scale.", values=ranges)


def _span(values: NDArray[np.floating[Any]]) -> float:
    """Return the width of all but a thousandth of the values on each end, so that no outlier
    stands for a scale."""
    flat = values.ravel()
    places = np.linspace(0, len(flat) - 1, min(len(flat), _VALUES)).astype(np.int64)
    low, high = np.quantile(flat[places], (0.001, 0.999))
    return float(high - low) or float(np.ptp(flat))


_VALUES = 500_000


def sample_misfits(material: Material, samples: RecordSet) -> Iterator[Problem]:
    """Yield the columns, or the arrays, that a model samples on another scale (A032)."""
    audited = material.audited.values
    if not material.is_table:
        for one in array_scales({"members": audited, "samples of the model": samples.values}):
            yield replace(one, code="A032")
        return
    for place, column in enumerate(material.columns):
        own, original = (
            one[np.isfinite(one)] for one in (samples.values[:, place], audited[:, place])
        )
        if len(own) and len(original) and _are_apart(own, original):
            message = (
                f"No number of {column.name!r} that the model samples is in the range of those of "
                "the members and the holdout."
            )
            ranges = _range(own), _range(original)
            yield Problem("A032", message, "Are they on another scale?", values=ranges)


def array_warnings(features: Mapping[str, NDArray[np.floating[Any]]]) -> Iterator[str]:
    """Yield the sides of which many values are outside the range of the members."""
    members = features["members"]
    for side, one in features.items():
        outside = float(((one < members.min()) | (one > members.max())).mean())
        if outside > _OUTSIDE:
            yield (
                f"{outside:.0%} of the values of the {side} are outside the range of the members: "
                "are they on another scale?"
            )


def feature_warnings(features: Mapping[str, NDArray[np.floating[Any]]]) -> Iterator[str]:
    """Yield the sides of which some features (n, d) are distributed in quite another way than those
    of the members and the holdout: each may have a scale of its own."""
    original = np.concatenate([features[side][:: _step(features[side])] for side in _ORIGINALS])
    for side in (side for side in features if side not in _ORIGINALS):
        own = features[side][:: _step(features[side])]
        pairs = [*zip(own.T, original.T, strict=True)]
        apart = sum(
            _distance(one, other) > max(_QUITE, _most_distance(one, other)) for one, other in pairs
        )
        if apart:
            yield (
                f"{apart:,} of {format_count(len(pairs), 'feature')} of the {side} are distributed "
                "in quite another way than those of the members and the holdout: if they are on "
                "another scale, attacks do not find what is copied."
            )


def _step(records: NDArray[Any]) -> int:
    """Return how far apart records are of which there are at most about 5,000."""
    return max(1, len(records) // 5_000)


_QUITE = 0.5
"""Of the many features of arrays, only what is as far away is told."""


_OUTSIDE = 0.2
