"""Which rows of a table are released: all of them, or a sample."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policy_engine.methods.findings import Finding, Proportion, parameters

SIZES = ("sampleShare", "sampleSize")
"""The parameters that ask for a sample."""


class Sampling(BaseModel):
    """A sample: each row with one probability, the `share`, or so many rows, the `size`.

    With a unit of privacy, persons are sampled, each with all rows. With `stratified_by`, every
    stratum, the rows of the same values in these columns, gives the same share of its rows, rounded
    to a whole number, or its part of the size by largest remainders. The `weight_column` of the
    output has, for every row, the number of rows it stands for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    kind: ClassVar[str] = "sample"
    """The step of a plan that carries it out."""

    share: Annotated[
        float | None,
        Field(alias="sampleShare", gt=0, lt=1, strict=True, allow_inf_nan=False),
        Proportion(),
    ] = None
    size: Annotated[int | None, Field(alias="sampleSize", ge=1, le=2**53, strict=True)] = None
    stratified_by: Annotated[tuple[str, ...], Field(alias="stratifiedBy")] = ()
    weight_column: Annotated[str, Field(alias="weightColumn", max_length=1000)] = ""

    @model_validator(mode="after")
    def _is_one_amount(self) -> Self:
        if (self.share is None) == (self.size is None):
            raise ValueError("a sample has a share or a size")
        return self

    @property
    def is_exact(self) -> bool:
        """Whether the number of rows, or persons, follows from that of the input."""
        return self.size is not None or bool(self.stratified_by)

    def __str__(self) -> str:
        """Return it in words."""
        amount = f"{self.share:g} of all" if self.share is not None else f"{self.size:,}"
        strata = f", stratified by {', '.join(self.stratified_by)}" if self.stratified_by else ""
        weight = f", weights in {self.weight_column!r}" if self.weight_column else ""
        return f"{amount}{strata}{weight}"


def sampling_conflicts(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the parameters of a sample that contradict each other, or say nothing (M002, M003)."""
    if {*SIZES} <= {*values}:
        message = "A sample has a sampleShare or a sampleSize. Given: both."
        yield Finding("M003", "sampleSize", message)
    elif not {*SIZES} & {*values}:
        names = " and ".join(one for one in parameters(Sampling) if one in values)
        message = f"A sample needs the parameter 'sampleShare' or 'sampleSize'. Given: {names}."
        yield Finding("M002", SIZES[0], message)
    if "weightColumn" in values and not str(values["weightColumn"]).strip():
        yield Finding("M003", "weightColumn", "weightColumn is not allowed to be empty.")
