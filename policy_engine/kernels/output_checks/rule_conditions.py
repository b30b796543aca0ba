"""What a rule asks of the context of an output, as data: comparisons that all have to hold."""

from dataclasses import dataclass
from typing import Literal

Operator = Literal["at least", "at most", "below", "none of"]


@dataclass(frozen=True)
class RuleComparison:
    """The condition that one attribute of an output must satisfy.

    `limits` is one number, except of "none of".

    Of an attribute that is missing, no comparison holds.
    """

    attribute: str
    operator: Operator
    limits: tuple[float, ...]

    @property
    def limit(self) -> float:
        """The limit of the attribute: of several, the first."""
        return self.limits[0]


@dataclass(frozen=True)
class RuleCondition:
    """Comparisons that all have to hold; where `can_hold` is false, the condition never does."""

    comparisons: tuple[RuleComparison, ...] = ()
    can_hold: bool = True


NEVER = RuleCondition(can_hold=False)
"""What no output satisfies."""
