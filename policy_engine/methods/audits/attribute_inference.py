"""Attribute inference: how well values are guessed by who knows others of the same person."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy_engine.methods.disclosure import InferenceBound, InferenceKey


class AttributeInference(BaseModel):
    """A guess at the columns `learned` by the columns `known`, and the bound on each of them.

    A value is guessed as the commonest of the records nearest to what is known, by those of the
    columns that tell most, by linear models, and by who knows how the columns were masked. The
    bound is on how many of the persons whom the commonest value of the release does not give are
    guessed all the same, and holds where the upper end of the 95% interval does.
    Giomi, Boenisch, Wehmeyer, Tasnádi: A unified framework for quantifying privacy risk in
    synthetic data, PoPETs 2023.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    notation: ClassVar[str] = "attribute-inference"

    kind: Literal["attribute-inference"] = "attribute-inference"
    bound: InferenceBound
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    learned: Annotated[tuple[str, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _learns(self) -> "AttributeInference":
        if {*self.known} & {*self.learned}:
            raise ValueError("what is known is not learned")
        return self

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values are compared with those released."""
        return (*self.known, *self.learned)

    @property
    def bounds(self) -> tuple[InferenceBound, ...]:
        """The bound."""
        return (self.bound,)

    @property
    def keys(self) -> tuple[InferenceKey, ...]:
        """What its measurements are about, column by column."""
        return tuple(InferenceKey(self.bound, name) for name in self.learned)

    def sorted_copy(self) -> "AttributeInference":
        """Return it with the columns in one order."""
        changes = {"known": tuple(sorted(self.known)), "learned": tuple(sorted(self.learned))}
        return self.model_copy(update=changes)

    def __str__(self) -> str:
        return f"{self.bound} of {', '.join(self.learned)}"
