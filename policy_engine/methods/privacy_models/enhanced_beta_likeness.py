"""Enhanced beta-likeness: the gain of frequent values is bounded as well."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class EnhancedBetaLikeness(PrivacyModel):
    """k-anonymity in which (p - q) / q is at most beta, and at most -ln q, for every value.

    So a frequent value cannot become certain either, however large beta is. Cao and Karras:
    Publishing Microdata with a Robust Privacy Guarantee, VLDB 2012 (enhanced beta-likeness).
    """

    notation: ClassVar[str] = "enhanced-beta-likeness"
    guarantee: ClassVar[Guarantee] = Guarantee("enhanced-beta", "beta", "at most", "enhanced_beta")

    beta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return the beta that every class keeps, (classes,)."""
        from policy_engine.kernels.diversity import enhanced_beta  # noqa: PLC0415 (imports numpy)

        return enhanced_beta(histogram)
