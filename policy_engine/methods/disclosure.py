"""What a policy bounds of a release before anybody sees it, and what was found."""

import math
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from policy_engine.kernels.estimates import CONFIDENCE, Estimate, NotApplicable

DisclosureMeasure = Literal["linked"]
InferenceMeasure = Literal["inferred"]
RiskMeasure = Literal["uniques", "meanRisk", "largestRisk", "presence", "populationUniques"]
Share = Annotated[float, Field(ge=0, le=1)]
_DECIMALS = 3


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Bound(_Frozen):
    """What a share may be at most, below 1, which bounds nothing."""

    asked: Annotated[float, Field(ge=0, lt=1)]
    sense: Literal["at most", "below"] = "at most"

    def allows(self, figure: float) -> bool:
        """Tell whether a figure is within the bound."""
        return figure < self.asked or (self.sense == "at most" and figure <= self.asked)


class DisclosureBound(_Bound):
    """What attacks may reach: a share above 0, which guessing exceeds."""

    measure: DisclosureMeasure
    asked: Annotated[float, Field(gt=0, lt=1)]

    @property
    def decimals(self) -> int:
        """To how many decimals shares are told that it is about: one more than it has itself."""
        return max(_DECIMALS, 1 - math.floor(math.log10(self.asked)))

    @property
    def fewest_records(self) -> int:
        """Of how many records a share of none shows that the bound holds."""
        return math.floor(math.log((1 - CONFIDENCE) / 2) / math.log1p(-self.asked)) + 1

    def __str__(self) -> str:
        return f"{self.measure} {self.sense} {self.asked:g}"


class DisclosureMeasurement(_Frozen):
    """What an attack reached on the `records` of a release, where it reached most.

    It did so by the columns in `known`. `reached` is a share of the records with its 95% interval,
    rounded, the interval outwards, or why there is none; the `baseline` is what guessing reaches.
    """

    attack: str
    bound: DisclosureBound
    known: tuple[str, ...] = ()
    records: Annotated[int, Field(ge=1, le=2**63)]
    baseline: Share
    reached: Estimate | NotApplicable

    @field_validator("reached")
    @classmethod
    def _is_share(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        return _checked_share(reached)

    @property
    def last_digit(self) -> float:
        """How far figures may be apart that are the same but for rounding."""
        return 1.1 * 10.0**-self.bound.decimals

    @property
    def name(self) -> str:
        """What was measured."""
        return self.attack

    @property
    def key(self) -> "tuple[str, DisclosureBound]":
        """What it is about."""
        return self.attack, self.bound

    @property
    def holds(self) -> bool:
        """Whether the upper end of the interval is within the bound.

        An attack that does not apply breaks no bound.
        """
        return not isinstance(self.reached, Estimate) or self.bound.allows(self.reached.high)


class RiskBound(_Bound):
    """What the risk of a release may be, from its classes by the columns known."""

    measure: RiskMeasure

    def __str__(self) -> str:
        return f"{self.measure} {self.sense} {self.asked:g}"


class RiskKey(NamedTuple):
    """What a measurement of risk is about: no two of a certificate are about the same."""

    bound: RiskBound
    known: frozenset[str]
    population: str


class Figure(_Frozen):
    """A share that is counted, or that a model of the population gives: it has no interval."""

    value: Share


RISKS: dict[RiskMeasure, tuple[str, str]] = {
    "uniques": ("sample-uniques", "counted-uniques"),
    "meanRisk": ("prosecutor-mean", "marketer"),
    "largestRisk": ("prosecutor-largest", "journalist-largest"),
    "presence": ("", "presence-largest"),
    "populationUniques": ("population-uniques", ""),
}
"""What is measured for a bound, from the release alone and with a population that is counted."""


class RiskMeasurement(_Frozen):
    """What the risk of the `records` of a release is, by the columns in `known`.

    With a `population`, the IRI of a dataset, its persons were counted. `reached` is why there is
    no figure where there is none.
    """

    bound: RiskBound
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    population: str = ""
    records: Annotated[int, Field(ge=1, le=2**63)]
    reached: Figure | NotApplicable

    @property
    def last_digit(self) -> float:
        """How far figures may be apart that are the same but for rounding."""
        return 1.1e-9

    @property
    def key(self) -> "RiskKey":
        """What it is about."""
        return RiskKey(self.bound, frozenset(self.known), self.population)

    @property
    def name(self) -> str:
        """What was measured, by its name in an audit of disclosure."""
        return RISKS[self.bound.measure][bool(self.population)]

    @property
    def holds(self) -> bool:
        """Whether the figure is within the bound: where there is none, nothing shows that."""
        return isinstance(self.reached, Figure) and self.bound.allows(self.reached.value)


class InferenceBound(_Bound):
    """What may be learned of a column beyond what the release tells of anybody: a share above 0."""

    measure: InferenceMeasure
    asked: Annotated[float, Field(gt=0, lt=1)]

    def __str__(self) -> str:
        return f"{self.measure} {self.sense} {self.asked:g}"


class InferenceKey(NamedTuple):
    """What a measurement of what is learned is about, by whichever of the known columns."""

    bound: InferenceBound
    column: str


class InferenceMeasurement(_Frozen):
    """For how many of the `records` of a release a `column` is guessed by the columns in `known`.

    Of the columns that a policy says are known, these are those by which most are guessed.
    `reached` is a share of the records with its 95% interval, rounded, the interval outwards, or
    why there is none; the `baseline` is the share that the commonest released value gives.
    """

    bound: InferenceBound
    column: str
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    records: Annotated[int, Field(ge=1, le=2**63)]
    baseline: Share
    reached: Estimate | NotApplicable

    @field_validator("reached")
    @classmethod
    def _is_share(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        return _checked_share(reached)

    @property
    def key(self) -> InferenceKey:
        """What it is about."""
        return InferenceKey(self.bound, self.column)

    @property
    def name(self) -> str:
        """What was measured, by its name in an audit of disclosure."""
        return "attribute-inference"

    @property
    def last_digit(self) -> float:
        """How far figures may be apart that are the same but for rounding."""
        return 1.1e-6

    @property
    def most_learned(self) -> float:
        """The upper end of what is learned: of the share that the baseline misses, from 0 to 1."""
        if not isinstance(self.reached, Estimate) or self.baseline >= 1:
            return 0.0
        return max(0.0, (self.reached.high - self.baseline) / (1 - self.baseline))

    @property
    def holds(self) -> bool:
        """Whether the upper end is within the bound: without a figure, nothing shows that."""
        return isinstance(self.reached, Estimate) and self.bound.allows(self.most_learned)


Measured = DisclosureMeasurement | RiskMeasurement | InferenceMeasurement


def _checked_share(reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
    if isinstance(reached, Estimate):
        shares = (0, reached.low, reached.value, reached.high, 1)
        if any(one > other for one, other in pairwise(shares)):
            raise ValueError("the interval of a share holds the share, and is from 0 to 1")
    return reached
