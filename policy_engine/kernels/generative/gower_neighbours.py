"""The samples that are nearest to records of a table, by Gower's distance.

Gower: A general coefficient of similarity and some of its properties, Biometrics 27(4), 1971.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 256
"""Samples whose distances are computed at once: with their columns they fit into a cache."""
_FAR, _MISSING = 1e200, 1e300
"""What numbers are bounded by, and what stands for a missing one: 1 or more from any other."""


class GowerNeighbours(NamedTuple):
    """The `rows` of the samples nearest to each record, (records, k), and how far away each is.

    The nearest comes first; of equally near ones, the row that comes first.
    """

    rows: Ints
    distances: Floats


def nearest_samples(
    records: Floats, samples: Floats, widths: Floats, k: int = 1
) -> GowerNeighbours:
    """Return the k samples nearest to each record.

    `records` (records, columns) and `samples` (samples, columns) have numbers, nan where one is
    missing, and codes of categories. The distance, from 0 to 1, is the mean over the columns of
    |a - b| / width, 1 at most; where the width (columns,) is 0, as for categories, it is 0 of
    equal values and 1 of others. A missing value is equal to a missing one, and 1 from any other.
    Raises ValueError if there are fewer samples than k.
    """
    if not 1 <= k <= len(samples):
        raise ValueError(f"there are no {k} nearest of {len(samples)} samples")
    distances = np.full((len(records), k), np.inf)
    rows = np.zeros((len(records), k), dtype=np.int64)
    sides = zip(records.T, samples.T, widths.tolist(), strict=True)
    places = [_placed(one, other, width) for one, other, width in sides]
    record_places, sample_places = (np.array(side) for side in zip(*places, strict=True))
    targets = np.ascontiguousarray(record_places.T)
    scales = 1 / np.where(widths > 0, np.frexp(widths)[0], 1.0)
    _find(sample_places, targets, scales, np.empty(_BLOCK), distances, rows)
    return GowerNeighbours(rows, distances / len(widths))


def _placed(records: Floats, samples: Floats, width: float) -> tuple[Floats, Floats]:
    """Return numbers of which missing ones are far away, or numbers for the values of a column."""
    values = np.concatenate([records, samples])
    if width > 0:
        # By a power of two, so that equal values alone stay equal; differences are scaled by the
        # rest.
        with np.errstate(over="ignore"):
            scaled = np.ldexp(values, -int(np.frexp(width)[1]))
        places = np.where(np.isnan(values), _MISSING, np.clip(scaled, -_FAR, _FAR))
    else:
        places = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.float64)
    return places[: len(records)], places[len(records) :]


@compiled
def _find(samples, targets, scales, sums, distances, rows):  # type: ignore[no-untyped-def]
    """Keep the least distances of targets (targets, columns) from samples (columns, samples)."""
    columns, count = samples.shape
    last = distances.shape[1] - 1
    for target in range(len(targets)):
        for start in range(0, count, len(sums)):
            size = min(len(sums), count - start)
            for sample in range(size):
                sums[sample] = 0.0
            for column in range(columns):
                places = samples[column, start : start + size]
                _add(places, targets[target, column], scales[column], sums)
            for sample in range(size):
                if sums[sample] < distances[target, last]:
                    _insert(distances[target], rows[target], sums[sample], start + sample)
            if distances[target, last] == 0:
                break


@compiled
def _add(places, place, scale, sums):  # type: ignore[no-untyped-def]
    for sample in range(len(places)):
        sums[sample] += min(1.0, abs(places[sample] - place) * scale)


@compiled
def _insert(distances, rows, distance, row):  # type: ignore[no-untyped-def]
    at = len(distances) - 1
    while at > 0 and distances[at - 1] > distance:
        distances[at], rows[at] = distances[at - 1], rows[at - 1]
        at -= 1
    distances[at], rows[at] = distance, row
