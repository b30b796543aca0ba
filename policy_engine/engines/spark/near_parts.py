"""The first cuts for microaggregation: parts that hold as a whole, and so are formed in tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.microaggregating import ClassBounds, NearFormation, PersonalRows
from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.nodes import Ask, Question, RowNodes
from policy_engine.kernels.descent import Cut
from policy_engine.kernels.diversity import ValueHistogram, histogram
from policy_engine.kernels.microaggregation import CodeCut, Placement, choose_cut

Ints = NDArray[np.int64]


def first_parts(
    ask: Ask,
    formation: NearFormation,
    limit: int,
    on_settled: Callable[[int], object] = int,
) -> RowNodes:
    """Cut parts of more than `limit` rows as microaggregation cuts them into blocks.

    A part is cut only if both sides keep every bound as a whole: then its classes follow from its
    own rows. The final parts are cut further in the tasks that hold their rows.
    """
    space, nodes = formation.space, RowNodes()
    open_parts = {0: space.rows}
    limit = max(limit, space.most)
    while open_parts:
        large = {part: rows for part, rows in open_parts.items() if rows > limit}
        cuts = _cuts(ask, formation, nodes, large)
        nodes.rows |= {part: rows for part, rows in open_parts.items() if part not in cuts}
        open_parts = {
            side: rows
            for part, one in cuts.items()
            for side, rows in zip(
                nodes.cuts.cut(part, _flags(one, space.placements)), one.rows, strict=True
            )
        }
        on_settled(sum(nodes.rows.values()))
    return nodes


class _SizedCut(NamedTuple):
    """Where a part is cut, and how many rows are on the two sides."""

    cut: CodeCut
    rows: tuple[int, int]


def _cuts(
    ask: Ask, formation: NearFormation, nodes: RowNodes, large: Mapping[int, int]
) -> dict[int, _SizedCut]:
    """Return the cuts of parts, without the parts that have none."""
    descent, space = nodes.cuts.descent(), formation.space
    cuts_by_part = ask(_Histograms(space.placements, space.least), descent, large)
    cuts = {part: cut for part, cut in cuts_by_part.items() if cut is not None}
    if not formation.bounds.is_about_rows:
        holds = ask(_Sides(formation.bounds, len(space.placements), cuts), descent, cuts)
        cuts = {part: cut for part, cut in cuts.items() if holds[part]}
    return cuts


def _flags(one: _SizedCut, placements: Sequence[Placement]) -> Cut:
    codes = np.arange(len(placements[one.cut.column].points))
    return Cut(one.cut.column, 0, codes < one.cut.least)


@dataclass(frozen=True)
class _Histograms(Question):
    """Where a part is cut, by how often each code occurs in it."""

    placements: tuple[Placement, ...]
    least: int

    def reply(self, _node: int, rows: CodedRows) -> list[tuple[Ints, Ints]]:
        """Return the codes that occur in some of the rows, and how often, by column."""
        columns = rows.codes.T[: len(self.placements)]
        return [np.unique(column, return_counts=True) for column in columns]

    def answer(self, _node: int, replies: list[list[tuple[Ints, Ints]]]) -> _SizedCut | None:
        """Return the cut, None where there is none."""
        counts = [np.zeros(len(one.points), dtype=np.int64) for one in self.placements]
        for reply in replies:
            for total, (codes, times) in zip(counts, reply, strict=True):
                total[codes] += times
        cut = choose_cut(counts, self.placements, self.least)
        if cut is None:
            return None
        left = int(counts[cut.column][: cut.least].sum())
        return _SizedCut(cut, (left, int(counts[cut.column].sum()) - left))


_SideCounts = tuple[Ints, Mapping[str, tuple[Ints, Ints]]]
"""The units on both sides, (2,), and by sensitive column how often each code occurs there, (2,
codes), and the units with a value, (2,)."""


@dataclass(frozen=True)
class _Sides(Question):
    """Whether both sides of a cut keep every bound. A person's rows are all in one task."""

    bounds: ClassBounds
    quasi: int
    chosen: Mapping[int, _SizedCut]

    def reply(self, node: int, rows: CodedRows) -> _SideCounts:
        """Return what is on the two sides."""
        cut = self.chosen[node].cut
        side = (rows.codes[:, cut.column] >= cut.least).astype(np.int64)
        personal = personal_rows(rows, self.quasi, self.bounds)
        values = {}
        for name, codes in personal.sensitive.items():
            code_counts = histogram(side, 2, codes, personal.persons)
            counts = np.zeros((2, len(self.bounds.overall[name])), dtype=np.int64)
            counts[np.repeat([0, 1], np.diff(code_counts.starts)), code_counts.values] = (
                code_counts.counts
            )
            values[name] = counts, code_counts.members
        return personal.units(side, 2), values

    def answer(self, _node: int, replies: list[_SideCounts]) -> bool:
        """Tell whether both sides keep every bound."""
        histograms = {}
        for name, overall in self.bounds.overall.items():
            counts = np.sum([values[name][0] for _, values in replies], axis=0)
            side, codes = np.nonzero(counts)
            histograms[name] = ValueHistogram(
                starts=np.searchsorted(side, [0, 1, 2]),
                values=codes.astype(np.int32),
                counts=counts[side, codes],
                members=np.sum([values[name][1] for _, values in replies], axis=0),
                overall=overall,
            )
        units: Ints = np.sum([units for units, _ in replies], axis=0)
        return bool(self.bounds.hold(units, histograms).all())


def personal_rows(rows: CodedRows, quasi: int, bounds: ClassBounds) -> PersonalRows:
    """Return the persons of coded rows and their sensitive values, which come after `quasi`."""
    columns = enumerate(bounds.overall, start=quasi)
    sensitive = {name: rows.codes[:, place] for place, name in columns}
    persons = None
    if rows.persons is not None:
        persons = np.unique(rows.persons, return_inverse=True)[1].astype(np.int64)
    return PersonalRows(sensitive, persons)
