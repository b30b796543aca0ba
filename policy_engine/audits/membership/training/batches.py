"""Which records each step of each model sees: every record once an epoch, or Poisson samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of S models over some steps.

    `rows` holds the steps one after the other, each an (S, width) table of record numbers, filled
    up with zeros where a model has fewer than `widths[step]`; `counts` (steps, S) says how many
    there are. A width is the largest count of its step, so that no record is ever left out.
    """

    rows: NDArray[np.int32]
    widths: NDArray[np.int32]
    counts: NDArray[np.int32]

    def offsets(self) -> NDArray[np.int64]:
        """Return where each step starts in `rows`, and where the last one ends."""
        sizes = self.widths.astype(np.int64) * self.counts.shape[1]
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))

    def slice_steps(self, first: int, end: int) -> "Batches":
        """Return the batches of the steps from `first` up to `end`."""
        offsets = self.offsets()
        rows = self.rows[offsets[first] : offsets[end]]
        return Batches(rows, self.widths[first:end], self.counts[first:end])


def epoch_batches(
    rows: Sequence[NDArray[np.int64]], batch_size: int, rngs: Sequence[np.random.Generator]
) -> Batches:
    """Return an epoch in which each model sees every one of its rows once, in a random order.

    The last batch is smaller where the rows are not a multiple of `batch_size`. A model with fewer
    rows than another has no records in the last steps.
    """
    steps = max(-(-len(own) // batch_size) for own in rows)
    starts = np.arange(steps) * batch_size
    counts = [np.clip(len(own) - starts, 0, batch_size) for own in rows]
    return _pack_batches(
        [rng.permutation(own) for own, rng in zip(rows, rngs, strict=True)], np.array(counts).T
    )


def poisson_batches(
    rows: Sequence[NDArray[np.int64]],
    rates: Sequence[float],
    steps: Sequence[int],
    rngs: Sequence[np.random.Generator],
) -> Batches:
    """Return steps, each of which takes every row of a model independently with the model's rate.

    Models may have different numbers of steps; those with fewer have no records in the last ones.
    """
    samples, counts = [], []
    for own, rate, steps_taken, rng in zip(rows, rates, steps, rngs, strict=True):
        successes = _successes(steps_taken * len(own), rate, rng)
        samples.append(own[successes % len(own)])
        counts.append(np.bincount(successes // len(own), minlength=max(steps)))
    return _pack_batches(samples, np.array(counts).T)


def _successes(trials: int, rate: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return which of independent trials succeed: the gaps between them are geometric."""
    parts, last = [np.zeros(0, np.int64)], -1
    expected = int((trials * rate) + 6 * np.sqrt(trials * rate) + 16)
    while last < trials:
        parts.append(last + np.cumsum(rng.geometric(rate, expected)))
        last = int(parts[-1][-1])
    successes = np.concatenate(parts)
    return successes[successes < trials]


def _pack_batches(picked: Sequence[NDArray[np.int64]], counts: NDArray[np.int64]) -> Batches:
    widths = np.maximum(counts.max(axis=1), 1)
    batches = Batches(np.zeros(0, np.int32), widths.astype(np.int32), counts.astype(np.int32))
    offsets = batches.offsets()
    rows = np.zeros(offsets[-1], np.int32)
    for model, own in enumerate(picked):
        mine = counts[:, model]
        firsts = offsets[:-1] + model * widths - (np.cumsum(mine) - mine)
        rows[np.repeat(firsts, mine) + np.arange(len(own))] = own
    return Batches(rows, batches.widths, batches.counts)
