"""Figures of the risk of a release, with baselines, and with intervals where they are estimates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from policy_engine.kernels.estimates import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Measure: TypeAlias = Literal[
    "prosecutor-mean",
    "prosecutor-largest",
    "prosecutor-above",
    "sample-uniques",
    "special-uniques",
    "suda-dis",
    "marketer",
    "journalist-largest",
    "journalist-above",
    "k-map",
    "presence-least",
    "presence-largest",
    "counted-uniques",
    "individual-mean",
    "individual-largest",
    "individual-above",
    "log-linear-links",
    "log-linear-uniques",
    "population-uniques",
    "homogeneity",
    "commonest-of-class",
    "attribute-inference",
    "interval-disclosure",
    "rank-interval",
]
FINDING: tuple[Measure, ...] = (
    "prosecutor-mean",
    "marketer",
    "individual-mean",
    "log-linear-links",
)
"""Measures of how many persons' records are found."""
LEARNING: tuple[Measure, ...] = ("homogeneity", "commonest-of-class", "attribute-inference")
"""Measures of how many persons' values are learned by who knows others of them."""
COUNTS: tuple[Measure, ...] = ("k-map",)
"""Measures that count persons; all others are shares."""

_DECIMALS, _BASELINE_DECIMALS = 6, 9


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Risk(_Frozen):
    """One figure: a share from 0 to 1, or a number of persons.

    `low` and `high` are the ends of its 95% interval, None where it is counted and not estimated.
    The `baseline` is what is reached without the release's rows, or by guessing; None where nothing
    compares. `column` is what is learned, and `detail` says in words by which model or threshold.
    """

    measure: Measure
    known: tuple[str, ...]
    value: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    low: Annotated[float, Field(allow_inf_nan=False)] | None = None
    high: Annotated[float, Field(allow_inf_nan=False)] | None = None
    baseline: Annotated[float, Field(ge=0, le=1)] | None = None
    column: str = ""
    detail: str = ""

    @classmethod
    def of(
        cls,
        measure: Measure,
        names: tuple[str, ...],
        figure: float | Estimate,
        baseline: float | None = None,
        **words: str,
    ) -> "Risk":
        """Return a figure, rounded; an estimate with its interval."""
        ends: dict[str, float] = {}
        if isinstance(figure, Estimate):
            figure = figure.rounded(_DECIMALS)
            ends, figure = {"low": figure.low, "high": figure.high}, figure.value
        base = None if baseline is None else round(min(baseline, 1.0), _BASELINE_DECIMALS)
        value = round(figure, _BASELINE_DECIMALS)
        return cls(measure=measure, known=names, value=value, baseline=base, **ends, **words)

    @property
    def is_share(self) -> bool:
        """Whether the figure is a share."""
        return self.measure not in COUNTS

    @property
    def excess(self) -> float:
        """The share of what guessing misses that is reached, below 0 for less than guessing."""
        if self.baseline is None or self.baseline >= 1:
            return 0.0
        return (self.value - self.baseline) / (1 - self.baseline)

    @property
    def beats_baseline(self) -> bool:
        """Whether it is above its baseline, beyond its error."""
        least = self.value if self.low is None else self.low
        return self.baseline is not None and least > self.baseline

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if value not in (None, "")}


class NoRisk(_Frozen):
    """A measure of which there is no figure, and why: that is not a risk of 0."""

    measure: str
    reason: str
    column: str = ""

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if value != ""}


class RiskDistribution(_Frozen):
    """The shares of records, from 0 to 1, whose risk is at least that `at` the same place."""

    measure: Literal["prosecutor", "journalist", "individual"]
    at: tuple[float, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(
        cls,
        measure: Literal["prosecutor", "journalist", "individual"],
        frequencies: "NDArray[np.int64]",
        risks: "NDArray[np.float64]",
    ) -> "RiskDistribution":
        """Return that of classes with these `frequencies` and `risks`, (classes,) each."""
        import numpy as np  # noqa: PLC0415 (slow to import)

        order = np.argsort(risks, kind="stable")
        above = np.append(np.cumsum(frequencies[order][::-1])[::-1], 0)
        first = np.searchsorted(risks[order], np.array(GRID) * (1 - 1e-9), side="left")
        shares = above[first] / frequencies.sum()
        return cls(measure=measure, at=GRID, shares=tuple(np.round(shares, 6).tolist()))


AMONG = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500)
GRID = tuple(1 / among for among in (1_000_000, 100_000, 10_000, 5000, 2000, 1000, *AMONG[::-1]))
"""Risks at which the distribution is told: the same for each release, so that no record is."""


class FileRisks(_Frozen):
    """All that is measured of a release besides attacks."""

    risks: tuple[Risk, ...] = ()
    not_run: tuple[NoRisk, ...] = ()
    distributions: tuple[RiskDistribution, ...] = ()

    @classmethod
    def of(cls, figures: "Sequence[Risk | NoRisk | RiskDistribution]") -> "FileRisks":
        """Return figures by their kind, each kind in their order."""
        return cls(
            risks=tuple(one for one in figures if isinstance(one, Risk)),
            not_run=tuple(one for one in figures if isinstance(one, NoRisk)),
            distributions=tuple(one for one in figures if isinstance(one, RiskDistribution)),
        )

    def figure(self, measure: Measure) -> Risk | None:
        """Return the figure of a measure of records, None where there is none."""
        return next((one for one in self.risks if one.measure == measure), None)

    def __add__(self, other: "FileRisks") -> "FileRisks":
        """Return the figures of both."""
        return FileRisks(
            risks=self.risks + other.risks,
            not_run=self.not_run + other.not_run,
            distributions=self.distributions + other.distributions,
        )
