"""What the files of a released model may give away, and what was measured of them."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

FEWEST = 10
"""How many training records every figure of a released model is about, at least: the threshold of
output checking. Where records are anonymised it is k, if that is more."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `generators` where none are asked for, as there were none in former versions."""
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if (name, value) != _NO_GENERATORS}


_NO_GENERATORS = ("generators", None)


class FileBounds(_Frozen):
    """Bounds on what the files of a model reveal; they hold whether or not a policy names them.

    `smallest_leaf` is how many training records there are, at least, in every leaf and of every
    value and class in the files; `rare_values` is how many values of fewer records they may
    contain; `generators` how many samples of the records must lead to the model, if that is asked.
    """

    smallest_leaf: Annotated[int, Field(ge=FEWEST)] = FEWEST
    rare_values: Annotated[int, Field(ge=0)] = 0
    generators: Annotated[int, Field(ge=2)] | None = None

    def replace_bounds(self, *others: "FileBounds") -> "FileBounds":
        """Return bounds that hold where all of these do."""
        bounds = (self, *others)
        return FileBounds(
            smallest_leaf=max(one.smallest_leaf for one in bounds),
            rare_values=min(one.rare_values for one in others) if others else self.rare_values,
            generators=self.generators,
        )


class FilesMeasured(_Frozen):
    """What the files of a model reveal, read back as they were written.

    `smallest_leaf` and `generators` are no more than what is asked for: how much more they are
    concerns nobody. `generators` is a lower bound: there are those that were found, without a
    record in common, and 0 if one is in all. `broken` are the checks that failed, which no bound
    allows.
    """

    asked: FileBounds
    smallest_leaf: Annotated[int, Field(ge=0)]
    rare_values: Annotated[int, Field(ge=0)]
    generators: Annotated[int, Field(ge=0)] | None = None
    broken: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every bound is held, and every check passed."""
        return not list(self.shortcomings())

    def shortcomings(self) -> Iterator[str]:
        """Yield what the files reveal and should not, a sentence each."""
        if self.smallest_leaf < self.asked.smallest_leaf:
            yield (
                f"smallestLeaf at least {self.asked.smallest_leaf} is required, but the model's "
                f"files have a leaf, a value or a class of {self.smallest_leaf} records."
            )
        if self.rare_values > self.asked.rare_values:
            yield (
                f"rareValues at most {self.asked.rare_values} is required, but the model's files "
                f"contain {self.rare_values} values that fewer than "
                f"{self.asked.smallest_leaf} records have."
            )
        if self.asked.generators and (self.generators or 0) < self.asked.generators:
            yield (
                f"generators at least {self.asked.generators} is required, but "
                f"{self.generators or 0} were found that have no record in common."
            )
        yield from self.broken
