"""Classes of near rows, each of which is published as one value of every quasi-identifier."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import read_cell
from policy_engine.engines.class_evidence import (
    ClassEvidence,
    cells_mark,
    see_replaced,
    spread_of,
)
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.decimals import is_number
from policy_engine.engines.generalizations.representatives import Means, Modes, count_dominated
from policy_engine.engines.preparation import PreparedTable
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.diversity import ValueHistogram, histogram
from policy_engine.kernels.grouping import classes_of, distinct
from policy_engine.kernels.microaggregation import (
    Attribute,
    Space,
    default_block_size,
    form_classes,
    merge_all,
    place,
    strata_needed,
)
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.maskings.microaggregation import dominance_doubt
from policy_engine.methods.privacy_models.t_closeness import TCloseness
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]
Cells = Mapping[str, tuple[Ints, list[str | None]]]
Holds = Callable[[Ints, Ints, int], NDArray[np.bool_]]


@dataclass(frozen=True)
class NearClasses:
    """Classes in the order of what is published of them, and the cells of each column."""

    rows: Partition
    cells: Cells
    quasi: Mapping[str, Generalizer]

    @property
    def means(self) -> dict[str, Means]:
        """The columns whose cells are means."""
        return {name: one for name, one in self.quasi.items() if isinstance(one, Means)}

    def evidence(self) -> ClassEvidence:
        """Return what is known of these classes."""
        peaks = {name: one.peaks(self.rows) for name, one in self.means.items()}
        return ClassEvidence(
            cells_mark(self.cells.values(), np.diff(self.rows.starts)),
            {
                name: see_replaced(one.column, self.rows, self.cells[name])
                for name, one in self.quasi.items()
            },
            spreads(self.quasi),
            {name: count_dominated(one) for name, one in peaks.items() if one},
        )


def spreads(quasi: Mapping[str, Generalizer]) -> dict[str, Fraction]:
    """Return the spread of the columns of numbers of a whole table."""
    spread_by_name = ((name, spread_of(one.column)) for name, one in quasi.items())
    return {name: spread for name, spread in spread_by_name if spread is not None}


def doubts_of_means(dominated: Mapping[str, int], classes: int) -> Iterator[str]:
    """Yield the columns in which the means of some of so many classes tell their largest value."""
    for name, count in dominated.items():
        if count:
            yield dominance_doubt(name, count, f"{classes:,} classes")


@dataclass(frozen=True)
class ClassBounds:
    """The bounds that every class keeps beside its number of rows.

    `overall` counts the sensitive values of the whole table, by column.
    """

    step: Anonymization
    ancestries: Mapping[str, Ancestry]
    overall: Mapping[str, Ints]

    @property
    def is_about_rows(self) -> bool:
        """Whether every class of k rows keeps every bound."""
        return not self.overall and not self.step.columns.privacy_unit

    def strata(self) -> tuple[str, int]:
        """Return a column that t-closeness is about, and how many strata of its values make a
        class with a row of each t-close; no column and 0 where there is none."""
        for name, overall in self.overall.items():
            for model, column in self.step.models_about(name):
                if isinstance(model, TCloseness):
                    # A hierarchical distance is at most the variational one.
                    is_ordered = column.distance == "ordered"
                    return name, strata_needed(overall, model.t, self.step.k, is_ordered=is_ordered)
        return "", 0

    def hold_by_class(self, rows: "PersonalRows", groups: Ints, count: int) -> NDArray[np.bool_]:
        """Return which of `count` classes hold, (count,); `groups` (rows,) numbers them from 0."""
        histograms = {}
        for name, overall in self.overall.items():
            counts = histogram(groups, count, rows.sensitive[name], rows.persons)
            histograms[name] = replace(counts, overall=overall)
        return self.hold(rows.units(groups, count), histograms)

    def hold(self, units: Ints, histograms: Mapping[str, ValueHistogram]) -> NDArray[np.bool_]:
        """Return which classes hold, (classes,), given their rows or persons, and their values."""
        holds: NDArray[np.bool_] = units >= self.step.k
        for name, counts in histograms.items():
            holds &= self.step.hold_by_class(counts, name, self.ancestries)
        return holds


@dataclass(frozen=True)
class PersonalRows:
    """The sensitive values of rows, (rows,) of codes by column, and their persons, if counted."""

    sensitive: Mapping[str, NDArray[np.int32]]
    persons: Ints | None

    def units(self, groups: Ints, count: int) -> Ints:
        """Return how many rows or, if they are counted, persons each of `count` classes has."""
        if self.persons is None:
            return np.bincount(groups, minlength=count)
        width = int(self.persons.max(initial=0)) + 1
        return np.bincount(distinct(groups * width + self.persons) // width, minlength=count)

    def select(self, rows: Ints) -> "PersonalRows":
        """Return some of the rows."""
        persons = None if self.persons is None else self.persons[rows]
        return PersonalRows({name: one[rows] for name, one in self.sensitive.items()}, persons)


@dataclass(frozen=True)
class NearFormation:
    """How rows of codes become classes: where they lie, and what each class keeps.

    Of the column `stratified`, if there is one, every class has rows of all strata.
    """

    space: Space
    bounds: ClassBounds
    stratified: str = ""

    @classmethod
    def of(cls, bounds: ClassBounds, quasi: Mapping[str, Generalizer], rows: int) -> Self:
        """Return how a table of so many rows becomes classes: its counts alone decide it."""
        step = bounds.step
        columns = zip(quasi.values(), step.columns.quasi_identifier, strict=True)
        placements = tuple(place(_attribute(one, setting.weight)) for one, setting in columns)
        stratified, strata = bounds.strata()
        most = default_block_size(rows, max(step.k, strata))
        return cls(Space(placements, rows, step.k, most, strata), bounds, stratified)

    def groups(self, codes: NDArray[np.int32], personal: PersonalRows) -> Ints:
        """Return the class of every row, (rows,), as `form_classes` does.

        The rows, `codes` (rows, columns), come in an order that follows from what they hold.
        """
        words = np.arange(len(codes), dtype=np.uint64)
        sensitive = personal.sensitive[self.stratified] if self.stratified else None
        return form_classes(codes, self.space, words, self._check(personal), sensitive)

    def settled(
        self, groups: Ints, quasi: Mapping[str, Generalizer], personal: PersonalRows
    ) -> tuple[Ints, Cells]:
        """Return the classes of a whole table, those with equal cells being one, and their cells.

        Where classes hold apart but not as one, they are merged with the nearest, too.
        """
        while True:
            classes = partition_of(groups)
            cells = {name: one.cells(classes) for name, one in quasi.items()}
            class_of, count = classes_of([cell.astype(np.int32) for cell, _ in cells.values()])
            if count == len(class_of):
                return groups, cells
            groups = class_of[groups]
            if not self.bounds.step.is_kept_by_union:
                groups = self.merged(groups, quasi, personal)

    def merged(
        self, groups: Ints, quasi: Mapping[str, Generalizer], personal: PersonalRows
    ) -> Ints:
        """Return the classes of rows where those that do not hold are merged with the nearest."""
        codes = np.column_stack([one.column.codes for one in quasi.values()])
        return merge_all(codes, self.space, groups, self._check(personal))

    def _check(self, personal: PersonalRows) -> Holds:
        if self.bounds.is_about_rows:
            return lambda _rows, _groups, count: np.ones(count, dtype=np.bool_)
        return lambda rows, groups, count: self.bounds.hold_by_class(
            personal.select(rows), groups, count
        )


def near_classes(
    prepared: PreparedTable, step: Anonymize, words: NDArray[np.uint64]
) -> NearClasses:
    """Return classes of k rows or more by MDAV, merged with the nearest until each of them holds.

    Random `words`, (rows,), decide which of the rows with equal quasi-identifiers is in which
    class. Classes with equal cells are one, as in the output.
    """
    bounds, personal = bounds_of_classes(prepared, step)
    formation = NearFormation.of(bounds, prepared.quasi, prepared.rows)
    order = prepared.content_order(words)
    codes = np.column_stack([one.column.codes for one in prepared.quasi.values()])
    groups = np.empty(prepared.rows, dtype=np.int64)
    groups[order] = formation.groups(codes[order], personal.select(order))
    return sorted_classes(*formation.settled(groups, prepared.quasi, personal), prepared.quasi)


def bounds_of_classes(prepared: PreparedTable, step: Anonymize) -> tuple[ClassBounds, PersonalRows]:
    """Return the bounds on the classes of a table, and what of its rows they are about."""
    names = [name for name in prepared.sensitive if step.models_about(name)]
    sensitive = {name: prepared.sensitive[name].values() for name in names}
    persons = None if prepared.persons is None else prepared.persons.astype(np.int64)
    one_class = np.zeros(prepared.rows, dtype=np.int64)
    overall = {
        name: histogram(one_class, 1, codes, persons).overall for name, codes in sensitive.items()
    }
    return ClassBounds(step, prepared.ancestries, overall), PersonalRows(sensitive, persons)


def _attribute(generalizer: Generalizer, weight: float) -> Attribute:
    column = generalizer.column
    if isinstance(generalizer, Modes) and not column.is_ordered:
        return Attribute(column.counts(), weight=weight)
    return Attribute(column.counts(), column.position, column.has_missing, weight)


def partition_of(groups: Ints) -> Partition:
    """Return the classes of rows that are numbered by their class, (rows,)."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    return Partition(np.argsort(groups, kind="stable"), starts)


def sorted_classes(groups: Ints, cells: Cells, quasi: Mapping[str, Generalizer]) -> NearClasses:
    """Return classes in the order of their cells, so that it tells nothing else."""
    turn = np.lexsort([_ranks(texts)[cell] for cell, texts in reversed(list(cells.values()))])
    place = np.empty(len(turn), dtype=np.int64)
    place[turn] = np.arange(len(turn))
    return NearClasses(
        partition_of(place[groups]),
        {name: (cell[turn], texts) for name, (cell, texts) in cells.items()},
        quasi,
    )


def _ranks(texts: list[str | None]) -> Ints:
    """Return the place of every cell among the sorted ones, (cells,)."""
    order = sorted(range(len(texts)), key=lambda cell: _sort_key(texts[cell]))
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks


def _sort_key(text: str | None) -> tuple[bool, float, str]:
    values = read_cell(text).values
    number = float(values[0]) if values and is_number(values[0]) else 0.0
    return text is None, number, text or ""
