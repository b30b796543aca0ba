"""Rows of tables as points: a feature per category, and numbers in deviations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import AuditedColumn, Floats, Ints, Material
from policy_engine.kernels.generative.folded_categories import FEATURES, feature_of

_FAR = 50.0
"""In deviations: farther out numbers are hardly farther apart, so that one column cannot swamp the
others."""


@dataclass(frozen=True, eq=False)
class _Categories:
    """The rank of each code, (texts + 1,), the commonest first: the last is of what is missing."""

    ranks: Ints
    width: int

    @classmethod
    def fit(cls, values: Floats, column: AuditedColumn) -> "_Categories":
        codes = len(column.texts) + 1
        counts = np.bincount(values.astype(np.int64) % codes, minlength=codes)
        ranks = np.empty(codes, np.int64)
        ranks[np.argsort(-counts, kind="stable")] = np.arange(codes)
        return cls(ranks, min(codes, FEATURES))

    @property
    def is_wide(self) -> bool:
        """Whether some share a feature, and are told apart by their ranks."""
        return len(self.ranks) > FEATURES

    def ranks_of(self, values: Floats) -> Ints:
        return self.ranks[values.astype(np.int64)]

    def write(self, values: Floats, features: NDArray[np.float32]) -> None:
        # Two categories are then 1 apart.
        ranks = self.ranks_of(values)
        places = feature_of(ranks) if self.is_wide else ranks
        features[np.arange(len(values)), places] = np.sqrt(0.5)


@dataclass(frozen=True)
class _Numbers:
    """Halves of the mean and of the deviation: those of large numbers do not overflow."""

    mean: float
    deviation: float
    width: int = 2

    @classmethod
    def fit(cls, values: Floats) -> "_Numbers":
        finite = values[np.isfinite(values)].astype(np.float64)
        if not len(finite):
            return cls(0.0, 0.5)
        halves = without_outliers(finite) / 2
        middle = float(np.median(halves))
        away = halves - middle
        # Of small numbers the squares would be 0, of large ones infinite.
        reach = float(np.abs(away).max())
        if not reach:
            return cls(middle, 0.5)
        shares = away / reach
        return cls(middle + reach * float(shares.mean()), reach * float(shares.std()))

    def write(self, values: Floats, features: NDArray[np.float32]) -> None:
        is_missing = ~np.isfinite(values)
        halves = np.where(is_missing, self.mean, values.astype(np.float64) / 2)
        with np.errstate(over="ignore"):
            deviations = (halves - self.mean) / self.deviation
        size = np.abs(deviations)
        beyond = _FAR + 1 - _FAR / np.maximum(size, _FAR)
        near = np.where(size > _FAR, np.copysign(beyond, deviations), deviations)
        # Two deviations are 1 apart, as two categories are.
        features[:, 0] = near / 2
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
    one of its own. The ranks of categories that share features are the last columns of points.
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
        width = sum(one.width for one in self.columns)
        points = np.zeros((len(values), width + self.ranks), np.float32)
        start, rank = 0, width
        for place, column in enumerate(self.columns):
            column.write(values[:, place], points[:, start : start + column.width])
            start += column.width
            if isinstance(column, _Categories) and column.is_wide:
                points[:, rank] = column.ranks_of(values[:, place])
                rank += 1
        return points

    @property
    def ranks(self) -> int:
        """How many columns have so many categories that some share features."""
        return sum(isinstance(one, _Categories) and one.is_wide for one in self.columns)
