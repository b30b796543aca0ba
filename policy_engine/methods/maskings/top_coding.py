"""Top-coding: no value is above a threshold."""

from typing import ClassVar, Literal

from policy_engine.methods.tail_coding import TailCoding


class TopCoding(TailCoding):
    """Every value above the threshold is replaced.

    Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (top coding). A
    threshold that is a quantile of the data tells that quantile: where everybody may know one,
    choose it by what the column is about.
    """

    notation: ClassVar[str] = "top-coding"
    is_top: ClassVar[bool] = True

    masking: Literal["top-coding"] = "top-coding"
