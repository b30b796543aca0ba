"""What every method of sanitisation has: columns in roles, bounds, a measurement."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from policy_engine.errors import listed
from policy_engine.kernels.constraint import Constraint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.grouping import Groups

ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")


class Finding(NamedTuple):
    """One thing that is wrong with a method's parameters, and with which of them."""

    code: str
    parameter: str
    message: str


class Bound(NamedTuple):
    """The least value of a measure that every class must have.

    `column` is the sensitive column that the bound is about, empty where it is about rows.
    """

    name: str
    column: str
    least: int


class Measurement(BaseModel):
    """What was measured of one bound: the value asked for and the value achieved.

    `worst` is the number of the class in which the achieved value was found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    bound: str
    column: str = ""
    asked: int
    achieved: int
    worst: Annotated[int, Field(exclude=True)] = 0

    @property
    def holds(self) -> bool:
        """Whether what was achieved is at least what was asked for."""
        return self.achieved >= self.asked


class Method(BaseModel):
    """The parameters that all methods share: the columns, by the role that each plays.

    Identifiers are dropped, quasi-identifiers generalised; sensitive and insensitive columns
    are kept as they are. A column plays one role.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    notation: ClassVar[str]

    identifier: tuple[str, ...] = ()
    quasi_identifier: Annotated[tuple[str, ...], Field(alias="quasi-identifier", min_length=1)]
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "Method":
        for finding in self.clashes(self.model_dump(by_alias=True)):
            raise ValueError(finding.message)
        return self

    @classmethod
    def clashes(cls, given: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield what is wrong between parameters that are well formed one by one."""
        seen: dict[str, str] = {}
        for role in ROLES:
            for column, times in Counter(given.get(role, ())).items():
                if times > 1:
                    yield Finding("M005", role, f"{column!r} stands {times} times under {role}.")
                if column in seen:
                    message = (
                        f"{column!r} is both {seen[column]} and {role}. A column has one role."
                    )
                    yield Finding("M005", role, message)
                seen.setdefault(column, role)

    def constraint(self) -> Constraint:
        """Return what the partitioner has to keep in every class."""
        raise NotImplementedError

    def bounds(self) -> tuple[Bound, ...]:
        """Return every bound that the method guarantees."""
        raise NotImplementedError

    def per_class(self, groups: "Groups", bound: Bound) -> "NDArray[np.int64]":
        """Return the value that a bound is about, for every class, (classes,)."""
        raise NotImplementedError

    def measure(self, groups: "Groups") -> tuple[Measurement, ...]:
        """Measure every bound of the method on the classes of a table."""
        return tuple(
            self._measured(bound, self.per_class(groups, bound)) for bound in self.bounds()
        )

    def _measured(self, bound: Bound, values: "NDArray[np.int64]") -> Measurement:
        worst = int(values.argmin())
        return Measurement(
            bound=bound.name,
            column=bound.column,
            asked=bound.least,
            achieved=int(values[worst]),
            worst=worst,
        )


def findings(kind: type[Method], given: Mapping[str, Any]) -> list[Finding]:
    """Return everything that is wrong with the parameters given for a method."""
    found = list(kind.clashes(given))
    try:
        kind(**given)
    except ValidationError as error:
        found += [
            _finding(kind, detail["type"], str(detail["loc"][0]), detail)
            for detail in error.errors()
            if detail["loc"]
        ]
    return found


def parameters(kind: type[Method]) -> dict[str, Any]:
    """Return the fields of a method by the names that policies use."""
    return {field.alias or name: field for name, field in kind.model_fields.items()}


def _finding(kind: type[Method], problem: str, name: str, detail: Mapping[str, Any]) -> Finding:
    if problem in ("missing", "too_short"):
        return Finding("M002", name, f"{kind.notation} needs the parameter {name!r}.")
    if problem == "extra_forbidden":
        known = listed(parameters(kind))
        message = f"{kind.notation} has no parameter {name!r}. It has {known}."
        return Finding("M004", name, message)
    least = [one.ge for one in parameters(kind)[name].metadata if hasattr(one, "ge")]
    allowed = f"an integer from {least[0]}" if least else "an integer"
    message = f"{name} is not allowed to be {detail['input']!r}. Allowed is {allowed}."
    return Finding("M003", name, message)
