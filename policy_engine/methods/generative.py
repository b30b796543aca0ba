"""What a policy bounds of attacks on synthetic rows, and what was reached."""

import math
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from policy_engine.kernels.estimates import Estimate, NotApplicable

GenerativeMeasure = Literal["auc", "tprAtFpr", "setPValue", "excessCopies"]
COPIES = "exact-copies"
"""The attack that excess copies are those of."""
DEFAULT_ATTACKS = ("nearest-sample", "density-ratio", "closest-record", COPIES, "rare-values")
OF_MODELS = ("model-density", "calibrated-model-density")
"""The attacks by what a generator says itself: they are made by default where it is released."""
MOST_ATTACKED = 10_000
"""How many distinct rows of a side are attacked at most."""
LEAST_P, LEAST_SHARE = 1e-9, 0.0004
"""The least bounds: chance next to never breaks a smaller one on a p-value, and with the most rows
the interval of a share that is 0 has its end at .00037."""
_DECIMALS, _DECIMALS_OF_P, _MOST_DECIMALS = 3, 6, 10


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class GenerativeBound(_Frozen):
    """What a figure of every attack on synthetic rows may be; `fpr` is that of `tprAtFpr`.

    A p-value is at least so much: a small one shows that a set of records was used. All others are
    at most so much.
    """

    measure: GenerativeMeasure
    asked: Annotated[float, Field(gt=0, lt=1)]
    sense: Literal["at most", "below", "at least", "above"] = "at most"
    fpr: Annotated[float, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "GenerativeBound":
        if (self.measure == "setPValue") != (self.sense in ("at least", "above")):
            raise ValueError("a p-value is bounded from below, and all else from above")
        if (self.measure == "tprAtFpr") != (self.fpr is not None):
            raise ValueError("a rate of true positives is that at one of false positives")
        return self

    @property
    def decimals(self) -> int:
        """To how many decimals figures are told that it is about: one more than it has itself."""
        least = _DECIMALS_OF_P if self.measure == "setPValue" else _DECIMALS
        return max(least, min(1 - math.floor(math.log10(self.asked)), _MOST_DECIMALS))

    def allows(self, reached: Estimate) -> bool:
        """Tell whether the end of an interval that counts is within the bound.

        An area below .5 is that of an attack turned round, which tells as much.
        """
        if self.measure == "setPValue":
            return self.is_within(reached.low)
        high = max(reached.high, turned_round(reached)) if self.measure == "auc" else reached.high
        return self.is_within(high)

    def is_within(self, end: float) -> bool:
        """Tell whether the end that counts is within the bound."""
        if self.measure == "setPValue":
            return end > self.asked or (self.sense == "at least" and end == self.asked)
        return end < self.asked or (self.sense == "at most" and end == self.asked)

    def __str__(self) -> str:
        name = self.measure if self.fpr is None else f"{self.measure} {self.fpr!r}"
        return f"{name} {self.sense} {self.asked!r}"


def turned_round(area: Estimate) -> float:
    """Return the most that an area under the ROC curve is of an attack turned round."""
    # Without the error of binary arithmetic: areas are told with a few decimals.
    return round(1 - area.low, 12)


class GenerativeKey(NamedTuple):
    """What a measurement is about: an attack, and a bound on what it reaches."""

    attack: str
    bound: GenerativeBound


class GenerativeMeasurement(_Frozen):
    """What an attack on synthetic rows reached, of one bound.

    `reached` has its 95% interval, rounded, its ends outwards, or the reason for having none. A
    p-value has none: it is its own interval. Where rows were made up of the same records before,
    `pooled` is what has to keep the bound besides: see `release.attempts.pool_attempts`.
    """

    attack: str
    bound: GenerativeBound
    reached: Estimate | NotApplicable
    pooled: Annotated[float, Field(ge=-1, le=1)] | None = None

    @field_validator("reached")
    @classmethod
    def _is_interval(cls, reached: Estimate | NotApplicable) -> Estimate | NotApplicable:
        if isinstance(reached, Estimate):
            figures = (-1, reached.low, reached.value, reached.high, 1)
            if any(one > other for one, other in pairwise(figures)):
                raise ValueError("an interval holds its figure")
        return reached

    @classmethod
    def of(cls, key: GenerativeKey, reached: Estimate | NotApplicable) -> "GenerativeMeasurement":
        """Return the measurement with its figures as they are told: exact ones would tell who knows
        all records but one whether the last one was learnt."""
        decimals = key.bound.decimals
        figures = reached.rounded(decimals) if isinstance(reached, Estimate) else reached
        return cls(attack=key.attack, bound=key.bound, reached=figures)

    @property
    def key(self) -> GenerativeKey:
        """What it is about."""
        return GenerativeKey(self.attack, self.bound)

    @property
    def holds(self) -> bool:
        """Whether the end of the interval is within the bound.

        So is what is pooled, if anything is. An attack that cannot be made breaks no bound.
        """
        if not isinstance(self.reached, Estimate):
            return True
        is_pooled_within = self.pooled is None or self.bound.is_within(self.pooled)
        return is_pooled_within and self.bound.allows(self.reached)

    @property
    def figure(self) -> Estimate | NotApplicable:
        """What was reached, an area the way round in which its interval ends higher."""
        reached = self.reached
        if self.bound.measure != "auc" or not isinstance(reached, Estimate):
            return reached
        if turned_round(reached) <= reached.high:
            return reached
        return Estimate(value=1 - reached.value, low=1 - reached.high, high=turned_round(reached))


class SyntheticInference(_Frozen):
    """The attacks on synthetic rows that a duty asks for, and what bounds all of them.

    A random share of the rows is held out, and the generator never sees it: the attacks are to tell
    the rows that it learnt from those. Every bound is about every attack, the one on excess copies
    about that of exact copies; at least one attack must have a figure. A bound holds where the end
    of the figure's 95% interval does. `attempts` is how many times rows may be made up of one table
    and attacked, None where any number.
    """

    bounds: Annotated[tuple[GenerativeBound, ...], Field(min_length=1)]
    attacks: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_ATTACKS
    holdout_share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    attempts: Annotated[int, Field(ge=1, le=10_000)] | None = None

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `attempts` where any number is allowed, as plans did before they were counted."""
        values: dict[str, Any] = serialize(self)
        return {name: one for name, one in values.items() if (name, one) != ("attempts", None)}

    @property
    def keys(self) -> tuple[GenerativeKey, ...]:
        """What is measured: each bound of each attack."""
        return tuple(
            GenerativeKey(attack, bound)
            for bound in self.bounds
            for attack in ((COPIES,) if bound.measure == "excessCopies" else self.attacks)
        )

    @property
    def attacks_run(self) -> tuple[str, ...]:
        """The attacks that are made, each once."""
        return tuple(dict.fromkeys(key.attack for key in self.keys))

    def sorted_copy(self) -> "SyntheticInference":
        """Return it with bounds and attacks in one order."""
        bounds = tuple(sorted(self.bounds, key=str))
        return self.model_copy(update={"bounds": bounds, "attacks": tuple(sorted(self.attacks))})

    def __str__(self) -> str:
        return ", ".join(map(str, self.bounds))
