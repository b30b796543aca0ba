"""(alpha, k)-anonymity: no value is too frequent in a class."""

from typing import Annotated, ClassVar

from pydantic import Field

from policy_engine.methods.method import Guarantee, Method


class AlphaKAnonymity(Method):
    """k-anonymity in which no sensitive value belongs to more than alpha of a class.

    Wong et al.: (alpha, k)-Anonymity, KDD 2006, for every value of the column.
    """

    notation: ClassVar[str] = "alpha-k-anonymity"
    guarantee: ClassVar[Guarantee] = Guarantee(
        "alpha", "alpha", "at most", "alpha", "most_frequent"
    )

    alpha: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False)]
