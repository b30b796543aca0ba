"""delta-disclosure privacy: no value becomes much more, or much less, likely."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class DeltaDisclosure(PrivacyModel):
    """k-anonymity in which |ln(p / q)| is below delta for every value that a class has.

    Values that a class lacks are left out, as other tools do: with them, only a table with
    every value in every class would pass. Brickell and Shmatikov: The Cost of Privacy, KDD 2008.
    """

    notation: ClassVar[str] = "delta-disclosure"
    guarantee: ClassVar[Guarantee] = Guarantee("delta", "delta", "below", "delta")
    is_kept_by_union: ClassVar[bool] = False

    delta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return the greatest |ln(p / q)| of every class, (classes,)."""
        from policy_engine.kernels.diversity import delta  # noqa: PLC0415 (imports numpy)

        return delta(histogram)
