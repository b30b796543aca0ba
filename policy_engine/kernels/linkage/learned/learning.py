"""Record linkage by the distance of a family that links most, the worst case for a release.

Abril, Navarro-Arribas and Torra: Improving record linkage with supervised learning for disclosure
risk assessment, Information Fusion 13(4), 2012, state it as a programme in which a person costs 1
unless all other records are farther than the person's own.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats, sets_of
from policy_engine.kernels.linkage.learned.forms import negative_directions, semidefinite
from policy_engine.kernels.linkage.learned.linked import apart, linked, nearest
from policy_engine.kernels.linkage.learned.rivals import Rivals, find_rivals, reach
from policy_engine.kernels.linkage.learned.solver import (
    NARROWER,
    FamilyMembers,
    Rows,
    Solution,
    fewest_missed,
    widest,
)
from policy_engine.kernels.linkage.learned.surrogate import climb

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_ROUNDING = 1e-6
"""Of the solver's bound, which is the number of persons missed: far more than it errs by."""
MOST_PERSONS = 5_000
"""Of a programme, which has a whole variable for each whose link depends on the distance."""
_MOST_CELLS = 1 << 23
_POWERS = (4.0, 16.0, 64.0, 256.0)
_NEAR = 20
_FIRST_ROWS = 6
_MORE_ROWS = 4
_WIDENINGS = 12


Stop = Literal["reached", "time", "size", "margin"]


@dataclass(frozen=True, eq=False)
class LearnedLinkage:
    """How many persons the best distance found links, and how many none of the family passes.

    `parameters` are those of the distance. `linked` of the `persons` are nearer to their own of
    the `records` than to any other, counted again on all pairs; no distance of the family links
    more than `bound`. `rounds` programmes were solved, the last with `rows` rivals.

    It `stopped` because the bound is "reached", because "time" was up, because of the "size" of a
    programme, or because the rest is within the "margin": a programme was solved, but some of its
    links are narrower than a link is.
    """

    distances: str
    parameters: Floats
    linked: int
    bound: int
    persons: int
    records: int
    rows: int
    rounds: int
    stopped: Stop

    @property
    def gap(self) -> int:
        """How many more persons a distance of the family may link."""
        return self.bound - self.linked


def learn(
    differences: Floats,
    own: Ints,
    distances: Distances,
    starts: Sequence[tuple[Distances, Floats]] = (),
    seconds: float = 10.0,
) -> LearnedLinkage:
    """Return the linkage by the best distance of a family that is found in so many seconds.

    `differences` (persons, records, columns) are between what is known of persons and the records,
    finite and scaled as an intruder would; `own` (persons,) are the right records, -1 for none.
    `starts` are distances of other families, with their parameters: if they are members of this
    one too, the result links no fewer. A start is also what the differences of the right pairs
    suggest. From all of these a smooth stand-in of the links is climbed, in half of the time; in
    the rest, and unless they are too many, a mixed-integer programme is solved.

    The intruder knows the right links, so this is the worst case, not what an intruder can do; and
    a distance with many parameters fits these records rather than others (see `held_out`). The
    order of the rows decides nothing; what is found when time is up depends on the machine.
    """
    deadline = time.monotonic() + seconds
    search = _Search(find_rivals(differences, own, distances), distances)
    suggested = [distances.inner, *_suggested(differences, own, distances)]
    begun = [translated(family, parameters, distances) for family, parameters in starts]
    for parameters in [*suggested, *begun]:
        search.consider(parameters)
    for parameters in [search.best, *suggested]:
        search.climb(parameters, deadline - seconds / 2)
    stopped = search.run(deadline)
    return LearnedLinkage(
        distances=distances.name,
        parameters=search.best,
        linked=int(linked(differences, own, distances, search.best).sum()),
        bound=search.rivals.always + search.bound,
        persons=len(own),
        records=differences.shape[1],
        rows=int(search.chosen.sum()),
        rounds=search.rounds,
        stopped=stopped,
    )


def translated(family: Distances, parameters: Floats, distances: Distances) -> Floats:
    """Return the parameters of a distance of one family in another, or of one that is near it."""
    values = family.features(sets_of(family.columns).astype(np.float64)) @ parameters
    return distances.from_sets(values)


def _suggested(differences: Floats, own: Ints, distances: Distances) -> list[Floats]:
    """Return members that weigh a column by how near the right records are in it."""
    right = differences[own >= 0, own[own >= 0]]
    right = right[np.lexsort(right.T)]
    moments = right.T @ right / max(1, len(right))
    # A column that is not masked has none, and would weigh all.
    least = float(np.trace(moments)) * _LEAST_MOMENT or 1.0
    weights = 1 / np.maximum(np.diag(moments), least)
    members = [distances.from_sets(sets_of(distances.columns) @ (weights / weights.sum()))]
    if distances.ordered is None:
        inverse = np.asarray(
            np.linalg.inv(moments + least * np.eye(len(moments))), dtype=np.float64
        )
        members.append(semidefinite(inverse[np.triu_indices(len(inverse))]))
    return members


_LEAST_MOMENT = 1e-6


class _Search:
    """The best member so far, and the rivals and directions that the programmes have had."""

    def __init__(self, rivals: Rivals, distances: Distances) -> None:
        self.rivals, self.distances = rivals, distances
        self.persons = rivals.persons()
        self.chosen: Bools = np.zeros(len(rivals.others), dtype=bool)
        self.members = FamilyMembers(distances.constraints, distances.total)
        self.margins = rivals.margins[self.persons]
        self.best, self.count = distances.inner, -1
        self.bound, self.rounds = len(rivals.own), 0

    def run(self, deadline: float) -> Stop:
        self._choose(apart(self.rivals, self.distances, self.best), _FIRST_ROWS)
        while self.count < self.bound:
            if not self._is_small():
                return "size"
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            solution = self._solve(left)
            values = self.consider(solution.parameters)
            self.climb(solution.parameters, deadline, _POWERS[-1:])
            is_short = values < self.margins * NARROWER
            is_broken = is_short & ~self.chosen & ~solution.is_missed[self.persons]
            self._widen(~is_short | ~solution.is_missed[self.persons] & ~is_broken, deadline)
            self._choose(np.where(is_broken, values, np.inf), _MORE_ROWS)
            is_new = self._cut(solution.parameters) or is_broken.any()
            if solution.is_optimal and not is_new:
                return "reached" if self.count == self.bound else "margin"
        return "reached"

    def consider(self, parameters: Floats) -> Floats:
        """Take a member if it links the most; how far it sets the rivals apart."""
        member = _admitted(parameters, self.distances)
        values = apart(self.rivals, self.distances, member)
        count = int((nearest(values - self.margins, self.rivals) >= 0).sum())
        if count > self.count:
            self.best, self.count = member, count
        return values

    def climb(self, parameters: Floats, deadline: float, powers: Sequence[float] = _POWERS) -> None:
        """Consider the members at the top of ever rougher hills, from one to the next."""
        for power in powers if len(self.rivals.own) else ():
            if time.monotonic() >= deadline:
                return
            near = self._nearest(apart(self.rivals, self.distances, parameters), _NEAR)
            parameters = climb(
                self.rivals.own,
                self.rivals.others[near],
                self.persons[near],
                self.distances,
                parameters,
                power,
            )
            self.consider(parameters)

    def _solve(self, seconds: float) -> Solution:
        self.rounds += 1
        solution = fewest_missed(
            self._rows(self.chosen), self.members, len(self.rivals.own), self.best, seconds
        )
        missed = math.ceil(solution.least_missed - _ROUNDING)
        self.bound = min(self.bound, len(self.rivals.own) - missed)
        return solution

    def _is_small(self) -> bool:
        cells = int(self.chosen.sum()) * len(self.distances.total)
        return len(self.rivals.own) <= MOST_PERSONS and cells <= _MOST_CELLS

    def _rows(self, chosen: Bools) -> Rows:
        persons, others = self.persons[chosen], self.rivals.others[chosen]
        mine = self.rivals.own[persons]
        rows = self.distances.features(others) - self.distances.features(mine)
        least, _ = reach(mine, others, self.distances)
        scale = np.abs(rows).max(axis=1)
        return Rows(
            apart=rows / scale[:, np.newaxis],
            persons=persons,
            least=least / scale,
            margins=self.margins[chosen] / scale,
        )

    def _widen(self, is_far: Bools, deadline: float) -> None:
        """Consider the member by which the persons that a solution links are linked best."""
        is_linked = np.logical_and.reduceat(is_far, self.rivals.starts[:-1])[self.persons]
        chosen = self.chosen & is_linked
        for _ in range(_WIDENINGS):
            left = deadline - time.monotonic()
            member = widest(self._rows(chosen), self.members, left) if left > 0 else None
            if member is None:
                return
            values = self.consider(member[0])
            is_short = is_linked & ~chosen & (values < member[1] * self.margins)
            chosen |= self._nearest(np.where(is_short, values, np.inf), _MORE_ROWS)
            if not self._cut(member[0]) and not is_short.any():
                return

    def _cut(self, parameters: Floats) -> bool:
        """Add the directions of which a form is negative to the constraints; whether any is."""
        if self.distances.ordered is not None:
            return False
        directions = negative_directions(parameters)
        rows = self.distances.features(directions)
        self.members = FamilyMembers(
            np.vstack([self.members.constraints, rows]), self.members.total
        )
        return len(rows) > 0

    def _choose(self, values: Floats, count: int) -> None:
        self.chosen |= self._nearest(values, count)

    def _nearest(self, values: Floats, count: int) -> Bools:
        """Return which are each person's rivals of the least values, without infinite ones."""
        order = np.lexsort((values, self.persons))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return (ranks - self.rivals.starts[self.persons] < count) & np.isfinite(values)


def _admitted(parameters: Floats, distances: Distances) -> Floats:
    """Return the parameters, or if they are not a member's by rounding, a member's beside them."""
    if distances.ordered is None:
        return semidefinite(parameters)
    parameters = parameters / (distances.total @ parameters)
    short = np.minimum(distances.constraints @ parameters, 0)
    slack = distances.constraints @ distances.inner
    share = float((-short / (slack - short)).max())
    # No zero is negative.
    return parameters + share * (distances.inner - parameters) + 0.0
