"""The piecewise mechanism: a number becomes one near it, or any of a wider range."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import NumberRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.bounded_numbers import PiecewiseNumbers


class Piecewise(NumberRandomiser):
    """A number becomes one near it, or with a smaller probability any other of a wider range.

    Better than `duchi` for an epsilon above about 1.3. Wang, Xiao, Yang, Zhao, Hui, Shin, Shin,
    Yu: Collecting and Analyzing Multidimensional Data with Local Differential Privacy, ICDE 2019.
    """

    notation: ClassVar[str] = "piecewise"

    randomiser: Literal["piecewise"] = "piecewise"

    def mechanism(self, epsilon: Fraction) -> "PiecewiseNumbers":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.bounded_numbers import PiecewiseNumbers  # noqa: PLC0415

        return PiecewiseNumbers.of(self.steps, epsilon)
