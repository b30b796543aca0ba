"""A frame without its outlying rows: those that the local engine would leave out of classes too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import StructField

from policy_engine.engines.spark.coded_frames import ClassWork, CodedFrame
from policy_engine.engines.spark.formed_nodes import careful_formation
from policy_engine.engines.spark.judged_rows import (
    INPUT,
    JudgedRows,
    ends_of,
    judged_frame,
)
from policy_engine.engines.spark.values import quote_name
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.engines.trimming import trim
from policy_engine.errors import DataError
from policy_engine.kernels.mondrian import never
from policy_engine.kernels.trimmed_rows import BinCounts, ChosenBins, LineTail
from policy_engine.plan.steps import Anonymize, Publish

Floats = NDArray[np.float64]


class TrimmedFrame(NamedTuple):
    """The rows of a frame that are left, how many are not, and what that gained."""

    frame: DataFrame
    suppressed: int
    gain: SuppressionGain | None


def trim_frame(frame: DataFrame, step: Anonymize, output: Publish, work: ClassWork) -> TrimmedFrame:
    """Return a frame without the rows that are suppressed. Raises the errors of `anonymize`."""
    whole = _WholeFrame(frame, step, output, work)
    original = whole.trial()
    limit = int(step.recoding.max_suppression * original.rows)
    made = trim(original, original.judged.axes, limit, never)
    if made.best is original:
        return TrimmedFrame(frame, 0, None)
    rows = made.best.input
    return TrimmedFrame(rows.select(_quoted(frame.columns)), made.suppressed, made.gain())


def _quoted(names: Sequence[str]) -> list[str]:
    return [quote_name(name) for name in names]


@dataclass(frozen=True)
class _WholeFrame:
    """A frame of which rows may be left out, and how its classes are formed."""

    frame: DataFrame
    step: Anonymize
    output: Publish
    work: ClassWork

    def trial(
        self, judged: JudgedRows | None = None, choice: ChosenBins | None = None
    ) -> "_FrameTrial":
        """Return the classes of all rows, or of those judged ones that are not chosen. Raises
        DataError where the bounds cannot hold for them."""
        rows, work = self.frame, self.work
        if judged is not None and choice is not None:
            rows = work.hold(judged.without(choice))
        table = CodedFrame.of(self._carrying(rows), self.step, self._carrying_work(rows))
        formed = careful_formation(table, self.output)
        axes = table.axes() if judged is None else judged.axes
        ends = np.tile([0.0, 1.0], (len(axes), 1)) if judged is None else ends_of(rows, axes)
        moved = formed.moved()
        held = work.hold(judged_frame(moved, formed.formation, axes, ends, self._fields()))
        rows_judged = JudgedRows(held, tuple(self.frame.columns), axes, ends)
        return _FrameTrial(self, rows, table.rows, rows_judged)

    def _carried(self, rows: DataFrame) -> dict[str, str]:
        """Return the names of what is carried, by the columns of the rows."""
        return {
            name: f"{INPUT}{place}" if place < len(self.frame.columns) else name
            for place, name in enumerate(rows.columns)
        }

    def _carrying(self, rows: DataFrame) -> DataFrame:
        carried = self._carried(rows).items()
        copies = [F.col(quote_name(name)).alias(copy) for name, copy in carried if name != copy]
        return rows.select("*", *copies)

    def _carrying_work(self, rows: DataFrame) -> ClassWork:
        return replace(self.work, released=(*self.work.released, *self._carried(rows).values()))

    def _fields(self) -> dict[str, StructField]:
        fields = self.frame.schema.fields
        return {f"{INPUT}{place}": one for place, one in enumerate(fields)}


@dataclass(frozen=True)
class _FrameTrial:
    """Classes of the rows of a frame, or of some of them: its `input`, with their places then."""

    whole: _WholeFrame
    input: DataFrame
    rows: int
    judged: JudgedRows

    @property
    def ends(self) -> Floats:
        return self.judged.ends

    def counts(self) -> BinCounts:
        return self.judged.counts()

    def without(self, choice: ChosenBins) -> "_FrameTrial | None":
        try:
            return self.whole.trial(self.judged, choice)
        except DataError:
            return None

    def loss(self, ends: Floats) -> int:
        fixed, lines = self.judged.losses(ends)
        return fixed + sum(lines)

    def line_losses(self) -> tuple[int, ...]:
        return self.judged.losses(self.ends)[1]

    def tail_losses(self, tails: Sequence[LineTail]) -> Mapping[LineTail, int]:
        return self.judged.tail_losses(tails)
