"""What ways of forming classes are worth to a model: figures over repeated splits, and a choice."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from policy_engine.api.class_methods import PERMITTED, MethodName
from policy_engine.audits.utility.learning_trials import RightMeasure
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import Architecture


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ModelOutcome(_Frozen):
    """What a model shows that learnt from a release, as means over the splits with intervals.

    `right` is how right it is on rows that were never seen, and `lost` by how much less than a
    model of the raw rows of the same splits. `auc` and `tpr` (at a false-positive rate of 1%) are
    what an attack by its loss reaches on whom it was trained on. `classes` is their mean number,
    `smallest` the least rows of one in any split, and `one_label` the mean share of rows in classes
    in which at least 95% have one label. `query_error` is the mean over the splits of the median
    relative error of counts of rows. The raw table has no classes. `keeps_bounds` tells whether
    everything that was asked of classes was measured on every release.
    """

    right: Estimate
    lost: Estimate
    auc: Estimate
    tpr: Estimate
    classes: float | None = None
    smallest: int | None = None
    one_label: float | None = None
    query_error: float | NotApplicable = NotApplicable(reason="nothing was changed")
    keeps_bounds: bool | None = None


class MethodRun(_Frozen):
    """One way of forming classes with one setting. One that a policy can ask for, and that is not
    laxer than the policy, `is_eligible`; the best of these `is_chosen`."""

    method: MethodName
    setting: Mapping[str, int | float]
    outcome: ModelOutcome | NotApplicable
    is_eligible: bool = False
    is_chosen: bool = False

    @property
    def right(self) -> float:
        """How right the model is, below everything where there is none."""
        return self.outcome.right.value if isinstance(self.outcome, ModelOutcome) else float("-inf")


class ModelComparison(_Frozen):
    """How right models of a `label` are that learnt from releases of one table.

    `rows` were learnt from and `tested` rows were tested in each of so many `splits`. `guessed` is
    how right always saying the most frequent label is, or the mean. `model` is what learnt; a text
    for the default. `refinements` are what the policy says of classes with the chosen setting,
    none where nothing was chosen.
    """

    label: str
    measure: RightMeasure
    model: Architecture | str
    rows: int
    tested: int
    splits: int
    guessed: float
    runs: tuple[MethodRun, ...]
    refinements: tuple[Mapping[str, Any], ...] = ()

    @property
    def raw(self) -> ModelOutcome:
        """What the raw table is worth."""
        outcome = self.runs[0].outcome
        assert isinstance(outcome, ModelOutcome)  # noqa: S101 (it is refused by nothing)
        return outcome

    @property
    def chosen(self) -> MethodRun | None:
        """The chosen way of forming classes, None where none keeps the policy's bounds."""
        return next((one for one in self.runs if one.is_chosen), None)

    def formed(self) -> Iterator[tuple[MethodRun, ModelOutcome]]:
        """Yield the ways of forming classes that allow a release, with their outcomes."""
        for run in self.runs:
            if run.method != "raw" and isinstance(run.outcome, ModelOutcome):
                yield run, run.outcome


def with_choice(
    runs: tuple[MethodRun, ...],
    own: Mapping[str, float],
    permitted: Collection[MethodName] = PERMITTED,
) -> tuple[MethodRun, ...]:
    """Return runs with the best one marked of the `permitted` ways that a policy with its `own`
    parameters can ask for.

    Its k is at least the policy's, all other parameters are the policy's, and all bounds held. Of
    equal ones, the one with the greatest k is chosen, then the first.
    """
    judged = [
        one.model_copy(update={"is_eligible": _is_eligible(one, own, permitted)}) for one in runs
    ]
    best = max(
        (one for one in judged if one.is_eligible),
        key=lambda one: (one.right, one.setting.get("k", 0)),
        default=None,
    )
    return tuple(
        one.model_copy(update={"is_chosen": True}) if one is best else one for one in judged
    )


def _is_eligible(
    run: MethodRun, own: Mapping[str, float], permitted: Collection[MethodName]
) -> bool:
    if run.method not in permitted or not isinstance(run.outcome, ModelOutcome):
        return False
    return bool(run.outcome.keeps_bounds) and all(
        value >= own[name] if name == "k" else value == own[name]
        for name, value in run.setting.items()
    )
