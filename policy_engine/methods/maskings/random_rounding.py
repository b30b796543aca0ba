"""Random rounding: every value becomes one of the two multiples of a base beside it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from policy_engine.methods.masking import Size, number
from policy_engine.methods.perturbation import ColumnFacts, MaskedRows, Perturbation, Takes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RandomRounding(Perturbation):
    """Every value is the multiple of `base` below or above it, the nearer the likelier.

    The probabilities are such that the expected value is the value itself: to 10, 23 becomes 20
    with .7 and 30 with .3. Hundepool et al.: Statistical Disclosure Control, Wiley 2012 (section
    4.5, unbiased random rounding).
    """

    notation: ClassVar[str] = "random-rounding"
    takes: ClassVar[Takes] = "numbers"

    masking: Literal["random-rounding"] = "random-rounding"
    base: Size

    @property
    def decimals(self) -> int:
        """How many decimals the multiples have at most."""
        exponent = Decimal(repr(self.base)).normalize().as_tuple().exponent
        return max(-exponent, 0) if isinstance(exponent, int) else 0

    def perturb(self, rows: MaskedRows) -> "NDArray[Any]":
        """Return a multiple for each value."""
        from policy_engine.kernels.random_rounding import round_at_random  # noqa: PLC0415

        return round_at_random(rows.values, number(self.base), rows.words)

    def tally(
        self,
        before: "NDArray[Any]",
        after: "NDArray[Any]",
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Mapping[str, "NDArray[Any]"]:
        """Return how many cells are not a multiple, or further than the base from their value."""
        from policy_engine.kernels.random_rounding import (  # noqa: PLC0415 (imports numpy)
            count_unrounded,
            rounding_tally,
        )

        base = number(self.base)
        return {
            "broken": count_unrounded(before, after, base),
            **rounding_tally(before, after, base),
        }

    def shortfalls(
        self,
        tally: Mapping[str, "NDArray[Any]"],
        facts: ColumnFacts,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return that values went up, or to the nearest multiple, more or less often than is
        likely."""
        from policy_engine.kernels.random_rounding import unlikely_roundings  # noqa: PLC0415

        return [unlikely_roundings(tally)]

    def summarise(self, values: "NDArray[Any]") -> Mapping[str, "NDArray[Any]"]:
        """Return how many values are not multiples."""
        from policy_engine.kernels.random_rounding import count_other_values  # noqa: PLC0415

        return {"others": count_other_values(values, number(self.base))}

    def count_unlike(self, before: ColumnFacts, after: ColumnFacts) -> int:  # noqa: ARG002
        """Return how many cells are not multiples."""
        return int(after.summary["others"].sum())
