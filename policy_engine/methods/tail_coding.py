"""Tail coding: the values beyond a threshold are replaced, all in one way."""

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest, nsmallest
from itertools import accumulate
from math import inf
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from policy_engine.methods.findings import Finding
from policy_engine.methods.masking import (
    CellMasking,
    CellRule,
    Number,
    Threshold,
    number,
    number_text,
    one_of_conflicts,
)

_ROUNDED = 0.0006
"""How far a rounded share may be from what it was."""
Replacement = Literal["threshold", "label", "mean"]
Counts = Iterable[tuple[Number, int]]
"""Distinct values, each with how often it occurs."""


class Tail(NamedTuple):
    """The values beyond a threshold: the threshold, how many there are, their sum and, all without
    their signs, their sum and the largest of them; zeros where there are none."""

    threshold: Number
    rows: int
    total: Number
    sizes: Number
    largest: Number

    @property
    def is_dominated(self) -> bool:
        """Whether one value is larger than all others together, without signs."""
        return self.largest > self.sizes - self.largest


@dataclass(frozen=True)
class TailSurvey:
    """What a part of a column tells of its tail: its `rows` with a value, and the outermost values.

    With a public threshold, `beyond` is what is beyond it. Without, `outermost` are distinct values
    and their counts, from the outermost on: as many as it takes for the rows of the tail, and the
    next one.
    """

    rows: int = 0
    beyond: Tail | None = None
    outermost: tuple[tuple[Number, int], ...] = ()


@dataclass(frozen=True)
class TailCode:
    """What becomes of each value of a column, once its tail is known.

    A value beyond the threshold is the `substitute`, a number or a text.
    """

    coding: "TailCoding"
    threshold: Number
    substitute: Number | str

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.coding.name

    @property
    def masking(self) -> str:
        """The notation of its masking."""
        return self.coding.masking

    @property
    def figures(self) -> Mapping[str, float]:
        """The parameters that are numbers."""
        return self.coding.figures

    @property
    def label(self) -> str:
        """The text that stands for the coded values, empty where they stay numbers."""
        return self.substitute if isinstance(self.substitute, str) else ""

    def mask(self, value: Number) -> Number | str:
        """Return the value, or the substitute where it is beyond the threshold."""
        is_beyond = value > self.threshold if self.coding.is_top else value < self.threshold
        return self.substitute if is_beyond else value

    def keeps(self, value: Number) -> bool:
        """Tell whether a number may be published: one that is left, or the mean of the others."""
        return self.leaves(value) or value == self.substitute

    def leaves(self, value: Number) -> bool:
        """Tell whether a number is not beyond the threshold."""
        return value <= self.threshold if self.coding.is_top else value >= self.threshold


class TailCoding(CellMasking, ABC):
    """Every value beyond a threshold is replaced: above it by top-coding, below by bottom-coding.

    The `threshold` is public, or it is the value closest to the tail such that `tail` rows or more
    are beyond it. Then it is an order statistic of the data, which the output tells. Equal values
    are on one side of it, so no order of rows decides. The replacement is the threshold, a label
    that names it (the column becomes one of texts), or the mean of what it replaces.
    """

    is_top: ClassVar[bool]
    row_counts: ClassVar[tuple[str, ...]] = ("rowsCoded",)

    threshold: Threshold | None = None
    tail: Annotated[int | None, Field(ge=1, le=10**9, strict=True)] = None
    replacement: Replacement = "threshold"

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that the threshold is missing (M002), or given twice (M003)."""
        yield from one_of_conflicts(cls.notation, values, ("threshold", "tail"))

    @model_validator(mode="after")
    def _has_one_threshold(self) -> "TailCoding":
        if (self.threshold is None) == (self.tail is None):
            raise ValueError("one of threshold and tail is given")
        return self

    @property
    def keeps_values(self) -> bool:
        """True: what is not beyond the threshold is published as it is."""
        return True

    @property
    def makes_labels(self) -> bool:
        """Whether a text may stand for the values of the tail."""
        return self.replacement == "label"

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return self.replacement != "label"

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        low, high = -inf, inf
        if self.threshold is not None:
            # The figure is rounded, and so may be a little below the threshold.
            low, high = (low, self.threshold) if self.is_top else (self.threshold - 0.001, high)
        return {**super().figure_ranges, "rowsCoded": (0, inf), "extremeLeft": (low, high)}

    def may_have_of_rows(self, figures: Mapping[str, float], rows: int) -> bool:
        """Tell whether as many rows are coded as asked for, and others unchanged.

        None are coded only where no row has a value, and a single one is not its own mean.
        """
        coded = figures.get("rowsCoded")
        if coded is None or not super().may_have_of_rows(figures, rows):
            return coded is None
        if not coded:
            return "extremeLeft" not in figures and not figures.get("unchanged")
        is_left = "extremeLeft" in figures
        # A public threshold that stands for what is coded counts as left.
        is_substitute = self.threshold is not None and self.replacement == "threshold"
        others_left = is_left and not is_substitute
        unchanged = figures.get("unchanged", 0.0)
        if self.replacement != "mean" and unchanged > 1 - coded / rows + _ROUNDED:
            return False
        return (
            coded >= (self.tail or 1)
            and coded + others_left <= rows
            and not (coded == 1 and self.replacement == "mean")
            and (is_left or self.replacement == "mean" or not unchanged)
        )

    @property
    def side(self) -> str:
        """Where the values lie that are replaced."""
        return "above" if self.is_top else "below"

    def mask(self, value: Number) -> Number | str:
        """Return what a public threshold makes of a value."""
        return self.public_code().mask(value)

    def keeps(self, value: Number) -> bool:
        """Tell whether a public threshold allows a value."""
        return self.public_code().keeps(value)

    def public_code(self) -> TailCode:
        """Return the code that needs no data. Raises ValueError where it depends on the data."""
        if self.threshold is None or self.replacement == "mean":
            raise ValueError("the code depends on the data")
        threshold = number(self.threshold)
        return TailCode(self, threshold, self._substitute(threshold))

    @property
    def is_public(self) -> bool:
        """Whether its code needs no data."""
        return self.threshold is not None and self.replacement != "mean"

    @property
    def public_rule(self) -> CellRule | None:
        """What becomes of any number, None where it is a label or depends on other rows."""
        is_threshold = self.is_public and self.replacement == "threshold"
        return self.public_code() if is_threshold else None

    def survey(self, rows: int, counts: Counts) -> TailSurvey:
        """Return what a part of a column with so many values tells of its tail.

        Sums are exact in the decimal context of the caller.
        """
        if self.threshold is None:
            return TailSurvey(rows, outermost=self._outermost(counts))
        return TailSurvey(rows, self._tail(number(self.threshold), counts))

    def merge(self, one: TailSurvey, other: TailSurvey) -> TailSurvey:
        """Return the survey of two parts of a column together."""
        rows = one.rows + other.rows
        if one.beyond is None or other.beyond is None:
            counts = dict(one.outermost)
            for value, times in other.outermost:
                counts[value] = counts.get(value, 0) + times
            return TailSurvey(rows, outermost=self._outermost(counts.items()))
        parts = one.beyond, other.beyond
        return TailSurvey(
            rows,
            Tail(
                one.beyond.threshold,
                sum(part.rows for part in parts),
                sum(part.total for part in parts),
                sum(part.sizes for part in parts),
                max(part.largest for part in parts),
            ),
        )

    def tail_of(self, seen: TailSurvey) -> Tail | None:
        """Return the tail of a whole column, None where too few values are beyond any other."""
        if seen.beyond is not None:
            return seen.beyond if seen.beyond.rows else None
        if not seen.outermost:
            return None
        *coded, (threshold, _) = seen.outermost
        tail = self._tail(threshold, coded)
        return tail if tail.rows >= (self.tail or 0) else None

    def empty_tail(self) -> Tail:
        """Return the tail of a column without values."""
        return Tail(number(self.threshold or 0.0), 0, 0, 0, 0)

    def code(self, tail: Tail, rounded: Callable[[Fraction], Number]) -> TailCode:
        """Return the code of a tail; `rounded` gives a mean as the column can hold it."""
        if self.replacement == "mean" and tail.rows:
            mean = rounded(Fraction(tail.total) / tail.rows)
            return TailCode(self, tail.threshold, mean)
        return TailCode(self, tail.threshold, self._substitute(tail.threshold))

    def _substitute(self, threshold: Number) -> Number | str:
        if self.replacement != "label":
            return threshold
        sign = ">" if self.is_top else "<"
        return f"{sign}{number_text(threshold)}"

    def _tail(self, threshold: Number, counts: Counts) -> Tail:
        beyond = [
            (value, times)
            for value, times in counts
            if (value > threshold if self.is_top else value < threshold)
        ]
        rows = sum(times for _, times in beyond)
        total: Number = sum(value * times for value, times in beyond)
        sizes = [(value if value > 0 else -value, times) for value, times in beyond]
        together: Number = sum(size * times for size, times in sizes)
        largest = max((size for size, _ in sizes), default=0)
        return Tail(threshold, rows, total, together, largest)

    def _outermost(self, counts: Counts) -> tuple[tuple[Number, int], ...]:
        tail = self.tail or 0
        ordered = (nlargest if self.is_top else nsmallest)(tail + 1, counts)
        inside = sum(1 for rows in accumulate(times for _, times in ordered) if rows < tail)
        return tuple(ordered[: inside + 2])
