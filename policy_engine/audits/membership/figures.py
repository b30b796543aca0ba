"""Figures of one attack: rates, curves and histograms, frozen and as JSON."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.kernels.estimates import Estimate, NotApplicable

Share = Annotated[float, Field(ge=0, le=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TprAtFpr(_Frozen):
    """How many members an attack finds where it wrongly accuses a share `fpr` of the non-members.

    `tpr` is interpolated between the thresholds on the records at hand (Carlini et al., IEEE S&P
    2022, section IV, whose thresholds are not randomised): of the records of one score some are
    called by a coin, so that who guesses finds a share `fpr`. Both ends of its interval are of a
    false-positive rate `fpr` in truth, not among the few others at hand; see `rate_at`.
    `randomised` says that no threshold has that rate, for too many non-members share one score: a
    coin does it, and what it finds says nothing of what a finer score would.
    """

    fpr: Share
    tpr: Estimate
    randomised: bool = False


class Roc(_Frozen):
    """The receiver operating characteristic, thinned to a few hundred points, both rates rising."""

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]


class Histogram(_Frozen):
    """How many members and non-members have a score in each bin; `edges` are one more."""

    edges: tuple[float, ...]
    members: tuple[int, ...]
    non_members: tuple[int, ...]


class StrengthMeasure(NamedTuple):
    """A measure of attacks, by which one is the strongest; `fpr` is that of `tprAtFpr`."""

    measure: Literal["accuracy", "precision", "recall", "auc", "tprAtFpr"] = "accuracy"
    fpr: float | None = None

    def __str__(self) -> str:
        return self.measure if self.fpr is None else f"{self.measure} {self.fpr:g}"


ACCURACY = StrengthMeasure()


class AtPrior(_Frozen):
    """How likely a record called a member is one, where a share `prior` of all records are."""

    prior: Share
    precision: Estimate | NotApplicable


class Figures(_Frozen):
    """What an attack reaches on some members and non-members.

    `precision`, `recall` and `accuracy` are at the attack's own threshold, `advantage` is its
    true-positive minus its false-positive rate there (Yeom et al., CSF 2018), `accuracy` the
    mean of the true-positive and the true-negative rate, as in a balanced world; `auc` and
    `tpr_at_fpr` are over all thresholds.
    """

    members: int
    non_members: int
    precision: Estimate | NotApplicable
    recall: Estimate
    accuracy: Estimate
    advantage: Estimate
    auc: Estimate
    tpr_at_fpr: tuple[TprAtFpr, ...]
    at_priors: tuple[AtPrior, ...]

    def figure(self, measure: StrengthMeasure) -> Estimate | NotApplicable:
        """Return the figure of a measure. Raises KeyError for a rate that was not counted."""
        if measure.measure == "tprAtFpr":
            return {one.fpr: one.tpr for one in self.tpr_at_fpr}[measure.fpr or 0.0]
        return _FIGURES[measure.measure](self)


_FIGURES: Mapping[str, Callable[[Figures], Estimate | NotApplicable]] = {
    "accuracy": lambda figures: figures.accuracy,
    "precision": lambda figures: figures.precision,
    "recall": lambda figures: figures.recall,
    "auc": lambda figures: figures.auc,
}
"""The figure of each measure that has one, whatever the rate of false positives."""
