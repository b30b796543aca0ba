"""Classes of the rows that are left once outlying ones are suppressed, in this process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.anonymizing import Grouping
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.preparation import PreparedTable, check_feasible, overview
from policy_engine.engines.trimming import trim
from policy_engine.errors import DataError
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.mondrian import Partition
from policy_engine.kernels.outlying_rows import ClassJudgement, judge, places, spans
from policy_engine.kernels.trimmed_rows import (
    BinCounts,
    ChosenBins,
    LineTail,
    count_rows,
    gain_bins,
    tail_losses,
)
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TrimmableTable:
    """A table of which rows may be suppressed, and how it is prepared and its classes are formed.

    `axes` and `places` (rows, dimensions) are those of all rows.
    """

    table: pa.Table
    step: Anonymize
    axes: Sequence[Axis]
    places: NDArray[np.float64]
    prepare: Callable[[pa.Table], PreparedTable]
    form: Callable[[PreparedTable], Grouping]

    @classmethod
    def of(
        cls,
        table: pa.Table,
        step: Anonymize,
        prepared: PreparedTable,
        prepare: Callable[[pa.Table], PreparedTable],
        form: Callable[[PreparedTable], Grouping],
    ) -> "TrimmableTable":
        """Return a table that is `prepared`."""
        axes = prepared.axes(step)
        return cls(table, step, axes, np.column_stack([*map(places, axes)]), prepare, form)

    def trimmed(self, whole: Grouping, is_over: Callable[[], bool]) -> Grouping:
        """Return the best classes that are found with no more rows suppressed than may be, given
        those of all rows. Where an earlier search was not finished in time, no row is suppressed.
        """
        rows = self.table.num_rows
        if whole.open:
            return whole
        original = _TableTrial(self, np.arange(rows), whole)
        limit = int(self.step.recoding.max_suppression * rows)
        made = trim(original, self.axes, limit, is_over)
        grouping, kept = made.best.grouping, made.best.kept
        if made.is_cut_short:
            grouping = replace(grouping, open=1, stage="leaving rows out")
        classes = replace(grouping.classes, order=kept[grouping.classes.order])
        return replace(grouping, classes=classes, suppressed=made.suppressed, gain=made.gain())


@dataclass(frozen=True)
class _TableTrial:
    """Classes of the `kept` rows of a table, numbered by their places among those."""

    whole: TrimmableTable
    kept: Ints
    grouping: Grouping

    @property
    def rows(self) -> int:
        return len(self.kept)

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        return spans(self.whole.axes, self.whole.places[self.kept])

    @cached_property
    def _judgement(self) -> ClassJudgement:
        classes: Partition = self.grouping.classes
        rows = self.whole.places[self.kept]
        return judge(self.whole.axes, self.ends, rows, classes.order, classes.starts)

    @cached_property
    def _bins(self) -> NDArray[np.int32]:
        return gain_bins(self._judgement.gain)

    def counts(self) -> BinCounts:
        return count_rows(self.whole.axes, self._bins, self.whole.places[self.kept], self.ends)

    def without(self, choice: ChosenBins) -> "_TableTrial | None":
        whole = self.whole
        kept = self.kept[~choice.holds(self._bins, whole.places[self.kept], self.ends)]
        try:
            prepared = whole.prepare(whole.table.take(from_numpy(kept)))
            check_feasible(overview(prepared), whole.step)
        except DataError:
            return None
        grouping = whole.form(prepared)
        return None if grouping.open else _TableTrial(whole, kept, grouping)

    def line_losses(self) -> tuple[int, ...]:
        return self._judgement.hulls.line_losses(self.whole.axes, self.ends)

    def tail_losses(self, tails: Sequence[LineTail]) -> Mapping[LineTail, int]:
        return tail_losses(self._judgement.hulls, self.whole.axes, self.ends, tails)

    def loss(self, ends: NDArray[np.float64]) -> int:
        return self._judgement.hulls.loss(self.whole.axes, ends)
