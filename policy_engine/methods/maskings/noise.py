"""Noise: a random number is added to every value."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from policy_engine.kernels.draw_tails import UNLIKELY, lack_of_noise_tail
from policy_engine.methods.findings import Finding
from policy_engine.methods.masking import one_of_conflicts
from policy_engine.methods.perturbation import (
    CORRELATION,
    VARIANCE_RATIO,
    ColumnFacts,
    MaskedRows,
    Perturbation,
    Takes,
    has_ratio_of_correlation,
    least_displacement,
    most_displacement,
    variance_ratios,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALES = ("sdShare", "varianceShare")
"""The names of the scale of a noise, of which one is given."""
Share = Annotated[float, Field(gt=0, le=100, strict=True, allow_inf_nan=False)]
"""A scale of noise as a share of what the column has: 0.1 is a tenth of it, 100 a hundredfold."""


class Noise(Perturbation):
    """A random number of mean 0 is added to every value, independently.

    Its standard deviation is `sd_share` times that of the column, or its variance `variance_share`
    times that of the column. Hundepool et al.: Statistical Disclosure Control, Wiley 2012
    (section 3.5.1, uncorrelated noise addition).
    """

    notation: ClassVar[str] = "noise"
    takes: ClassVar[Takes] = "numbers"
    relates_numbers: ClassVar[bool] = True
    changes_values: ClassVar[bool] = True
    takes_dates: ClassVar[bool] = True

    masking: Literal["noise"] = "noise"
    sd_share: Annotated[Share | None, Field(alias="sdShare")] = None
    variance_share: Annotated[Share | None, Field(alias="varianceShare")] = None
    distribution: Literal["normal", "laplace"] = "normal"

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that the scale is missing (M002), or given twice (M003)."""
        yield from one_of_conflicts(cls.notation, values, SCALES)

    @model_validator(mode="after")
    def _has_one_scale(self) -> "Noise":
        noise_variance(self.sd_share, self.variance_share)
        return self

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, **CORRELATION, **VARIANCE_RATIO}

    def may_have_together(
        self,
        figures: Mapping[str, float],
        matrix: Sequence[Sequence[float]],  # noqa: ARG002
    ) -> bool:
        """Tell whether noise can change the variance as much, and be so little correlated."""
        share = noise_variance(self.sd_share, self.variance_share) ** 0.5
        is_laplace = self.distribution == "laplace"
        most = most_displacement(share, 1.0, is_laplace=is_laplace)
        return has_ratio_of_correlation(figures) and least_displacement(figures) <= most

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the values with noise."""
        from policy_engine.kernels.noise import add_noise, without_last_bits  # noqa: PLC0415

        sd = float(self._sds(rows.facts)[0])
        column = add_noise(rows.values[:, 0], sd, rows.words[:, 0], self.distribution)
        return without_last_bits(column, sd)[:, None]

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return how much noise there is, of how many values it is further than is likely, how many
        were negative, and how many of the others became so."""
        from policy_engine.kernels.noise_shares import (  # noqa: PLC0415
            far_noise,
            noise_errors,
            noise_shares,
        )
        from policy_engine.kernels.tallies import noise_tally, standardised_noise  # noqa: PLC0415

        assert facts.moments is not None  # noqa: S101 (numbers have them)
        noise, sds = after - before, self._sds(facts)
        errors = noise_errors(facts.roundings, facts.moments.exponents, sds)
        seen, law = standardised_noise(noise, sds), self.distribution
        is_far = far_noise(seen, errors, facts.rows, law)
        return {
            **noise_tally(before, after, noise, sds),
            "broken": is_far.sum(axis=0),
            "shares": noise_shares(seen, errors, law),
        }

    def count_broken(
        self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> "NDArray[Any]":
        """Return the cells with more noise than is likely of any of them; all, where there is more
        noise in the column than is likely."""
        from policy_engine.kernels.tallies import noisy_cells  # noqa: PLC0415 (compiled)

        is_laplace = self.distribution == "laplace"
        return noisy_cells(tally, facts.roundings, self._sds(facts), is_laplace=is_laplace)

    def shortfalls(self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts) -> Sequence[str]:
        """Return of each column that there is less noise than is likely, or other noise."""
        from policy_engine.kernels.noise_shares import unlikely_share  # noqa: PLC0415
        from policy_engine.kernels.tallies import least_noise  # noqa: PLC0415 (compiled)

        sizes: Literal["normal", "laplace"] = self.distribution
        [(mean, rows)] = least_noise(tally, facts.roundings, self._sds(facts))
        other = unlikely_share(tally["shares"][0], max(facts.rows, rows), sizes)
        return [lack_of_noise(mean, rows, sizes) or other]

    def _sds(self, facts: ColumnFacts) -> "NDArray[Any]":
        """Return the standard deviation of the noise, (1,)."""
        return noise_sds(facts, noise_variance(self.sd_share, self.variance_share))

    def doubts(
        self, names: Sequence[str], tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> Iterator[str]:
        """Yield each non-negative column in which noise made values negative, and each whose scale
        of noise is so large that it may be a percentage."""
        yield from negative_doubts(names, tally, facts)
        yield from scale_doubts(names, self.sd_share, self.variance_share)

    def figures(self, before: ColumnFacts, after: ColumnFacts) -> Sequence[Mapping[str, float]]:
        """Return how the variance of the column has changed."""
        return variance_ratios(before, after)


def lack_of_noise(mean: float, rows: int, sizes: Literal["normal", "laplace"] = "normal") -> str:
    """Return that so many numbers of the distribution, the mean size of which is a `mean` at most,
    in their standard deviations, are not random; empty where they can be."""
    if lack_of_noise_tail(mean, rows, sizes) > UNLIKELY:
        return ""
    expected = math.sqrt(2 / math.pi) if sizes == "normal" else math.sqrt(0.5)
    return (
        f"the noise of {rows:,} values has a mean size of {mean:.3g} of its standard deviations or "
        f"less, where {expected:.3g} is expected"
    )


def negative_doubts(
    names: Sequence[str], tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
) -> Iterator[str]:
    """Yield each column without negative values of which some became negative."""
    for place, name in enumerate(names):
        turned = int(tally["turned"][place])
        is_date = bool(facts.dates) and facts.dates[place]
        if turned and not tally["negative"][place] and not is_date:
            yield (
                f"The column {name!r} has no negative values, and noise turned "
                f"{turned / facts.rows:.1%} of them negative. The masking multiplicative-noise "
                "keeps their sign."
            )


def scale_doubts(
    names: Sequence[str], sd_share: float | None, variance_share: float | None
) -> Iterator[str]:
    """Yield each column to which as much noise was added as it has variance, or more."""
    spread, parameter = "standard deviation", "sdShare"
    if sd_share is None:
        spread, parameter = "variance", "varianceShare"
    share = variance_share if sd_share is None else sd_share
    for name in names if share is not None and share >= 1 else ():
        yield (
            f"The noise of {name!r} has {share:g} times the {spread} of its column. "
            f"{parameter} is a share: 10% is 0.1."
        )


def noise_sds(facts: ColumnFacts, share: float) -> "NDArray[Any]":
    """Return the standard deviation of the noise of each column, (columns,), given the share of the
    variance that it has."""
    assert facts.moments is not None  # noqa: S101 (numbers have them)
    deviations: NDArray[Any] = (share * facts.moments.covariance.diagonal()) ** 0.5
    return deviations


def noise_variance(sd_share: float | None, variance_share: float | None) -> float:
    """Return the variance of a noise as a share of that of its column.

    Raises ValueError where its scale is not given exactly once.
    """
    if sd_share is not None and variance_share is None:
        return sd_share**2
    if variance_share is not None and sd_share is None:
        return variance_share
    raise ValueError("the scale of noise is given once")
