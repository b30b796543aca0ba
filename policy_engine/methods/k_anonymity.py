"""k-anonymity: no row stands alone."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from policy_engine.kernels.constraint import Constraint
from policy_engine.methods.method import Bound, Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from policy_engine.kernels.grouping import Groups


class KAnonymity(Method):
    """Every row shares its generalised quasi-identifier with at least k - 1 others.

    Samarati: Protecting Respondents' Identities in Microdata Release, IEEE TKDE 13(6), 2001.
    """

    notation: ClassVar[str] = "k-anonymity"

    k: Annotated[int, Field(ge=2, strict=True)]

    def constraint(self) -> Constraint:
        """Return the least size of a class."""
        return Constraint(size=self.k)

    def bounds(self) -> tuple[Bound, ...]:
        """Return k, about the rows of a class."""
        return (Bound("k", "", self.k),)

    def per_class(self, groups: "Groups", bound: Bound) -> "NDArray[np.int64]":  # noqa: ARG002
        """Return the size of every class."""
        return groups.sizes()
