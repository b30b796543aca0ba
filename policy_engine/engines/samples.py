"""What is known of a sample of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.errors import CertificateError, InternalError

_Count = Annotated[int, Field(ge=1, le=2**63)]


class SampleFigures(BaseModel):
    """How large a sample is: so many `rows` of so many `sampled` units, rows or persons.

    They are the `share` of all units of the input, in so many `strata`. What is None is not
    published, since the output does not show it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    units: Literal["rows", "persons"]
    sampled: _Count | None = None
    rows: _Count | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    strata: _Count | None = None

    def published(self, *, is_whole: bool, shows_strata: bool) -> "SampleFigures":
        """Return what an output shows of the sample.

        If it `is_whole`, no row of it may be suppressed: otherwise any figure would tell how many
        are. Strata are counted where the output `shows_strata`.
        """
        if not is_whole:
            return SampleFigures(units=self.units)
        return self.model_copy(update={} if shows_strata else {"strata": None})


@dataclass(frozen=True)
class SampleEvidence:
    """A sample that was drawn: so many `rows` of `rows_in`, and `units` of `units_in`.

    All rows of the units in it are `rows_of_units`. `weights` has the rows by their weight, that
    is by how many units of its stratum one unit stands for.
    """

    rows_in: int
    rows: int
    units_in: int
    units: int
    rows_of_units: int
    strata: int
    weights: Mapping[float, int] = field(repr=False)

    def figures(self, units: str) -> SampleFigures:
        """Return what is certified of it. Raises InternalError (X001) for units in part."""
        if self.rows != self.rows_of_units or self.rows != sum(self.weights.values()):
            raise InternalError.of("X001", "A sample has some rows of a unit, and others not.")
        return SampleFigures.model_validate(
            {
                "units": units,
                "sampled": self.units,
                "rows": self.rows,
                "share": self.units / self.units_in,
                "strata": self.strata,
            }
        )


def check_weights(
    row_counts: Mapping[float | None, int], expected: Mapping[float, int] | None, name: str
) -> None:
    """Raise CertificateError (V001) where rows have other weights than they were given.

    `row_counts` has the rows of an output by weight, None for what is not a number; of `expected`
    ones some rows may have been suppressed. Where those are not known, a weight is 1 or more.
    """
    wrong = 0
    for weight, rows in row_counts.items():
        if expected is not None:
            wrong += max(rows - expected.get(weight, 0), 0) if weight is not None else rows
        elif weight is None or not 1 <= weight < float("inf"):
            wrong += rows
    if wrong:
        message = f"{wrong} rows of {name!r} do not have the weight of their stratum."
        raise CertificateError.of("V001", message)
