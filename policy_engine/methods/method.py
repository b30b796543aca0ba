"""What every method of sanitisation has: parameters, a bound, a measurement of it."""

from collections.abc import Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from policy_engine.kernels.bounds import TOLERANCE, Diversity
from policy_engine.methods.findings import Finding, finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import ValueHistogram
    from policy_engine.methods.columns import Sensitive


Sense = Literal["at least", "at most", "below"]


class Bound(NamedTuple):
    """What a measure must be in every class: at least, at most, or below what is asked.

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
        """Tell whether a figure is good enough; rounding alone does not make it fail."""
        if self.sense == "at least":
            return achieved >= self.asked * (1 - TOLERANCE)
        if self.sense == "at most":
            return achieved <= self.asked * (1 + TOLERANCE)
        return achieved < self.asked

    def holding(self, figures: "NDArray[Any]") -> "NDArray[np.bool_]":
        """Return which figures are good enough, (classes,)."""
        if self.sense == "at least":
            return figures >= self.asked * (1 - TOLERANCE)
        if self.sense == "at most":
            return figures <= self.asked * (1 + TOLERANCE)
        return figures < self.asked

    def worst(self, figures: "NDArray[np.float64]") -> int:
        """Return the number of the class that comes furthest from holding."""
        return int(figures.argmin() if self.sense == "at least" else figures.argmax())


class Guarantee(NamedTuple):
    """What a model says of the values in every class.

    The bound `name` is that its `parameter` is kept in the `sense` given; `field` is what
    `Diversity` calls it.
    """

    name: str
    parameter: str
    sense: Sense
    field: str


def _countable(number: float) -> float:
    if isinstance(number, int) and abs(number) > _MOST:
        raise ValueError("An integer has more than 300 digits, and no table so many rows.")
    return number


_MOST = 10**300


"""Integers beyond what floats reach could not be compared with one."""


Figure = Annotated[int | float, AfterValidator(_countable)]


Several = Annotated[int, Field(ge=2, strict=True), AfterValidator(_countable)]


"""A number of rows, persons or values, two or more."""


class Measurement(BaseModel):
    """What was measured of one bound: the value asked for and the value achieved.

    `worst` is the number of the class in which the achieved value was found, where classes have
    numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    bound: str
    column: str = ""
    sense: Sense = "at least"
    asked: Figure
    achieved: Figure
    worst: Annotated[int | None, Field(exclude=True)] = None

    def __eq__(self, other: object) -> bool:
        """Tell whether two measurements say the same, whatever class they found it in."""
        return isinstance(other, Measurement) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(tuple(self.model_dump().items()))

    @property
    def holds(self) -> bool:
        """Whether what was achieved is good enough."""
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


class Method(BaseModel):
    """The parameters of one privacy model. Each model is k-anonymity and something more."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    notation: ClassVar[str]
    guarantee: ClassVar[Guarantee]
    step: ClassVar[str] = "anonymize"
    """The step of a plan that carries the method out."""
    is_about_values: ClassVar[bool] = True
    is_kept_by_union: ClassVar[bool] = True
    """Whether two classes that hold the bound hold it as one, the table being the same."""

    k: Several

    @classmethod
    def clashes(cls, given: Mapping[str, Any]) -> Iterator[Finding]:  # noqa: ARG003
        """Yield what is wrong between parameters that are well formed one by one."""
        yield from ()

    def bound(self, column: "Sensitive") -> Bound:
        """Return what the model guarantees of a sensitive column."""
        told = self.guarantee
        return Bound(told.name, column.name, getattr(self, told.parameter), told.sense)

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


def merged(parts: list[Mapping[str, Any]]) -> Diversity:
    """Return the bounds of several models on one column as the partitioner takes them."""
    return Diversity(**{name: value for part in parts for name, value in part.items()})


def findings(kind: type[BaseModel], given: Mapping[str, Any], notation: str) -> list[Finding]:
    """Return everything that is wrong with the parameters given for a model of parameters."""
    found = list(kind.clashes(given)) if issubclass(kind, Method) else []
    try:
        kind(**given)
    except ValidationError as error:
        found += [finding(kind, notation, detail) for detail in error.errors() if detail["loc"]]
    return list(dict.fromkeys(found))
