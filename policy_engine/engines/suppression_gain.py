"""What it gained to leave rows out of classes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

STEPS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
"""The shares of a loss that everybody may be told of, at least so much of which was saved."""
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class SuppressionGain(BaseModel):
    """The loss of a table without and with its rows suppressed.

    Both are means over the rows and quasi-identifiers of the whole table, by their weights, from 0
    to 1, where a row that is suppressed has lost everything. Ranges count as shares of what the
    released rows span, in both, 1 at most: beside an outlier, every other range would be short.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    without: _Share
    suppressing: _Share

    def __str__(self) -> str:
        """Return it in words."""
        return f"loss {self.suppressing:.4g} instead of {self.without:.4g}"


class LoweredLoss(BaseModel):
    """By what share of the loss, at least, leaving rows out lowered it, as everybody may know it.

    How many rows are left out, and how far they lie from the others, only the owner knows. Either
    loss would tell: the cells of the output give the loss of its rows, the rest of a loss with rows
    left out is their number, and the loss without is larger the farther out they are. One of six
    shares tells neither; that no row is left out is the least of them, like a loss that hardly
    fell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    at_least: _Share

    @classmethod
    def of(cls, gain: SuppressionGain | None) -> "LoweredLoss":
        """Return what is told of a gain, or of no gain, since no row was left out."""
        saved = 1 - gain.suppressing / gain.without if gain and gain.without else 0.0
        return cls(at_least=max(step for step in STEPS if step <= max(saved, 0.0)))

    def __str__(self) -> str:
        """Return it in words."""
        if not self.at_least:
            return f"by less than {STEPS[1]:.0%}, if at all"
        return f"by at least {self.at_least:.0%}"
