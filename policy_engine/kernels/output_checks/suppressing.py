"""Suppression of a table: one way to a pattern, which an independent attack has to fail on.

The cheapest pattern is searched for until it is proven or time ends; tables with too many cells are
cut into those that they are made of.
"""

import math
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from policy_engine.errors import InternalError
from policy_engine.kernels.output_checks.heuristic_suppression import pattern_of_parts, search_from
from policy_engine.kernels.output_checks.optimal_suppression import is_proven, search_optimum
from policy_engine.kernels.output_checks.suppression_audit import attack_pattern
from policy_engine.kernels.output_checks.suppression_search import SuppressionSearch
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    Bools,
    Ints,
    TableSystem,
)
from policy_engine.kernels.output_checks.work_time import WorkTime

SuppressionMethod = Literal["optimal", "heuristic", "sub-tables"]

MOST_CELLS_AT_ONCE = 12_000
"""A table of more cells is searched by those that it is made of, one after another."""


@dataclass(frozen=True, eq=False)
class CellSuppression:
    """A pattern of suppression, (n,): the primary cells, the secondary ones and the hidden ones.

    `cost` is the weight of the secondary cells, and `bound` what no pattern costs less than. The
    cells that are `unprotectable` no pattern protects, whatever else it suppresses: the lone cell
    of a total that must be published, for example. All other primary cells are protected: an audit
    of its own code has attacked each of them.
    """

    is_suppressed: Bools
    cost: float
    bound: float
    method: SuppressionMethod
    seconds: float
    unprotectable: Ints

    @property
    def gap(self) -> float:
        """By which share of its cost the pattern may be dearer than the cheapest: 0 is optimal."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost else 0.0

    @property
    def is_protected(self) -> bool:
        """Whether all primary cells are protected."""
        return not len(self.unprotectable)


def suppress(
    system: TableSystem, seconds: float, most_seconds: float = math.inf
) -> CellSuppression:
    """Return a pattern that protects every primary cell that any pattern protects.

    It is the cheapest if `seconds` of the processor suffice to prove it, and the cheapest that was
    found otherwise; what is always done, a first pattern, its repair and the audit, may take
    longer, but no longer than `most_seconds`. Most lone contributors learn nothing from a pattern
    that others learn nothing from: a pattern is searched for again only because of those who do.
    Raises DataError (C011) without highspy, TimeUpError where no pattern is found and attacked in
    `most_seconds`, and InternalError if the audit finds a cell unprotected.
    """
    start, limit = time.monotonic(), WorkTime.of_seconds(most_seconds)
    search_time = WorkTime.of_seconds(seconds)
    is_large = system.size > MOST_CELLS_AT_ONCE
    attackers: set[int] = set()
    search: SuppressionSearch | None = None
    while True:
        attacked = _attacked_by(system, attackers)
        search = (_by_parts if is_large else _at_once)(attacked, search_time, limit, search)
        exposed = attack_pattern(system, search.best, limit)
        others = {one.contributor for one in exposed} - attackers - {NOBODY}
        if not others:
            break
        attackers |= others
    if not {one.cell for one in exposed} <= set(search.unprotectable.tolist()):
        raise InternalError.of("X001", "A pattern of suppression does not protect all its cells.")
    method: SuppressionMethod = "optimal" if is_proven(search) else "heuristic"
    return CellSuppression(
        is_suppressed=search.best,
        cost=search.cost,
        bound=min(search.bound, search.cost),
        method="sub-tables" if is_large else method,
        seconds=time.monotonic() - start,
        unprotectable=search.unprotectable,
    )


def _at_once(
    system: TableSystem,
    search_time: WorkTime,
    limit: WorkTime,
    before: SuppressionSearch | None,  # noqa: ARG001 (of two)
) -> SuppressionSearch:
    search = SuppressionSearch(system, search_time, limit)
    search_optimum(search)
    return search


def _by_parts(
    system: TableSystem, search_time: WorkTime, limit: WorkTime, before: SuppressionSearch | None
) -> SuppressionSearch:
    """Search by sub-tables, which have half of all time, but no less than a search has that ends
    early: to repair the whole takes much longer where they are not protected. Most of the rest is
    for what has to be done: that repair, and the audit."""
    former = None if before is None else before.best
    of_parts = WorkTime.of_seconds(max(search_time.left, limit.share(2)))
    first = pattern_of_parts(system, of_parts, limit, former)
    rest = WorkTime.of_seconds(max(search_time.left, limit.share(4)))
    search = SuppressionSearch(system, rest, limit, first)
    search_from(search)
    return search


def _attacked_by(system: TableSystem, attackers: set[int]) -> TableSystem:
    """Return a system in which some lone contributors alone attack."""
    is_one = np.isin(system.contributors, [*attackers])
    return replace(system, contributors=np.where(is_one, system.contributors, NOBODY))
