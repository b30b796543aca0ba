"""(alpha, k)-anonymity: no value is too frequent in a class."""

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


class AlphaKAnonymity(Method):
    """k-anonymity in which no sensitive value belongs to more than alpha of a class.

    Wong et al.: (alpha, k)-Anonymity, KDD 2006, for every value of the column.
    """

    notation: ClassVar[str] = "alpha-k-anonymity"

    alpha: Annotated[float, Field(gt=0, lt=1, strict=True, allow_inf_nan=False)]

    def bound(self, column: "Sensitive") -> Bound:
        """Return alpha."""
        return Bound("alpha", column.name, self.alpha, "at most")

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return alpha for the partitioner."""
        return {"alpha": self.alpha}

    def figures(
        self,
        histogram: "Histogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.float64]":
        """Return the share of the most frequent value of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.most_frequent(histogram)
