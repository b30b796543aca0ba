"""A column that was drawn by a published matrix, with the likeliest values before drawing."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.utility.categories import Transitions
from policy_engine.kernels.spread import exact

Floats = NDArray[np.float64]


def undrawn(column: KnownColumn, drawn: Transitions | None) -> Iterator[KnownColumn]:
    """Yield the column with the categories that most probably became those released.

    Beforehand, all categories are equally probable, or as frequent as inverting the matrix tells.
    Nothing where that changes nothing, or nobody knows how the column was drawn.
    """
    if drawn is None or not column.is_exact:
        return
    code_of = {str(label): code for code, label in enumerate(column.labels)}
    matrix = np.array(drawn.matrix)
    released = column.released_codes()
    counts = np.bincount(released, minlength=len(column.labels))
    known_places = [place for place, label in enumerate(drawn.categories) if label in code_of]
    codes = np.array([code_of[drawn.categories[place]] for place in known_places], dtype=np.int64)
    part = matrix[np.ix_(known_places, known_places)]
    as_it_is = np.arange(len(column.labels))
    earlier = [as_it_is]
    for before in (np.ones(len(codes)), _inverted(part, counts[codes])):
        likeliest = as_it_is.copy()
        likeliest[codes] = codes[(before[:, None] * part).argmax(axis=0)] if len(codes) else codes
        if not any(np.array_equal(likeliest, one) for one in earlier):
            earlier.append(likeliest)
            yield replace(column, after=exact(likeliest[released], len(column.labels)))


def _inverted(matrix: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return how frequent the categories were before, (categories,), none below 0."""
    frequencies: Floats = np.maximum(np.linalg.lstsq(matrix.T, counts, rcond=None)[0], 0.0)
    return frequencies
