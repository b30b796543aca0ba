"""Multiplicative noise: every value is multiplied by a random number."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.maskings.noise import lack_of_noise
from policy_engine.methods.perturbation import (
    CORRELATION,
    VARIANCE_RATIO,
    ColumnFacts,
    MaskedRows,
    Perturbation,
    Takes,
    variance_ratios,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MultiplicativeNoise(Perturbation):
    """Every value is multiplied by a log-normal number of mean 1.

    `log_sd` is the standard deviation of its logarithm: with 0.1, two of three values change by
    less than a tenth. A value keeps its sign, and zero stays zero. Kim and Winkler: Multiplicative
    noise for masking continuous data, 2003.
    """

    notation: ClassVar[str] = "multiplicative-noise"
    takes: ClassVar[Takes] = "numbers"
    relates_numbers: ClassVar[bool] = True
    changes_values: ClassVar[bool] = True

    masking: Literal["multiplicative-noise"] = "multiplicative-noise"
    log_sd: Annotated[float, Field(alias="logSd", gt=0, le=5, strict=True, allow_inf_nan=False)]

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, **CORRELATION, **VARIANCE_RATIO}

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the values multiplied."""
        from policy_engine.kernels.noise import multiply_noise, without_last_digits  # noqa: PLC0415

        made = multiply_noise(rows.values[:, 0], self.log_sd, rows.words[:, 0])
        return without_last_digits(made, self.log_sd)[:, None]

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return how much noise there is, and how many values changed their sign; one rounded to
        zero has not."""
        from policy_engine.kernels.tallies import sign_tally  # noqa: PLC0415 (compiled)

        return sign_tally(before, after, self.log_sd, facts.roundings, facts.rows)

    def count_broken(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,  # noqa: ARG002
    ) -> "NDArray[Any]":
        """Return how many values changed their sign, or were multiplied by more or less than is
        likely of any of them; all, where there is more noise in the column than is likely."""
        from policy_engine.kernels.tallies import noisy_cells  # noqa: PLC0415 (compiled)

        return noisy_cells(tally)

    def shortfalls(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,
    ) -> Sequence[str]:
        """Return that values are multiplied by numbers nearer to 1 than is likely, or by others."""
        from policy_engine.kernels.noise_shares import unlikely_share  # noqa: PLC0415
        from policy_engine.kernels.tallies import least_factors  # noqa: PLC0415 (compiled)

        mean, rows = least_factors(tally)
        missing = max(facts.rows - int(tally["rows"][0]), 0)
        other = unlikely_share(tally["shares"][0], rows + missing)
        return [lack_of_noise(mean, rows) or other]

    def summarise(self, values: "NDArray[Any]") -> Mapping[str, "NDArray[Any]"]:
        """Return how many values are negative, and how many positive."""
        return {"negative": (values < 0).sum(axis=0), "positive": (values > 0).sum(axis=0)}

    def count_unlike(self, before: ColumnFacts, after: ColumnFacts) -> int:
        """Return how many more values are negative, or positive, than before."""
        more = (int(after.summary[n][0] - counts[0]) for n, counts in before.summary.items())
        return sum(max(number, 0) for number in more)

    def figures(self, before: ColumnFacts, after: ColumnFacts) -> Sequence[Mapping[str, float]]:
        """Return how the variance of the column has changed."""
        return variance_ratios(before, after)
