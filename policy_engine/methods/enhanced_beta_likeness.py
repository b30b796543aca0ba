"""Enhanced beta-likeness: the gain of frequent values is bounded as well."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.method import Bound, Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.columns import Sensitive
    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import Histogram


class EnhancedBetaLikeness(Method):
    """k-anonymity in which (p - q) / q is at most beta, and at most -ln q, for every value.

    So a frequent value cannot become certain either, however large beta is. Cao and Karras:
    Publishing Microdata with a Robust Privacy Guarantee, VLDB 2012 (enhanced beta-likeness).
    """

    notation: ClassVar[str] = "enhanced-beta-likeness"

    beta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]

    def bound(self, column: "Sensitive") -> Bound:
        """Return beta."""
        return Bound("enhanced-beta", column.name, self.beta, "at most")

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return beta for the partitioner."""
        return {"enhanced_beta": self.beta}

    def figures(
        self,
        histogram: "Histogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.float64]":
        """Return the greatest gain, infinite above -ln q, of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.enhanced_beta(histogram)
