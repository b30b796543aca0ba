"""Distinct l-diversity: no class gives a sensitive value away."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.methods.findings import Finding
from policy_engine.methods.privacy_model import Guarantee, PrivacyModel, Several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram


class LDiversity(PrivacyModel):
    """k-anonymity in which every class holds at least l distinct sensitive values.

    A missing value is not a value: it tells an attacker nothing, but it hides nobody either.
    Machanavajjhala et al.: l-Diversity, ACM TKDD 1(1), 2007, section 4 (distinct l-diversity).
    """

    notation: ClassVar[str] = "l-diversity"
    guarantee: ClassVar[Guarantee] = Guarantee("l", "l", "at least", "distinct")

    l: Several  # noqa: E741

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield an l above k."""
        k, l = values.get("k"), values.get("l")  # noqa: E741
        if isinstance(k, int) and isinstance(l, int) and l > k >= 2:
            message = f"l is {l}, above k, which is {k}. A class of k rows holds at most k values."
            yield Finding("M003", "l", message)

    @staticmethod
    def measure(histogram: "ValueHistogram") -> "NDArray[Any]":
        """Return the number of distinct values of every class, (classes,)."""
        from policy_engine.kernels.diversity import distinct  # noqa: PLC0415 (imports numpy)

        return distinct(histogram)
