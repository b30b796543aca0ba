"""Optimised local hashing: a category is hashed to few, and that is told or another."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from policy_engine.methods.randomiser import CategoryRandomiser

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.local_hashing import LocalHashing


class OptimisedLocalHashing(CategoryRandomiser):
    """A category is hashed to about e^epsilon + 1 values, by a hash of the record's own, and the
    value told by randomised response.

    Published as a text of the hash and the value. As exact as optimised unary encoding, and short
    for many categories; each category costs a look at all answers. Wang, Blocki, Li, Jha: Locally
    Differentially Private Protocols for Frequency Estimation, USENIX Security 2017.
    """

    notation: ClassVar[str] = "optimised-local-hashing"

    randomiser: Literal["optimised-local-hashing"] = "optimised-local-hashing"

    def mechanism(self, epsilon: Fraction) -> "LocalHashing":
        """Return how its answers are drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.local_hashing import LocalHashing  # noqa: PLC0415

        return LocalHashing.of(len(self.values), epsilon)
