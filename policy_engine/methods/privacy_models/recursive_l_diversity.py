"""Recursive (c, l)-diversity: the most frequent value is not too frequent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.privacy_model import Guarantee, PrivacyModel, Several

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import ValueHistogram
    from policy_engine.methods.columns import Sensitive


class RecursiveLDiversity(PrivacyModel):
    """k-anonymity in which the most frequent value stays frequent among the rarer ones.

    With the counts of a class's values in falling order, r_1 < c (r_l + ... + r_m).
    Machanavajjhala et al.: l-Diversity, ACM TKDD 1(1), 2007 (recursive (c, l)-diversity).
    """

    notation: ClassVar[str] = "recursive-l-diversity"
    guarantee: ClassVar[Guarantee] = Guarantee("recursive-c", "c", "below", "recursive")

    c: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
    l: Several  # noqa: E741

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return c for the partitioner."""
        return {"recursive": (self.c, self.l)}

    def figures(
        self,
        histogram: "ValueHistogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.float64]":
        """Return r_1 / (r_l + ... + r_m) of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.recursive(histogram, self.l)
