"""Bottom-coding: no value is below a threshold."""

from typing import ClassVar, Literal

from policy_engine.methods.masking import CellMasking, Number, Threshold, number


class BottomCoding(CellMasking):
    """Every value below `threshold` is the threshold, which everybody may know.

    Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (bottom coding).
    """

    notation: ClassVar[str] = "bottom-coding"

    masking: Literal["bottom-coding"] = "bottom-coding"
    threshold: Threshold

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return True

    def mask(self, value: Number) -> Number:
        """Return the value, or the threshold where it is below that."""
        return max(value, number(self.threshold))

    def keeps(self, value: Number) -> bool:
        """Tell whether a value is not below the threshold."""
        return not value < number(self.threshold)
