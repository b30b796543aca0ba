"""Distinct l-diversity: no class gives a sensitive value away."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.kernels.constraint import Constraint
from policy_engine.methods.k_anonymity import KAnonymity
from policy_engine.methods.method import Bound, Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.grouping import Groups


class LDiversity(KAnonymity):
    """k-anonymity in which every class holds at least l distinct sensitive values.

    Each sensitive column holds the bound by itself. A missing value is no value: it tells an
    attacker nothing, but it hides nobody either. Machanavajjhala et al.: l-Diversity, ACM
    TKDD 1(1), 2007, section 4 (distinct l-diversity).
    """

    notation: ClassVar[str] = "l-diversity"

    l: Annotated[int, Field(ge=2, strict=True)]  # noqa: E741
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)]

    @classmethod
    def clashes(cls, given: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield an l above k beside what any method may have wrong."""
        yield from super().clashes(given)
        k, l = given.get("k"), given.get("l")  # noqa: E741
        if isinstance(k, int) and isinstance(l, int) and l > k >= 2:
            message = f"l is {l}, above k, which is {k}. A class of k rows holds at most k values."
            yield Finding("M003", "l", message)

    def constraint(self) -> Constraint:
        """Return the least size of a class, and its least number of sensitive values."""
        return Constraint(size=self.k, distinct=self.l)

    def bounds(self) -> tuple[Bound, ...]:
        """Return k, and l about the values of each sensitive column."""
        return (*super().bounds(), *(Bound("l", column, self.l) for column in self.sensitive))

    def per_class(self, groups: "Groups", bound: Bound) -> "NDArray[np.int64]":
        """Return the distinct values of the bound's column in every class, or its size."""
        return groups.distinct(bound.column) if bound.column else super().per_class(groups, bound)
