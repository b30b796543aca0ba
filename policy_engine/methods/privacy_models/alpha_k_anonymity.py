"""(alpha, k)-anonymity: no value is too frequent in a class."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.findings import Proportion
from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class AlphaKAnonymity(PrivacyModel):
    """k-anonymity in which no sensitive value belongs to more than alpha of a class.

    Wong et al.: (alpha, k)-Anonymity, KDD 2006, for every value of the column.
    """

    notation: ClassVar[str] = "alpha-k-anonymity"
    guarantee: ClassVar[Guarantee] = Guarantee("alpha", "alpha", "at most", "alpha")

    alpha: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False), Proportion()]

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return the share of the most frequent value of every class, (classes,)."""
        from policy_engine.kernels.diversity import most_frequent  # noqa: PLC0415 (imports numpy)

        return most_frequent(histogram)
