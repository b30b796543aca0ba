"""Randomised response: a category is told, or any other one."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import CategoryRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse


class KAryRandomisedResponse(CategoryRandomiser):
    """A category is told, or any of the d - 1 others, each e^epsilon times less often.

    Best for few categories, d < 3 e^epsilon + 2. Warner 1965; Kairouz, Oh, Viswanath: Extremal
    Mechanisms for Local Differential Privacy, NeurIPS 2014.
    """

    notation: ClassVar[str] = "k-ary-randomised-response"

    randomiser: Literal["k-ary-randomised-response"] = "k-ary-randomised-response"

    def mechanism(self, epsilon: Fraction) -> "RandomisedResponse":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse  # noqa: PLC0415

        return RandomisedResponse.of(len(self.values), epsilon)
