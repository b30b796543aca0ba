"""Figures of attacks over several trained models: means and standard deviations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from policy_engine.kernels.estimates import CONFIDENCE, Estimate

if TYPE_CHECKING:
    from policy_engine.audits.membership.figures import Figures


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TargetSpread(_Frozen):
    """A figure over several models: their mean, their standard deviation, and each one's own.

    The interval is of 95% by Student's t: of the mean over models trained from other seeds on
    other halves of the same records. It says nothing of other records.
    """

    mean: float
    deviation: float
    low: float
    high: float
    values: tuple[float, ...]


class AttackOverTargets(_Frozen):
    """What one attack reaches over all targets, by the names of the figures.

    These are `precision`, `recall`, `accuracy`, `advantage`, `auc`, and `tpr at` a false-positive
    rate. A figure that one of the targets has not is left out.
    """

    attack: str
    figures: Mapping[str, TargetSpread]


class OverTargets(_Frozen):
    """What attacks reach over several targets, as papers report it.

    Every target is trained on a half of the same audited records, drawn by itself; `trained_for_it`
    are those that served for nothing else. `train` and `test` are the targets' accuracies.
    """

    targets: int
    trained_for_it: int
    train: TargetSpread
    test: TargetSpread
    attacks: tuple[AttackOverTargets, ...]

    def attack(self, notation: str) -> AttackOverTargets:
        """Return the figures of an attack. Raises KeyError where it was not run."""
        for one in self.attacks:
            if one.attack == notation:
                return one
        raise KeyError(notation)


def spread_of(values: Sequence[float]) -> TargetSpread:
    """Return the spread of the figures of two models or more."""
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import)

    mean, deviation = fmean(values), stdev(values)
    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    half = quantile * deviation / math.sqrt(len(values))
    return TargetSpread(
        mean=mean, deviation=deviation, low=mean - half, high=mean + half, values=tuple(values)
    )


def widen_spread(spread: TargetSpread, among: int) -> Estimate:
    """Return a mean over models with its ends widened for one among several (Bonferroni).

    Few models make Student's t far wider than a normal number would be.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import)

    freedom, tail = len(spread.values) - 1, (1 - CONFIDENCE) / 2
    wider = float(stdtrit(freedom, 1 - tail / among) / stdtrit(freedom, 1 - tail))
    low = spread.mean - wider * (spread.mean - spread.low)
    high = spread.mean + wider * (spread.high - spread.mean)
    return Estimate(value=spread.mean, low=low, high=high)


def attack_over_targets(attack: str, figures: "Sequence[Figures]") -> AttackOverTargets:
    """Return the spread of every figure of an attack that all targets have."""
    each = [dict(_named_figures(one)) for one in figures]
    names = [name for name in each[0] if all(name in one for one in each)]
    spreads = {name: spread_of([one[name] for one in each]) for name in names}
    return AttackOverTargets(attack=attack, figures=spreads)


def _named_figures(figures: "Figures") -> Iterator[tuple[str, float]]:
    if isinstance(figures.precision, Estimate):
        yield "precision", figures.precision.value
    yield "recall", figures.recall.value
    yield "accuracy", figures.accuracy.value
    yield "advantage", figures.advantage.value
    yield "auc", figures.auc.value
    for rate in figures.tpr_at_fpr:
        yield f"tpr at {rate.fpr:g}", rate.tpr.value


def target_spread_rows(summary: OverTargets) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of a table, mean and deviation of each figure of each attack."""
    names = tuple(dict.fromkeys(name for one in summary.attacks for name in one.figures))
    ranked = sorted(summary.attacks, key=lambda one: -one.figures["accuracy"].mean)
    rows = [(one.attack, *(_cell(name, one.figures.get(name)) for name in names)) for one in ranked]
    return ("attack", *map(_title, names)), rows


def _title(name: str) -> str:
    rate = name.removeprefix("tpr at ")
    return (
        f"TPR at {float(rate) * 100:.4g}% FPR" if rate != name else {"auc": "AUC"}.get(name, name)
    )


def _cell(name: str, spread: TargetSpread | None) -> str:
    if spread is None:
        return "-"
    if name == "auc":
        return f"{spread.mean:.3f} \u00b1 {spread.deviation:.3f}"
    return f"{spread.mean:.1%} \u00b1 {spread.deviation:.1%}"
