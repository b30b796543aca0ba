"""What a release lost, as figures."""

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from policy_engine.kernels.grouping import ClassTotals


class Utility(BaseModel):
    """What an output lost, read off its rows and the number of those suppressed; less is better.

    `average_class_size` is in rows, `average_class_ratio` that over k (C_avg, LeFevre et al.
    2006); `global_certainty_penalty` lies between 0 and 1, and `column_losses` are what it is
    the mean of; `discernability` is the sum of the squared class sizes. The cells of
    `perturbed` columns are representatives, off which no loss can be read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    classes: int
    average_class_size: float
    average_class_ratio: float
    global_certainty_penalty: float | None
    discernability: int
    column_losses: dict[str, float] = Field(default_factory=dict)
    perturbed: tuple[str, ...] = ()

    @classmethod
    def of(cls, totals: "ClassTotals", k: int, suppressed: int = 0) -> "Utility":
        """Return the figures of classes; a row that was suppressed has lost everything."""
        return cls(
            classes=totals.classes,
            average_class_size=totals.rows / totals.classes,
            average_class_ratio=totals.rows / totals.classes / k,
            global_certainty_penalty=totals.certainty_penalty(suppressed),
            discernability=totals.discernability(suppressed),
            column_losses=totals.column_losses(suppressed),
            perturbed=tuple(name for name, loss in totals.losses.items() if loss is None),
        )
