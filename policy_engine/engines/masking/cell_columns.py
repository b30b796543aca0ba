"""Columns of numbers that are masked one by one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import pyarrow as pa

from policy_engine.engines.masking.cells import (
    count_by_spelling,
    count_unchanged,
    mask_column,
)
from policy_engine.engines.masking.columns import ColumnJudgement, SingleColumn, rounded
from policy_engine.engines.masking.marks import column_mark
from policy_engine.engines.masking.parts import Look
from policy_engine.engines.masking.surveys import exact_column
from policy_engine.engines.masking.tails import (
    CodedCells,
    TailEvidence,
    judge_coded,
    look_at_coded,
    merge_coded,
    merge_surveys,
    public_code,
    survey_tail,
    tail_doubts,
    tail_evidence,
)
from policy_engine.methods.masking import CellMasking, CellRule
from policy_engine.methods.tail_coding import TailCode, TailCoding, TailSurvey


class CellPairs(NamedTuple):
    """Of cells with a value, how many are unchanged once they are masked, and the mark of these."""

    values: int
    unchanged: int
    mark: int

    def merge(self, other: "CellPairs") -> "CellPairs":
        """Return the pairs of two parts of a column together."""
        mark = (self.mark + other.mark) % 2**64
        return CellPairs(self.values + other.values, self.unchanged + other.unchanged, mark)


class OutputCells(NamedTuple):
    """How many cells of an output break the masking, by either spelling of numbers, and their
    mark."""

    broken: int
    broken_floats: int
    mark: int

    def merge(self, other: "OutputCells") -> "OutputCells":
        """Return what two parts of an output show together."""
        broken = self.broken + other.broken, self.broken_floats + other.broken_floats
        return OutputCells(*broken, (self.mark + other.mark) % 2**64)


def _judge_mark(broken: int, mark: int, compared: CellPairs | None) -> int:
    """Return how many cells are broken: one at least where not those that were masked are there."""
    is_other = compared is not None and compared.mark != mark
    return max(broken, 1) if is_other else broken


def _unchanged(compared: CellPairs | None) -> dict[str, float]:
    return {} if compared is None else {"unchanged": compared.unchanged / max(compared.values, 1)}


@dataclass(frozen=True)
class _CellColumn(SingleColumn[CellPairs, Any]):
    """A column of numbers, marked under a key; `kind` is the type that its texts are inferred to be
    of."""

    masking: CellMasking
    kind: pa.DataType | None
    key: bytes

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.masking.name

    def compare(self, before: pa.ChunkedArray, after: pa.ChunkedArray) -> CellPairs:
        """Return what the same rows show before and after masking."""
        return CellPairs(*count_unchanged(before, after), column_mark(after, None, self.key))

    def merge(self, one: CellPairs, other: CellPairs) -> CellPairs:
        """Return what the rows of two parts of a table show."""
        return one.merge(other)

    def _see_output(self, column: pa.ChunkedArray, rule: CellRule) -> OutputCells:
        mark = column_mark(column, None, self.key)
        return OutputCells(*count_by_spelling(column, rule), mark)


@dataclass(frozen=True)
class PlainColumn(_CellColumn):
    """A column of numbers whose masking need not know the others."""

    def mask(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the column masked. Raises DataError as `mask_column` does."""
        column, kind = exact_column(table, self.name, self.kind)
        return mask_column(column, self.masking, kind)

    def output(self, kind: pa.DataType | None) -> Look[OutputCells]:  # noqa: ARG002 (of any type)
        """Return what of an output has to be seen to judge it."""

        def see(table: pa.Table) -> OutputCells:
            return self._see_output(table.column(self.name), self.masking)

        return Look((self.name,), see, OutputCells.merge)

    def judge(self, seen: OutputCells, compared: CellPairs | None) -> ColumnJudgement:
        """Return what an output shows, as it was written."""
        broken = min(seen.broken, seen.broken_floats)
        broken = _judge_mark(broken, seen.mark, compared)
        return ColumnJudgement(self.masking, broken, rounded(_unchanged(compared)))


@dataclass(frozen=True)
class TailColumn(_CellColumn):
    """A column of numbers whose tail is coded, with what is known of the tail."""

    masking: TailCoding
    tail: TailEvidence | None = None

    @property
    def survey(self) -> Look[TailSurvey]:
        """What the column tells of its tail."""

        def see(table: pa.Table) -> TailSurvey:
            return survey_tail(*exact_column(table, self.name, self.kind), self.masking)

        return Look((self.name,), see, lambda one, other: merge_surveys(self.masking, one, other))

    def informed(self, seen: TailSurvey, kind: pa.DataType) -> Self:
        """Return the column with its tail. Raises DataError as `tail_evidence` does."""
        return replace(self, tail=tail_evidence(self.masking, seen, kind))

    @property
    def code(self) -> TailCode:
        """What becomes of each value. Raises DataError as `public_code` does."""
        return public_code(self.masking) if self.tail is None else self.tail.code

    @property
    def makes_texts(self) -> bool:
        """Whether a label may be in the column."""
        return bool(self.code.label)

    def mask(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the column masked. Raises DataError as `mask_column` does."""
        column, kind = exact_column(table, self.name, self.kind)
        return mask_column(column, self.code, kind)

    def doubts(self, k: int) -> Iterator[str]:
        """Yield what the owner should know of the tail, classes having k rows or more."""
        yield from tail_doubts(self.tail, k) if self.tail else ()

    def output(
        self,
        kind: pa.DataType | None,  # noqa: ARG002 (of any type)
    ) -> Look[tuple[OutputCells, CodedCells]]:
        """Return what of an output has to be seen to judge it."""
        code = self.code

        def see(table: pa.Table) -> tuple[OutputCells, CodedCells]:
            column = table.column(self.name)
            return self._see_output(column, code), look_at_coded(column, code)

        def merge(
            one: tuple[OutputCells, CodedCells], other: tuple[OutputCells, CodedCells]
        ) -> tuple[OutputCells, CodedCells]:
            return one[0].merge(other[0]), merge_coded(code, one[1], other[1])

        return Look((self.name,), see, merge)

    def judge(
        self,
        seen: tuple[OutputCells, CodedCells],
        compared: CellPairs | None,
    ) -> ColumnJudgement:
        """Return what an output shows, as it was written."""
        cells, coded = seen
        broken = min(cells.broken, cells.broken_floats)
        broken, figures = judge_coded(self.code, coded, broken, self.tail)
        broken = _judge_mark(broken, cells.mark, compared)
        return ColumnJudgement(self.masking, broken, rounded({**_unchanged(compared), **figures}))
