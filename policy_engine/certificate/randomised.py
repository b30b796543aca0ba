"""What a certificate says of records that were randomised: it follows from the plan alone."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.engines.engine import Engine, WrittenTable
from policy_engine.errors import DataError
from policy_engine.methods import Measurement
from policy_engine.plan.steps import Randomise

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate


class RandomisedColumn(BaseModel):
    """By which probabilities a column was randomised, and how exact that leaves its estimates.

    `epsilon` is that of its answers. Of categories, `figures` have the probability that an answer
    supports the true category (`ownProbability`) and another one (`otherProbability`), and the
    variance of the estimate of a frequency near 0 (`variance`) and at its largest
    (`largestVariance`), times the number of answers; of numbers, the probability of a near
    and of a far answer, and the largest variance of the mean, likewise; of images, the `scale` of
    the noise of a block's mean, and its variance.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    column: str
    randomiser: str
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    figures: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]]


def randomised_columns(step: Randomise) -> tuple[RandomisedColumn, ...]:
    """Return what is said of each column of a step: no figure depends on data."""
    return tuple(
        RandomisedColumn(
            column=one.name,
            randomiser=one.randomiser,
            epsilon=_rounded_up(step.epsilon_of(one)),
            figures=one.figures(step.epsilon_of(one)),
        )
        for one in step.columns
    )


def _rounded_up(number: Fraction) -> float:
    """Return the least float that is not below a number."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def measure_answers(
    written: WrittenTable, step: Randomise, engine: Engine
) -> tuple[Measurement, ...]:
    """Return epsilon, which holds by what was drawn, and how many cells of each column could not
    have been drawn, as they were written.

    Raises DataError (V006) where another run made the table: nothing in it shows how it was drawn.
    """
    if written.anonymized is None:
        message = (
            "Nothing in a table shows that its records were randomised, or with which epsilon."
        )
        raise DataError.of("V006", message, "Make it again: policy-engine apply.")
    strange = engine.strange_cells(written, step)
    achieved = (*(one.asked for one in step.budget_bounds()), *strange)
    return tuple(
        Measurement(
            bound=one.name, column=one.column, sense=one.sense, asked=one.asked, achieved=reached
        )
        for one, reached in zip(step.bounds(), achieved, strict=True)
    )


def randomised_contradictions(certificate: "Certificate") -> Iterator[str]:
    """Yield figures of randomised columns that do not follow from what is asked."""
    step = certificate.plan.randomise
    expected = randomised_columns(step) if step else ()
    if certificate.randomised != expected:
        yield "Its probabilities and variances are not those of its randomisers."
    if step is None:
        return
    if not certificate.tells_making:
        yield "It does not say how its records were randomised, which no table shows."
    for one in certificate.measurements:
        if one.bound == "epsilon" and one.achieved != one.asked:
            yield f"Its records were randomised with an epsilon of {one.asked:g}, by the draws."
