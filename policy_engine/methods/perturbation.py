"""Columns that are masked at random, or by what other rows hold: what such maskings share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from policy_engine.methods.masking import ColumnMasking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.microaggregation.scaling import Scale
    from policy_engine.kernels.moments import Moments

_FEW = 1_000
_ROUNDED = 0.0006
"""How far a figure in a certificate is from what was measured, at most."""
Takes = Literal["numbers", "order", "categories"]
"""What a perturbation is given of its columns: numbers, ranks, or codes of categories."""


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of whole columns that are masked together, whatever part of them is at hand.

    `rows` have a value in all of them. Of numbers, `moments` are those of the columns; of
    categories, `labels` are the distinct values in order, and `counts` how often each occurs,
    (categories,). `summary` is that of the masking, and
    `dates` tells which columns are of days or points in time, `roundings` how far at most each
    writes a number from what it is. Where rows are matched with those of
    an output, `ranked` tells of each column how many rows have each rank, (ranks,), and `given` the
    ranks of the columns given, (rows, given columns), if all rows are.
    """

    rows: int
    moments: "Moments | None" = None
    labels: Any = field(default=None, repr=False)
    counts: "NDArray[np.int64] | None" = field(default=None, repr=False)
    summary: Mapping[str, "NDArray[np.int64]"] = field(default_factory=dict)
    dates: tuple[bool, ...] = ()
    roundings: tuple[float, ...] = ()
    ranked: tuple["NDArray[np.int64]", ...] = field(default=(), repr=False)
    given: "NDArray[np.int64] | None" = field(default=None, repr=False)


@dataclass(frozen=True)
class MaskedRows:
    """Rows whose values are all there: what a perturbation may use to mask them.

    `values` are numbers (rows, columns) of float64, ranks (rows, columns) of int64 with equal ranks
    for equal values, or codes (rows,) of categories; `given` the ranks of the columns that they
    are masked given, (rows, given columns); `words` random bits, (rows, columns times words). Rows
    that are some of the blocks of a table have its `scale`.
    """

    values: "NDArray[Any]"
    given: "NDArray[np.int64]"
    words: "NDArray[np.uint64]"
    facts: ColumnFacts
    scale: "Scale | None" = None


class Perturbation(ColumnMasking, ABC):
    """A masking that draws at random, or whose result for a row depends on other rows.

    The draws come from a secret key and the content of the row, so that neither the engine nor the
    order of rows matters to the result. Columns with one joint perturbation and the same parameters
    are masked together.
    """

    is_perturbation: ClassVar[bool] = True
    takes: ClassVar[Takes]
    words: ClassVar[int] = 1
    """How many words of random bits each value needs, 64 bits each."""
    needs_all_rows: ClassVar[bool] = False
    """Whether what a row becomes depends on the order of all rows."""
    is_by_block: ClassVar[bool] = False
    """Whether several columns together are masked block by block, given the scale of all rows."""
    is_joint: ClassVar[bool] = False
    changes_values: ClassVar[bool] = False
    """Whether it masks nothing where every value is as it was."""
    relates_numbers: ClassVar[bool] = False
    """Whether the moments of the numbers before and after, side by side, are figures of it."""
    takes_dates: ClassVar[bool] = False
    """Whether days and points in time are numbers to it; they have no zero."""

    @property
    def is_public(self) -> bool:
        """Whether what becomes of a value depends neither on chance nor on other rows."""
        return False

    @property
    def is_of_categories(self) -> bool:
        """Whether its values are categories, also where they are written as numbers."""
        return self.takes == "categories"

    @property
    def makes_numbers(self) -> bool:
        """Whether it takes numbers alone, dates among them, and one becomes one."""
        return self.takes == "numbers"

    def may_have_of_rows(self, figures: Mapping[str, float], rows: int) -> bool:
        """Tell whether some value is changed, where that has to be, and some rank with it."""
        unchanged, move = figures.get("unchanged", 0.0), figures.get(RANK_MOVE)
        # In so few rows, one of them is not rounded away.
        if rows < _FEW and unchanged == 1:
            is_constant = self.takes == "order" and not move
            return is_constant or not self.changes_values
        if rows < _FEW and move == 0 and "unchanged" in figures and unchanged:
            return False
        if move and move < 1 / rows - _ROUNDED:
            return False  # less than one rank
        return super().may_have_of_rows(figures, rows)

    @property
    def group(self) -> str:
        """What the maskings of the columns that are masked together have in common."""
        parts = {"name"} if self.is_joint else set()
        return self.model_dump_json(by_alias=True, exclude=parts)

    @property
    def shared_by(self) -> int:
        """How many rows at least share their values, in all the columns that are masked together.

        Such a masking needs as many rows with a value.
        """
        return 1

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that may be published, where they are not those of the column."""
        return ()

    @property
    def keeps_counts(self) -> bool:
        """Whether every category is expected as often as before."""
        return False

    @property
    def decimals(self) -> int | None:
        """How many decimals the result has at most, None where they are those of the column."""
        return None

    @property
    def given_columns(self) -> tuple[str, ...]:
        """The other columns that the masked values depend on."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns whose values it depends on, its own first."""
        return (self.name, *self.given_columns)

    @abstractmethod
    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the masked numbers or codes, in the shape of the values; of ranks, for each value
        the row whose value is published instead."""

    def summarise(self, values: "NDArray[Any]") -> Mapping[str, "NDArray[np.int64]"]:  # noqa: ARG002
        """Return counts of numbers, (rows, columns), before or after, that bear out the masking;
        those of several parts are added up."""
        return {}

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",  # noqa: ARG002
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return what the same rows show before and after, (rows, columns) each: numbers, codes, or
        the common ranks of both.

        `broken` counts the cells of each column that are not what the masking may make of them,
        (columns,). Tallies of several parts are added up; by default no cell is broken.
        """
        from policy_engine.kernels.tallies import nothing_broken  # noqa: PLC0415 (compiled)

        return nothing_broken(before)

    def count_broken(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,  # noqa: ARG002
    ) -> "NDArray[np.int64]":
        """Return how many cells of each column are broken, (columns,), given a tally of all
        rows."""
        return tally["broken"]

    def shortfalls(
        self,
        tally: Mapping[str, "NDArray[Any]"],  # noqa: ARG002
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return what shows of each column that it is masked less than this masks, or otherwise,
        in a way that is less likely than 1e-13: what was measured, and what the masking gives.

        It is empty where nothing does, and () where no column has anything. The tally is of matched
        rows of an output that another run made.
        """
        return ()

    def count_disordered(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",  # noqa: ARG002
        given_values: "NDArray[Any]",  # noqa: ARG002
    ) -> "NDArray[np.int64]":
        """Return how many cells of each column are in an order that cannot have been drawn given
        the columns that it depends on, (columns,), given the ranks of all rows."""
        from policy_engine.kernels.tallies import nothing_broken  # noqa: PLC0415 (compiled)

        return nothing_broken(before)["broken"]

    def paired_figures(
        self,
        tally: Mapping[str, "NDArray[Any]"],  # noqa: ARG002
        facts: ColumnFacts,  # noqa: ARG002
        moments: "Moments | None" = None,
    ) -> Sequence[Mapping[str, float]]:
        """Return what a tally of all rows tells of each column, besides what is broken.

        `moments` are those of the columns before, then after, where the masking relates both: the
        correlation of the masked values with those before is a figure then.
        """
        return pair_correlations(moments) if self.relates_numbers else ()

    def doubts(
        self,
        names: Sequence[str],  # noqa: ARG002
        tally: Mapping[str, "NDArray[Any]"],  # noqa: ARG002
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Iterator[str]:
        """Yield what the owner should know of the columns that were masked together, by their
        names, given a tally of all rows."""
        yield from ()

    def figures(
        self,
        before: ColumnFacts,  # noqa: ARG002
        after: ColumnFacts,  # noqa: ARG002
    ) -> Sequence[Mapping[str, float]]:
        """Return what the columns themselves tell of each masking, rows being in any order."""
        return ()

    def matrix(self, facts: ColumnFacts) -> "NDArray[np.float64] | None":  # noqa: ARG002
        """Return the probability of every published category (columns) given that of the input
        (rows), None where values are not drawn so."""
        return None

    def count_unlike(self, before: ColumnFacts, after: ColumnFacts) -> int:  # noqa: ARG002
        """Return how many cells the output cannot have, given the facts of the input."""
        return 0


def groups_of(maskings: Sequence[ColumnMasking]) -> tuple[tuple[Perturbation, ...], ...]:
    """Return the perturbations among some maskings, those that are made together in one tuple, in
    the order of their columns' names."""
    groups: dict[str, list[Perturbation]] = {}
    for one in sorted(maskings, key=lambda masking: masking.name):
        if isinstance(one, Perturbation):
            groups.setdefault(one.group, []).append(one)
    return tuple(map(tuple, groups.values()))


RANK_MOVE = "largestRankMove"


def rank_moves(
    tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
) -> Sequence[Mapping[str, float]]:
    """Return the furthest move of a value of each column, as a share of all ranks."""
    return [{RANK_MOVE: float(move) / facts.rows} for move in tally["moves"]]


CORRELATION: Mapping[str, tuple[float, float]] = {"correlation": (-1, 1)}


def pair_correlations(moments: "Moments | None") -> Sequence[Mapping[str, float]]:
    """Return Pearson's correlation of each column before with itself after masking; 0 where one of
    them is constant. The moments are of the columns before, then after."""
    if moments is None:
        return ()
    covariance = moments.covariance
    size = len(covariance) // 2
    correlations = [_correlation(covariance, place, size + place) for place in range(size)]
    return [{"correlation": min(max(one, -1.0), 1.0)} for one in correlations]


def least_displacement(figures: Mapping[str, float]) -> float:
    """Return the least root mean square of the distances of values from those before, in standard
    deviations of these, by which a column can have its variance ratio and correlation; 0 where one
    of them is not known."""
    ratio, correlation = figures.get("varianceRatio"), figures.get("correlation")
    if ratio is None or correlation is None:
        return 0.0
    deviation = math.sqrt(max(ratio, 0.0))
    # Both are rounded, and so may be what their product is made of.
    uncertainty = math.sqrt(_ROUNDED) if ratio < _ROUNDED else _ROUNDED / deviation
    square = 1 + ratio - 2 * correlation * deviation
    square -= _ROUNDED * (1 + 2 * deviation) + 2 * uncertainty
    return math.sqrt(max(square, 0.0))


def has_ratio_of_correlation(figures: Mapping[str, float]) -> bool:
    """Tell whether a column with a correlation has a variance ratio, too."""
    return "varianceRatio" in figures or "correlation" not in figures


def most_displacement(share: float, shrinkage: float, *, is_laplace: bool = False) -> float:
    """Return the most root mean square of the distances of values from those before, in standard
    deviations of these, that noise can make; its own are `share` times them, and distances from
    the mean are then divided by `shrinkage`.

    Of as few as two values, since a column may lack the others; and values are written with as many
    digits as those before, so that a number moves by twice its noise at most.
    """
    noise = share * (_MOST_LAPLACE if is_laplace else _MOST_NORMAL)
    return 2 * (1 - 1 / shrinkage + noise / shrinkage)


_MOST_NORMAL, _MOST_LAPLACE = 5.5, 17.0
"""The root mean square of two numbers or more of the distribution, of deviation 1, that is exceeded
with a probability of less than 1e-13."""


VARIANCE_RATIO: Mapping[str, tuple[float, float]] = {"varianceRatio": (0, math.inf)}
CORRELATION_CHANGE: Mapping[str, tuple[float, float]] = {"correlationChange": (0, 2)}
"""The ranges of the figures of `variance_ratios`."""


def variance_ratios(before: ColumnFacts, after: ColumnFacts) -> list[Mapping[str, float]]:
    """Return by how much the variance of each column grew, and how far its greatest correlation
    with another column that is masked with it has moved."""
    if before.moments is None or after.moments is None or not before.rows:
        return []
    old, new = before.moments.covariance, after.moments.covariance
    size = len(new)
    figures: list[Mapping[str, float]] = []
    for one in range(size):
        figures_of_column = {"varianceRatio": float(new[one, one] / old[one, one])}
        others = [other for other in range(size) if other != one]
        changes = [abs(_correlation(new, one, i) - _correlation(old, one, i)) for i in others]
        if changes:
            figures_of_column["correlationChange"] = max(changes)
        figures.append(figures_of_column)
    return figures


def _correlation(covariance: "NDArray[np.float64]", one: int, other: int) -> float:
    # Root by root: the product of two variances may be more than a float holds.
    spread = float(covariance[one, one]) ** 0.5 * float(covariance[other, other]) ** 0.5
    return float(covariance[one, other]) / spread if spread > 0 else 0.0
