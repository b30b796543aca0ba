"""Whether arrays read from a file are what samples say of some records, before they are used."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import RecordSet

Arrays = Mapping[str, NDArray[Any]]
_NUMBERS, _INTEGERS = "f", "iu"


def check_kept(arrays: Arrays, audited: RecordSet, fitting: RecordSet | None, most: int) -> None:
    """Raise ValueError unless arrays are those of `MonteCarlo.arrays`, of balls of at most so many
    radii; KeyError where one is missing.

    Files can be damaged or changed, and what cannot be is not gone on from.
    """
    if not _is(arrays["samples"], _INTEGERS, ()) or arrays["samples"] < 1:
        raise ValueError("samples")
    faults = [
        *_faults_of_records(arrays, audited),
        *_faults_of_growth(arrays, len(audited)),
        *(_faults_of_balls(arrays, len(audited), most) if "radii" in arrays else ()),
    ]
    if "reference_squares" in arrays:
        if fitting is None:
            raise ValueError("reference_squares")
        faults += _faults_of_squares(arrays, "reference_squares", len(fitting), fitting.labels)
    if "any_class_squares" in arrays:
        faults += _faults_of_squares(arrays, "any_class_squares", len(audited), None)
    if faults:
        raise ValueError(", ".join(faults))


def _is(array: NDArray[Any], kinds: str, shape: tuple[int, ...]) -> bool:
    return array.dtype.kind in kinds and array.shape == shape


def _faults_of_records(arrays: Arrays, audited: RecordSet) -> Iterator[str]:
    if not _is(arrays["copied"], "b", (len(audited),)):
        yield "copied"
    yield from _faults_of_squares(arrays, "squares", len(audited), audited.labels)


def _faults_of_squares(
    arrays: Arrays, name: str, records: int, labels: NDArray[np.int64] | None
) -> Iterator[str]:
    """Yield the name unless squares are finite, but for classes without any sample."""
    squares = arrays[name]
    if not _is(squares, _NUMBERS, (records, 1)) or not (squares >= 0).all():
        yield name
        return
    is_far = np.isinf(squares[:, 0])
    groups = np.zeros(records, np.int64) if labels is None else labels
    half_far = np.intersect1d(groups[is_far], groups[~is_far])
    if len(half_far) or is_far.all():
        yield name


def _faults_of_growth(arrays: Arrays, records: int) -> Iterator[str]:
    counts, scores = arrays["growth_samples"], arrays["growth_scores"]
    if not (counts.size or scores.size):
        return
    is_rising = _is(counts, _INTEGERS, (counts.size,)) and bool((np.diff(counts) > 0).all())
    if not (is_rising and counts.size and 0 < counts[0] <= counts[-1] <= arrays["samples"]):
        yield "growth_samples"
    if not (_is(scores, _NUMBERS, (counts.size, records)) and np.isfinite(scores).all()):
        yield "growth_scores"


def _faults_of_balls(arrays: Arrays, records: int, most: int) -> Iterator[str]:
    radii, rings = arrays["radii"], arrays["rings"]
    logarithms, compared = arrays["logarithms"], arrays["compared"]
    are_radii = _is(radii, _NUMBERS, (radii.size,)) and 0 < radii.size <= most
    if not (
        are_radii and np.isfinite(radii).all() and radii[0] > 0 and (np.diff(radii) >= 0).all()
    ):
        yield "radii"
    shape = records, radii.size
    if not (_is(logarithms, _NUMBERS, shape) and np.isfinite(logarithms).all()):
        yield "logarithms"
    are_counts = _is(compared, _INTEGERS, (records,)) and _is(rings, _INTEGERS, shape)
    if not (are_counts and (rings >= 0).all() and (rings.sum(axis=1) <= compared).all()):
        yield "rings"
    elif (compared > arrays["samples"]).any():
        yield "compared"
