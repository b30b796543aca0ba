"""Bottom-coding: no value is below a threshold."""

from typing import ClassVar, Literal

from policy_engine.methods.tail_coding import TailCoding


class BottomCoding(TailCoding):
    """Every value below the threshold is replaced.

    Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (bottom coding). A
    threshold that is a quantile of the data tells that quantile: where everybody may know one,
    choose it by what the column is about.
    """

    notation: ClassVar[str] = "bottom-coding"
    is_top: ClassVar[bool] = False

    masking: Literal["bottom-coding"] = "bottom-coding"
