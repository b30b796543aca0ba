"""Microaggregation: values are replaced by the means of groups of rows that are near."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.perturbation import (
    CORRELATION_CHANGE,
    ColumnFacts,
    MaskedRows,
    Perturbation,
    Takes,
    variance_ratios,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.moments import Moments


_ROUNDED = 0.0006
"""How far a figure in a certificate is from what was measured, at most."""
_MOST_VARIANCE = 5.83
"""The square of 1 and the root of 2: no deviation is larger, since values move by so much."""
_MOST_LOSS = 200.0
"""Rounding a mean of integers at most doubles the squares of the distances from it."""


class Microaggregation(Perturbation):
    """Every value is the mean of a group of `group_size` rows or more.

    One column is aggregated with the least loss there is (Hansen and Mukherjee, IEEE TKDE 15(4),
    2003), columns with one label `together` by MDAV (Domingo-Ferrer and Mateo-Sanz, IEEE TKDE
    14(1), 2002). Only which of the rows with equal values are in which group is drawn.
    """

    notation: ClassVar[str] = "microaggregation"
    takes: ClassVar[Takes] = "numbers"
    relates_numbers: ClassVar[bool] = True
    takes_dates: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True
    is_by_block: ClassVar[bool] = True
    row_counts: ClassVar[tuple[str, ...]] = ("smallestClass", "largestClass")

    masking: Literal["microaggregation"] = "microaggregation"
    group_size: Annotated[int, Field(alias="groupSize", ge=2, le=10**9, strict=True)]
    together: Annotated[str, Field(strict=True)] = ""

    @property
    def group(self) -> str:
        """What the maskings of the columns that are masked together have in common."""
        return self.model_dump_json(by_alias=True, exclude={"name"} if self.together else set())

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return not self.together

    @property
    def shared_by(self) -> int:
        """How many rows at least share their values."""
        return self.group_size

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        sizes = dict.fromkeys(("smallestClass", "largestClass"), (1.0, math.inf))
        most = {"informationLoss": (0.0, _MOST_LOSS), "varianceRatio": (0.0, _MOST_VARIANCE)}
        return {**super().figure_ranges, **sizes, **most, **CORRELATION_CHANGE}

    def may_have_together(
        self,
        figures: Mapping[str, float],
        matrix: Sequence[Sequence[float]],  # noqa: ARG002
    ) -> bool:
        """Tell whether no class is smaller than the smallest one, and the variance is what is left
        of it by such a loss of information."""
        smallest, largest = figures.get("smallestClass"), figures.get("largestClass")
        if smallest is None or largest is None:
            return smallest is largest
        are_sizes = smallest <= largest and smallest.is_integer() and largest.is_integer()
        return are_sizes and (bool(self.together) or self._may_have_variance(figures))

    def _may_have_variance(self, figures: Mapping[str, float]) -> bool:
        ratio, loss = figures.get("varianceRatio"), figures.get("informationLoss")
        if ratio is None or loss is None:
            return True
        # Values so far from those before have a deviation that differs by no more.
        most = math.sqrt((loss + _ROUNDED) / 100)
        least = max(1 - most, 0.0) ** 2
        return least - _ROUNDED <= ratio <= (1 + most) ** 2 + _ROUNDED

    def may_have_of_rows(self, figures: Mapping[str, float], rows: int) -> bool:
        """Tell whether there are rows for the smallest and the largest class."""
        smallest, largest = figures.get("smallestClass", 0.0), figures.get("largestClass", 0.0)
        both = smallest + largest if smallest < largest else largest
        return both <= rows and super().may_have_of_rows(figures, rows)

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the means of the groups."""
        from policy_engine.kernels.microaggregation import aggregate  # noqa: PLC0415 (compiled)

        part_of = (rows.facts.rows, rows.scale) if rows.scale else None
        return aggregate(rows.values, self.group_size, rows.words[:, 0], part_of)

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return how many rows share their values with too few, or have others than the mean, and
        how many of the groups have one value that is greater than all others together, without
        signs."""
        from policy_engine.kernels.microaggregation import shared_tally  # noqa: PLC0415 (compiled)

        return shared_tally(before, after, self.group_size, facts.roundings)

    def doubts(
        self,
        names: Sequence[str],
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,
    ) -> Iterator[str]:
        """Yield each column in which the mean of a group tells its largest value."""
        for place, name in enumerate(names):
            dominated = int(tally["dominated"][place])
            is_date = bool(facts.dates) and facts.dates[place]
            if dominated and not is_date:
                yield dominance_doubt(name, dominated, f"{int(tally['classes'][place]):,} groups")

    def paired_figures(
        self,
        tally: Mapping[str, "NDArray[Any]"],  # noqa: ARG002
        facts: ColumnFacts,  # noqa: ARG002
        moments: "Moments | None" = None,
    ) -> Sequence[Mapping[str, float]]:
        """Return the information loss of the columns together, 100 SSE/SST of the standardised
        columns."""
        if moments is None:
            return ()
        means, covariance = moments.means, moments.covariance
        size = len(means) // 2
        if not all(covariance[place, place] > 0 for place in range(size)):
            return ()  # of numbers so small that they are written as 0
        losses = []
        for one, other in zip(range(size), range(size, 2 * size), strict=True):
            spread = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
            moved = means[other] - means[one]  # where means are rounded
            losses.append(max(float(spread + moved**2), 0.0) / float(covariance[one, one]))
        return [{"informationLoss": 100 * sum(losses) / size}] * size

    def figures(self, before: ColumnFacts, after: ColumnFacts) -> Sequence[Mapping[str, float]]:
        """Return how the variance and the correlations of each column have changed."""
        return variance_ratios(before, after)


def dominance_doubt(name: str, dominated: int, among: str) -> str:
    """Return the warning that some means, `among` so many, tell the largest of their values."""
    return (
        f"The column {name!r} has means that one value dominates, being larger than all others "
        f"together: {dominated:,} of {among}. Top coding, or more rows to each mean, hides it."
    )
