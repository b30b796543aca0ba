"""How the values of a column are put together: for a chart, and for figures of two columns."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.audits.utility.model import Bin, Scale
from policy_engine.audits.utility.sharing import MOST_BINS
from policy_engine.kernels import utility
from policy_engine.kernels.spread import Floats, Ints

_MOST_DRAWN = 12  # values without an order
_MOST_IN_ONE = 0.5  # of the rows, in one of several equally wide bins
_LEAST_FILLED = MOST_BINS // 2  # bins of a logarithmic axis
_DECADES = 2  # that a logarithmic axis spans at least
_MISSING = "(missing)"


def chart_bins(
    column: MatchedColumn, before: Floats, after: Floats
) -> tuple[tuple[Bin, ...], Scale]:
    """Return a column's distribution, by its shares (size,) before and after, and what bins are."""
    bins, scale = value_bins(column, before)
    return tuple(_filled_bins(column, bins, before, after)), scale


def _filled_bins(column: MatchedColumn, bins: Ints, before: Floats, after: Floats) -> Iterator[Bin]:
    for one in range(int(bins.max()) + 1):
        inside = bins == one
        if inside.any():
            yield Bin(
                label=_label(column, np.flatnonzero(inside)),
                before=float(before[inside].sum()),
                after=float(after[inside].sum()),
            )


def value_bins(column: MatchedColumn, before: Floats) -> tuple[Ints, Scale]:
    """Return the bin of every value, (size,), and what bins are, by the shares (size,) of values.

    Ranges are equally wide unless one would hold most rows, as where incomes are capped: then they
    are on a logarithmic axis, or if one holds most rows there, too, hold about as many each.
    """
    if column.size <= MOST_BINS and column.is_ordered:
        return np.arange(column.size), "values"
    if not column.is_ordered:
        return utility.frequent_bins(before, _MOST_DRAWN), "frequent"
    blank = int(column.has_missing)
    wide = np.minimum((column.position * MOST_BINS).astype(np.int64), MOST_BINS - 1) + blank
    wide[:blank] = 0
    if not _has_one_large(wide, before):
        return wide, "even"
    logarithmic = _logarithmic(column, blank)
    if logarithmic is not None and not _has_one_large(logarithmic, before):
        return logarithmic, "logarithmic"
    even = utility.even_bins(column.before.masses[blank:], MOST_BINS) + blank
    return np.concatenate([np.zeros(blank, np.int64), even]), "quantile"


def _has_one_large(bins: Ints, before: Floats) -> bool:
    """Tell whether one bin of several values has most of the rows."""
    fullest = bins == np.bincount(bins, before).argmax()
    return bool(before[fullest].sum() > _MOST_IN_ONE and fullest.sum() > 1)


def _logarithmic(column: MatchedColumn, blank: int) -> Ints | None:
    """Return bins on a logarithmic axis; None for values that are not numbers from 0 on or not far
    enough apart, and where most bins would be empty."""
    bins = None
    with suppress(ValueError):
        numbers = column.labels[blank:].astype(np.float64)
        bins = utility.logarithmic_bins(numbers, MOST_BINS, _DECADES)
    if bins is None or bins.max() + 1 < _LEAST_FILLED:
        return None
    return np.concatenate([np.zeros(blank, np.int64), bins + blank])


def _label(column: MatchedColumn, codes: Ints) -> str:
    labels = [str(label) or _MISSING for label in column.labels[codes[[0, -1]]]]
    if len(codes) == 1:
        return labels[0]
    return f"{labels[0]} - {labels[1]}" if column.is_ordered else f"{len(codes)} others"


def coarse_bins(column: MatchedColumn) -> Ints:
    """Return bins of about equally many rows each, or a bin for each frequent value, (size,)."""
    masses = column.before.masses
    if column.is_ordered:
        return utility.even_bins(masses, MOST_BINS)
    return utility.frequent_bins(masses, MOST_BINS)
