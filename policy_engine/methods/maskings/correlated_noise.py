"""Correlated noise: random numbers with the correlations of the columns are added to them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from policy_engine.methods.findings import Finding
from policy_engine.methods.masking import one_of_conflicts
from policy_engine.methods.maskings.noise import (
    SCALES,
    Share,
    lack_of_noise,
    negative_doubts,
    noise_sds,
    noise_variance,
    scale_doubts,
)
from policy_engine.methods.perturbation import (
    CORRELATION,
    CORRELATION_CHANGE,
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


class CorrelatedNoise(Perturbation):
    """Normal noise is added to several columns at once, correlated as they are.

    Its covariances are `variance_share` times those of the columns, or its standard deviations
    `sd_share` times theirs. The variant `kim` then brings every column back to its mean and its
    variance (Kim: A method for limiting disclosure in microdata based on random noise and
    transformation, 1986). Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (section
    3.5.2).
    """

    notation: ClassVar[str] = "correlated-noise"
    takes: ClassVar[Takes] = "numbers"
    relates_numbers: ClassVar[bool] = True
    changes_values: ClassVar[bool] = True
    takes_dates: ClassVar[bool] = True
    is_joint: ClassVar[bool] = True

    masking: Literal["correlated-noise"] = "correlated-noise"
    sd_share: Annotated[Share | None, Field(alias="sdShare")] = None
    variance_share: Annotated[Share | None, Field(alias="varianceShare")] = None
    variant: Literal["plain", "kim"] = "plain"

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that the scale is missing (M002), or given twice (M003)."""
        yield from one_of_conflicts(cls.notation, values, SCALES)

    @model_validator(mode="after")
    def _has_one_scale(self) -> "CorrelatedNoise":
        noise_variance(self.sd_share, self.variance_share)
        return self

    @property
    def figure_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The figures that a certificate may have of it, each with its least and greatest value."""
        return {**super().figure_ranges, **CORRELATION, **VARIANCE_RATIO, **CORRELATION_CHANGE}

    def may_have_together(
        self,
        figures: Mapping[str, float],
        matrix: Sequence[Sequence[float]],  # noqa: ARG002
    ) -> bool:
        """Tell whether noise can change the variance as much, and be so little correlated."""
        most = most_displacement(self._share**0.5, self._shrinkage)
        return has_ratio_of_correlation(figures) and least_displacement(figures) <= most

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return the values with noise."""
        from policy_engine.kernels.noise import (  # noqa: PLC0415 (compiled)
            add_correlated_noise,
            without_last_bits,
        )

        moments = rows.facts.moments
        assert moments is not None  # noqa: S101 (numbers have them)
        covariance = moments.covariance
        share = self._share
        keeps = self.variant == "kim"
        made = add_correlated_noise(
            rows.values, moments.means, covariance, share, rows.words, keeps_covariance=keeps
        )
        for place in range(len(covariance)):
            variance = share / (1 + share if keeps else 1) * float(covariance[place, place])
            made[:, place] = without_last_bits(made[:, place], variance**0.5)
        return made

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
            in_pairs,
            noise_errors,
            noise_shares,
            with_pairs,
        )
        from policy_engine.kernels.tallies import noise_tally, standardised_noise  # noqa: PLC0415

        assert facts.moments is not None  # noqa: S101 (numbers have them)
        means, sds = facts.moments.means, noise_sds(facts, self._share)
        noise = (after - means) * self._shrinkage - (before - means)
        errors = noise_errors(self._roundings(facts), facts.moments.exponents, sds)
        covariance = facts.moments.covariance
        seen, limits = with_pairs(standardised_noise(noise, sds), errors, covariance)
        is_far = in_pairs(far_noise(seen, limits, facts.rows), len(sds))
        return {
            **noise_tally(before, after, noise, sds),
            "broken": is_far.sum(axis=0),
            "shares": noise_shares(seen, limits),
        }

    def count_broken(
        self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> "NDArray[Any]":
        """Return the cells of each column with more noise than is likely of any of them; all, where
        there is more noise in the column than is likely."""
        from policy_engine.kernels.tallies import noisy_cells  # noqa: PLC0415 (compiled)

        return noisy_cells(tally, self._roundings(facts), noise_sds(facts, self._share))

    def shortfalls(self, tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts) -> Sequence[str]:
        """Return of each column that there is less noise than is likely, or other noise, also in
        its sum or difference with that of another column."""
        from policy_engine.kernels.noise_shares import noise_pairs, unlikely_share  # noqa: PLC0415
        from policy_engine.kernels.tallies import least_noise  # noqa: PLC0415 (compiled)

        noise = least_noise(tally, self._roundings(facts), noise_sds(facts, self._share))
        draws = max(facts.rows, int(tally["rows"][0]))
        unlikely = [unlikely_share(cells, draws) for cells in tally["shares"]]
        shortfalls = [
            lack_of_noise(*one) or other for one, other in zip(noise, unlikely, strict=False)
        ]
        for place, pair in enumerate(noise_pairs(len(noise))):
            start = len(noise) + 2 * place
            ways = zip(("sum", "difference"), unlikely[start : start + 2], strict=True)
            of_both = [f"in the {way} with another column, {one}" for way, one in ways if one]
            for column in pair if of_both else ():
                shortfalls[column] = shortfalls[column] or of_both[0]
        return shortfalls

    def _roundings(self, facts: ColumnFacts) -> Sequence[float]:
        return [self._shrinkage * one for one in facts.roundings]

    @property
    def _share(self) -> float:
        return noise_variance(self.sd_share, self.variance_share)

    @property
    def _shrinkage(self) -> float:
        """How many times as far from the mean a value with noise is, before it is brought back."""
        return (1 + self._share) ** 0.5 if self.variant == "kim" else 1.0

    def doubts(
        self, names: Sequence[str], tally: Mapping[str, "NDArray[Any]"], facts: ColumnFacts
    ) -> Iterator[str]:
        """Yield each non-negative column in which noise made values negative, and each whose scale
        of noise is so large that it may be a percentage."""
        yield from negative_doubts(names, tally, facts)
        yield from scale_doubts(names, self.sd_share, self.variance_share)

    def figures(self, before: ColumnFacts, after: ColumnFacts) -> Sequence[Mapping[str, float]]:
        """Return how the variances and correlations of the columns have changed."""
        return variance_ratios(before, after)
