"""What it gained to leave rows out of classes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

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
