"""What a policy bounds of what a model gives away about columns, and what was reached."""

from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from policy_engine.kernels.estimates import Estimate, NotApplicable

SecretMeasure = Literal["advantage"]
About = Literal["all values", "one value"]
ABOUT: tuple[About, About] = ("all values", "one value")
SECRET_ATTACK_NAMES = (
    "black-box-forest",
    "black-box-network",
    "fredrikson",
    "confidence",
    "tried-labels",
    "tried-forest",
)
"""The attacks that are made, whatever a policy says: each finds what others do not."""
_DECIMALS = 3
_MOST = 4


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AdvantageBound(_Frozen):
    """How much more often a secret may be guessed than without the model: a share above 0."""

    measure: SecretMeasure = "advantage"
    asked: Annotated[float, Field(gt=0, lt=1)]
    sense: Literal["at most", "below"] = "at most"

    def allows(self, figure: float) -> bool:
        """Tell whether a figure is within the bound."""
        return figure < self.asked or (self.sense == "at most" and figure <= self.asked)

    def __str__(self) -> str:
        return f"{self.measure} {self.sense} {self.asked:g}"


class SecretKey(NamedTuple):
    """What a measurement is about: an attack on a column, over all values or of the worst one."""

    attack: str
    column: str
    about: About
    bound: AdvantageBound


class SecretMeasurement(_Frozen):
    """The advantage of an attack on a `column` of the records that a model was trained on.

    It is that over an imputation that never saw the model: over all values, or of the value with
    the highest end, which is not named. `reached` has its 95% interval, rounded, its ends outwards,
    or the reason for having none. Where models were made of the data before, `pooled` is the
    interval's end at a confidence that allows for so many attempts.
    """

    attack: str
    column: str
    about: About
    bound: AdvantageBound
    reached: Estimate | NotApplicable
    pooled: Annotated[float, Field(ge=-_MOST, le=_MOST)] | None = None

    @field_validator("reached")
    @classmethod
    def _is_interval(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        if isinstance(reached, Estimate):
            figures = (-_MOST, reached.low, reached.value, reached.high, _MOST)
            if any(one > other for one, other in pairwise(figures)):
                raise ValueError("an interval holds its figure")
        return reached

    @classmethod
    def of(cls, key: SecretKey, reached: Estimate | NotApplicable) -> "SecretMeasurement":
        """Return the measurement with its figures as they are told: exact ones would tell who knows
        all records but one whether the last one was learnt."""
        figures = reached.rounded(_DECIMALS) if isinstance(reached, Estimate) else reached
        return cls(**key._asdict(), reached=figures)

    @property
    def key(self) -> SecretKey:
        """What it is about."""
        return SecretKey(self.attack, self.column, self.about, self.bound)

    @property
    def name(self) -> str:
        """What was measured, in words."""
        return f"{self.attack} on {self.column}, {self.about}"

    @property
    def holds(self) -> bool:
        """Whether the upper end is within the bound; an attack that cannot be made breaks none."""
        if not isinstance(self.reached, Estimate):
            return True
        return self.bound.allows(max(self.reached.high, self.pooled or -_MOST))


class ModelSecrets(_Frozen):
    """What a duty bounds of what a model gives away about the columns `learned` of its records.

    Every attack is made on each of them, and its advantage over an imputation that never saw the
    model has to be within the bound, over all values and for every single one, at the upper end of
    the 95% interval: a value that few have counts as much as others.
    """

    bound: AdvantageBound
    learned: Annotated[tuple[str, ...], Field(min_length=1)]

    @property
    def keys(self) -> tuple[SecretKey, ...]:
        """What is measured: each attack on each column."""
        return tuple(
            SecretKey(attack, column, about, self.bound)
            for column in self.learned
            for attack in SECRET_ATTACK_NAMES
            for about in ABOUT
        )

    def sorted_copy(self) -> "ModelSecrets":
        """Return it with its columns in one order."""
        return self.model_copy(update={"learned": tuple(sorted(self.learned))})

    def __str__(self) -> str:
        return f"{self.bound} of {', '.join(self.learned)}"
