"""Full-domain generalisation: one height for each quasi-identifier, the node of least loss.

The nodes of the lattice are the combinations of heights (Samarati, IEEE TKDE 2001; LeFevre,
DeWitt, Ramakrishnan: Incognito, SIGMOD 2005). A node is valid where few enough rows have to be
suppressed to satisfy every bound. As in Kohlmayer et al. (Flash, PASSAT 2012), the result of a
check rules out other nodes; here nodes are also ruled out by a lower bound of their loss and, in
large lattices, by bounds that some of the quasi-identifiers alone violate.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.full_domain.ladder import Ladder
from policy_engine.kernels.full_domain.lattice import Heights, Lattice
from policy_engine.kernels.full_domain.measures import MEASURES, Measure
from policy_engine.kernels.full_domain.tuples import Ints, ReleasedClasses, RollUp, TupleTable
from policy_engine.kernels.mondrian import never

Violations = Callable[[ReleasedClasses], NDArray[np.bool_]]
"""Returns which classes violate a bound, (count,)."""


@dataclass(frozen=True)
class LatticeRecoding:
    """The node of least loss, and the rows that it suppresses.

    `suppressed` (rows,) marks the rows that are not released; `class_of` (rows,) numbers the
    classes of the others from 0, and is -1 for the suppressed. `checked` of the `nodes` of the
    lattice were evaluated; `unchecked` could have been better when the search was stopped.
    """

    heights: Heights
    suppressed: NDArray[np.bool_]
    class_of: Ints
    loss: float
    checked: int
    nodes: int
    unchecked: int = 0


def no_violations(released: ReleasedClasses) -> NDArray[np.bool_]:
    """Return that no class violates a bound, (count,): where size is the only bound."""
    return np.zeros(released.count, dtype=np.bool_)


def search(
    ladders: Sequence[Ladder],
    *,
    size: int = 1,
    violating: Violations = no_violations,
    monotonic: bool = False,
    max_suppressed: int = 0,
    measure: Measure = "loss",
    on_checked: Callable[[int, int], object] = lambda _checked, _open: None,
    is_over: Callable[[], bool] = never,
) -> LatticeRecoding | None:
    """Return the valid node of least loss, or None where no node is valid.

    First the classes below `size` rows are suppressed, then those that are `violating`, which is
    called again on the rows that remain until it returns none: a bound may refer to the
    distribution of what is released. A node is valid where at most `max_suppressed` rows go and
    one remains. Among nodes of equal loss, the one with the fewest suppressed rows is returned
    (Samarati's minimum suppression), then the lowest, then the first.

    `monotonic` is the caller's promise that a row which `violating` suppresses in a node is
    suppressed in all nodes below it; then a node that is not valid rules out all below it. True
    of distinct l-diversity; of entropy and recursive l-diversity and of t-closeness to a fixed
    distribution only where `max_suppressed` is 0. Of `size` it is always true.

    `on_checked` is called with the numbers of nodes checked and of those that could still be. As
    soon as it `is_over`, which is called before every check but the first, that of the node where
    all is generalised, the best node so far is returned. Two numbers are kept for every node: the
    caller limits `lattice_size`.
    """
    table, nested = TupleTable.from_ladders(ladders), all(each.is_nested() for each in ladders)
    tables = RollUp([((0,) * len(ladders), table)], nested)
    scorer = MEASURES[measure](table)
    lattice = Lattice(scorer.floors(), nested)
    fails = _parts_failing(ladders, size, max_suppressed, is_over)
    best, checked, monotonic = None, 0, monotonic or violating is no_violations
    parts: Iterator[int] = iter(())
    # The top first: where any node is valid, it mostly is, and there is something to release.
    node: tuple[Heights, int] | None = (lattice.top(), lattice.size)
    lattice.close(lattice.top())
    while node is not None:
        heights, open_nodes = node
        checked += 1
        on_checked(checked, open_nodes)
        if checked == _CHECKS_BEFORE_PARTS:
            parts = lattice.drop_parts(fails)
        # Parts of one size for each check: by the next, too few nodes may be open to be worth it.
        next(parts, None)
        classes = tables.node_classes(heights)
        large = classes.without_classes(classes.sizes < size)
        is_large = large.suppressed <= max_suppressed
        released = _suppress_violating(large, violating, max_suppressed) if is_large else None
        if released is not None:
            score = scorer.score(heights, classes, released)
            if max(score.above, score.below) > -np.inf:
                lattice.raise_floors(heights, score.above, score.below if monotonic else -np.inf)
            candidate = _Candidate(heights, score.loss, released)
            best = candidate if best is None or candidate.is_better(best) else best
        elif monotonic or not is_large:
            # Classes of nodes below are parts of these: too small is monotonic for any bound.
            lattice.drop_below(heights)
        ceiling = best.loss if best else np.inf
        if is_over():
            unchecked = lattice.count_within(ceiling)
            return best.recoding(checked, lattice.size, unchecked) if best else None
        node = lattice.choose(ceiling)
    return best.recoding(checked, lattice.size) if best else None


_CHECKS_BEFORE_PARTS = 40
"""After so many checks the best so far has closed most nodes that it can."""


def _parts_failing(
    ladders: Sequence[Ladder], size: int, limit: int, is_over: Callable[[], bool]
) -> Callable[[tuple[int, ...], Heights], bool]:
    """Return a test whether by some columns alone too many rows are in classes below `size`.

    Once it `is_over`, the test finds nothing any more.
    """
    tables: dict[tuple[int, ...], TupleTable] = {}

    def fails(columns: tuple[int, ...], heights: Heights) -> bool:
        if is_over():
            return False
        if columns not in tables:
            # One table at a time: the caller finishes with a part before it goes to the next.
            tables.clear()
            tables[columns] = TupleTable.from_ladders([ladders[column] for column in columns])
        classes, _ = tables[columns].node_classes(heights)
        return int(classes.sizes[classes.sizes < size].sum()) > limit

    return fails


def _suppress_violating(
    released: ReleasedClasses, violating: Violations, limit: int
) -> ReleasedClasses | None:
    """Suppress classes that violate a bound until none does; None beyond the limit, or empty."""
    while released.count and released.suppressed <= limit:
        classes = violating(released)
        if not classes.any():
            return released
        released = released.without_classes(classes)
    return None


_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Candidate:
    """A valid node."""

    heights: Heights
    loss: float
    released: ReleasedClasses

    def is_better(self, other: "_Candidate") -> bool:
        """Return whether to prefer this node; losses that differ by rounding are equal."""
        # Sums of the same terms in another order differ in their last bits. Without the tolerance
        # they, and not the ranks, would choose among equal nodes.
        if abs(self.loss - other.loss) > _ROUNDING * abs(other.loss):
            return self.loss < other.loss
        return self.rank() < other.rank()

    def rank(self) -> tuple[int, int, Heights]:
        """Return what nodes of equal loss are ordered by, the best first."""
        return self.released.suppressed, sum(self.heights), self.heights

    def recoding(self, checked: int, nodes: int, unchecked: int = 0) -> LatticeRecoding:
        class_of = self.released.class_of_row
        return LatticeRecoding(
            self.heights, class_of < 0, class_of, self.loss, checked, nodes, unchecked
        )
