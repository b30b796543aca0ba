"""Differential privacy: a table of aggregates with noise, which tells hardly more with a unit."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.method import Method

Neighbours = Literal["add-or-remove", "change-one"]
NoiseMechanism = Literal["discrete-laplace", "discrete-gaussian"]
SelectionMechanism = Literal["permute-and-flip", "exponential"]


class DifferentialPrivacy(Method):
    """(epsilon, delta)-differential privacy of a table of aggregates (Dwork and Roth 2014, 2.3).

    Neighbouring tables differ in all rows of one unit, of which at most `max_rows` count in each of
    at most `max_groups` groups.
    """

    notation: ClassVar[str] = "differential-privacy"
    step: ClassVar[str] = "aggregate"

    neighbours: Neighbours
    max_groups: Annotated[int, Field(alias="maxGroupsPerUnit", ge=1)]
    max_rows: Annotated[int, Field(alias="maxRowsPerGroup", ge=1)]
    epsilon: Annotated[Decimal, Field(gt=0)]
    delta: Annotated[Decimal, Field(ge=0, lt=Decimal("1e-4"))] = Decimal(0)
    mechanism: tuple[NoiseMechanism, ...] = ("discrete-laplace", "discrete-gaussian")
    selection: tuple[SelectionMechanism, ...] = ("permute-and-flip",)
