"""Parts of a table whose rows are in several places, cut as `cut_blocks` cuts a whole one.

Nobody sees all rows: places answer questions about theirs, and whoever asks makes the cuts of the
answers. Since a part is cut by its own rows alone, each can be cut on where its rows are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.blocks import (
    BlockCut,
    find_blocks,
    left_rows,
    ordered_keys,
    widest,
)
from policy_engine.kernels.microaggregation.scaling import Scale, share_moments, shares
from policy_engine.kernels.moments import Moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Path = tuple[bool, ...]
"""Which side of each cut a part is on, from the table down; True for the right one."""


class PlacedRows(NamedTuple):
    """Some rows of a table: `values` (rows, columns), finite, and `words` (rows,)."""

    values: Floats
    words: Words

    @property
    def ties(self) -> tuple[NDArray[Any], ...]:
        """What tells rows with equal points apart, as `aggregate` does."""
        return (*self.values.T[::-1], self.words)


class RowsQuestion(ABC):
    """What every place is asked of its rows."""

    @abstractmethod
    def reply(self, rows: PlacedRows) -> Any:
        """Return what the rows of one place tell, as values that can be pickled."""


Ask = Callable[[RowsQuestion], list[Any]]
"""Returns the reply of each place that has rows."""


@dataclass(frozen=True)
class FarBlocks:
    """Where a table is cut into parts, in the order of `Blocks.cuts`, and the scale of it."""

    scale: Scale
    cuts: tuple[BlockCut | None, ...]

    @property
    def count(self) -> int:
        """How many parts there are."""
        return sum(cut is None for cut in self.cuts)

    def of_rows(self, rows: PlacedRows) -> Ints:
        """Return the part of every row, (rows,)."""
        return find_blocks(self.cuts, self.scale.points(rows.values), *rows.ties)


def cut_far(ask: Ask, k: int, rows: int, limit: int) -> FarBlocks:
    """Return the parts of a table of so many `rows`, cut while they have more than `limit`.

    The limit is at least that of a block of the table, so that no part is cut that would be one.
    """
    ends = ask(_Ends())
    low, high = (np.stack([one[place] for one in ends]) for place in (0, 1))
    low, high = low.min(axis=0), high.max(axis=0)
    scale = Scale(low, high, reduce(Moments.__add__, ask(_ShareMoments(low, high))))
    cuts: dict[Path, BlockCut] = {}
    sizes: dict[Path, int] = {(): rows}
    while large := {path: size for path, size in sizes.items() if size > limit}:
        view = _View(scale, tuple(_in_order(cuts)), _numbers(cuts, large))
        sizes = {}
        for path, (cut, left) in _choose(ask, view, large, k).items():
            cuts[path] = cut
            sizes |= {(*path, False): left, (*path, True): large[path] - left}
    return FarBlocks(scale, tuple(_in_order(cuts)))


def _in_order(cuts: Mapping[Path, BlockCut], path: Path = ()) -> Iterator[BlockCut | None]:
    """Yield the cuts of a part and its parts in preorder, None for one that is not cut."""
    yield cuts.get(path)
    if path in cuts:
        for side in (False, True):
            yield from _in_order(cuts, (*path, side))


def _numbers(cuts: Mapping[Path, BlockCut], paths: Mapping[Path, int]) -> dict[Path, int]:
    """Return the numbers of parts among those that are not cut."""
    leaves = sorted({(*path, side) for path in cuts for side in (False, True)} - {*cuts})
    return {path: leaves.index(path) if leaves else 0 for path in paths}


@dataclass(frozen=True)
class _View:
    """How rows are assigned to the parts that are open, by their numbers."""

    scale: Scale
    cuts: tuple[BlockCut | None, ...]
    numbers: Mapping[Path, int]

    def parts(self, rows: PlacedRows) -> Iterator[tuple[Path, list[NDArray[Any]]]]:
        """Yield the open parts that have some of the rows, and the keys of those: points first."""
        points = self.scale.points(rows.values)
        keys = [*np.ascontiguousarray(points.T), *rows.ties]
        of_row = find_blocks(self.cuts, points, *rows.ties)
        for path, number in self.numbers.items():
            places = np.flatnonzero(of_row == number)
            if len(places):
                yield path, [key.take(places) for key in keys]


@dataclass
class _Search:
    """The search for the first row that does not go to the left of a cut.

    `before` rows of those that are equal to `least` so far go to the left. `bracket` are two
    values of the next key, between which its value for that row is.
    """

    column: int
    middle: float | None
    size: int
    least: list[Any] = field(default_factory=list)
    left: int = 0
    before: int = 0
    bracket: tuple[Any, Any] = (0, 0)


def _choose(
    ask: Ask, view: _View, sizes: Mapping[Path, int], k: int
) -> dict[Path, tuple[BlockCut, int]]:
    """Return where parts are cut, and how many of their rows go to the left."""
    columns = len(view.scale.low)
    searches = _started(ask(_Spans(view)), sizes)
    open_searches = searches
    for place in range(2 * columns + 1):
        sketches = ask(_Sketches(view, open_searches))
        for path, one in open_searches.items():
            part = [reply[path] for reply in sketches if path in reply]
            if not place:
                below = sum(sketch.below for sketch in part)
                below = one.size // 2 if one.middle is None else below
                one.left = one.before = left_rows(one.size, below, k)
            one.bracket = _bracket(part, one.before)
        counts = ask(_Counts(view, open_searches))
        for path, one in open_searches.items():
            value, less = _at([reply[path] for reply in counts if path in reply], one.before)
            one.least.append(value)
            one.before -= less
        open_searches = {path: one for path, one in open_searches.items() if one.before}
        if not open_searches:
            break
    return {
        path: (BlockCut(one.column, tuple(one.least)), one.left) for path, one in searches.items()
    }


def _started(
    replies: Sequence[Mapping[Path, tuple[Floats, Floats]]], sizes: Mapping[Path, int]
) -> dict[Path, _Search]:
    searches = {}
    for path, size in sizes.items():
        spans = [reply[path] for reply in replies if path in reply]
        low = np.min([one for one, _ in spans], axis=0).tolist()
        high = np.max([other for _, other in spans], axis=0).tolist()
        column, middle = widest([*zip(low, high, strict=True)])
        searches[path] = _Search(column, middle, size)
    return searches


class _Sketch(NamedTuple):
    """Of `rows` numbers in order, every `step`-th and the last; and how many are `below` the
    middle."""

    rows: int
    step: int
    values: NDArray[Any]
    below: int

    @classmethod
    def of(cls, numbers: NDArray[Any], middle: float | None) -> "_Sketch":
        """Return the sketch of some numbers, which are in any order."""
        ordered = np.sort(numbers)
        step = max(1, len(ordered) // _KEPT)
        below = 0 if middle is None else int(np.count_nonzero(ordered < middle))
        return cls(len(ordered), step, np.append(ordered[::step], ordered[-1:]), below)

    def most_below(self, value: Any) -> int:
        """Return how many numbers may be less than a value at most."""
        return min(int(np.searchsorted(self.values, value)) * self.step, self.rows)

    def least_up_to(self, value: Any) -> int:
        """Return how many numbers are a value or less, at least."""
        place = int(np.searchsorted(self.values, value, "right"))
        return self.rows if place == len(self.values) else max((place - 1) * self.step + 1, 0)


_KEPT = 1_000


def _bracket(sketches: Sequence[_Sketch], before: int) -> tuple[Any, Any]:
    """Return two values between which the one is that has so many before it in order."""
    values = np.unique(np.concatenate([one.values for one in sketches]))
    first, last = 0, len(values) - 1
    while first < last:  # the last value below which there cannot be more
        middle = (first + last + 1) // 2
        if sum(one.most_below(values[middle]) for one in sketches) <= before:
            first = middle
        else:
            last = middle - 1
    low, first, last = values[first], 0, len(values) - 1
    while first < last:  # the first value up to which there are more
        middle = (first + last) // 2
        if sum(one.least_up_to(values[middle]) for one in sketches) > before:
            last = middle
        else:
            first = middle + 1
    return low, values[first]


class _Count(NamedTuple):
    """How many numbers are below a bracket, and those in it, with how often each occurs."""

    below: int
    values: NDArray[Any]
    times: Ints


def _at(counts: Sequence[_Count], before: int) -> tuple[Any, int]:
    """Return the value that has so many before it in order, and how many are less than it."""
    values = np.concatenate([one.values for one in counts])
    distinct, places = np.unique(values, return_inverse=True)
    times = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(times, places, np.concatenate([one.times for one in counts]))
    ends = sum(one.below for one in counts) + np.cumsum(times)
    place = int(np.searchsorted(ends, before, "right"))
    return distinct[place].item(), int(ends[place] - times[place])


class _Ends(RowsQuestion):
    """The least and greatest value of each column."""

    def reply(self, rows: PlacedRows) -> tuple[Floats, Floats]:
        """Return both, (columns,) each."""
        columns = rows.values.T
        return np.array([one.min() for one in columns]), np.array([one.max() for one in columns])


@dataclass(frozen=True)
class _ShareMoments(RowsQuestion):
    """The moments of values as shares of their columns' ranges."""

    low: Floats
    high: Floats

    def reply(self, rows: PlacedRows) -> Moments:
        """Return those of the rows."""
        return share_moments(shares(rows.values, self.low, self.high))


@dataclass(frozen=True)
class _Spans(RowsQuestion):
    """The least and greatest point of each column in the open parts."""

    view: _View

    def reply(self, rows: PlacedRows) -> dict[Path, tuple[Floats, Floats]]:
        """Return both, (columns,) each, by part."""
        columns = len(self.view.scale.low)
        return {
            path: (
                np.array([key.min() for key in keys[:columns]]),
                np.array([key.max() for key in keys[:columns]]),
            )
            for path, keys in self.view.parts(rows)
        }


@dataclass(frozen=True)
class _OfSearches(RowsQuestion):
    """A question about the next key of rows that are equal to what was found so far."""

    view: _View
    searches: Mapping[Path, _Search]

    def reply(self, rows: PlacedRows) -> dict[Path, Any]:
        """Return what is told of each part of which there are such rows."""
        columns, parts = len(self.view.scale.low), {}
        for path, keys in self.view.parts(rows):
            one = self.searches.get(path)
            if one is None:
                continue
            ordered = ordered_keys(keys, one.column, columns)
            tied = np.arange(len(ordered[0]))
            for key, value in zip(ordered, one.least, strict=False):
                tied = tied[key.take(tied) == value]
            if len(tied):
                parts[path] = self.tell(one, ordered[len(one.least)].take(tied))
        return parts

    @abstractmethod
    def tell(self, search: _Search, numbers: NDArray[Any]) -> Any:
        """Return what is told of the numbers of one part, of which there are some."""


class _Sketches(_OfSearches):
    def tell(self, search: _Search, numbers: NDArray[Any]) -> _Sketch:
        """Return their sketch."""
        return _Sketch.of(numbers, None if search.least else search.middle)


class _Counts(_OfSearches):
    def tell(self, search: _Search, numbers: NDArray[Any]) -> _Count:
        """Return how many there are, below the bracket and in it."""
        low, high = search.bracket
        inside = numbers[(numbers >= low) & (numbers <= high)]
        return _Count(int(np.count_nonzero(numbers < low)), *np.unique(inside, return_counts=True))
