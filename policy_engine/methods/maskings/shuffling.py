"""Shuffling: the values of columns are put in the order of a model's draws."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

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


class Shuffling(Perturbation):
    """The values are kept and their order is drawn, given the columns `given`.

    The ranks of the result have the correlations with the given columns that the values have, and
    tell nothing else about the row. Muralidhar and Sarathy: Data shuffling: a new masking
    approach for numerical data, Management Science 2006.
    """

    notation: ClassVar[str] = "shuffling"
    takes: ClassVar[Takes] = "order"
    changes_values: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = True
    is_joint: ClassVar[bool] = True

    masking: Literal["shuffling"] = "shuffling"
    given: Annotated[tuple[str, ...], Field(min_length=1)]

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, RANK_MOVE: (0, 1)}

    @property
    def given_columns(self) -> tuple[str, ...]:
        """The columns by which the order is drawn."""
        return self.given

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return for each row the row whose value it gets, (rows, columns)."""
        from policy_engine.kernels.shuffling import shuffle  # noqa: PLC0415 (compiled)

        return shuffle(rows.values, rows.given, rows.words)

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return the furthest move of a value, in ranks."""
        from policy_engine.kernels.shuffling import alike_columns  # noqa: PLC0415 (compiled)
        from policy_engine.kernels.tallies import move_tally  # noqa: PLC0415 (compiled)

        tally = move_tally(before, after, facts.ranked)
        if facts.given is None:
            return tally
        return {**tally, "alike": alike_columns(before, after, facts.given)}

    def shortfalls(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return of each column that its order is more like that before than is likely."""
        return [
            f"normal scores have a correlation of {correlation:.3g} with those before, where "
            f"{likely:.3g} or less is expected"
            if correlation > likely
            else ""
            for correlation, likely in tally.get("alike", ())
        ]

    def count_disordered(
        self, before: "NDArray[Any]", after: "NDArray[Any]", given_values: "NDArray[Any]"
    ) -> "NDArray[Any]":
        """Return all cells of each column whose order does not follow from the columns given."""
        from policy_engine.kernels.shuffling import disordered_columns  # noqa: PLC0415 (compiled)

        return len(before) * disordered_columns(before, after, given_values)

    def paired_figures(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,
        moments: "Moments | None" = None,  # noqa: ARG002
    ) -> Sequence[Mapping[str, float]]:
        """Return the furthest move of a value, as a share of all ranks."""
        return rank_moves(tally, facts)
