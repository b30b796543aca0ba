"""Entropy l-diversity: the values of a class are spread, not only several."""

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


class EntropyLDiversity(Method):
    """k-anonymity in which the values of a class are as uncertain as l equally frequent ones.

    The entropy of every sensitive column in every class is at least log(l). Machanavajjhala et
    al.: l-Diversity, ACM TKDD 1(1), 2007 (entropy l-diversity).
    """

    notation: ClassVar[str] = "entropy-l-diversity"

    l: Annotated[float, Field(gt=1, strict=True, allow_inf_nan=False)]  # noqa: E741

    def bound(self, column: "Sensitive") -> Bound:
        """Return l."""
        return Bound("entropy-l", column.name, self.l, "at least")

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return l for the partitioner."""
        return {"entropy": self.l}

    def figures(
        self,
        histogram: "Histogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.float64]":
        """Return the exponential of the entropy of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.entropy(histogram)
