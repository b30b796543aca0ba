"""t-closeness: what a class says of a value is near to what the table says."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import ValueHistogram
    from policy_engine.methods.columns import Sensitive


class TCloseness(PrivacyModel):
    """k-anonymity in which no class is further than t from the distribution of the table.

    The distance of a column is its `pe:distance`: variational, or the earth mover's distance
    over the order of its values, or over a taxonomy. Li, Li, Venkatasubramanian: t-Closeness,
    ICDE 2007.
    """

    notation: ClassVar[str] = "t-closeness"
    guarantee: ClassVar[Guarantee] = Guarantee("t", "t", "at most", "t")

    t: Annotated[float, Field(gt=0, le=1, strict=True, allow_inf_nan=False)]

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:
        """Return t and the distance for the partitioner."""
        return {"t": self.t, "distance": column.distance}

    def figures(
        self, histogram: "ValueHistogram", column: "Sensitive", ancestry: "Ancestry | None"
    ) -> "NDArray[np.float64]":
        """Return the distance of every class from the table, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        if column.distance == "hierarchical":
            assert ancestry is not None  # noqa: S101 (the engine gives it with the distance)
            tree = diversity.ValueHierarchy(ancestry.parent, ancestry.leaf)
            return diversity.hierarchical(histogram, tree)
        if column.distance == "ordered":
            return diversity.ordered(histogram)
        return diversity.variational(histogram)
