"""Synthetic data: made-up rows are released in the place of those of the table."""

from typing import Annotated, ClassVar

from pydantic import Field

from policy_engine.methods.method import Method

MOST_ROWS = 10_000_000
SyntheticRows = Annotated[int, Field(alias="syntheticRows", ge=1, le=MOST_ROWS, strict=True)]


class SyntheticData(Method):
    """A generator learns the columns that a policy names, and `rows` that it makes up are released.

    No row of the table is released, and nothing is promised: a made-up row may be like a true one.
    What rows show of those that the generator learnt from is measured by attacks, if a duty asks
    for them. The generator has settings of its own (`methods.synthesiser.Synthesiser`).
    Rubin: Statistical Disclosure Limitation, Journal of Official Statistics 9(2), 1993.
    """

    notation: ClassVar[str] = "synthetic-data"
    step: ClassVar[str] = "synthesise"
    has_generators: ClassVar[bool] = True

    rows: SyntheticRows
