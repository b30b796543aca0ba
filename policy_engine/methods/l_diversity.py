"""Distinct l-diversity: no class gives a sensitive value away."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.methods.method import Bound, Finding, Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.columns import Sensitive
    from policy_engine.kernels.bounds import Ancestry
    from policy_engine.kernels.diversity import Histogram


class LDiversity(Method):
    """k-anonymity in which every class holds at least l distinct sensitive values.

    A missing value is no value: it tells an attacker nothing, but it hides nobody either.
    Machanavajjhala et al.: l-Diversity, ACM TKDD 1(1), 2007, section 4 (distinct l-diversity).
    """

    notation: ClassVar[str] = "l-diversity"

    l: Annotated[int, Field(ge=2, strict=True)]  # noqa: E741

    @classmethod
    def clashes(cls, given: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield an l above k."""
        k, l = given.get("k"), given.get("l")  # noqa: E741
        if isinstance(k, int) and isinstance(l, int) and l > k >= 2:
            message = f"l is {l}, above k, which is {k}. A class of k rows holds at most k values."
            yield Finding("M003", "l", message)

    def bound(self, column: "Sensitive") -> Bound:
        """Return l."""
        return Bound("l", column.name, self.l)

    def diversity(self, column: "Sensitive") -> Mapping[str, Any]:  # noqa: ARG002
        """Return l for the partitioner."""
        return {"distinct": self.l}

    def figures(
        self,
        histogram: "Histogram",
        column: "Sensitive",  # noqa: ARG002
        ancestry: "Ancestry | None",  # noqa: ARG002
    ) -> "NDArray[np.int64]":
        """Return the distinct values of every class, (classes,)."""
        from policy_engine.kernels import diversity  # noqa: PLC0415 (imports numpy)

        return diversity.distinct(histogram)
