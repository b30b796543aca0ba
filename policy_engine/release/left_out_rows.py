"""Which share of the rows a plan would leave out, and what that would gain, before a release."""

from pydantic import BaseModel, ConfigDict

from policy_engine.engines.engine import Engine
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.plan import Plan
from policy_engine.release.guiding import guide_rows
from policy_engine.release.release import read_inputs, sample_rows

_KEEPS_ALL = "the plan leaves no outlying rows out"


class LeftOutRows(BaseModel):
    """How many `rows` there are, of which so many would be `suppressed`, and the `gain` of that:
    None where no row would be. It is for the owner of the data alone."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    rows: int
    suppressed: int
    gain: SuppressionGain | None = None

    def __str__(self) -> str:
        """Return it in words."""
        if self.gain is None:
            return f"none of {self.rows:,} rows would be left out: that would not lower the loss"
        return f"{self.suppressed:,} of {self.rows:,} rows would be left out: {self.gain}"


def count_left_out(plan: Plan, engine: Engine) -> LeftOutRows | NotApplicable:
    """Return how many rows of an input a plan would leave out of its classes, and for what.

    It forms the classes as `apply` does; where the plan samples, of a sample drawn now. Not
    applicable where the plan leaves no outlying rows out. Raises DataError if an input cannot be
    read or joined, or cannot be generalised as asked.
    """
    step = plan.anonymize
    if step is None or not step.suppresses_outlying_rows:
        return NotApplicable(reason=_KEEPS_ALL)
    table, _ = read_inputs(plan, engine, ())
    sampled, _ = sample_rows(plan, engine, table)
    guided = sampled if plan.mask else guide_rows(step, plan.publish, engine, sampled)
    left = engine.released_rows(guided, step, plan.publish)
    return LeftOutRows(rows=engine.row_number(sampled), suppressed=left.suppressed, gain=left.gain)
