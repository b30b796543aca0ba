"""Columns that are randomised record by record: what all randomisers have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, model_validator

from policy_engine import terms
from policy_engine.methods import class_of
from policy_engine.methods.columns import Column
from policy_engine.methods.findings import Finding, Texts
from policy_engine.methods.masking import Size, Threshold, all_settings, number

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.bounded_numbers import BoundedNumbers
    from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
    from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
    from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding

MOST_CATEGORIES = 4096
"""How many categories a column may have."""


class Randomiser(Column, ABC):
    """What becomes of the value of a column in each record by itself, and how much of epsilon
    it takes.

    Whatever the data hold, an answer is one of a public set, and no answer is more than e^epsilon
    times as likely for one value as for another. A missing value is one of the values.
    """

    model_config = ConfigDict(populate_by_name=True)

    notation: ClassVar[str]

    randomiser: str
    share: Annotated[float, Field(ge=0.0001, le=10_000, strict=True, allow_inf_nan=False)] = 1.0

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:  # noqa: ARG003
        """Yield contradictions between parameters that are each valid."""
        yield from ()

    @property
    def weight(self) -> Fraction:
        """Its weight, beside those of other columns, when epsilon is shared out."""
        return exact(self.share)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same answer can be given again: it follows from words alone."""
        return True

    @property
    @abstractmethod
    def scale(self) -> tuple[str, ...]:
        """What its answers are on, which with epsilon says how likely each is, for any value."""

    @abstractmethod
    def check(self, epsilon: Fraction) -> None:
        """Raise ValueError where it cannot be made with an epsilon."""

    @abstractmethod
    def figures(self, epsilon: Fraction) -> Mapping[str, float]:
        """Return the probabilities, or the scale, of its answers, and the variance of what is
        estimated of them, times their number: no figure depends on data."""


class CategoryRandomiser(Randomiser, ABC):
    """A randomiser of one of a few public `categories`.

    What is missing, or none of them, counts as `otherwise`: one of them, or one more.
    """

    categories: Annotated[tuple[str, ...], Field(min_length=1, max_length=MOST_CATEGORIES), Texts()]
    otherwise: Annotated[str, Field(min_length=1, max_length=1000)] = "other"

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield categories that are named twice, and too few of them (M003)."""
        names = [str(one) for one in values.get("categories", ())]
        twice = next((one for place, one in enumerate(names) if one in names[:place]), None)
        if twice is not None:
            yield Finding("M003", "categories", f"The category {twice!r} is named twice.")
        elif names and len({*names, str(values.get("otherwise", "other"))}) < 2:
            message = "There is one category: nothing would be told, and nothing hidden."
            yield Finding("M003", "categories", message)

    @model_validator(mode="after")
    def _has_several(self) -> "CategoryRandomiser":
        if len({*self.categories}) < len(self.categories) or len(self.values) < 2:
            raise ValueError("categories differ, and are several")
        return self

    @property
    def values(self) -> tuple[str, ...]:
        """The categories, and what all others count as, in the order of their texts.

        The order in which a policy names them is of no matter: neither to what is published, nor to
        answers that are given again.
        """
        return tuple(sorted({*self.categories, self.otherwise}))

    @property
    def scale(self) -> tuple[str, ...]:
        """What its answers are on: the values."""
        return self.values

    @abstractmethod
    def mechanism(self, epsilon: Fraction) -> "RandomisedResponse | UnaryEncoding | LocalHashing":
        """Return how its answers are drawn with an epsilon."""

    def check(self, epsilon: Fraction) -> None:
        """Raise ValueError where the epsilon is too small to tell its values apart."""
        self.mechanism(epsilon)

    def figures(self, epsilon: Fraction) -> Mapping[str, float]:
        """Return how often an answer supports the true value, and another one; and the variance of
        an estimated frequency near 0, and at its largest, times the number of answers."""
        supports = self.mechanism(epsilon).supports
        return {
            "ownProbability": float(supports.own),
            "otherProbability": float(supports.other),
            "variance": float(supports.variance()),
            "largestVariance": float(supports.largest_variance),
        }


class NumberRandomiser(Randomiser, ABC):
    """A randomiser of numbers from `lower` to `upper`, on a `grid` that begins at the lower one.

    What is beyond the bounds counts as the nearer one; what is missing, or no number, counts as
    `missing_as`, by default as the grid's middle.
    """

    lower: Threshold
    upper: Threshold
    grid: Size = 1.0
    missing_as: Annotated[Threshold | None, Field(alias="missingAs")] = None

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield bounds that are not in order or no grid fits between (M003)."""
        yield from grid_conflicts(values)
        lower, upper, other = (values.get(name) for name in ("lower", "upper", "missingAs"))
        if lower is None or upper is None or other is None:
            return
        if _are_numbers(lower, upper, other) and not lower <= other <= upper:
            message = f"missingAs is {other}. Allowed is a number from {lower} to {upper}."
            yield Finding("M003", "missingAs", message)

    @model_validator(mode="after")
    def _has_a_grid(self) -> "NumberRandomiser":
        bounds = {"lower": self.lower, "upper": self.upper, "grid": self.grid}
        other = {} if self.missing_as is None else {"missingAs": self.missing_as}
        if any(self.conflicts({**bounds, **other})):
            raise ValueError("the grid does not fit between the bounds")
        return self

    @property
    def steps(self) -> int:
        """How many steps of the grid the upper bound is above the lower one."""
        return int((exact(self.upper) - exact(self.lower)) / exact(self.grid))

    @property
    def scale(self) -> tuple[str, ...]:
        """What its answers are on: the grid from the lower to the upper bound."""
        return tuple(str(exact(one)) for one in (self.lower, self.upper, self.grid))

    @property
    def is_whole(self) -> bool:
        """Whether the whole grid is of integers."""
        return exact(self.lower).denominator == exact(self.grid).denominator == 1

    @property
    def other_step(self) -> int:
        """The step that counts for what is missing."""
        if self.missing_as is None:
            return self.steps // 2
        return round((exact(self.missing_as) - exact(self.lower)) / exact(self.grid))

    @abstractmethod
    def mechanism(self, epsilon: Fraction) -> "BoundedNumbers":
        """Return how its answers are drawn with an epsilon."""

    def check(self, epsilon: Fraction) -> None:
        """Raise ValueError where the epsilon is too small to tell its numbers apart."""
        self.mechanism(epsilon)

    def figures(self, epsilon: Fraction) -> Mapping[str, float]:
        """Return the least and the largest probability of an answer, and the variance of an
        estimated mean at its largest, times the number of answers, in squared units."""
        mechanism = self.mechanism(epsilon)
        least, most = mechanism.probabilities
        variance = mechanism.largest_variance * exact(self.grid) ** 2
        return {
            "ownProbability": float(most),
            "otherProbability": float(least),
            "largestVariance": float(variance),
        }


def grid_conflicts(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield bounds that are not in order, or that the grid does not reach from one to the other
    in 1 to 65,536 steps (M003)."""
    lower, upper, grid = values.get("lower"), values.get("upper"), values.get("grid", 1)
    if lower is None or upper is None or grid is None:
        return
    if not _are_numbers(lower, upper, grid) or grid <= 0:
        return
    if not lower < upper:
        yield Finding("M003", "upper", f"upper is {upper}. Allowed is a number above {lower}.")
        return
    steps = (exact(upper) - exact(lower)) / exact(grid)
    if steps.denominator != 1 or not 1 <= steps <= MOST_STEPS:
        message = f"grid is {grid}. From {lower} to {upper} there are to be 1 to {MOST_STEPS:,} "
        yield Finding("M003", "grid", f"{message}whole steps of it.")


MOST_STEPS = 2**16
"""A public grid has no more steps."""


def _are_numbers(*values: object) -> bool:
    kinds = (int, float)
    return all(isinstance(one, kinds) and not isinstance(one, bool) for one in values)


def exact(parameter: float) -> Fraction:
    """Return a parameter as the number that its shortest text writes."""
    return Fraction(number(float(parameter)))


def randomiser_class(notation: str) -> type[Randomiser]:
    """Return the class of a randomiser of the vocabulary; KeyError where there is none."""
    kind: type[Randomiser] = class_of(terms.randomisers()[notation].facts["notation"])
    return kind


@cache
def settings() -> type[Column]:
    """Return the model of all settings of a randomised column, whatever its randomiser."""
    kinds = {notation: randomiser_class(notation) for notation in terms.randomisers()}
    return all_settings("Randomised", "randomiser", kinds)
