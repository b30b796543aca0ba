"""Accuracy-guided classes of the rows of one task, and what stands for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.guided_classes import GuidedForming, groups_of
from policy_engine.engines.microaggregating import ClassBounds, NearClasses, partition_of
from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.near_parts import personal_rows
from policy_engine.engines.spark.nodes import group_by_node
from policy_engine.errors import InternalError
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.guided_tree import guided_partition
from policy_engine.kernels.layout import SensitiveRows
from policy_engine.kernels.mondrian import Partition
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]
GuidedBy = Literal["targets", "values", "whole values", "whole targets", "nothing"]
"""How classes are formed: cut by targets, or of the rows with equal values; and merged until they
hold, where a task has the whole table; or all rows are one class."""


@dataclass(frozen=True)
class GuidedFormation:
    """How the rows of nodes become accuracy-guided classes.

    `columns` are the quasi-identifiers of the whole table, but for those with too many values, and
    `label` is that which rows that stand for classes are to have.
    """

    step: Anonymize
    bounds: ClassBounds
    columns: Mapping[str, ColumnCodes]
    label: ColumnCodes | None
    by: GuidedBy = "targets"

    def classes(
        self,
        rows: CodedRows,
        node: Ints,
        quasi: Mapping[str, Generalizer],
        axes: Sequence[Axis],
        constraint: ClassConstraint,
    ) -> NearClasses:
        """Return the classes of rows in their nodes, (rows,), those with equal cells being one.

        `quasi` has the codes of these rows, `axes` has none.
        """
        if self.by == "nothing":
            whole = partition_of(np.zeros(len(node), dtype=np.int64))
            return NearClasses(
                whole, {name: one.cells(whole) for name, one in quasi.items()}, quasi
            )
        personal = personal_rows(rows, len(axes), self.bounds)
        whole_columns = {name: self.columns.get(name, one.column) for name, one in quasi.items()}
        label = self.label
        if label is not None and rows.label is not None:
            label = replace(label, codes=rows.label, times=None)
        forming = GuidedForming(dict(quasi), self.step, self.bounds, personal, label, whole_columns)
        if self.by in ("values", "whole values"):
            groups = forming.exact_groups
        else:
            groups = self._cut_groups(rows, node, axes, constraint)
        is_whole = self.by in ("whole values", "whole targets")
        return forming.settled(groups) if is_whole else forming.united(groups)

    def _cut_groups(
        self, rows: CodedRows, node: Ints, axes: Sequence[Axis], constraint: ClassConstraint
    ) -> Ints:
        """Return the class of every row, (rows,), where every node is cut by its targets."""
        groups, count = np.empty(len(node), dtype=np.int64), 0
        for _, node_rows in group_by_node(node):
            own = groups_of(self._cut(rows.select_rows(node_rows), axes, constraint))
            groups[node_rows] = own + count
            count += int(own.max()) + 1
        return groups

    def _cut(self, rows: CodedRows, axes: Sequence[Axis], constraint: ClassConstraint) -> Partition:
        if rows.targets is None:
            raise InternalError.of("X001", "No targets say where classes are cut.")
        dims = len(axes)
        own_axes = [replace(axis, codes=rows.codes[:, dim]) for dim, axis in enumerate(axes)]
        people = sensitive_rows(rows, dims, tuple(self.bounds.overall.values()))
        return guided_partition(own_axes, people, constraint, rows.targets, workers=1)


def sensitive_rows(rows: CodedRows, dims: int, overall: tuple[Ints, ...]) -> SensitiveRows:
    """Return the sensitive values and the persons of rows, given those of the whole table."""
    sensitive = tuple(rows.codes[:, place] for place in range(dims, rows.codes.shape[1]))
    persons = None
    if rows.persons is not None:
        persons = np.unique(rows.persons, return_inverse=True)[1].astype(np.int32)
    return SensitiveRows(sensitive, persons, overall)


def target_marks(rows: CodedRows) -> Ints:
    """Return a number of the targets of every row, (rows,), which different ones hardly share."""
    marks = np.zeros(len(rows.codes), dtype=np.uint64)
    for target in (rows.codes[:, :0] if rows.targets is None else rows.targets).T:
        marks = (marks ^ target.astype(np.int64).view(np.uint64)) * _FACTOR
        marks ^= marks >> np.uint64(29)
    return marks.view(np.int64)


_FACTOR = np.uint64(0x9E3779B97F4A7C15)
