"""Post-randomisation: every category becomes another one with a known probability."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from policy_engine.kernels.draw_tails import UNLIKELY
from policy_engine.methods.findings import Finding, Proportion
from policy_engine.methods.masking import GivenMatrix, one_of_conflicts
from policy_engine.methods.perturbation import ColumnFacts, MaskedRows, Perturbation, Takes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.moments import Moments

_ROUNDED = 1e-8
"""How far a probability in a certificate is from that of the matrix, at most."""
_FIGURE_ROUNDED = 0.0011
"""How far a share in a certificate is from that of the counts, at most."""
_MOST_DEVIATION = 23.1
"""No transition that may be random is further from its expectation, in standard deviations or,
where that is less than 1, in rows: it would be less likely than 1e-13."""


class Pram(Perturbation):
    """Every category stays with the probability `keep`, or becomes one of the others.

    Or each becomes another by the probabilities of a matrix, which is in a file.
    With the variant `invariant`, a second step brings the expected frequencies back to those of the
    input, so that published counts are unbiased as they are; fewer values stay then. The matrix of
    the probabilities is public: with it, frequencies of the plain variant are estimated without
    bias. Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure
    control, Journal of Official Statistics 1998.
    """

    notation: ClassVar[str] = "pram"
    takes: ClassVar[Takes] = "categories"

    row_counts: ClassVar[tuple[str, ...]] = ("transitions", "moved")

    masking: Literal["pram"] = "pram"
    keep: Annotated[
        float | None, Field(gt=0, lt=1, strict=True, allow_inf_nan=False), Proportion()
    ] = None
    matrix_file: Annotated[str, Field(alias="matrix", strict=True)] = ""
    variant: Literal["plain", "invariant"] = "plain"
    _given: GivenMatrix | None = PrivateAttr(default=None)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that the probabilities are missing (M002), or given twice (M003)."""
        yield from one_of_conflicts(cls.notation, values, ("keep", "matrix"))

    @model_validator(mode="after")
    def _has_probabilities(self) -> "Pram":
        if (self.keep is None) == (not self.matrix_file):
            raise ValueError("one of keep and matrix is given")
        return self

    @property
    def matrices(self) -> tuple[str, ...]:
        """The name of its matrix, where that is in a file."""
        return (self.matrix_file,) if self.matrix_file else ()

    def bound_to(self, matrices: Mapping[str, GivenMatrix]) -> Self:
        """Return it with the matrix that it names."""
        bound = self.model_copy()
        bound._given = matrices.get(self.matrix_file)  # noqa: SLF001 (its own copy)
        return bound

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of its matrix, where that is in a file."""
        return self._given.categories if self._given else ()

    @property
    def keeps_counts(self) -> bool:
        """Whether every category is expected as often as before."""
        return self.variant == "invariant"

    @property
    def group(self) -> str:
        """What its draws are made by: its parameters, and the content of its file."""
        return super().group + (self._given.digest if self._given else "")

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        counts = dict.fromkeys(("transitions", "moved"), (0.0, math.inf))
        return {**super().figure_ranges, "largestDeviation": (0, _MOST_DEVIATION), **counts}

    def may_have_together(
        self, figures: Mapping[str, float], matrix: Sequence[Sequence[float]]
    ) -> bool:
        """Tell whether the values that moved are some of the transitions, as many of them as the
        share that is unchanged says, and as may move by the matrix."""
        from policy_engine.kernels.tallies import are_moves_unlikely  # noqa: PLC0415 (compiled)

        if not matrix and any(figures.values()):
            return False  # only a column without values has none
        transitions, moved = figures.get("transitions"), figures.get("moved")
        if transitions is None or moved is None:
            return transitions is moved
        if not (moved <= transitions and moved.is_integer() and transitions.is_integer()):
            return False
        share = 1 - moved / transitions if transitions else 0.0
        if abs(figures.get("unchanged", share) - share) > _FIGURE_ROUNDED:
            return False
        stays = [row[place] for place, row in enumerate(matrix)]
        return not stays or not are_moves_unlikely(int(moved), int(transitions), stays)

    def may_have_matrix(self, matrix: Sequence[Sequence[float]]) -> bool:
        """Tell whether the probabilities are those of `keep` and the variant, for some counts."""
        from policy_engine.kernels.pram import is_from_keeping  # noqa: PLC0415 (compiled)

        is_invariant = self.variant == "invariant"
        if self.keep is None:
            return all(abs(sum(row) - 1) < _ROUNDED * len(row) for row in matrix)
        return not matrix or is_from_keeping(matrix, self.keep, is_invariant=is_invariant)

    def matrix(self, facts: ColumnFacts) -> "NDArray[Any]":
        """Return the probability of every published category (columns) given that of the input
        (rows)."""
        from policy_engine.kernels.pram import invariant_matrix  # noqa: PLC0415

        assert facts.counts is not None  # noqa: S101 (those of categories)
        matrix = self._plain_matrix(facts)
        if self.variant == "plain":
            return matrix
        return invariant_matrix(matrix, facts.counts[: len(facts.labels)])

    def _plain_matrix(self, facts: ColumnFacts) -> "NDArray[Any]":
        """Return the matrix of the first draw."""
        from policy_engine.kernels.pram import ordered_matrix, transition_matrix  # noqa: PLC0415

        if self.keep is not None:
            return transition_matrix(self.keep, len(facts.labels))
        assert self._given is not None  # noqa: S101 (it is bound before columns are masked)
        place = {category: n for n, category in enumerate(self._given.categories)}
        order = [place[label] for label in facts.labels.cast("string").to_pylist()]
        return ordered_matrix(self._given.rows, order)

    def doubts(
        self,
        names: Sequence[str],
        tally: Mapping[str, "NDArray[Any]"],  # noqa: ARG002
        facts: ColumnFacts,
    ) -> Iterator[str]:
        """Yield that a matrix rules out what a row was, or that counts do not follow from it."""
        from policy_engine.kernels.pram import is_singular, local_epsilon  # noqa: PLC0415

        matrix = self.matrix(facts)
        [name] = names
        if self.keep is None and local_epsilon(matrix) == math.inf:
            yield (
                f"The matrix of {name!r} has transitions that never happen: a published category "
                "rules out what it cannot come from. Its epsilon is infinite."
            )
        if self.keep is None and self.variant == "plain" and is_singular(matrix):
            yield f"The matrix of {name!r} is singular: counts cannot be estimated from it."

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
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,
        moments: "Moments | None" = None,  # noqa: ARG002
    ) -> Sequence[Mapping[str, float]]:
        """Return the largest deviation of a transition from its expected count, in standard
        deviations; how many transitions there are, and how many to another category."""
        from policy_engine.kernels.tallies import largest_deviation  # noqa: PLC0415 (compiled)

        # Not each count: the joint counts of before and after would tell those of the input.
        counts = tally["transitions"]
        largest = largest_deviation(counts, self.matrix(facts))
        rows = int(counts.sum())
        moved = rows - int(counts.trace())
        return [{"largestDeviation": largest, "transitions": rows, "moved": moved}]

    def count_broken(
        self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> "NDArray[Any]":
        """Return how many cells became what they cannot; all, if the transitions cannot
        be random."""
        from policy_engine.kernels.tallies import are_transitions_unlikely  # noqa: PLC0415

        is_unlikely = are_transitions_unlikely(tally["transitions"], self.matrix(facts))
        broken: NDArray[Any] = tally["broken"]
        return broken + facts.rows if is_unlikely else broken

    def shortfalls(self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts) -> Sequence[str]:
        """Return that more categories stay than is likely."""
        from policy_engine.kernels.tallies import stayed_tail  # noqa: PLC0415 (compiled)

        counts = tally["transitions"]
        stayed, expected, tail = stayed_tail(counts, self.matrix(facts))
        if tail > UNLIKELY:
            return ()
        about = f"{stayed:,} of {int(counts.sum()):,} categories stay"
        return [f"{about}, where {expected:,.4g} are expected to"]

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
