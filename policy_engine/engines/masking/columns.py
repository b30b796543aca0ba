"""Columns that are masked by themselves, each value or image by what is known of its column."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, Self, TypeVar

import pyarrow as pa

from policy_engine.engines.masking.parts import Look
from policy_engine.methods.masking import ColumnMasking

_DIGITS = 3
"""Figures of more decimals would tell the variance of the input too well."""
_S = TypeVar("_S")
_O = TypeVar("_O")


class ColumnJudgement(NamedTuple):
    """What a masked column shows: how many cells break its masking, and other figures; of random
    categories, the matrix by which they were drawn. A `shortfall` is what shows that it is masked
    less than its masking masks."""

    masking: ColumnMasking
    broken: int
    figures: Mapping[str, float]
    categories: tuple[str, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    shortfall: str = ""


def rounded(figures: Mapping[str, float]) -> dict[str, float]:
    """Return figures as they are certified."""
    return {name: round(float(value), _DIGITS) + 0.0 for name, value in figures.items()}


class SingleColumn(ABC, Generic[_S, _O]):
    """A column that is masked by itself, whatever the other columns of a row hold.

    `_S` is what its rows show before and after masking, `_O` what an output shows of it; both are
    found in parts of a table and merged.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the column."""

    @property
    def survey(self) -> Look[Any] | None:
        """What of the whole column has to be seen before it is masked, None if nothing."""
        return None

    def informed(self, seen: Any, kind: pa.DataType) -> Self:  # noqa: ARG002 (most need not know)
        """Return the column with what was seen of it, its values being of a type.

        Raises DataError (R007, R013) where the masking does not take it.
        """
        return self

    @property
    def makes_texts(self) -> bool:
        """Whether the masked column is one of texts, whatever it was."""
        return False

    @abstractmethod
    def mask(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the column of a part of a table masked. Raises DataError (R013) where it does not
        hold what the masking takes."""

    @abstractmethod
    def compare(self, before: pa.ChunkedArray, after: pa.ChunkedArray) -> _S:
        """Return what the same rows show before and after masking."""

    @abstractmethod
    def merge(self, one: _S, other: _S) -> _S:
        """Return what the rows of two parts of a table show."""

    def doubts(self, k: int) -> Iterator[str]:  # noqa: ARG002 (most have none)
        """Yield what the owner should know of the masked column, classes having k rows or more."""
        yield from ()

    @abstractmethod
    def output(self, kind: pa.DataType | None) -> Look[_O]:
        """Return what of an output has to be seen to judge it.

        `kind` is the type that its texts are inferred to be of. Raises DataError (V006) where the
        output alone does not show that it is masked, and nothing is known of the input.
        """

    @abstractmethod
    def judge(self, seen: _O, compared: _S | None) -> ColumnJudgement:
        """Return what an output shows.

        `compared` is what the rows of the input showed, None where it is not known.
        """
