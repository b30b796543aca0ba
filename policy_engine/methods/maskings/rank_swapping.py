"""Rank swapping: values are swapped with others of nearly the same rank."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.findings import Proportion
from policy_engine.methods.perturbation import (
    RANK_MOVE,
    ColumnFacts,
    MaskedRows,
    Perturbation,
    Takes,
    rank_moves,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.moments import Moments


class RankSwapping(Perturbation):
    """Every value is swapped with one whose rank differs by at most the share `p` of all rows.

    Moore: Controlled data-swapping techniques for masking public use microdata sets, 1996. The
    variants `buckets` and `distribution` make the partner harder to tell than a fixed p does (Nin,
    Herranz, Torra: Rethinking rank swapping to decrease disclosure risk, 2008).
    """

    notation: ClassVar[str] = "rank-swapping"
    takes: ClassVar[Takes] = "order"
    changes_values: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True

    masking: Literal["rank-swapping"] = "rank-swapping"
    p: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False), Proportion()]
    variant: Literal["plain", "buckets", "distribution"] = "plain"
    order: Literal["lexicographic"] | None = None

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        furthest = {"plain": self.p, "distribution": min(3 * self.p, 1), "buckets": 1}
        return {**super().figure_ranges, RANK_MOVE: (0, furthest[self.variant])}

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return for each row the row whose value it gets, (rows, 1)."""
        from policy_engine.kernels.rank_swapping import rank_swap  # noqa: PLC0415 (compiled)

        return rank_swap(rows.values[:, 0], rows.words[:, 0], self.p, self.variant)[:, None]

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return the furthest move of a value, in ranks; where that is further than p allows, every
        cell counts as broken."""
        from policy_engine.kernels.tallies import rank_tally  # noqa: PLC0415 (compiled)

        return rank_tally(before, after, self.p, self.variant, facts.ranked)

    def shortfalls(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return that rows keep their values, are not exchanged in pairs, or with nearer ranks than
        is likely."""
        from policy_engine.kernels.swapped_pairs import unlikely_pairs  # noqa: PLC0415 (compiled)

        return [unlikely_pairs(tally)] if "pairs" in tally else ()

    def paired_figures(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,
        moments: "Moments | None" = None,  # noqa: ARG002
    ) -> Sequence[Mapping[str, float]]:
        """Return the furthest move of a value, as a share of all ranks."""
        return rank_moves(tally, facts)
