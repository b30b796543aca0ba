"""Leave rows out of classes where the others gain more: which, and whether it was worth it.

Classes are formed of all rows; those rows are left out whose removal would shrink the cells of
their classes most; and classes are formed anew of the others. That is repeated while it gains. The
rows are told apart by bins of what they gain, so that nobody has to hold them all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.outlying_rows import full_price
from policy_engine.kernels.trimmed_rows import (
    BinCounts,
    ChosenBins,
    LineTail,
    choose,
    possible_tails,
)

_MOST_TRIALS = 6
"""How often classes are formed again at most."""
_FEWER = 3
"""By what the number of rows is divided where leaving them out gained nothing."""


class TrimmingTrial(Protocol):
    """Classes of all rows of a table, or of those that are left."""

    @property
    def rows(self) -> int:
        """How many rows are in classes."""
        ...

    @property
    def ends(self) -> NDArray[np.float64]:
        """What the rows span in every dimension, (dimensions, 2)."""
        ...

    def counts(self) -> BinCounts:
        """Return how many rows there are in every bin."""
        ...

    def without(self, choice: ChosenBins) -> Self | None:
        """Return classes of the rows that are not chosen, None where the bounds cannot hold for
        them, or no time is left."""
        ...

    def loss(self, ends: NDArray[np.float64]) -> int:
        """Return the price of the cells of all rows in classes, on the given spans."""
        ...

    def line_losses(self) -> tuple[int, ...]:
        """Return that price by dimension, 0 for what is not on a line, on the rows' own spans."""
        ...

    def tail_losses(self, tails: Sequence[LineTail]) -> Mapping[LineTail, int]:
        """Return the price in the dimension of each tail, on what is left of its line."""
        ...


_Trial = TypeVar("_Trial", bound=TrimmingTrial)


@dataclass(frozen=True)
class Trimming(Generic[_Trial]):
    """The classes of all rows of a table, and the best trimming of those without some, which may be
    the same. `axes` are the quasi-identifiers of the table. If no time was left, it `is_cut_short`.
    """

    original: _Trial
    best: _Trial
    axes: Sequence[Axis]
    is_cut_short: bool = False

    @property
    def suppressed(self) -> int:
        """How many rows are left out."""
        return self.original.rows - self.best.rows

    def loss(self, one: _Trial, ends: NDArray[np.float64]) -> int:
        """Return the price of the cells of all rows, those left out included, on given spans."""
        return one.loss(ends) + (self.original.rows - one.rows) * full_price(self.axes)

    def tried(self, trial: _Trial) -> "Trimming[_Trial]":
        """Return it with a trial as the best if it loses less than the best, and than all rows in
        classes, on the spans of the rows of the trial."""
        ends = trial.ends
        lost = self.loss(trial, ends)
        is_better = lost < min(self.loss(one, ends) for one in (self.best, self.original))
        return Trimming(self.original, trial, self.axes) if is_better else self

    def gain(self) -> SuppressionGain | None:
        """Return what was gained, None where no row is left out."""
        if not self.suppressed:
            return None
        most = self.original.rows * full_price(self.axes)
        losses = (self.loss(one, self.best.ends) / most for one in (self.original, self.best))
        without, suppressing = losses
        return SuppressionGain(without=without, suppressing=suppressing)


def trim(
    original: _Trial, axes: Sequence[Axis], limit: int, is_over: Callable[[], bool]
) -> Trimming[_Trial]:
    """Return the best classes that are found with at most `limit` of all rows left out, which are
    those of all rows where nothing is gained. Once it `is_over`, the best so far are returned."""
    trimming, left = Trimming(original, original, axes), limit
    for _ in range(_MOST_TRIALS):
        best, counts = trimming.best, trimming.best.counts()
        tails = best.tail_losses(possible_tails(counts, left))
        choice = choose(counts, axes, best.line_losses(), tails, left)
        if not choice.rows:
            return trimming
        trial = None if is_over() else best.without(choice)
        if is_over():
            return replace(trimming, is_cut_short=True)
        trimming = trimming if trial is None else trimming.tried(trial)
        left = choice.rows // _FEWER if trimming.best is best else limit - trimming.suppressed
    return trimming
