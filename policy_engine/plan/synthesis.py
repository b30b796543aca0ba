"""What a policy asks of a generator of rows, and of a table whose rows one makes up."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from policy_engine import terms
from policy_engine.methods import Bound
from policy_engine.methods.sanitisations.synthetic_data import MOST_ROWS
from policy_engine.methods.synthesiser import Synthesiser, synthesiser_class

FOREIGN = "foreignCells"
"""The bound on cells that lie outside of what their column has in the input."""


class Generation(BaseModel):
    """A generator that learns `columns`, in the order in which it draws them.

    Nothing is promised of what it makes up. The `unit` is the column that tells persons apart,
    empty where every row counts by itself: all rows of one are learnt, or none. It is not made up.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    columns: Annotated[tuple[str, ...], Field(min_length=1)]
    synthesiser: SerializeAsAny[Synthesiser]
    unit: str = ""

    @field_validator("synthesiser", mode="before")
    @classmethod
    def _parse_synthesiser(cls, value: Any) -> Any:
        return _synthesiser(value) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _names_columns_once(self) -> Self:
        if len({*self.columns}) < len(self.columns):
            raise ValueError("a column is made up once")
        if self.unit in self.columns:
            raise ValueError("the column of persons is not made up")
        return self

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on."""
        return (*self.columns, *filter(None, [self.unit]))

    @model_serializer(mode="wrap")
    def _omit_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit the `unit` where there is none, as in plans of a version before."""
        values: dict[str, Any] = serialize(self)
        return values if self.unit else {k: v for k, v in values.items() if k != "unit"}

    def cell_bounds(self) -> tuple[Bound, ...]:
        """Return one bound for each column: no cell lies outside of what the input has."""
        return tuple(Bound(FOREIGN, name, 0, "at most") for name in self.columns)


class Synthesis(Generation):
    """So many `rows` that a generator makes up. Of `identifiers` no value is read."""

    rows: Annotated[int, Field(ge=1, le=MOST_ROWS)]

    @property
    def rows_measured(self) -> int:
        """How many rows are measured and attacked: all that are released."""
        return self.rows


SAMPLE = 100_000
"""How many rows are drawn from a generator that is released, to be measured and attacked."""


class TrainedGenerator(Generation):
    """A generator that is released itself, as the model `output`: whoever has it draws rows."""

    output: str

    @property
    def rows_measured(self) -> int:
        """How many rows are drawn from it, to be measured and attacked."""
        return SAMPLE


def _synthesiser(facts: Mapping[str, Any]) -> Synthesiser:
    notation = facts.get("synthesiser")
    if notation not in terms.synthesisers():
        raise ValueError("a generator is given by its notation")
    return synthesiser_class(str(notation))(**facts)
