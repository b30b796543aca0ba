"""Generators of synthetic rows: what all of them have in common."""

from functools import cache
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from policy_engine import terms
from policy_engine.methods import class_of
from policy_engine.methods.columns import Column


class SynthesisedColumn(Column):
    """A column that is made up.

    One with a `position` is drawn before those without, in the order of positions; those without
    are in the order of their names.
    """

    position: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None


class Synthesiser(BaseModel):
    """A generator (`pe:Synthesiser`) with its settings: it learns a table, and makes rows up.

    None has a formal guarantee: what its rows tell of those that it learnt from is for attacks to
    find out. Adding one needs its settings here, its `fit` in a file of the same name in
    `engines/synthesising/`, and its entry in the vocabulary.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    notation: ClassVar[str]

    synthesiser: str

    def __str__(self) -> str:
        """Return it in words, with its settings."""
        return f"{self.synthesiser}{self.details}"

    @property
    def details(self) -> str:
        """Its settings in words, after its name; empty without any."""
        return ""


@cache
def synthesiser_class(notation: str) -> type[Synthesiser]:
    """Return the class of a generator by its notation; KeyError where there is none."""
    kind: type[Synthesiser] = class_of(terms.synthesisers()[notation].facts["notation"])
    return kind
