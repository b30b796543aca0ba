"""Columns on the scales of an intruder: numbers in standard deviations, categories as equal or
not."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.linkage.column_likelihood import CellTransitions, ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import log_likelihoods

Floats = NDArray[np.float64]


def are_points(files: TwoFiles) -> bool:
    """Tell whether persons and records are points: one number in every column."""
    return all(one.is_number and one.is_exact for one in files.columns)


def points(files: TwoFiles, *, scale_by_original: bool = False) -> tuple[Floats, Floats]:
    """Return persons and records as points, (persons, columns) and (records, columns), each file
    in its own standard deviations, or both in those of the original."""
    scores = [standardised(one, scale_by_original=scale_by_original) for one in files.columns]
    known_values, released, _ = zip(*scores, strict=True)
    return np.column_stack(known_values), np.column_stack(released)


def standardised(
    column: KnownColumn, *, scale_by_original: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return the known and the released numbers in standard deviations, and the variances.

    Each file is standardised by itself, as an intruder does who has both, unless it is
    `scale_by_original`. A generalised cell is
    the mean of its values, with their variance, (records,); a missing value is the mean of all.
    """
    known_values = column.known_numbers()
    released, variance = column.released_numbers()
    mean, deviation = _moments(known_values[column.present])
    center, scale = (mean, deviation or 1.0) if scale_by_original else released_scale(column)
    scores = _filled((known_values - mean) / (deviation or 1.0))
    return scores, _filled((released - center) / scale), variance / scale**2


def released_scale(column: KnownColumn) -> tuple[float, float]:
    """Return the mean and the standard deviation that released numbers are put on."""
    mean, deviation = _moments(column.released_numbers()[0])
    return mean, deviation or _moments(column.known_numbers()[column.present])[1] or 1.0


def _moments(values: Floats) -> tuple[float, float]:
    present = values[~np.isnan(values)]
    return (float(present.mean()), float(present.std())) if len(present) else (0.0, 0.0)


def _filled(scores: Floats) -> Floats:
    return np.where(np.isnan(scores), 0.0, scores)


def distance_column(column: KnownColumn) -> ColumnLikelihood:
    """Return a column whose log-likelihoods are minus half of expected squared distances.

    Those of numbers are in standard deviations. Two categories are at the distance 1, if they
    differ; a cell of several is at the share of its values that differ.
    """
    if column.is_number:
        known_values, released, variance = standardised(column)
        bonus = -variance / 2 if variance.any() else None
        return ColumnLikelihood("normal", known_values, released, bonus=bonus)
    return _categories(column)


def differences(column: KnownColumn) -> Floats:
    """Return how far every person is from every record, (persons, records).

    The squares are those of `distance_column`; those of numbers are signed.
    """
    if not column.is_number:
        return np.asarray(np.sqrt(-2 * log_likelihoods([_categories(column)])))
    known_values, released, variance = standardised(column)
    apart = known_values[:, np.newaxis] - released
    if not variance.any():
        return np.asarray(apart)
    return np.where(apart < 0, -1.0, 1.0) * np.sqrt(apart**2 + variance)


def _categories(column: KnownColumn) -> ColumnLikelihood:
    """Return a column of categories: cells of several are the runs from the first to the last."""
    spread, size = column.after, column.after.size
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
