"""Top-coding: no value is above a threshold."""

from typing import ClassVar, Literal

from policy_engine.methods.masking import CellMasking, Number, Threshold, number


class TopCoding(CellMasking):
    """Every value above `threshold` is the threshold, which everybody may know.

    Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (top coding). A
    threshold that is a quantile of the data would tell that quantile: choose it by what the column
    is about.
    """

    notation: ClassVar[str] = "top-coding"

    masking: Literal["top-coding"] = "top-coding"
    threshold: Threshold

    @property
    def keeps_order(self) -> bool:
        """Whether a greater value never becomes a smaller one than a lesser value does."""
        return True

    def mask(self, value: Number) -> Number:
        """Return the value, or the threshold where it is above that."""
        return min(value, number(self.threshold))

    def keeps(self, value: Number) -> bool:
        """Tell whether a value is not above the threshold."""
        return not value > number(self.threshold)
