"""A profile: the thresholds by which one institution lets the results of analyses out."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(gt=0, le=1, strict=True, allow_inf_nan=False)]
Units = Annotated[int, Field(ge=1, strict=True)]
NEARLY_ALL = 0.9
"""Of nearly all of a group, more than so much is said: the share of the rule of thumb for group
disclosure (Data without Boundaries, deliverable 11.8, 2015)."""


class PercentileStep(BaseModel):
    """How many units a percentile must be taken of that leaves at least a share of them beyond it.

    The median leaves .5, a quartile .25, the 1st and the 99th percentile .01.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    share: Annotated[float, Field(gt=0, le=0.5, strict=True)]
    units: Units

    @property
    def text(self) -> str:
        """Its share and its units, as a policy writes them."""
        return f"{self.share:g}:{self.units}"


def ladder_text(steps: Sequence[PercentileStep]) -> str:
    """Return a ladder as a policy writes it: 0.5:20 0.25:40; empty where there is none."""
    return " ".join(one.text for one in steps)


def read_ladder(text: object) -> tuple[PercentileStep, ...]:
    """Return the steps of a ladder from its text, the largest share first.

    Raises ValueError for what is no ladder, asks less of a rarer tail, or is spelled in another way
    than `ladder_text` does: what a policy says is compared as a text.
    """
    pairs = [one.split(":") for one in str(text).split()]
    try:
        steps = tuple(PercentileStep(share=float(one), units=int(two)) for one, two in pairs)
    except ValueError:
        steps = ()
    if not steps:
        raise ValueError("a ladder is of steps such as '0.5:20 0.25:40': shares and their units")
    check_descent(steps)
    if text != ladder_text(steps):
        raise ValueError(f"a ladder is written as {ladder_text(steps)!r}")
    return steps


def check_descent(steps: Sequence[PercentileStep]) -> None:
    """Raise ValueError for a ladder that asks less of a rarer tail."""
    shares, units = [-one.share for one in steps], [one.units for one in steps]
    if shares != sorted(set(shares)) or units != sorted(units):
        raise ValueError("the further out a percentile is, the more units it is taken of")


class OutputProfile(BaseModel):
    """The rules of one institution, as far as they are numbers, under a name and a version.

    None says that the institution has no such rule, or none that is known: what only that rule
    could judge is refused. Shares are of 1.

    `min_units` is the least number of units of privacy that any figure is about. No cell may hold
    nearly all of a row or a column of counts: more than `NEARLY_ALL`, and all but fewer units than
    that. `max_group_share` is the most of it that any cell may hold, however many are left, and
    `max_mode_share` the most of the units that may have a mode that is shown. `max_largest_share`
    and `max_two_largest_share` are the most of a total that its largest contributor, or its two
    largest, may hold, (1, k) and (2, k) dominance; with `p_percent`, what is left of a total
    without its two largest must be at least so much of the largest, so that the second cannot
    estimate the first any closer. `percentile_ladder` says of how many units a percentile is taken,
    and `units_beyond_percentile` how many are on each side of it. With `zeros_disclosive`, that
    nobody is in a cell tells something of everybody in its row or column. `round_base` and
    `significant_digits` say how figures are rounded where that is the rule.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    notation: str
    version: str
    source: str
    min_units: Units
    max_group_share: Share | None = None
    max_mode_share: Share | None = None
    max_largest_share: Share | None = None
    max_two_largest_share: Share | None = None
    p_percent: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    min_degrees_of_freedom: Units | None = None
    percentile_ladder: tuple[PercentileStep, ...] = ()
    units_beyond_percentile: Units | None = None
    zeros_disclosive: bool = False
    round_base: Units | None = None
    significant_digits: Units | None = None

    @model_validator(mode="after")
    def _descends(self) -> "OutputProfile":
        """Raise ValueError for a ladder that asks less of a rarer tail."""
        check_descent(self.percentile_ladder)
        return self

    @property
    def title(self) -> str:
        """Its name and version."""
        return f"{self.notation} {self.version}"

    @property
    def has_dominance(self) -> bool:
        """Whether it bounds what single contributors hold of a total."""
        return not (self.max_largest_share is self.max_two_largest_share is self.p_percent is None)

    @property
    def has_percentiles(self) -> bool:
        """Whether it says when a percentile may be shown."""
        return bool(self.percentile_ladder) or self.units_beyond_percentile is not None

    def ladder_units(self, share: float) -> int | None:
        """Return of how many units a percentile must be taken that leaves a share of them beyond
        it, on its smaller side: by the first step that is not further out. None where it is further
        out than the whole ladder, and may not be shown."""
        for step in self.percentile_ladder:
            if share >= step.share:
                return step.units
        return None
