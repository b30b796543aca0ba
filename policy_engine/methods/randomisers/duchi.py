"""Duchi, Jordan and Wainwright's mechanism: a number becomes one of two."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import NumberRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.bounded_numbers import TwoPoints


class Duchi(NumberRandomiser):
    """A number becomes one of two, high more often the higher it is, so that the mean stays.

    Better than `piecewise` for an epsilon below about 1.3. Duchi, Jordan, Wainwright: Minimax
    Optimal Procedures for Locally Private Estimation, JASA 113(521), 2018.
    """

    notation: ClassVar[str] = "duchi"

    randomiser: Literal["duchi"] = "duchi"

    def mechanism(self, epsilon: Fraction) -> "TwoPoints":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.bounded_numbers import TwoPoints  # noqa: PLC0415

        return TwoPoints.of(self.steps, epsilon)
