"""Local differential privacy: each record is randomised by itself before it is published."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.method import Method

Compose = Literal["sum", "sample-one-attribute"]
"""How epsilon covers several columns: each takes its share, or one of them, drawn for each record
or person, takes all of it."""

LEAST_EPSILON, LARGEST_EPSILON = Decimal("0.000001"), Decimal(64)
"""Less tells nothing of as many records as there are; more hides nothing."""
Epsilon = Annotated[Decimal, Field(ge=LEAST_EPSILON, le=LARGEST_EPSILON, allow_inf_nan=False)]


class LocalDifferentialPrivacy(Method):
    """Each record is randomised by itself, and nothing else is published.

    Whatever a record holds, the output is at most e^`epsilon` times as likely as with any other
    record in its place; where a column tells persons apart, whatever all records of a person hold,
    one of which is answered for. Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith: What Can We
    Learn Privately?, SIAM Journal on Computing 40(3), 2011.
    """

    notation: ClassVar[str] = "local-differential-privacy"
    step: ClassVar[str] = "randomise"

    epsilon: Epsilon
    compose: Compose = "sum"
