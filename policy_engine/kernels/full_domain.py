"""Full-domain generalisation: one height for each quasi-identifier, the node of least loss.

The nodes of the lattice are the combinations of heights (Samarati, IEEE TKDE 2001; LeFevre,
DeWitt, Ramakrishnan: Incognito, SIGMOD 2005). A node holds where few enough rows have to be
suppressed to keep every bound. As in Kohlmayer et al. (Flash, PASSAT 2012), what a check tells
of other nodes is used; here nodes are also left out by a lower bound of their loss, and in
large lattices by what parts of the quasi-identifiers tell.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.lattice import Heights, Lattice
from policy_engine.kernels.mondrian import never

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Measure = Literal[
    "loss",
    "certainty-penalty",
    "precision",
    "non-uniform-entropy",
    "height",
    "discernability",
    "average-class-size",
]


@dataclass(frozen=True)
class Ladder:
    """One quasi-identifier and the heights that it can be generalised to.

    `codes` (rows,) holds 0 .. m-1. `levels[h]` (m,) numbers the generalised value of every code
    at height h, from 0; `loss[h]` holds the penalty of every generalised value, from 0 (as it
    was) to 1 (hidden), see `shares`. `weight`, from 0, is what the measures that regard
    quasi-identifiers one by one count this one for.
    """

    codes: NDArray[np.int32]
    levels: tuple[NDArray[np.int32], ...]
    loss: tuple[Floats, ...]
    weight: float = 1.0

    def penalties(self, height: int) -> Floats:
        """Return the penalty of every code at a height, (m,)."""
        return self.loss[height][self.levels[height]]

    def is_nested(self) -> bool:
        """Tell whether values that are one at some height are one at all heights above."""
        steps = zip(self.levels, self.levels[1:], strict=False)
        return all(_is_coarser(above, below) for below, above in steps)


def shares(levels: Sequence[NDArray[np.int32]]) -> tuple[Floats, ...]:
    """Return `Ladder.loss` of categories: (leaves below the value - 1) / (all leaves - 1).

    Iyengar, Transforming data to satisfy privacy constraints, KDD 2002. The leaves are those
    of the hierarchy, whether or not the table holds them.
    """
    leaves = max(len(levels[0]) - 1, 1)
    return tuple((np.bincount(level) - 1.0).clip(0) / leaves for level in levels)


@dataclass(frozen=True)
class LatticeRecoding:
    """The node of least loss, and what it takes.

    `suppressed` (rows,) tells the rows that are not released; `class_of` (rows,) numbers the
    classes of the others from 0, and is -1 for the suppressed. `checked` of the `nodes` of the
    lattice were evaluated, and `left` could be better and were not, the search being over.
    """

    heights: Heights
    suppressed: NDArray[np.bool_]
    class_of: Ints
    loss: float
    checked: int
    nodes: int
    left: int = 0


@dataclass(frozen=True)
class Released:
    """The rows that a node would release, in their classes 0 .. count-1.

    `class_of_tuple` (tuples,) is the class of each tuple of `table`, -1 where suppressed;
    `sizes` (count,) is the number of rows of every class.
    """

    table: "LatticeTable"
    class_of_tuple: Ints
    sizes: Ints

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @cached_property
    def suppressed(self) -> int:
        """The number of rows that are not released."""
        return self.table.rows - int(self.sizes.sum())

    @cached_property
    def rows(self) -> Ints:
        """The numbers of the rows released, ascending, (kept,)."""
        return np.flatnonzero(self.class_of_row >= 0)

    @cached_property
    def class_of(self) -> Ints:
        """The class of each of `rows`, (kept,)."""
        return self.class_of_row[self.rows]

    @cached_property
    def class_of_row(self) -> Ints:
        """The class of every row of the data, -1 where suppressed, (rows,)."""
        return self.class_of_tuple[self.table.tuple_of]

    @cached_property
    def suppressed_tuples(self) -> Ints:
        """The numbers of the tuples that are not released."""
        return np.flatnonzero(self.class_of_tuple < 0)

    def without(self, classes: NDArray[np.bool_]) -> Self:
        """Return what is left when classes (count,) are suppressed, numbered anew."""
        number = np.append(np.where(classes, -1, np.cumsum(~classes) - 1), -1)
        class_of_tuple = number[self.class_of_tuple]
        return replace(self, class_of_tuple=class_of_tuple, sizes=self.sizes[~classes])


def hold_all(released: Released) -> NDArray[np.bool_]:
    """Return that no class violates a bound, (count,): where size is all that matters."""
    return np.zeros(released.count, dtype=np.bool_)


def search(
    ladders: Sequence[Ladder],
    *,
    size: int = 1,
    violating: Callable[[Released], NDArray[np.bool_]] = hold_all,
    monotonic: bool = False,
    max_suppressed: int = 0,
    measure: Measure = "loss",
    on_checked: Callable[[int, int], object] = lambda _checked, _left: None,
    is_over: Callable[[], bool] = never,
) -> LatticeRecoding | None:
    """Return the node of least loss among those that hold, or None where none does.

    First the classes below `size` rows are suppressed, then those that are `violating`, which is
    asked again of the rows that are left until it finds none: a bound may refer to the
    distribution of what is released. A node holds where at most `max_suppressed` rows go and
    one stays. Among nodes of equal loss, that with the fewest suppressed rows is returned
    (Samarati's minimum suppression), then the lowest, then the first.

    `monotonic` is the caller's word that `violating` suppresses no row in a node that it keeps
    in a node below; then a node that does not hold rules out all below it. True of distinct
    l-diversity; of entropy and recursive l-diversity and of t-closeness to a fixed distribution
    only where `max_suppressed` is 0. Of `size` it is always true, and known.

    `on_checked` is told how many nodes are checked and how many could still be. Once it `is_over`,
    which is asked before every check but the first, that of the node where all is generalised, the
    best so far is returned. Two numbers are kept for every node: the caller bounds `lattice_size`.
    """
    table, nested = LatticeTable.of(ladders), all(ladder.is_nested() for ladder in ladders)
    tables = _Tables([((0,) * len(ladders), table)], nested)
    scorer = MEASURES[measure](table)
    lattice = Lattice(scorer.floors(), nested)
    fails = _parts_failing(ladders, size, max_suppressed, is_over)
    best, checked, monotonic = None, 0, monotonic or violating is hold_all
    parts: Iterator[int] = iter(())
    # The top first: where anything holds at all, it mostly does, and there is something to release.
    chosen: tuple[Heights, int] | None = (lattice.top(), lattice.size)
    lattice.close(lattice.top())
    while chosen is not None:
        heights, left = chosen
        checked += 1
        on_checked(checked, left)
        if checked == _BEFORE_PARTS:
            parts = lattice.drop_parts(fails)
        next(parts, None)
        whole = tables.classes(heights)
        large = whole.without(whole.sizes < size)
        fits = large.suppressed <= max_suppressed
        released = _settle(large, violating, max_suppressed) if fits else None
        if released is not None:
            score = scorer.score(heights, whole, released)
            if max(score.above, score.below) > -np.inf:
                lattice.lift(heights, score.above, score.below if monotonic else -np.inf)
            found = _Found(heights, score.loss, released)
            best = found if best is None or found.is_better(best) else best
        elif monotonic or not fits:
            lattice.drop_below(heights)
        ceiling = best.loss if best else np.inf
        if is_over():
            return best.recoding(checked, lattice.size, lattice.left(ceiling)) if best else None
        chosen = lattice.choose(ceiling)
    return best.recoding(checked, lattice.size) if best else None


_BEFORE_PARTS = 40
"""After so many checks the best so far has closed most nodes that it can."""


def _parts_failing(
    ladders: Sequence[Ladder], size: int, limit: int, is_over: Callable[[], bool]
) -> Callable[[tuple[int, ...], Heights], bool]:
    """Return what tells whether too many rows are in classes below `size` by some columns alone.

    Once it `is_over`, nothing is found out any more.
    """
    tables: dict[tuple[int, ...], LatticeTable] = {}

    def fails(columns: tuple[int, ...], heights: Heights) -> bool:
        if is_over():
            return False
        if columns not in tables:
            tables.clear()
            tables[columns] = LatticeTable.of([ladders[column] for column in columns])
        found, _ = tables[columns].classes(heights)
        return int(found.sizes[found.sizes < size].sum()) > limit

    return fails


def lattice_size(ladders: Sequence[Ladder]) -> int:
    """Return the number of nodes of the lattice."""
    return reduce(lambda nodes, ladder: nodes * len(ladder.levels), ladders, 1)


def _settle(
    released: Released, violating: Callable[[Released], NDArray[np.bool_]], limit: int
) -> Released | None:
    """Suppress what violates a bound until nothing does; None beyond the limit, or empty."""
    while released.count and released.suppressed <= limit:
        classes = violating(released)
        if not classes.any():
            return released
        released = released.without(classes)
    return None


def _is_coarser(above: NDArray[np.int32], below: NDArray[np.int32]) -> bool:
    reached = np.zeros(int(below.max(initial=0)) + 1, dtype=above.dtype)
    reached[below] = above
    return bool((reached[below] == above).all())


_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Found:
    heights: Heights
    loss: float
    released: Released

    def is_better(self, other: "_Found") -> bool:
        """Tell whether to prefer this node; losses that differ by rounding are equal."""
        if abs(self.loss - other.loss) > _ROUNDING * abs(other.loss):
            return self.loss < other.loss
        return self.rank() < other.rank()

    def rank(self) -> tuple[int, int, Heights]:
        """Return what nodes of equal loss are ordered by, the best first."""
        return self.released.suppressed, sum(self.heights), self.heights

    def recoding(self, checked: int, nodes: int, left: int = 0) -> LatticeRecoding:
        class_of = self.released.class_of_row
        return LatticeRecoding(
            self.heights, class_of < 0, class_of, self.loss, checked, nodes, left
        )


@dataclass(frozen=True)
class LatticeTable:
    """The distinct combinations of codes that some heights tell apart.

    `codes` (tuples, ladders) are those of a row of each, `counts` (tuples,) how many there are;
    `finer` are the classes, of a table that tells more apart, that the tuples are.
    """

    ladders: tuple[Ladder, ...]
    codes: NDArray[np.int32]
    counts: Ints
    finer: Released | None = None

    @classmethod
    def of(cls, ladders: Sequence[Ladder]) -> Self:
        """Return the table of the rows' combinations of codes."""
        codes = np.stack([ladder.codes for ladder in ladders], axis=1).astype(np.int32)
        each_row = cls(tuple(ladders), codes, np.ones(len(codes), dtype=np.int64))
        leaves = [np.arange(len(ladder.levels[0])) for ladder in ladders]
        return each_row.joined(*each_row.classes_by(leaves))

    @cached_property
    def rows(self) -> int:
        """The number of rows of the data."""
        return int(self.counts.sum())

    @cached_property
    def tuple_of(self) -> Ints:
        """The tuple of every row of the data, (rows,)."""
        return self.finer.class_of_row if self.finer else np.arange(len(self.codes))

    def classes(self, heights: Heights) -> tuple[Released, Ints]:
        """Return the classes of a node, nothing suppressed, and a tuple of each, (count,)."""
        chosen = zip(self.ladders, heights, strict=True)
        return self.classes_by([ladder.levels[height] for ladder, height in chosen])

    def classes_by(self, levels: Sequence[NDArray[Any]]) -> tuple[Released, Ints]:
        """Return the classes when `levels` [ladder][code] stand for the codes."""
        class_of, first, sizes = _number_tuples(self.codes, levels, self.counts)
        return Released(self, class_of, sizes), first

    def joined(self, whole: Released, first: Ints) -> Self:
        """Return the table of a node's classes; it serves for all nodes above that node."""
        return replace(self, codes=self.codes[first], counts=whole.sizes, finer=whole)

    def occurrences(self, column: int, tuples: Ints | slice = slice(None)) -> Floats:
        """Return the number of rows of every code of a ladder among some tuples, (m,)."""
        width = len(self.ladders[column].levels[0])
        found = np.bincount(self.codes[tuples, column], self.counts[tuples], minlength=width)
        return found.astype(np.float64)


@dataclass(frozen=True)
class _Tables:
    """Tables of nodes already checked, from which those above them are made (roll-up).

    LeFevre et al. 2005, the rollup property. They are few, and hold at most four times the
    tuples of the first, which serves for every node.
    """

    kept: list[tuple[Heights, LatticeTable]]
    nested: bool

    def classes(self, heights: Heights) -> Released:
        """Return the classes of a node, made from the smallest table that serves."""
        serving = (table for low, table in self.kept if _is_below(low, heights))
        table = min(serving, key=lambda table: len(table.counts))
        whole, first = table.classes(heights)
        if self.nested and self._has_room_for(whole):
            self.kept.append((heights, table.joined(whole, first)))
        return whole

    def _has_room_for(self, whole: Released) -> bool:
        held = whole.count + sum(len(table.counts) for _, table in self.kept)
        fits = len(self.kept) < 32 and held <= 5 * len(self.kept[0][1].counts)
        return fits and 2 * whole.count < len(whole.class_of_tuple)


def _is_below(low: Heights, high: Heights) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))


_KEYS = 2**62


def _number_tuples(
    codes: NDArray[np.int32], levels: Sequence[NDArray[Any]], counts: Ints
) -> tuple[Ints, Ints, Ints]:
    """Number the distinct tuples by first occurrence, (tuples,); the first and size of each."""
    keys = np.zeros(len(codes), dtype=np.int64)
    class_of, first, sizes = (np.empty_like(keys) for _ in range(3))
    slots = np.empty(2 ** (2 * len(codes)).bit_length(), dtype=np.int32)
    slot_keys, count = np.empty(len(slots), dtype=np.int64), 0
    for start, parts in _stages(levels, len(codes)):
        offsets = start, np.cumsum([0, *map(len, parts)])[:-1]
        slots[:] = -1
        tables = slots, slot_keys, keys, counts, class_of, first, sizes
        count = _number_keys(codes, *offsets, np.concatenate(parts), *tables)
        keys, class_of = class_of, keys
    return keys, first[:count].copy(), sizes[:count].copy()


def _stages(levels: Sequence[NDArray[Any]], tuples: int) -> list[tuple[int, list[Ints]]]:
    """Return (first column, what each code of the columns from there adds to a tuple's key).

    Only so many columns fit into one key; the numbers of a stage are the keys of the next.
    """
    stages: list[tuple[int, list[Ints]]] = [(0, [])]
    span = 1
    for column, level in enumerate(levels):
        width = int(level.max(initial=0)) + 1
        if span * width > _KEYS:
            stages.append((column, []))
            span = tuples
        stages[-1][1].append(span * level.astype(np.int64))
        span *= width
    return stages


@compiled
def _number_keys(
    codes: NDArray[np.int32],
    start: int,
    offsets: Ints,
    parts: Ints,
    slots: NDArray[np.int32],
    slot_keys: Ints,
    keys: Ints,
    counts: Ints,
    class_of: Ints,
    first: Ints,
    sizes: Ints,
) -> Any:
    """Number equal keys alike by an open hash table, and return how many differ."""
    count, mask = 0, len(slots) - 1
    for row in range(len(keys)):
        key = keys[row]
        for column in range(len(offsets)):
            key += parts[offsets[column] + codes[row, start + column]]
        slot = ((key * -7046029254386353131) >> 29) & mask
        found = slots[slot]
        while found >= 0 and slot_keys[slot] != key:
            slot = (slot + 1) & mask
            found = slots[slot]
        if found < 0:
            found = count
            slots[slot], slot_keys[slot] = count, key
            first[count], sizes[count] = row, 0
            count += 1
        class_of[row] = found
        sizes[found] += counts[row]
    return count


@dataclass(frozen=True)
class Score:
    """The loss of a node, and what no node above it or below it can be better than."""

    loss: float
    above: float = -np.inf
    below: float = -np.inf


class Scorer(Protocol):
    """A measure of loss, made ready for one table."""

    def floors(self) -> Floats:
        """Return a lower bound of the loss of every node that needs no check: the lattice."""

    def score(self, heights: Heights, whole: Released, released: Released) -> Score:
        """Return the loss of a node, given its classes before and after suppression."""


@dataclass(frozen=True)
class _ByColumn:
    """A measure that adds up a cost for each quasi-identifier.

    `costs[i][h]` is that of generalisation alone; `added(released, i, h)`, never negative, is
    what suppression adds. The loss is outer(sum of weight * inner(cost)).
    """

    costs: tuple[Floats, ...]
    added: Callable[[Released, int, int], float]
    weights: Floats
    inner: Callable[[Floats], Floats] = np.asarray
    outer: Callable[[Floats], Floats] = np.asarray

    def floors(self) -> Floats:
        terms = zip(self.weights, self.costs, strict=True)
        return self.outer(reduce(np.add.outer, [w * self.inner(costs) for w, costs in terms]))

    def score(self, heights: Heights, _whole: Released, released: Released) -> Score:
        costs = [self.costs[i][h] + self.added(released, i, h) for i, h in enumerate(heights)]
        return Score(float(self.outer(np.dot(self.weights, self.inner(np.array(costs))))))


def _mean_penalty(
    table: LatticeTable, penalties: Sequence[Sequence[Floats]], **join: Any
) -> _ByColumn:
    """Join by column the mean over rows of penalties[i][h] (m,), 1 for a suppressed row."""

    def added(released: Released, column: int, height: int) -> float:
        spared = 1.0 - penalties[column][height]
        return float(_suppressed_codes(released, column) @ spared) / table.rows

    costs = tuple(
        np.array([table.occurrences(i) @ by_code for by_code in by_height]) / max(table.rows, 1)
        for i, by_height in enumerate(penalties)
    )
    weights = _weights(table)
    return _ByColumn(costs, added, weights / (weights.sum() or 1.0), **join)


def _suppressed_codes(released: Released, column: int) -> Floats:
    return released.table.occurrences(column, released.suppressed_tuples)


def _weights(table: LatticeTable) -> Floats:
    return np.array([ladder.weight for ladder in table.ladders], dtype=np.float64)


def _penalties(table: LatticeTable) -> list[list[Floats]]:
    return [[each.penalties(h) for h in range(len(each.levels))] for each in table.ladders]


def loss(table: LatticeTable) -> Scorer:
    """Return the measure that ARX calls Loss, after Iyengar (KDD 2002), from 0 to 1.

    For each quasi-identifier the mean penalty of its cells, 1 for those of a suppressed row
    (ARX's factor of 0.5, which treats generalisation and suppression alike); joined by the
    geometric mean of 1 + mean penalty, less 1 (ARX's default aggregate), weighted.
    """
    return _mean_penalty(table, _penalties(table), inner=np.log1p, outer=np.expm1)


def certainty_penalty(table: LatticeTable) -> Scorer:
    """Return the global certainty penalty: the mean penalty of all cells, from 0 to 1.

    Xu et al., KDD 2006; Ghinita et al., VLDB 2007. A cell of a suppressed row counts 1.
    """
    return _mean_penalty(table, _penalties(table))


def precision(table: LatticeTable) -> Scorer:
    """Return 1 - Prec: the mean of height / highest height over all cells, from 0 to 1.

    Sweeney, Achieving k-anonymity privacy protection using generalization and suppression,
    IJUFKS 10(5), 2002. A cell of a suppressed row counts 1.
    """
    return _mean_penalty(table, [_relative_heights(ladder) for ladder in table.ladders])


def _relative_heights(ladder: Ladder) -> list[Floats]:
    top = max(len(ladder.levels) - 1, 1)
    return [np.full(len(ladder.levels[0]), h / top) for h in range(len(ladder.levels))]


def height(table: LatticeTable) -> Scorer:
    """Return the sum of the heights, weighted (Samarati 2001; LeFevre et al. 2005).

    Suppressed rows do not count; between nodes of one height, fewer are better.
    """
    costs = tuple(np.arange(len(ladder.levels), dtype=np.float64) for ladder in table.ladders)
    return _ByColumn(costs, lambda *_: 0.0, _weights(table))


def non_uniform_entropy(table: LatticeTable) -> Scorer:
    """Return the bits lost, -log2 P(value | generalised value) summed over all cells, weighted.

    De Waal and Willenborg, 1999; Gionis and Tassa, IEEE TKDE 2009. Probabilities are relative
    frequencies in the table. A suppressed cell loses, as in ARX, the bits of its generalised
    value among the suppressed rows as well.
    """

    def added(released: Released, column: int, height: int) -> float:
        level = table.ladders[column].levels[height]
        counts = np.bincount(level, _suppressed_codes(released, column))
        counts = counts[counts > 0]
        return float(counts @ np.log2(counts.sum() / counts)) if len(counts) else 0.0

    costs = tuple(_lost_bits(each, table.occurrences(i)) for i, each in enumerate(table.ladders))
    return _ByColumn(costs, added, _weights(table))


def _lost_bits(ladder: Ladder, counts: Floats) -> Floats:
    seen = counts > 0
    kept = [np.bincount(level, counts)[level[seen]] for level in ladder.levels]
    return np.array([counts[seen] @ np.log2(among / counts[seen]) for among in kept])


@dataclass(frozen=True)
class _ByClass:
    """A measure of the sizes of the classes; `least(rows, classes)` bounds it from below."""

    table: LatticeTable
    least: Callable[[int, Floats], Floats]
    scored: Callable[[int, Released, Released], Score]

    def floors(self) -> Floats:
        ladders = enumerate(self.table.ladders)
        seen = [(each, np.flatnonzero(self.table.occurrences(i))) for i, each in ladders]
        widths = [[len(np.unique(level[codes])) for level in x.levels] for x, codes in seen]
        most = reduce(np.multiply.outer, [np.array(each, dtype=np.float64) for each in widths])
        return self.least(self.table.rows, np.clip(most, 1, max(len(self.table.counts), 1)))

    def score(self, _heights: Heights, whole: Released, released: Released) -> Score:
        return self.scored(self.table.rows, whole, released)


def discernability(table: LatticeTable) -> Scorer:
    """Return the sum of the squared class sizes; a suppressed row counts all rows.

    Bayardo and Agrawal, ICDE 2005. Without suppression it grows with the heights (DM*, El Emam
    et al., JAMIA 2009), and no sizes of c classes have a smaller sum of squares than equal ones.
    """

    def scored(rows: int, whole: Released, released: Released) -> Score:
        lost = float(rows) * released.suppressed
        return Score(_squares(released) + lost, above=_squares(whole), below=lost)

    return _ByClass(table, lambda rows, classes: rows * (rows / classes), scored)


def _squares(released: Released) -> float:
    sizes = released.sizes.astype(np.float64)
    return float(sizes @ sizes)


def average_class_size(table: LatticeTable) -> Scorer:
    """Return rows / classes, the suppressed rows being one class more, as in ARX.

    LeFevre, DeWitt, Ramakrishnan, ICDE 2006, without their division by k.
    """

    def scored(rows: int, whole: Released, released: Released) -> Score:
        classes = released.count + (released.count < whole.count)
        return Score(rows / classes, above=rows / whole.count)

    return _ByClass(table, lambda rows, classes: rows / classes, scored)


MEASURES: MappingProxyType[Measure, Callable[[LatticeTable], Scorer]] = MappingProxyType(
    {
        "loss": loss,
        "certainty-penalty": certainty_penalty,
        "precision": precision,
        "non-uniform-entropy": non_uniform_entropy,
        "height": height,
        "discernability": discernability,
        "average-class-size": average_class_size,
    }
)
"""Every measure of loss, by its name."""
