"""One-to-one record linkage: every record is that of one person at most, and all links are chosen
together, so that their costs are the least in sum.

Herranz, Nin, Rodríguez and Tassa: Revisiting distance-based record linkage for privacy-preserving
release of statistical datasets, Data and Knowledge Engineering 100, 2015.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_RECORDS = 5_000
"""The time grows with the third power of the records: half a minute for so many."""

_ROUNDING = 1e-11
"""Costs that differ by less than this share of the largest are equal."""
_CLOSE = 1e-12
_ROUNDS = 1_000
"""Those of many records without a difference take a second each hundred times."""
_DECIMALS = 9


@dataclass(frozen=True)
class AssignmentLinks:
    """By person: the probability of a right link, and its bounds, (persons,) each.

    There may be several assignments of the least cost. A link `is_certain` if it is in all of them,
    and `is_possible` if it is in one of them. An intruder draws one so that the probabilities of
    links are as even as can be (have the largest entropy), and `linked` is that of the right one:
    1/t for each of t equal persons with t equal records.
    """

    linked: Floats
    is_certain: Bools
    is_possible: Bools


def assignment_links(costs: Floats, own: Ints) -> AssignmentLinks | NotApplicable:
    """Return what an intruder reaches who assigns all persons to records at the least cost.

    `costs` (persons, records) are those of links, such as distances, or log-likelihoods times -1;
    one is infinite for what cannot be. `own` (persons,) is the record of each, or -1. If there are
    more persons than records, or fewer, some have no link. No order of rows decides anything: all
    that is told holds of the set of the best assignments, not of one.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 (slow to import, an extra)

    if max(costs.shape) > MOST_RECORDS:
        return NotApplicable(
            reason=f"One-to-one linkage is for {MOST_RECORDS:,} records at most. "
            f"There are {max(costs.shape):,}."
        )
    square = _square(costs)
    assigned = linear_sum_assignment(square)[1]
    person_of = np.argsort(assigned)
    shares, is_possible = _shares(square[person_of])
    place = assigned[: len(costs)]
    can_be = (own >= 0) & np.isfinite(costs[np.arange(len(costs)), own])
    is_certain = can_be & (place == own) & (is_possible.sum(axis=1)[place] == 1)
    linked = np.where(can_be, shares[place, own], 0.0)
    return AssignmentLinks(linked, is_certain, can_be & is_possible[place, own])


def squared_distances(known_values: Floats, released: Floats) -> Floats:
    """Return the squared Euclidean distances of all pairs, (persons, records)."""
    total = np.zeros((len(known_values), len(released)))
    for before, after in zip(known_values.T, released.T, strict=True):
        total += (before[:, np.newaxis] - after) ** 2
    return total


def _square(costs: Floats) -> Floats:
    """Return finite costs of as many persons as records; those added cost nothing."""
    size = max(costs.shape)
    is_possible = np.isfinite(costs)
    finite = costs[is_possible]
    low, high = finite.min(initial=0), finite.max(initial=0)
    square = np.zeros((size, size))
    # One link that cannot be costs more than all others can save.
    square[: costs.shape[0], : costs.shape[1]] = np.where(
        is_possible, costs, high + (size + 1) * (high - low + 1)
    )
    return square


def _shares(square: Floats) -> tuple[Floats, Bools]:
    """Return how probable each link is, and whether it is in any best assignment, (size, size).

    The diagonal of `square` is a best one. The best are those of links without slack
    (complementary slackness), and a link is in one of them if a cycle of such links goes through.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (slow to import, an extra)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    is_tight = _without_slack(square)
    _, part = connected_components(csr_matrix(is_tight), directed=True, connection="strong")
    is_possible = is_tight & (part[:, np.newaxis] == part)
    shares = np.eye(len(square))
    order = np.argsort(part, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(part))[:-1]):
        if len(members) > 1:
            block = np.ix_(members, members)
            shares[block] = _most_even(is_possible[block].astype(np.float64))
    return shares, is_possible


def _without_slack(square: Floats) -> Bools:
    """Return which links cost as much as their person's and their record's prices together."""
    rounding = _ROUNDING * float(np.abs(square).max(initial=0))
    more = square - np.diag(square)[:, np.newaxis]
    # Prices by Bellman and Ford: no exchange of links along a path gains anything.
    prices = np.zeros(len(square))
    for _ in range(len(square)):
        cheaper = np.min(more + prices[:, np.newaxis], axis=0)
        if (cheaper >= prices - rounding / len(square)).all():
            break
        prices = np.minimum(prices, cheaper)
    slack: Floats = more + prices[:, np.newaxis] - prices
    return slack <= rounding


def _most_even(block: Floats) -> Floats:
    """Return the doubly stochastic matrix of the largest entropy with zeros where a block has them.

    By scaling rows and columns in turn (Sinkhorn and Knopp, 1967). All ones of the block are in
    some assignment.
    """
    row = np.ones(len(block))
    for _ in range(_ROUNDS):
        column = 1 / (row @ block)
        row = 1 / (block @ column)
        if np.abs(column * (row @ block) - 1).max() < _CLOSE:
            break
    return np.asarray(np.round(row[:, np.newaxis] * block * column, _DECIMALS))
