"""Rounding: every value becomes the nearest multiple of a base."""

from typing import ClassVar, Literal

from policy_engine.methods.masking import CellMasking, Number, Size, number


class Rounding(CellMasking):
    """Every value is the multiple of `base` that is nearest to it.

    Of two that are equally near it is the one further from zero, so that a value and its negative
    are rounded alike: to 10, 25 becomes 30 and -25 becomes -30. Hundepool et al.: Statistical
    Disclosure Control, Wiley 2012 (rounding).
    """

    notation: ClassVar[str] = "rounding"

    masking: Literal["rounding"] = "rounding"
    base: Size

    @property
    def makes_numbers(self) -> bool:
        """Whether it takes numbers alone, dates among them, and one becomes one."""
        return True

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return True

    def mask(self, value: Number) -> Number:
        """Return the nearest multiple of the base."""
        base = number(self.base)
        size: Number = -value if value < 0 else value
        rest = size % base
        nearest = size - rest + (base if 2 * rest >= base else 0)
        return -nearest if value < 0 else nearest

    def keeps(self, value: Number) -> bool:
        """Tell whether a value is a multiple of the base."""
        return value % number(self.base) == 0
