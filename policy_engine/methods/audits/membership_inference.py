"""Membership inference: how well an attacker can tell on which records a model was trained."""

from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from policy_engine.kernels.estimates import Estimate, NotApplicable

Measure = Literal["precision", "recall", "auc", "tprAtFpr"]
UpperSense = Literal["at most", "below"]
DEFAULT_ATTACKS = ("shokri", "loss", "lira-offline")
GATE_ATTACKS = ("lira-offline", "rmia")
"""The attacks of every audit that a policy asks for, whatever others it names.

They compare the target with models that have not seen the record, and so detect what a single
model does not show."""


FEWEST_SHADOWS = 4
"""The fewest shadow models of such an audit: two or three detect too little."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AttackBound(_Frozen):
    """What a figure of every attack may be at most; `fpr` is that of the measure `tprAtFpr`.

    It is below 1, which no attack exceeds.
    """

    measure: Measure
    asked: Annotated[float, Field(ge=0, lt=1)]
    sense: UpperSense = "at most"
    fpr: Annotated[float, Field(gt=0, lt=1)] | None = None

    @property
    def chance(self) -> float:
        """The figure of guessing where every second record is a member."""
        return 0.5 if self.fpr is None else self.fpr

    def allows(self, figure: float) -> bool:
        """Tell whether a figure is within the bound."""
        return figure < self.asked or (self.sense == "at most" and figure <= self.asked)

    def __str__(self) -> str:
        name = self.measure if self.fpr is None else f"{self.measure} {self.fpr:g}"
        return f"{name} {self.sense} {self.asked:g}"


class MembershipInference(_Frozen):
    """The attacks asked for, how many shadow models they learn from, and what bounds them all.

    `attempts` is how many models may be made and attacked of one dataset, None where any number.

    Every bound is about every attack that is run, those of the gate among them. A bound
    holds where the upper end of the figure's 95% interval does: a figure that cannot be
    distinguished from a greater one has not been shown to be below it.
    Shokri et al.: Membership Inference Attacks Against Machine Learning Models, IEEE S&P 2017.
    """

    notation: ClassVar[str] = "membership-inference"

    bounds: Annotated[tuple[AttackBound, ...], Field(min_length=1)]
    attacks: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_ATTACKS
    shadow_models: Annotated[int, Field(ge=FEWEST_SHADOWS, le=10_000)] = 10
    attempts: Annotated[int, Field(ge=1, le=10_000)] | None = None

    @property
    def attacks_run(self) -> tuple[str, ...]:
        """The attacks that are run: those asked for, then what the gate adds."""
        return (*self.attacks, *self.gate_attacks)

    @property
    def gate_attacks(self) -> tuple[str, ...]:
        """The attacks that the gate runs though nobody asked for them."""
        return tuple(one for one in GATE_ATTACKS if one not in self.attacks)


class AttackMeasurement(_Frozen):
    """What was measured of one bound with one attack; `reached` with its 95% interval.

    Where models were made of the data before, in the same way, `pooled` is what has to keep the
    bound besides: the interval's end at a confidence that allows for so many attempts, or the
    mean of all their ends, whichever is more. `unfit` says why the attack is not evidence that
    the bound holds, empty where it is.
    """

    attack: str
    bound: AttackBound
    reached: Estimate | NotApplicable
    pooled: Annotated[float, Field(ge=0, le=1)] | None = None
    unfit: str = ""

    @field_validator("reached")
    @classmethod
    def _is_share(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        if isinstance(reached, Estimate):
            shares = (0, reached.low, reached.value, reached.high, 1)
            if any(one > other for one, other in pairwise(shares)):
                raise ValueError("the interval of a share holds the share, and is from 0 to 1")
        return reached

    @property
    def achieved(self) -> float:
        """The upper end of the interval, or what is pooled where that is more.

        1 where there is no figure, for then nothing was shown.
        """
        if not isinstance(self.reached, Estimate):
            return 1.0
        return max(self.reached.high, self.pooled or 0)

    @property
    def holds(self) -> bool:
        """Whether no more was achieved than the bound allows.

        An attack that is not evidence breaks the bound by its figure alone.
        """
        if self.unfit and isinstance(self.reached, NotApplicable):
            return True
        return self.bound.allows(self.achieved)

    @property
    def is_interval_above(self) -> bool:
        """Whether the figure is within the bound, and what is achieved is not."""
        if not isinstance(self.reached, Estimate):
            return False
        return self.bound.allows(self.reached.value) and not self.bound.allows(self.achieved)
