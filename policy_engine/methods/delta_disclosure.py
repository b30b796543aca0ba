"""delta-disclosure privacy: no value becomes much more, or much less, likely."""

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


class DeltaDisclosure(Method):
    """k-anonymity in which |ln(p / q)| is below delta for every value that a class has.

    Values that a class lacks are left out, as other tools do: with them, only a table with
    every value in every class would pass. Brickell and Shmatikov: The Cost of Privacy, KDD 2008.
    """

    notation: ClassVar[str] = "delta-disclosure"
    is_kept_by_union: ClassVar[bool] = False

    delta: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]

    def bound(self, column: "Sensitive") -> Bound:
        """Return delta."""
        return Bound("delta", column.name, self.delta, "below")

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return delta for the partitioner."""
        return {"delta": self.delta}

    def figures(
        self,
        histogram: "Histogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.float64]":
        """Return the greatest |ln(p / q)| of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.delta(histogram)
