"""Optimised unary encoding: a bit for each category, the own one by a fair coin."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import CategoryRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding


class OptimisedUnaryEncoding(CategoryRandomiser):
    """A bit for each category: the own one is set by a fair coin, each other one with a
    probability of 1 / (e^epsilon + 1).

    Published as a text, b and the bits in the order of the categories. Wang, Blocki, Li, Jha:
    Locally Differentially Private Protocols for Frequency Estimation, USENIX Security 2017.
    """

    notation: ClassVar[str] = "optimised-unary-encoding"

    randomiser: Literal["optimised-unary-encoding"] = "optimised-unary-encoding"

    def mechanism(self, epsilon: Fraction) -> "UnaryEncoding":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding  # noqa: PLC0415

        return UnaryEncoding.optimised(len(self.values), epsilon)
