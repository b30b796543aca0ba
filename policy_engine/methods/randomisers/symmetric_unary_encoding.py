"""Symmetric unary encoding: a bit for each category, ones and zeros flipped alike."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import CategoryRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding


class SymmetricUnaryEncoding(CategoryRandomiser):
    """A bit for each category, each flipped with a probability of 1 / (e^(epsilon / 2) + 1).

    Published as a text, b and the bits in the order of the categories. Erlingsson, Pihur, Korolova:
    RAPPOR, CCS 2014.
    """

    notation: ClassVar[str] = "symmetric-unary-encoding"

    randomiser: Literal["symmetric-unary-encoding"] = "symmetric-unary-encoding"

    def mechanism(self, epsilon: Fraction) -> "UnaryEncoding":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding  # noqa: PLC0415

        return UnaryEncoding.symmetric(len(self.values), epsilon)
