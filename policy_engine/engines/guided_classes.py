"""Classes cut by the predictions of a model, and what stands for each of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.representatives import Means
from policy_engine.engines.microaggregating import (
    Cells,
    ClassBounds,
    NearClasses,
    NearFormation,
    PersonalRows,
    bounds_of_classes,
    partition_of,
    sorted_classes,
)
from policy_engine.engines.nearest_rows import nearest_rows
from policy_engine.engines.preparation import PreparedTable
from policy_engine.engines.suppressing import value_cells
from policy_engine.errors import InternalError
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.guided_tree import guided_partition, needs_compiling
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.methods.columns import PERTURBATIVE
from policy_engine.plan.steps import Anonymize

__all__ = ["GuidedClasses", "guided_classes", "needs_compiling"]

Ints = NDArray[np.int64]

ALREADY = (
    "The quasi-identifiers satisfy every bound as they are: nothing was changed, and no model "
    "guided anything."
)
_ONE_CLASS = (
    "All rows are one class, so each quasi-identifier has the same in every row: no two classes "
    "satisfy every bound. A smaller k would leave something to learn from."
)
_CONSTANT = (
    "The guide predicts the same of every row, or as good as the same beside the greatest of its "
    "predictions, so it guided nothing: classes are those that lose least."
)
_COARSE = (
    "In every class, the guide predicts the same of all rows: smaller classes cannot serve it "
    "better. So it is where it learnt from cells that were generalised before, or from too few "
    "rows."
)


@dataclass(frozen=True)
class GuidedClasses:
    """Classes in the order of their cells, and the cells of each column.

    The cells of the `typed` columns are values of the input. `doubts` are warnings for the owner,
    and `open` counts the classes that could perhaps be cut further, had there been more time.
    """

    near: NearClasses
    typed: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    open: int = 0


def guided_classes(
    prepared: PreparedTable,
    step: Anonymize,
    on_settled: Callable[[int], object] = int,
    is_over: Callable[[], bool] = never,
) -> GuidedClasses:
    """Return the classes of a table with targets, each of which satisfies every bound.

    Where the rows with equal quasi-identifiers do so already, those are the classes.
    """
    guide = step.recoding.guide
    if guide is None:
        raise InternalError.of("X001", "No guide says how classes are cut.")
    bounds, personal = bounds_of_classes(prepared, step)
    forming = GuidedForming(dict(prepared.quasi), step, bounds, personal, prepared.label)
    if forming.is_exact:
        near = forming.settled(forming.exact_groups)
        return GuidedClasses(near, tuple(prepared.quasi), (ALREADY,))
    if prepared.targets is None:
        raise InternalError.of("X001", "No targets say where classes are cut.")
    constraint = step.constraint(prepared.ancestries)
    classes = guided_partition(
        prepared.axes(step),
        prepared.sensitive_rows(),
        constraint,
        prepared.targets,
        on_settled,
        is_over=is_over,
    )
    near = forming.settled(groups_of(classes))
    doubts = tuple(_doubts(prepared.targets, near.rows))
    return GuidedClasses(near, forming.typed, doubts, classes.open)


def groups_of(classes: Partition) -> Ints:
    """Return the class of every row, (rows,)."""
    groups = np.empty(len(classes.order), dtype=np.int64)
    groups[classes.order] = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return groups


def _doubts(targets: Ints, classes: Partition) -> Iterator[str]:
    own, starts = targets[classes.order], classes.starts[:-1]
    is_coarse = (np.maximum.reduceat(own, starts) == np.minimum.reduceat(own, starts)).all()
    is_constant = (targets == targets[:1]).all()
    return doubts_of_guide(len(starts), is_constant=bool(is_constant), is_coarse=bool(is_coarse))


def doubts_of_guide(classes: int, *, is_constant: bool, is_coarse: bool) -> Iterator[str]:
    """Yield why a guide did not help: whether targets of all rows are equal, or those within each
    of so many classes."""
    if classes == 1:
        yield _ONE_CLASS
    if is_constant:
        yield _CONSTANT
    elif is_coarse:
        yield _COARSE


@dataclass(frozen=True)
class GuidedForming:
    """How classes of some rows are settled, and what stands for them.

    `quasi` has the codes of these rows, and `label` those of their labels, where rows stand for
    classes. The `whole` columns are those of the table that they are a part of, if they are.
    """

    quasi: dict[str, Generalizer]
    step: Anonymize
    bounds: ClassBounds
    personal: PersonalRows
    label: ColumnCodes | None = None
    whole: Mapping[str, ColumnCodes] | None = None

    @cached_property
    def exact_groups(self) -> Ints:
        """For every row, which of the rows with equal quasi-identifiers it is one of."""
        groups, _ = classes_of([one.column.codes for one in self.quasi.values()])
        return groups.astype(np.int64)

    @cached_property
    def is_exact(self) -> bool:
        """Whether rows with equal quasi-identifiers satisfy every bound."""
        return self._hold(self.exact_groups)

    @property
    def typed(self) -> tuple[str, ...]:
        """The columns of which a value of the input stands for each class."""
        columns = self.step.columns.quasi_identifier
        names = [one.name for one in columns if one.generalization in PERTURBATIVE]
        return tuple(name for name in names if not isinstance(self.quasi[name], Means))

    def _hold(self, groups: Ints) -> bool:
        count = int(groups.max(initial=-1)) + 1
        return bool(self.bounds.hold_by_class(self.personal, groups, count).all())

    def settled(self, groups: Ints) -> NearClasses:
        """Return the classes of rows, those with equal cells being one, as in the output.

        A median, a mode and a cell of two classes with equal ones is that of both together. Where
        some satisfy every bound apart but not as one, they are merged with the nearest.
        """
        while True:
            united, cells = self._united(groups)
            if united is groups or self.step.is_kept_by_union or self._hold(united):
                return sorted_classes(united, cells, self.quasi)
            formation = NearFormation.of(self.bounds, self.quasi, len(groups))
            groups = formation.merged(united, self.quasi, self.personal)

    def united(self, groups: Ints) -> NearClasses:
        """Return the classes of a part of the rows, those with equal cells being one."""
        return sorted_classes(*self._united(groups), self.quasi)

    def _united(self, groups: Ints) -> tuple[Ints, Cells]:
        cells = self._cells(partition_of(groups))
        class_of, count = classes_of([cell.astype(np.int32) for cell, _ in cells.values()])
        if count == len(class_of):
            return groups, cells
        first = np.zeros(count, dtype=np.int64)
        first[class_of] = np.arange(len(class_of))
        merged = {name: (cell[first], texts) for name, (cell, texts) in cells.items()}
        return class_of[groups].astype(np.int64), merged

    def _cells(self, classes: Partition) -> Cells:
        guide = self.step.recoding.guide
        if guide is None or guide.representative != "nearest":
            return {name: one.cells(classes) for name, one in self.quasi.items()}
        weights = [one.weight for one in self.step.columns.quasi_identifier]
        columns = {name: one.column for name, one in self.quasi.items()}
        quasi, whole = list(self.quasi.values()), self.whole or columns
        rows = nearest_rows(quasi, weights, classes, self.label, [whole[name] for name in columns])
        return {
            name: value_cells(one, one.codes[rows] - np.int32(one.has_missing))
            for name, one in columns.items()
        }
