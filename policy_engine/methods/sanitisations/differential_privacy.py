"""Differential privacy: statistics of a table are released, with noise, and no row of it is."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, field_validator

from policy_engine.errors import join_names
from policy_engine.methods.findings import Finding
from policy_engine.methods.method import Method

Neighbours = Literal["add-or-remove", "change-one"]
NoiseMechanism = Literal["discrete-laplace", "discrete-gaussian"]
SelectionMechanism = Literal["permute-and-flip", "exponential"]
MOST_DELTA = Decimal("1e-4")
"""Delta is the chance that nothing is promised: below one in ten thousand, whatever the table."""
MOST_EPSILON = 100
"""An epsilon beyond this bounds nothing, and scales would leave what samplers are made for."""
MOST_CONTRIBUTIONS = 2**20


class DifferentialPrivacy(Method):
    """Statistics under (epsilon, delta)-differential privacy (Dwork et al. 2006).

    Whatever one unit of privacy adds to the table, every output is at most e^epsilon times as
    probable with it as without it, and the other way round, but for events of probability delta.
    Neighbours differ by a unit that is there or not (`add-or-remove`), or by one in the place of
    another (`change-one`). Of each unit, at most `maxGroupsPerUnit` groups and `maxRowsPerGroup`
    rows in each are used. Numbers get noise by the `mechanism` of those allowed that has the
    smaller error, values are chosen by the first `selection`. `release` names the table of
    aggregates, among `pe:queries`.
    """

    notation: ClassVar[str] = "differential-privacy"
    step: ClassVar[str] = "aggregate"

    epsilon: Annotated[Decimal, Field(gt=0, le=MOST_EPSILON)]
    delta: Annotated[Decimal, Field(ge=0, lt=MOST_DELTA)] = Decimal(0)
    neighbours: Neighbours
    max_groups: Annotated[int, Field(alias="maxGroupsPerUnit", ge=1, le=MOST_CONTRIBUTIONS)]
    max_rows: Annotated[int, Field(alias="maxRowsPerGroup", ge=1, le=MOST_CONTRIBUTIONS)]
    mechanism: Annotated[tuple[NoiseMechanism, ...], Field(min_length=1)] = get_args(NoiseMechanism)
    selection: Annotated[tuple[SelectionMechanism, ...], Field(min_length=1)] = (
        "permute-and-flip",
    )
    release: Annotated[str, Field(min_length=1)]

    @field_validator("delta")
    @classmethod
    def _is_one_zero(cls, delta: Decimal) -> Decimal:
        """Return 0 for -0: the same release is the same plan."""
        return delta or Decimal(0)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that delta is needed by the only mechanism allowed (M003)."""
        mechanisms, delta = values.get("mechanism"), values.get("delta", 0)
        if mechanisms is not None and {*mechanisms} == {"discrete-gaussian"} and delta == 0:
            message = "discrete-gaussian needs a delta above 0. Given: no delta. Allowed without "
            one = join_names(
                name for name in get_args(NoiseMechanism) if name != "discrete-gaussian"
            )
            yield Finding("M003", "mechanism", f"{message}it is {one}.")
