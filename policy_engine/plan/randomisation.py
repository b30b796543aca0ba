"""What is to be randomised: which columns, by which randomisers, and with which epsilon."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, field_validator, model_validator

from policy_engine import terms
from policy_engine.methods import Bound
from policy_engine.methods.randomiser import Randomiser, randomiser_class
from policy_engine.methods.sanitisations.local_differential_privacy import Compose, Epsilon


class Randomisation(BaseModel):
    """All that a policy asks of a table that is randomised record by record.

    Whatever a record holds, the output is at most e^`epsilon` times as likely as with any other
    record in its place. With a `unit`, the column that tells persons apart, it is so whatever all
    records of a person hold: one of those that differ, drawn by the owner's key, is answered for,
    and the others, and records without a person, are left out. The same person and value
    then have the same answers in every release of a column of the `dataset`: repeated releases of
    what did not change tell no more than one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    columns: Annotated[tuple[SerializeAsAny[Randomiser], ...], Field(min_length=1)]
    epsilon: Epsilon
    compose: Compose = "sum"
    unit: str = ""
    dataset: str = ""

    @field_validator("columns", mode="before")
    @classmethod
    def _parse_randomisers(cls, values: Any) -> Any:
        if isinstance(values, list | tuple):
            return tuple(_randomiser(one) if isinstance(one, dict) else one for one in values)
        return values

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Raise ValueError for columns named twice, an epsilon that is too small for one, and
        what cannot be answered alike again."""
        if len({*self.names}) < len(self.names) or self.unit in self.names:
            raise ValueError("a column is randomised once, and persons are not published")
        if bool(self.unit) != bool(self.dataset):
            raise ValueError("persons, and nobody else, are those of a dataset")
        for one in self.columns:
            one.check(self.epsilon_of(one))
            if self.unit and not one.is_repeatable:
                raise ValueError("noise is never the same again")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)

    @property
    def columns_used(self) -> tuple[str, ...]:
        """The columns whose values it depends on: those, and that of persons."""
        return (*self.names, *filter(None, [self.unit]))

    def budget_bounds(self) -> tuple[Bound, ...]:
        """Return the bound that holds by the draws alone: epsilon."""
        return (Bound("epsilon", "", float(self.epsilon), "at most"),)

    def cell_bounds(self) -> tuple[Bound, ...]:
        """Return one bound for each column: no cell is one that could not have been drawn."""
        return tuple(Bound(one.randomiser, one.name, 0, "at most") for one in self.columns)

    @property
    def is_sampled(self) -> bool:
        """Whether each record answers for one column only, drawn for it."""
        return self.compose == "sample-one-attribute" and len(self.columns) > 1

    @property
    def sampled_share(self) -> Fraction:
        """The share of the records that answer for a column, in the mean of any number of draws.

        It is 0 where the record of a person is drawn: of how many is told nowhere, so that there
        may be any number of others.
        """
        if self.unit:
            return Fraction(0)
        return Fraction(1, len(self.columns)) if self.is_sampled else Fraction(1)

    def epsilon_of(self, column: Randomiser) -> Fraction:
        """Return the epsilon of the answers for a column: they sum to that of the record."""
        whole = Fraction(self.epsilon)
        if self.is_sampled:
            return whole
        return whole * column.weight / sum(one.weight for one in self.columns)

    def label_of(self, column: Randomiser) -> str:
        """Return a text that tells the draws of a column's answers from those of any other column,
        randomiser and epsilon.

        It has what the probabilities of the answers follow from, and nothing else: what is the same
        but for how a policy writes it is answered alike.
        """
        epsilon = str(self.epsilon_of(column))
        return self._label("answers", column.name, column.notation, epsilon, *column.scale)

    @property
    def label_of_records(self) -> str:
        """A text that tells the draws of a person's record from those for other columns."""
        return self._label("records", *sorted(self.names))

    def _label(self, kind: str, *about: str) -> str:
        return json.dumps([kind, self.dataset, self.unit, *about])


def _randomiser(facts: Mapping[str, Any]) -> Randomiser:
    notation = facts.get("randomiser")
    if notation not in terms.randomisers():
        raise ValueError("a randomiser is given by its notation")
    return randomiser_class(str(notation))(**facts)
