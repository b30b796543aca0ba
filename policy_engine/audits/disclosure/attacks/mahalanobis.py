"""Distance-based record linkage by the Mahalanobis distance of the true differences.

Torra, Abowd and Domingo-Ferrer: Using Mahalanobis distance-based record linkage for disclosure risk
assessment, Privacy in Statistical Databases, 2006. The covariance is that of the differences
between persons and their own records: the worst case, an intruder who knows how far values were
moved, and together with which others.
"""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import points
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.nearest import links, nearest_distances
from policy_engine.kernels.linkage.tree import plant
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PERSONS_A_COLUMN = 10
"""From fewer persons for each column, a covariance would rather be of them than of the masking."""
LEAST_SHARE = 1e-12
"""A direction in which nothing moved counts as if it had this share of the greatest variance."""

WITHOUT_NUMBERS = "it compares numbers, each of which is one value"
BY_ONE = "by one column of numbers it is value-linkage"
"""Why it is not made, with none of the columns known that it can use, or a single one."""


def mahalanobis_linkage(files: TwoFiles, search: Search = search_here) -> Floats | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    `search` says where records are looked for.
    """
    reason = _why_not(files)
    if reason:
        return NotApplicable(reason=reason)
    known_values, released = _uncorrelated(files)
    return links(plant(released), known_values, files.own, search=search)


def mahalanobis_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return the distance of the record linked to each of some persons, (persons,)."""
    known_values, released = _uncorrelated(files)
    return nearest_distances(plant(released), known_values, persons)


def _why_not(files: TwoFiles) -> str:
    columns, paired = len(files.columns), int((files.own >= 0).sum())
    if not columns or not all(one.is_point for one in files.columns):
        return WITHOUT_NUMBERS
    return BY_ONE if columns == 1 else too_few_persons(paired, columns)


def too_few_persons(persons: int, columns: int) -> str:
    """Return that so many persons are too few for a covariance; empty where they are not."""
    least = PERSONS_A_COLUMN * columns
    if persons >= least:
        return ""
    return f"its covariance takes {least} persons at least, and {persons} are in the release"


def _uncorrelated(files: TwoFiles) -> tuple[Floats, Floats]:
    """Return persons and records where the differences of the right pairs have no correlation and
    equal variances, so that Mahalanobis distances are Euclidean ones.

    Both files are in the standard deviations of the original: each in its own would hide that
    values moved together.
    """
    known_values, released = points(files, scale_by_original=True)
    is_paired = files.own >= 0
    moved = known_values[is_paired] - released[files.own[is_paired]]
    variances, directions = np.linalg.eigh(np.cov(moved, rowvar=False))
    least = LEAST_SHARE * variances[-1]
    if least <= 0:  # nothing was moved
        return known_values, released
    scaled = directions / np.sqrt(np.maximum(variances, least))
    return known_values @ scaled, released @ scaled
