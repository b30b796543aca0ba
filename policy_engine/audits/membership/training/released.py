"""Private training of a network that is to be released: nothing secret in it follows from a seed.

Batches, dropout and noise come of the random bits of the operating system, and what the noise is
added to is computed in whole numbers (`fixed_point`): what the accountant counts is what was run,
to the last bit. Only the weights that it starts from follow from the seed; they tell nothing of
the records.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.exact_normals import Entropy, floored_normals
from policy_engine.audits.membership.training.fixed_point import Floats, Grids, summed_gradients
from policy_engine.audits.membership.training.optimizers import BETA_1, BETA_2, EPSILON
from policy_engine.audits.membership.training.parameters import Parameters, first_parameters
from policy_engine.audits.membership.training.spending import Spending, stage_of, steps_per_epoch
from policy_engine.audits.membership.training.stacks import FIRST, TrainingJob
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

_MOST_NOISE = 1 << 20
_WHOLE = 1 << 32
_NONE = np.zeros(0, np.uint32)


def train_for_release(
    job: TrainingJob, progress: Progress = silent, entropy: Entropy = os.urandom
) -> list[Parameters]:
    """Return the parameters of each model of a private job, trained one after the other.

    The noise of the next steps is drawn in a thread of its own. Raises AuditError (A013) where
    the weights are no longer numbers, (A006) with too little noise for sums without an error.
    """
    return [
        _Training(job.part(model), spending, entropy).run(progress)
        for model, spending in enumerate(job.spendings)
    ]


class _Training:
    """The weights of one network on their way, and what takes them there."""

    def __init__(self, job: TrainingJob, spending: Spending, entropy: Entropy) -> None:
        self._job, self._spending, self._entropy = job, spending, entropy
        self._rows, self._design = job.rows[0], job.design
        noise, norm = spending.noise_multiplier, spending.clipping_norm
        self._grids = Grids.of(job.design, len(self._rows), noise, norm)
        first = first_parameters(job.design, job.rngs(FIRST)[0])
        self._weights: list[Floats] = [one.astype(np.float64) for one in first]
        self._slots = [np.zeros_like(one) for one in self._weights for _ in range(2)]
        self._taken = 0

    def run(self, progress: Progress) -> Parameters:
        """Take all steps that the budget pays for."""
        steps, size = self._spending.steps, self._design.count()
        steps_each = steps_per_epoch(len(self._rows), self._job.network.batch_size)
        steps = min(steps, steps_each * self._job.network.epochs)
        at_once = max(1, min(steps, _MOST_NOISE // size))
        with ThreadPoolExecutor(1) as drawing:
            coming = drawing.submit(self._noise, at_once)
            for step in range(steps):
                if step % at_once == 0:
                    noise = coming.result()
                    steps_left = min(at_once, steps - step - at_once)
                    coming = drawing.submit(self._noise, max(steps_left, 0))
                self._step(noise[step % at_once])
                if (step + 1) % steps_each == 0 or step + 1 == steps:
                    self._check(step // steps_each)
                    stage = stage_of(self._spending, step + 1) if progress is not silent else ""
                    progress(stage, step // steps_each + 1, self._job.network.epochs)
        return tuple(one.astype(np.float32) for one in self._weights)

    def _noise(self, steps: int) -> NDArray[np.int64]:
        size = self._design.count()
        return floored_normals(steps * size, self._grids.bits, self._entropy).reshape(steps, size)

    def _step(self, noise: NDArray[np.int64]) -> None:
        """Take one step; half a step of the grid is what rounding down has taken off the noise."""
        rows = self._batch()
        records = self._job.features[rows], self._job.labels[rows]
        masks = self._masks(len(rows))
        sums = summed_gradients(self._design, self._weights, records, self._grids, masks)
        parts = np.split(noise, np.cumsum([one.size for one in sums])[:-1])
        unit = self._grids.step / min(self._job.network.batch_size, len(self._rows))
        gradients = [
            (one + part.reshape(one.shape) + 0.5) * unit
            for one, part in zip(sums, parts, strict=True)
        ]
        self._update(gradients)

    def _update(self, gradients: list[Floats]) -> None:
        """Step as Adam or gradient descent do, by Keras's definitions."""
        network, self._taken = self._job.network, self._taken + 1
        correction = np.sqrt(1 - BETA_2**self._taken) / (1 - BETA_1**self._taken)
        for place, gradient in enumerate(gradients):
            weights, (m, v) = self._weights[place], self._slots[2 * place : 2 * place + 2]
            if network.l2 and gradient.ndim > 1:
                gradient = gradient + 2 * network.l2 * weights  # noqa: PLW2901
            if network.optimizer == "adam":
                m += (gradient - m) * (1 - BETA_1)
                v += (np.square(gradient) - v) * (1 - BETA_2)
                weights -= network.learning_rate * correction * m / (np.sqrt(v) + EPSILON)
            else:
                m *= network.momentum
                m -= network.learning_rate * gradient
                weights += m

    def _batch(self) -> NDArray[np.int64]:
        """Return a Poisson sample: every row by itself, at the rate that is accounted or below."""
        rate = min(1.0, self._job.network.batch_size / len(self._rows))
        return self._rows[self._drawn(len(self._rows)) < int(rate * _WHOLE)]

    def _masks(self, records: int) -> list[Floats] | None:
        """Return what dropout multiplies the outputs of the hidden layers by."""
        dropouts = self._design.dropouts
        if not any(dropouts):
            return None
        widths = self._design.widths[1:-1]
        return [
            (self._drawn(records * width) >= int(share * _WHOLE)).reshape(records, width)
            / (1 - share)
            for share, width in zip(dropouts, widths, strict=True)
        ]

    def _drawn(self, count: int) -> NDArray[np.uint32]:
        return np.frombuffer(self._entropy(4 * count), np.uint32) if count else _NONE

    def _check(self, epoch: int) -> None:
        if all(np.isfinite(one).all() for one in self._weights):
            return
        network = self._job.network
        message = (
            f"The weights are no longer numbers in epoch {epoch + 1} of {network.epochs}. "
            f"The learning rate is {network.learning_rate:g}."
        )
        raise AuditError.of("A013", message, "Lower the learning rate.")
