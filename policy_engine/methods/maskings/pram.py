"""Post-randomisation: every category becomes another one with a known probability."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.perturbation import ColumnFacts, MaskedRows, Perturbation, Takes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_DEVIATION = 23.1
"""No transition that may be random is further from its expectation, in standard deviations or,
where that is less than 1, in rows: it would be less likely than 1e-13."""


class Pram(Perturbation):
    """Every category stays with the probability `keep`, or becomes one of the others.

    With the variant `invariant`, a second step brings the expected frequencies back to those of the
    input, so that published counts are unbiased as they are; fewer values stay then. The matrix of
    the probabilities is public: with it, frequencies of the plain variant are estimated without
    bias. Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure
    control, Journal of Official Statistics 1998.
    """

    notation: ClassVar[str] = "pram"
    takes: ClassVar[Takes] = "categories"

    masking: Literal["pram"] = "pram"
    keep: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False)]
    variant: Literal["plain", "invariant"] = "plain"

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, "largestDeviation": (0, _MOST_DEVIATION)}

    def may_have_matrix(self, matrix: Sequence[Sequence[float]]) -> bool:
        """Tell whether the probabilities are those of `keep` and the variant, for some counts."""
        from policy_engine.kernels.pram import is_from_keeping  # noqa: PLC0415 (compiled)

        is_invariant = self.variant == "invariant"
        return not matrix or is_from_keeping(matrix, self.keep, is_invariant=is_invariant)

    def matrix(self, facts: ColumnFacts) -> "NDArray[Any]":
        """Return the probability of every published category (columns) given that of the input
        (rows)."""
        from policy_engine.kernels.pram import invariant_matrix, transition_matrix  # noqa: PLC0415

        assert facts.counts is not None  # noqa: S101 (those of categories)
        matrix = transition_matrix(self.keep, len(facts.labels))
        if self.variant == "plain":
            return matrix
        return invariant_matrix(matrix, facts.counts[: len(facts.labels)])

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the drawn categories."""
        from policy_engine.kernels.pram import randomise  # noqa: PLC0415 (compiled)

        drawn = randomise(rows.values[:, 0], self.matrix(rows.facts), rows.words[:, 0])
        return drawn[:, None]

    def tally(
        self, before: "NDArray[Any]", after: "NDArray[Any]", facts: ColumnFacts
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return how often each category became each other, and how often one that it cannot."""
        from policy_engine.kernels.tallies import transition_tally  # noqa: PLC0415 (compiled)

        return transition_tally(before, after, self.matrix(facts))

    def paired_figures(
        self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> Sequence[Mapping[str, float]]:
        """Return the largest deviation of a transition from its expected count, in standard
        deviations."""
        from policy_engine.kernels.tallies import largest_deviation  # noqa: PLC0415 (compiled)

        largest = largest_deviation(tally["transitions"], self.matrix(facts))
        return [{"largestDeviation": largest}]

    def count_broken(
        self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> "NDArray[Any]":
        """Return how many cells became what they cannot; all, if the transitions cannot
        be random."""
        from policy_engine.kernels.tallies import are_transitions_unlikely  # noqa: PLC0415

        is_unlikely = are_transitions_unlikely(tally["transitions"], self.matrix(facts))
        broken: NDArray[Any] = tally["broken"]
        return broken + facts.rows if is_unlikely else broken

    def count_unlike(self, before: ColumnFacts, after: ColumnFacts) -> int:
        """Return how many cells have a category that the input does not have; all, if the counts
        of all rows cannot be random."""
        from policy_engine.kernels.tallies import are_counts_unlikely  # noqa: PLC0415 (compiled)

        if before.counts is None or after.counts is None or not before.rows:
            return 0
        counts = after.counts[: len(before.labels)]
        is_unlikely = are_counts_unlikely(before.counts, counts, self.matrix(before))
        is_whole = after.rows == before.rows
        return int(after.rows if is_whole and is_unlikely else after.rows - counts.sum())
