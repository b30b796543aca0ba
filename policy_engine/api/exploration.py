"""What exploring finds: a setting, what a release with it would be, and which one is marked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.engines.engine import EarlyStop
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.disclosure import (
    DisclosureBound,
    InferenceBound,
    InferenceMeasurement,
    RiskBound,
    RiskMeasurement,
)

TableBound = DisclosureBound | RiskBound | InferenceBound
"""What a policy bounds of a table before it is published."""
LossMeasure = Literal["il1s", "probabilistic", "query_error", "global_certainty_penalty"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Reached(_Frozen):
    """What an attack reached on the `records` of a release, where it reached most.

    It did so by the columns in `known`. `linked` is the share of the records with its 95% interval,
    or why there is none; the `baseline` is what guessing reaches.
    """

    attack: str
    known: tuple[str, ...]
    records: int
    baseline: float
    linked: Estimate | NotApplicable


class Draw(_Frozen):
    """One release with a setting: what attacks reach, and what it loses.

    `il1s` and `probabilistic` are those of `compare` for masked columns, the mean distance of
    values in standard deviations and the probabilistic loss in percent; `query_error` is the
    median relative error of counts of rows. `risks` are those of classes that the policy bounds,
    and `learned` what it bounds of columns; `keeps_bounds` tells whether its bounds on them and on
    attacks hold, None where it has none.
    """

    attacks: tuple[Reached, ...]
    risks: tuple[RiskMeasurement, ...] = ()
    learned: tuple[InferenceMeasurement, ...] = ()
    keeps_bounds: bool | None
    il1s: float | NotApplicable
    probabilistic: float | NotApplicable
    query_error: float | NotApplicable

    @property
    def worst(self) -> Reached | None:
        """The attack that reaches most, by the upper end of its interval."""
        applying = [one for one in self.attacks if isinstance(one.linked, Estimate)]
        return max(applying, key=_upper_end, default=None)


_LOSSES: Mapping[LossMeasure, Callable[[Draw], float | NotApplicable]] = {
    "il1s": lambda draw: draw.il1s,
    "probabilistic": lambda draw: draw.probabilistic,
    "query_error": lambda draw: draw.query_error,
}
"""The loss of a draw by each measure that differs between draws."""


def _upper_end(one: Reached) -> float:
    return one.linked.high if isinstance(one.linked, Estimate) else 0.0


class SettingRisk(_Frozen):
    """What attacks reach with a setting: the `worst` of any draw, the worst of each from `least` to
    `greatest`.

    `keeps_bounds` tells whether the `bounds` of the policy hold in every draw, None without any.
    """

    worst: Reached
    least: float
    greatest: float
    bounds: tuple[TableBound, ...]
    keeps_bounds: bool | None

    @classmethod
    def of(cls, draws: Sequence[Draw], bounds: tuple[TableBound, ...]) -> "SettingRisk | None":
        """Return the risk of all draws, None where no attack applies."""
        linkages = [one.worst for one in draws]
        worst = [one for one in linkages if one is not None]
        if not worst:
            return None
        values = [one.linked.value for one in worst if isinstance(one.linked, Estimate)]
        kept = all(one.keeps_bounds for one in draws) if bounds else None
        return cls(
            worst=max(worst, key=_upper_end),
            least=min(values),
            greatest=max(values),
            bounds=bounds,
            keeps_bounds=kept,
        )


class SettingLoss(_Frozen):
    """What a release with a setting loses, by one measure for all settings: over its draws the
    median, from the `least` to the `greatest`."""

    measure: LossMeasure
    median: float
    least: float
    greatest: float


class Outcome(_Frozen):
    """What a release with some setting would be: see `Utility` for the meaning of its figures.

    Without a privacy model there are no classes, and those figures are None. `seconds` is the time
    for forming, measuring and attacking it, in every draw, without reading. `gain` is what rows
    were left out for, if it is known. `ended` describes the search if its time limit ended it.
    `draws` are the releases that were made, the first of which the other figures are of; there are
    none, and no `risk`, where nothing is attacked.
    """

    classes: int | None
    average_class_ratio: float | None
    global_certainty_penalty: float | None
    discernability: int | None
    suppressed: int
    gain: SuppressionGain | None = None
    measurements: tuple[Measurement, ...]
    seconds: float
    ended: EarlyStop | None = None
    draws: tuple[Draw, ...] = ()
    risk: SettingRisk | None = None
    loss: SettingLoss | None = None

    def losses(self, measure: LossMeasure) -> list[float] | None:
        """Return the loss of each draw, None where it is not known of all."""
        if measure == "global_certainty_penalty":
            penalty = self.global_certainty_penalty
            return None if penalty is None else [penalty]
        figures = [_LOSSES[measure](one) for one in self.draws]
        losses = [one for one in figures if isinstance(one, float)]
        return losses if losses and len(losses) == len(figures) else None


class Run(_Frozen):
    """One setting and its outcome, or why the table cannot be released with it.

    `is_cheapest` marks the one of least loss among those that keep the policy's bounds on attacks.
    """

    setting: Mapping[str, int | float]
    outcome: Outcome | NotApplicable
    is_cheapest: bool = False

    @property
    def can_be_released(self) -> bool:
        """Whether the table can be released with the setting."""
        return isinstance(self.outcome, Outcome)


def with_losses(runs: Sequence[Run], measures: Sequence[LossMeasure]) -> tuple[Run, ...]:
    """Return runs with their losses by the first measure that is known of all, and the cheapest one
    marked that keeps the policy's bounds; of equal losses that of the least risk."""
    made = [one.outcome for one in runs if isinstance(one.outcome, Outcome)]
    shared = (one for one in measures if made and all(each.losses(one) for each in made))
    measure = next(shared, None)
    if measure is None:
        return tuple(runs)
    runs_with_losses = [_with_loss(one, measure) for one in runs]
    keeping = [
        (_cost(one), place) for place, one in enumerate(runs_with_losses) if _keeps_bounds(one)
    ]
    marked = min(keeping)[1] if keeping else None
    return tuple(
        one.model_copy(update={"is_cheapest": place == marked})
        for place, one in enumerate(runs_with_losses)
    )


def _with_loss(run: Run, measure: LossMeasure) -> Run:
    if not isinstance(run.outcome, Outcome):
        return run
    losses = run.outcome.losses(measure) or [0.0]
    loss = SettingLoss(
        measure=measure, median=median(losses), least=min(losses), greatest=max(losses)
    )
    return run.model_copy(update={"outcome": run.outcome.model_copy(update={"loss": loss})})


def _keeps_bounds(run: Run) -> bool:
    outcome = run.outcome
    return isinstance(outcome, Outcome) and bool(outcome.risk and outcome.risk.keeps_bounds)


def _cost(run: Run) -> tuple[float, float]:
    outcome = run.outcome
    assert isinstance(outcome, Outcome)  # noqa: S101 (it keeps its bounds)
    assert outcome.loss is not None  # noqa: S101
    assert outcome.risk is not None  # noqa: S101
    return outcome.loss.median, _upper_end(outcome.risk.worst)


def attacked_runs(runs: Sequence[Run]) -> Iterator[tuple[Run, SettingRisk, SettingLoss]]:
    """Yield the runs of which risk and loss are known, with both."""
    for run in runs:
        outcome = run.outcome
        if isinstance(outcome, Outcome) and outcome.risk and outcome.loss:
            yield run, outcome.risk, outcome.loss
