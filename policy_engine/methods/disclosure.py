"""What a policy bounds of a release that is attacked before anybody sees it, and what was found."""

import math
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from policy_engine.kernels.estimates import CONFIDENCE, Estimate, NotApplicable

DisclosureMeasure = Literal["linked"]
_DECIMALS = 3


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class DisclosureBound(_Frozen):
    """What a share may be at most: above 0, which guessing exceeds, and below 1, which bounds
    nothing."""

    measure: DisclosureMeasure
    asked: Annotated[float, Field(gt=0, lt=1)]
    sense: Literal["at most", "below"] = "at most"

    @property
    def decimals(self) -> int:
        """To how many decimals shares are told that it is about: one more than it has itself."""
        return max(_DECIMALS, 1 - math.floor(math.log10(self.asked)))

    @property
    def fewest_records(self) -> int:
        """Of how many records a share of none shows that the bound holds."""
        return math.floor(math.log((1 - CONFIDENCE) / 2) / math.log1p(-self.asked)) + 1

    def allows(self, figure: float) -> bool:
        """Tell whether a figure is within the bound."""
        return figure < self.asked or (self.sense == "at most" and figure <= self.asked)

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
    baseline: Annotated[float, Field(ge=0, le=1)]
    reached: Estimate | NotApplicable

    @field_validator("reached")
    @classmethod
    def _is_share(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        if isinstance(reached, Estimate):
            shares = (0, reached.low, reached.value, reached.high, 1)
            if any(one > other for one, other in pairwise(shares)):
                raise ValueError("the interval of a share holds the share, and is from 0 to 1")
        return reached

    @property
    def holds(self) -> bool:
        """Whether the upper end of the interval is within the bound.

        An attack that does not apply breaks no bound.
        """
        return not isinstance(self.reached, Estimate) or self.bound.allows(self.reached.high)
