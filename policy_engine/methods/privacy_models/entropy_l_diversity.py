"""Entropy l-diversity: the values of a class are spread, not only several."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class EntropyLDiversity(PrivacyModel):
    """k-anonymity in which the values of a class are as uncertain as l equally frequent ones.

    The entropy of every sensitive column in every class is at least log(l). Machanavajjhala et
    al.: l-Diversity, ACM TKDD 1(1), 2007 (entropy l-diversity).
    """

    notation: ClassVar[str] = "entropy-l-diversity"
    guarantee: ClassVar[Guarantee] = Guarantee("entropy-l", "l", "at least", "entropy")

    l: Annotated[float, Field(gt=1, strict=True, allow_inf_nan=False)]  # noqa: E741

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return e to the entropy of every class, (classes,)."""
        from policy_engine.kernels.diversity import entropy  # noqa: PLC0415 (imports numpy)

        return entropy(histogram)
