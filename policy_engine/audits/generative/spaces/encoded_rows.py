"""Rows of tables as points: a feature per category, and numbers in deviations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import AuditedColumn, Floats, Ints, Material

_MOST = 128
"""A column has no more features: its commonest categories have one each, others share the rest."""
_FAR = 50.0
"""In deviations: farther out all numbers are alike, so that one column cannot swamp the others."""


@dataclass(frozen=True, eq=False)
class _Categories:
    """The feature of each code, (texts + 1,): the last is of what is missing."""

    places: Ints
    width: int

    @classmethod
    def fit(cls, values: Floats, column: AuditedColumn) -> "_Categories":
        codes = len(column.texts) + 1
        counts = np.bincount(values.astype(np.int64) % codes, minlength=codes)
        ranks = np.empty(codes, np.int64)
        ranks[np.argsort(-counts, kind="stable")] = np.arange(codes)
        half = _MOST // 2
        folded = ranks if codes <= _MOST else np.where(ranks < half, ranks, half + ranks % half)
        return cls(folded, min(codes, _MOST))

    def write(self, values: Floats, features: NDArray[np.float32]) -> None:
        # Two categories are then 1 apart.
        places = self.places[values.astype(np.int64)]
        features[np.arange(len(values)), places] = np.sqrt(0.5)


@dataclass(frozen=True)
class _Numbers:
    mean: float
    deviation: float
    width: int = 2

    @classmethod
    def fit(cls, values: Floats) -> "_Numbers":
        finite = values[np.isfinite(values)].astype(np.float64)
        if not len(finite):
            return cls(0.0, 1.0)
        inner = without_outliers(finite)
        return cls(float(inner.mean()), float(inner.std()) or 1.0)

    def write(self, values: Floats, features: NDArray[np.float32]) -> None:
        is_missing = ~np.isfinite(values)
        reach = _FAR * self.deviation
        near = np.clip(
            np.where(is_missing, self.mean, values), self.mean - reach, self.mean + reach
        )
        # Two deviations are 1 apart, as two categories are.
        features[:, 0] = (near - self.mean) / self.deviation / 2
        features[:, 1] = is_missing


def without_outliers(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers brought within Tukey's outer fences: few that are wild decide no scale.

    Where most are the same, the fences are those of the distinct numbers.
    """
    for one in (numbers, np.unique(numbers)):
        # Halves do not overflow.
        low, high = np.quantile(one / 2, (0.25, 0.75))
        if high > low:
            reach = _FENCES * (high - low)
            largest = np.finfo(np.float64).max / 8
            ends = np.clip([low - reach, high + reach], -largest, largest)
            inner: NDArray[np.float64] = np.clip(numbers, *(2 * ends))
            return inner
    return numbers


_FENCES = 3.0


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Categories are 1 apart, and numbers half their distance in deviations of the public rows,
    whose outliers are drawn in.

    A missing number is the mean of its column and 1 apart from all others, a missing category is
    one of its own.
    """

    columns: tuple[_Categories | _Numbers, ...]
    notation: str = "encoded-rows"

    @classmethod
    def fit(cls, material: Material) -> "EncodedRows":
        """Return the space of a table's rows, by the public ones alone."""
        values = material.public.values
        return cls(
            tuple(
                _Numbers.fit(values[:, place])
                if column.is_number
                else _Categories.fit(values[:, place], column)
                for place, column in enumerate(material.columns)
            )
        )

    def apply(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return the points of rows (n, columns)."""
        points = np.zeros((len(values), sum(one.width for one in self.columns)), np.float32)
        start = 0
        for place, column in enumerate(self.columns):
            column.write(values[:, place], points[:, start : start + column.width])
            start += column.width
        return points
