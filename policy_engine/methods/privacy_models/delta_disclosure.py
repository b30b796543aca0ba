"""delta-disclosure privacy: no value becomes much more, or much less, likely."""

from typing import Annotated, ClassVar

from pydantic import Field

from policy_engine.methods.method import Guarantee, Method


class DeltaDisclosure(Method):
    """k-anonymity in which |ln(p / q)| is below delta for every value that a class has.

    Values that a class lacks are left out, as other tools do: with them, only a table with
    every value in every class would pass. Brickell and Shmatikov: The Cost of Privacy, KDD 2008.
    """

    notation: ClassVar[str] = "delta-disclosure"
    guarantee: ClassVar[Guarantee] = Guarantee("delta", "delta", "below", "delta", "delta")
    is_kept_by_union: ClassVar[bool] = False

    delta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
