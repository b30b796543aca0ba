"""Basic beta-likeness: no value becomes much more likely than it was."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class BetaLikeness(PrivacyModel):
    """k-anonymity in which no value is more than 1 + beta times as frequent as in the table.

    (p - q) / q is at most beta for every value of every class. Cao and Karras: Publishing
    Microdata with a Robust Privacy Guarantee, VLDB 2012 (basic beta-likeness).
    """

    notation: ClassVar[str] = "beta-likeness"
    guarantee: ClassVar[Guarantee] = Guarantee("beta", "beta", "at most", "beta")

    beta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return the greatest (p - q) / q of every class, (classes,)."""
        from policy_engine.kernels.diversity import beta  # noqa: PLC0415 (imports numpy)

        return beta(histogram)
