"""Records disturbed a little, to see how sure a model is in their neighbourhood."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.result import EncodedColumn

STRENGTHS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""How far numbers are moved, in deviations of their column."""
EACH = 4
"""How many views there are of each strength."""
_CHANGED = 0.25
"""The share of bits that are flipped, and of values that are drawn again, at strength 1."""
_VIEW = 31


def view_strengths() -> tuple[float, ...]:
    """Return the strength of every view, the weakest first."""
    return tuple(strength for strength in STRENGTHS for _ in range(EACH))


def disturbed_views(
    features: NDArray[Any], encoding: Sequence[EncodedColumn], seed: int
) -> Iterator[NDArray[Any]]:
    """Yield the features (n, d) disturbed with each strength, the same for every model asked."""
    for number, strength in enumerate(view_strengths()):
        random = np.random.default_rng([seed, _VIEW, number])
        yield disturb(features, encoding, strength, random)


def disturb(
    features: NDArray[Any],
    encoding: Sequence[EncodedColumn],
    strength: float,
    random: np.random.Generator,
) -> NDArray[Any]:
    """Return features (n, d) with normal noise on numbers, and other values in some places.

    Bits flip, and a column of one feature per value takes that of a record drawn at random, each
    with a quarter of the probability `strength` (Choquette-Choo et al., ICML 2021, section 4.3).
    """
    disturbed, start = features.copy(), 0
    for column in encoding:
        part = slice(start, start + column.width)
        disturbed[:, part] = _disturb_column(column, features[:, part], strength, random)
        start += column.width
    return disturbed


def _disturb_column(
    column: EncodedColumn, part: NDArray[Any], strength: float, random: np.random.Generator
) -> NDArray[Any]:
    probability, disturbed = _CHANGED * strength, part.copy()
    if column.kind == "one-hot":
        rows = np.flatnonzero(random.random(len(part)) < probability)
        disturbed[rows] = part[random.integers(0, len(part), len(rows))]
    elif part.dtype == np.uint8 and part.max(initial=0) <= 1:
        is_flipped = random.random(part.shape) < probability
        disturbed[is_flipped] = 1 - part[is_flipped]
    else:
        shifted = part + strength * part.std(axis=0) * random.normal(size=part.shape)
        if np.issubdtype(part.dtype, np.integer):
            limits = np.iinfo(part.dtype)
            shifted = np.clip(np.rint(shifted), limits.min, limits.max)
        disturbed[:] = shifted
    return disturbed
