"""What all privacy models have: parameters, a bound, a measurement of it."""

from collections.abc import Collection, Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from policy_engine.kernels.bounds import TOLERANCE, Diversity
from policy_engine.methods.findings import Finding, missing_parameter
from policy_engine.methods.method import Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import ValueHistogram
    from policy_engine.methods.columns import Sensitive


Sense = Literal["at least", "at most", "below"]


class Bound(NamedTuple):
    """What a measure must be in every class: at least, at most, or below the `asked` figure.

    `column` is the sensitive column that the bound is about, empty where it is about rows.
    """

    name: str
    column: str
    asked: float
    sense: Sense = "at least"

    @property
    def parameter(self) -> str:
        """The parameter that the bound comes from, as in `l` for `entropy-l`."""
        return self.name.rpartition("-")[2]

    def holds(self, achieved: float) -> bool:
        """Tell whether a figure satisfies the bound, within rounding."""
        if self.sense == "at least":
            return achieved >= self.asked * (1 - TOLERANCE)
        if self.sense == "at most":
            return achieved <= self.asked * (1 + TOLERANCE)
        return achieved < self.asked

    def hold_by_class(self, figures: "NDArray[Any]") -> "NDArray[np.bool_]":
        """Return which figures satisfy the bound, (classes,)."""
        if self.sense == "at least":
            return figures >= self.asked * (1 - TOLERANCE)
        if self.sense == "at most":
            return figures <= self.asked * (1 + TOLERANCE)
        return figures < self.asked

    def worst(self, figures: "NDArray[np.float64]") -> int:
        """Return the number of the class with the worst figure."""
        return int(figures.argmin() if self.sense == "at least" else figures.argmax())


class Guarantee(NamedTuple):
    """What a model guarantees of the values in every class.

    The bound `name` is that its `parameter` is kept in the given `sense`; `field` is its name in
    `Diversity`.
    """

    name: str
    parameter: str
    sense: Sense
    field: str


def _check_countable(number: float) -> float:
    if isinstance(number, int) and abs(number) > _GREATEST:
        raise ValueError("An integer has more than 300 digits, but no table has so many rows.")
    return number


_GREATEST = 10**300
"""Integers beyond the range of floats could not be compared with one."""


MeasuredNumber = Annotated[int | float, AfterValidator(_check_countable)]
"""What a bound asks for or a release achieves."""

Several = Annotated[int, Field(ge=2, strict=True), AfterValidator(_check_countable)]
"""A number of rows, persons or values, two or more."""


class Measurement(BaseModel):
    """The measurement of one bound: the value asked for and the value achieved.

    `worst` is the number of the class in which the achieved value was found, where classes have
    numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    bound: str
    column: str = ""
    sense: Sense = "at least"
    asked: MeasuredNumber
    achieved: MeasuredNumber
    worst: Annotated[int | None, Field(exclude=True)] = None

    def __eq__(self, other: object) -> bool:
        """Tell whether two measurements are equal, whatever their worst class."""
        return isinstance(other, Measurement) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(tuple(self.model_dump().items()))

    @property
    def holds(self) -> bool:
        """Whether the achieved value satisfies the bound."""
        return Bound(self.bound, self.column, self.asked, self.sense).holds(self.achieved)

    @classmethod
    def of(cls, bound: Bound, figures: "NDArray[Any]") -> "Measurement":
        """Return the measurement of a bound, from the figure of every class, (classes,)."""
        worst = bound.worst(figures)
        return cls(
            bound=bound.name,
            column=bound.column,
            sense=bound.sense,
            asked=bound.asked,
            achieved=figures[worst].item(),
            worst=worst,
        )


class PrivacyModel(Method):
    """A privacy model with its parameters; each is k-anonymity and something more."""

    guarantee: ClassVar[Guarantee]
    is_about_values: ClassVar[bool] = True
    is_kept_by_union: ClassVar[bool] = True
    """Whether two classes that satisfy the bound satisfy it as one, in the same table."""

    k: Several

    @classmethod
    def lacking(cls, roles: Collection[str]) -> Iterator[Finding]:
        """Yield that no column is sensitive, where the model is about the values of one (M002)."""
        if cls.is_about_values and "sensitive" not in roles:
            yield missing_parameter(cls.notation, "sensitive")

    def bound(self, column: "Sensitive") -> Bound:
        """Return the bound that the model guarantees of a sensitive column."""
        guarantee = self.guarantee
        return Bound(
            guarantee.name, column.name, getattr(self, guarantee.parameter), guarantee.sense
        )

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return the same for the partitioner: fields of `Diversity`."""
        return {self.guarantee.field: getattr(self, self.guarantee.parameter)}

    def figures(
        self,
        histogram: "ValueHistogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[Any]":
        """Return the figure that the bound is about, for every class, (classes,)."""
        return self.measure(histogram)

    if TYPE_CHECKING:

        @staticmethod
        def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
            """Return the same where the settings of a column do not change it, (classes,)."""
            ...


def merge_bounds(parts: list[Mapping[str, Any]]) -> Diversity:
    """Return the bounds of several models on one column, as the partitioner takes them."""
    return Diversity(**{name: value for part in parts for name, value in part.items()})
