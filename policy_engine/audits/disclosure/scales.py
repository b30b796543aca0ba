"""Columns on the scales of an intruder: numbers in standard deviations, categories as equal or
not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.linkage.code_sets import fits, set_distances
from policy_engine.kernels.linkage.column_likelihood import CellTransitions, ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]

_HEAVY = 20.0
"""A standard deviation so many times as large as the others have it is that of a few values: that
of incomes and the like is up to fifteen times as large."""
_NORMAL_HALF = 1.3489795
"""The width of the half of a normal distribution around its mean, in standard deviations."""
_LINEAR = 100.0
"""Up to so many deviations, scores of values far out are in proportion; beyond, logarithms are."""
_IMPOSSIBLE = 10.0
"""How far a missing cell is from a value where missing cells stay so; elsewhere, as far as another
category."""


@dataclass(frozen=True)
class Dispersion:
    """What numbers differ by: their standard deviation, if it is not that of a few of them.

    Else it `is_robust`: the width of the shortest interval with half of the values, as a normal
    distribution has it in standard deviations, and the middle is the median within it. Of a value
    that half of them have, both are those of the others.
    """

    middle: float
    deviation: float
    is_robust: bool = False


def dispersion_of(numbers: Floats) -> Dispersion:
    """Return what numbers differ by, nan being none; of a single value, 0."""
    return dispersions(numbers)[-1]


def dispersions(numbers: Floats, heavy: float = _HEAVY) -> list[Dispersion]:
    """Return the standard deviation of numbers, and the robust one if it is `heavy` times it."""
    present = np.sort(numbers[~np.isnan(numbers)])  # so that their order changes no last digit
    if not len(present):
        return [Dispersion(0.0, 0.0)]
    plain = Dispersion(float(present.mean()), float(present.std()))
    robust = _shortest_half(present)
    return [plain, robust] if plain.deviation > heavy * robust.deviation > 0 else [plain]


def _shortest_half(ordered: Floats) -> Dispersion:
    half = -(-len(ordered) // 2)
    widths = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    start = int(np.argmin(widths))
    middle, width = float(np.median(ordered[start : start + half])), float(widths[start])
    others = ordered[ordered != middle]
    if width == 0 and len(others):
        return _shortest_half(others)
    return Dispersion(middle, width / _NORMAL_HALF, is_robust=True)


@dataclass(frozen=True)
class ColumnScale:
    """Numbers as deviations from a middle, which keep their order."""

    dispersion: Dispersion

    def scores(self, numbers: Floats) -> Floats:
        """Return them as deviations, nan where there is none."""
        scores = (numbers - self.dispersion.middle) / (self.dispersion.deviation or 1.0)
        if not self.dispersion.is_robust:
            return np.asarray(scores)
        sizes = np.maximum(np.abs(scores), _LINEAR)
        far = np.sign(scores) * _LINEAR * (1 + np.log(sizes / _LINEAR))
        return np.where(np.abs(scores) > _LINEAR, far, scores)


def scales(column: KnownColumn) -> tuple[ColumnScale, ColumnScale]:
    """Return the scales of the known and of the released numbers: each file by itself, as an
    intruder does who has both."""
    before, after = column.known_numbers()[column.present], column.released_numbers()[0]
    known_ones, released_ones = dispersions(before), dispersions(after)
    own, released = known_ones[-1], released_ones[-1]
    if own.is_robust != released.is_robust:  # as where noise is as wide as a few values
        own, released = known_ones[0], released_ones[0]
    if not released.deviation:
        released = Dispersion(released.middle, own.deviation, is_robust=own.is_robust)
    return ColumnScale(own), ColumnScale(released)


def standardised(
    column: KnownColumn, *, scale_by_original: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return the known and the released numbers on their scales, and the variances.

    A generalised cell is the mean of its values, with their variance, (records,); a missing value
    is 0, and told apart by `gaps`.
    """
    known_values, (released, variance) = column.known_numbers(), column.released_numbers()
    before, after = scales(column)
    after = before if scale_by_original else after
    variance = variance / (after.dispersion.deviation or 1.0) ** 2
    return _filled(before.scores(known_values)), _filled(after.scores(released)), variance


def _filled(scores: Floats) -> Floats:
    return np.where(np.isnan(scores), 0.0, scores)


def gaps(column: KnownColumn) -> tuple[Floats, Floats, Floats] | None:
    """Return how far missing cells are from others, as numbers on a further axis, and variances.

    None where that says nothing: none is missing, or missing is one category of others. A cell
    that may be missing among others is the mean of these cases.
    """
    if not column.has_missing or not (column.is_number or column.keeps_missing):
        return None
    far = _IMPOSSIBLE if column.keeps_missing else 1.0
    is_missing = np.zeros(column.after.size)
    is_missing[0] = 1.0
    shares = column.after.means(is_missing)[column.after.cell_of]
    return far * is_missing[column.before], far * shares, far**2 * shares * (1 - shares)


def are_points(files: TwoFiles) -> bool:
    """Tell whether persons and records are points: one number in every column."""
    return all(one.is_point for one in files.columns)


def points(files: TwoFiles, *, scale_by_original: bool = False) -> tuple[Floats, Floats]:
    """Return persons and records as points, (persons, axes) and (records, axes): the columns, each
    file on its own scales or both on those of the original, and then the gaps."""
    columns = files.columns
    parts = [standardised(one, scale_by_original=scale_by_original) for one in columns]
    parts += [one for one in map(gaps, columns) if one is not None]
    known_values, released, _ = zip(*parts, strict=True)
    return np.column_stack(known_values), np.column_stack(released)


def distance_columns(
    column: KnownColumn, *, scale_by_original: bool = False
) -> list[ColumnLikelihood]:
    """Return a column whose log-likelihoods are minus half of expected squared distances.

    Those of numbers are in standard deviations, of each file or of the original. Two categories are
    at the distance 1, if they differ; a cell of several is at the share of its values that differ.
    Missing cells are told apart by a column of their own.
    """
    if column.is_number:
        values = _normal(*standardised(column, scale_by_original=scale_by_original))
    else:
        values = _categories(column)
    missing = gaps(column)
    return [values] if missing is None else [values, _normal(*missing)]


def _normal(known_values: Floats, released: Floats, variance: Floats) -> ColumnLikelihood:
    bonus = -variance / 2 if variance.any() else None
    return ColumnLikelihood("normal", known_values, released, bonus=bonus)


def differences(column: KnownColumn) -> Floats:
    """Return how far every person is from every record, (persons, records).

    The squares are those of `distance_columns`; those of numbers are signed.
    """
    if not column.is_number:
        return np.asarray(np.sqrt(-2 * log_likelihoods(distance_columns(column))))
    known_values, released, variance = standardised(column)
    apart = known_values[:, np.newaxis] - released
    missing = gaps(column)
    if missing is None and not variance.any():
        return np.asarray(apart)
    squares = apart**2 + variance
    if missing is not None:
        squares += (missing[0][:, np.newaxis] - missing[1]) ** 2 + missing[2]
    return np.where(apart < 0, -1.0, 1.0) * np.sqrt(squares)


def _categories(column: KnownColumn) -> ColumnLikelihood:
    """Return a column of categories by the share of a cell's values that differ."""
    spread, size = column.after, column.after.size
    if not spread.is_exact and fits(column.before, spread):
        return set_distances(column.before, spread)
    first = spread.low[spread.starts[:-1]][spread.cell_of].astype(np.int64)
    ends = np.maximum.reduceat(spread.high, spread.starts[:-1])
    last = ends[spread.cell_of].astype(np.int64) - 1
    known_codes = column.before.astype(np.int64)
    table = CellTransitions(
        np.zeros(size), np.arange(size + 1, dtype=np.int64), np.full(size, -0.5), known_codes,
        known_codes, first, last,
    )  # fmt: skip
    middle = (first + last) / 2.0
    return ColumnLikelihood(
        "transitions", known_codes.astype(np.float64), middle, transitions=table
    )
