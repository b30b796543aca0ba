"""The utility of a release: its distributions, dependences and counts against the original's.

A generalised cell counts with its row's mass of 1 spread evenly over the values that it may
stand for. The rows of the two tables need not be in the same order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of, first_rows
from policy_engine.kernels.spread import Floats, Ints, Spread

SANITY = 0.001
"""The share of the rows below which a count is not missed by more: `query_errors`."""


@dataclass(frozen=True)
class EntropyLoss:
    """The information that a release lost, and what losing all of it would be, in bits."""

    lost: float
    most: float

    @property
    def share(self) -> float:
        """What share of the information is lost, from 0 to 1."""
        return self.lost / self.most if self.most > 0 else 0.0

    def __add__(self, other: "EntropyLoss") -> "EntropyLoss":
        return EntropyLoss(self.lost + other.lost, self.most + other.most)


def non_uniform_entropy(original: Spread, released: Spread, suppressed: int = 0) -> EntropyLoss:
    """Return the non-uniform entropy measure of one column.

    The sum, over the rows, of -log2 Pr(original value | cell), with the original column's own
    frequencies: #value / #rows whose value the cell covers (Gionis and Tassa, k-Anonymization
    with Minimal Loss of Information, IEEE TKDE 21(2), 2009). A suppressed row has lost everything.
    """
    # The logarithm of a quotient is a difference, and both of its sums can be taken by themselves:
    # no row of the original has to be matched to one of the release.
    counts = original.masses
    covered = released.totals(counts)[released.cell_of]
    values = float((counts * _log(counts)).sum())
    rows = original.rows
    lost = float(_log(covered).sum()) + suppressed * float(np.log2(rows)) - values
    return EntropyLoss(max(lost, 0.0), max(rows * float(np.log2(rows)) - values, 0.0))


def _log(counts: Floats) -> Floats:
    return np.log2(np.maximum(counts, 1.0))


def shares(masses: Floats) -> Floats:
    """Return masses of any shape as shares of their sum; all 0 where there is none."""
    total = masses.sum()
    return np.asarray(masses / total) if total > 0 else np.zeros(masses.shape)


def hellinger(before: Floats, after: Floats) -> float:
    """Return the Hellinger distance of two distributions of one shape, from 0 to 1.

    The root of half the sum of (sqrt(p) - sqrt(q))^2. Used on tables before and after
    disclosure control by Gomatam, Karr, Sanil: Data Swapping as a Decision Problem, Journal
    of Official Statistics 21(4), 2005.
    """
    return float(np.sqrt(((np.sqrt(before) - np.sqrt(after)) ** 2).sum() / 2))


def total_variation(before: Floats, after: Floats) -> float:
    """Return the total variation distance of two distributions: half the sum of |p - q|.

    It is the largest share of rows by which the answer to any count query can err.
    """
    return float(np.abs(before - after).sum() / 2)


def joint(
    first: Spread, second: Spread, first_bins: Ints, second_bins: Ints, counts: tuple[int, int]
) -> Floats:
    """Return the mass of every pair of bins over the rows of two columns, `counts` wide.

    The bins (size,) number the bin of every code of a column. Cells of one row are spread
    independently. Both columns have the same weights.
    """
    # Distinct pairs of cells are multiplied out, not rows: there are far fewer of them.
    first_of, first_shares = _binned(first, first_bins, counts[0])
    second_of, second_shares = _binned(second, second_bins, counts[1])
    keys = first_of.astype(np.int64) * len(second_shares) + second_of
    pairs, place = np.unique(keys, return_inverse=True)
    times = np.bincount(place, first.weights)
    a, b = np.divmod(pairs, len(second_shares))
    by_first = [
        np.bincount(a, times * second_shares[b, column], len(first_shares))
        for column in range(counts[1])
    ]
    return np.asarray(first_shares.T @ np.stack(by_first, axis=1))


def _binned(column: Spread, bins: Ints, count: int) -> tuple[NDArray[np.integer], Floats]:
    """Return renumbered cells (rows,), and the share of each bin in each cell, (cells, count)."""
    if column.is_exact:
        return bins[column.low[column.starts[:-1]]][column.cell_of], np.eye(count)
    return column.cell_of, np.stack([column.means(bins == one) for one in range(count)], axis=1)


def even_bins(masses: Floats, most: int) -> Ints:
    """Return the bin of each code, (size,): consecutive codes with about equal masses in each."""
    middle = np.cumsum(masses) - masses / 2
    return _renumbered(np.minimum(middle * most / max(masses.sum(), 1.0), most - 1).astype(int))


def logarithmic_bins(values: Floats, most: int, decades: float) -> Ints | None:
    """Return the bin of each of ascending numbers, (size,), equally wide on a logarithmic axis.

    There are `most` at most, and 0 has one of its own. None where a number is below 0, or those
    above it span fewer powers of ten than `decades`.
    """
    above = values[values > 0]
    if len(above) < 2 or not (values >= 0).all() or not np.isfinite(values).all():
        return None
    low, high = np.log10(above[[0, -1]])
    if high - low < decades:
        return None
    zeros = len(values) - len(above)
    count = most - int(zeros > 0)
    places = np.minimum((np.log10(above) - low) / (high - low) * count, count - 1)
    bins = np.concatenate([np.zeros(zeros, np.int64), places.astype(np.int64) + int(zeros > 0)])
    return _renumbered(bins)


def frequent_bins(masses: Floats, most: int) -> Ints:
    """Return a bin for each of the codes with the largest masses and one for the rest, (size,).

    The bins are numbered from the largest mass; of equal ones, the lower code comes first.
    """
    rank = np.empty(len(masses), dtype=np.int64)
    rank[np.argsort(-masses, kind="stable")] = np.arange(len(masses))
    return np.minimum(rank, most - 1)


def _renumbered(bins: Ints) -> Ints:
    return np.unique(bins, return_inverse=True)[1].astype(np.int64)


def pearson(first: Spread, second: Spread, x: Floats, y: Floats) -> float:
    """Return Pearson's correlation of two columns of numbers, nan where one is constant.

    `x` and `y` (size,) are the values of their codes, nan for missing, which is left out. A
    cell's values vary as widely as it says, and independently of the row's other cell.
    """
    (w, mean_x, square_x), (v, mean_y, square_y) = _moments(first, x), _moments(second, y)
    if first.weights is not None:
        w, mean_x, square_x = (part * first.weights for part in (w, mean_x, square_x))
    weight = (w * v).sum()
    if not weight > 0:
        return float("nan")
    x_bar, y_bar = (mean_x * v).sum() / weight, (mean_y * w).sum() / weight
    variances = (
        (square_x * v).sum() / weight - x_bar**2,
        (square_y * w).sum() / weight - y_bar**2,
    )
    if min(variances) <= _ROUNDING:
        return float("nan")
    covariance = (mean_x * mean_y).sum() / weight - x_bar * y_bar
    return float(np.clip(covariance / np.sqrt(variances[0] * variances[1]), -1, 1))


_ROUNDING = 1e-15


def _moments(column: Spread, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return every row's mass that is not missing, and its sums of values and of squares."""
    present = ~np.isnan(values)
    # Centred and scaled to a range of 1 before squaring: sums of squares of large numbers far from
    # 0 would lose the digits that the variance consists of.
    spread = np.ptp(values[present]) if present.any() else 0.0
    scaled = np.where(present, values - (values[present].mean() if present.any() else 0.0), 0.0)
    scaled /= spread or 1.0
    parts = (present.astype(np.float64), scaled, scaled * scaled)
    weight, mean, square = (column.means(part)[column.cell_of] for part in parts)
    return weight, mean, square


def cramers_v(masses: Floats) -> float:
    """Return Cramer's V of a contingency table, from 0 to 1; nan with a single row or column.

    The root of chi-squared over n (min(rows, columns) - 1), empty rows and columns left out.
    Cramer: Mathematical Methods of Statistics, 1946, chapter 21.
    """
    table = masses[masses.sum(1) > 0][:, masses.sum(0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return float("nan")
    total = table.sum()
    expected = np.outer(table.sum(1), table.sum(0)) / total
    chi_squared = ((table - expected) ** 2 / expected).sum()
    return float(min(np.sqrt(chi_squared / (total * least)), 1.0))


@dataclass(frozen=True)
class ValueDomain:
    """The values that a query may ask for: `size` codes, the first of which may be missing.

    Of a column that `is_ordered` queries ask for ranges, of others for any values. At least one
    column of each query `is_generalised`, since others are always answered exactly.
    """

    size: int
    is_ordered: bool
    has_missing: bool
    is_generalised: bool


@dataclass(frozen=True)
class CountQuery:
    """A count of the rows that have in each column one of some values, (size,) of bool."""

    columns: tuple[int, ...]
    values: tuple[NDArray[np.bool_], ...]


def range_queries(
    domains: Sequence[ValueDomain], count: int, selectivity: float, seed: int = 0
) -> Iterator[CountQuery]:
    """Yield random range-count queries on 2 or 3 columns, fewer where there are not so many.

    As in Xiao and Tao (Anatomy, VLDB 2006, section 6), a query on d columns asks in each for
    ceil(values * selectivity^(1/d)) values; of an ordered column, for consecutive ones.
    """
    random = np.random.default_rng(seed)
    generalised = [place for place, one in enumerate(domains) if one.is_generalised]
    for _ in range(count if generalised else 0):
        width = min(int(random.integers(2, 4)), len(domains))
        columns = [int(random.choice(generalised))]
        others = [place for place in range(len(domains)) if place not in columns]
        columns += random.choice(others, width - 1, replace=False).tolist() if width > 1 else []
        share = selectivity ** (1 / width)
        values = tuple(_random_values(domains[column], share, random) for column in columns)
        yield CountQuery(tuple(columns), values)


def _random_values(
    domain: ValueDomain, share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    first = int(domain.has_missing and domain.size > 1)
    values = domain.size - first
    # Less the rounding error of the power, which would ask for one value more.
    count = min(max(int(np.ceil(values * share - 1e-9)), 1), values)
    mask = np.zeros(domain.size, dtype=np.bool_)
    if domain.is_ordered:
        start = first + int(random.integers(0, values - count + 1))
        mask[start : start + count] = True
    else:
        mask[first + random.choice(values, count, replace=False)] = True
    return mask


def query_errors(
    original: Sequence[Spread],
    released: Sequence[Spread],
    queries: Sequence[CountQuery],
    sanity: float = SANITY,
) -> Floats:
    """Return the relative error of every query asked of the release, (queries,).

    |estimate - true| / max(true, sanity * rows), where the estimate takes the values of a cell
    as equally likely: LeFevre, DeWitt, Ramakrishnan: Workload-Aware Anonymization, KDD 2006,
    and Xiao and Tao, VLDB 2006. The sanity bound keeps errors on a handful of rows from
    counting most; 0.1 % is that of Xiao, Wang, Gehrke: Privelet, ICDE 2010.
    """
    true = counts(original, queries)
    estimate = counts(released, queries)
    least = sanity * original[0].rows
    return np.abs(estimate - true) / np.maximum(true, least) if len(queries) else true


def counts(table: Sequence[Spread], queries: Sequence[CountQuery]) -> Floats:
    """Return how many rows each query is expected to find in a table, (queries,).

    All columns have the same rows, and the same weights.
    """
    # Class by class: rows with equal cells in every column count alike.
    class_of, number = classes_of([column.cell_of.astype(np.int32) for column in table])
    first = first_rows(class_of, number)
    weights = table[0].weights if table else None
    sizes = np.bincount(class_of, weights, minlength=number).astype(np.float64)
    columns = [column.taken(first) for column in table]
    expected = np.empty(len(queries))
    for place, query in enumerate(queries):
        mass = sizes
        for number, values in zip(query.columns, query.values, strict=True):
            column = columns[number]
            mass = mass * column.means(values)[column.cell_of]
        expected[place] = mass.sum()
    return expected
