"""Exact figures of the records in the files of a model."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.files.contents import Contents
from policy_engine.audits.membership.records import Records

Floats = NDArray[np.float64]
_DIGITS = 4
"""How many decimals a figure may have and be there by chance."""
_PARTS = 20
"""Which fractions are there by chance: values of sets of so few members, the middles between them,
and the means of columns that are generalised to one such set."""
_NEAR = 1e-6
_STEPS = 2
"""How many decimals rounded shares have."""
_CLOSE = 1e-7
_MOVED = 1e-4
_DECOYS = 1000
_RARELY = 1e-4
"""About how often chance alone may look like an exact figure: the rate of false positives."""


def exact_figures(records: Records) -> Floats:
    """Return means and variances of features, shares of classes, their logits and logarithms.

    Of all the records and of each class; those that are round numbers anyway, or fractions with a
    small denominator, are left out.
    """
    return np.unique(np.concatenate([_distinctive(one) for one in _all_figures(records)]))


def count_exact_figures(files: Iterable[Contents], exact: Floats) -> int:
    """Return how many exact figures files hold; 0 where chance explains that number.

    Among thousands of thresholds some match a figure up to rounding by chance. Their number is
    estimated by shifting the figures a little, up or down, a thousand times.
    """
    from scipy.stats import poisson  # noqa: PLC0415 (slow to import, an extra)

    arrays = [values for file in files for values in file.numbers]
    numbers = np.unique(np.concatenate(arrays)) if arrays else np.empty(0)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or not len(exact):
        return 0
    matches = _count_near(numbers, exact)
    shifts = np.linspace(_MOVED / 10, _MOVED, _DECOYS // 2)
    chance_matches = sum(
        _count_near(numbers, exact * (1 + sign * one)) for one in shifts for sign in (-1, 1)
    )
    expected = chance_matches / _DECOYS
    return matches if matches > (poisson.isf(_RARELY, expected) if expected else 0) else 0


def _count_near(numbers: Floats, figures: Floats) -> int:
    """Return how many figures are among rising numbers, but for rounding."""
    after = np.clip(np.searchsorted(numbers, figures), 1, max(len(numbers) - 1, 1))
    near = np.stack([numbers[after - 1], numbers[np.minimum(after, len(numbers) - 1)]])
    return int((np.abs(near - figures) <= _CLOSE * np.abs(figures)).any(axis=0).sum())


def holds_record_counts(files: Iterable[Contents], records: Records) -> bool:
    """Return whether files hold the number of records, or those of all classes together."""
    sizes = np.bincount(records.labels).astype(np.float64)
    for file in files:
        for values in file.numbers:
            if file.document is None and (
                len(records) in values or np.isin(sizes[sizes > 1], values).all()
            ):
                return True
    return False


def _all_figures(records: Records) -> Iterator[Floats]:
    features, labels = records.features.astype(np.float64), records.labels
    for own in (slice(None), *(labels == one for one in np.unique(labels))):
        part = features[own]
        yield part.mean(axis=0)
        yield part.var(axis=0)
        yield part.std(axis=0)
    shares = np.bincount(labels) / len(labels)
    shares = shares[shares > 0]
    yield shares
    if np.isclose(np.round(shares, _STEPS), shares, rtol=0, atol=1e-9).all():
        return  # as a report would round them
    yield np.log(shares)
    yield np.log(shares[1:] / shares[0])
    yield np.log(shares) - np.log(shares).mean()


def _distinctive(figures: Floats) -> Floats:
    finite: Floats = figures[np.isfinite(figures)]
    is_round = np.isclose(np.round(finite, _DIGITS), finite, rtol=0, atol=1e-9)
    parts = finite * np.arange(1, _PARTS + 1)[:, None]
    is_fraction = (np.abs(np.round(parts) - parts) <= _NEAR).any(axis=0)
    return finite[~(is_round | is_fraction)]
