"""Training of models over their epochs, each by itself, several side by side.

A model is never stacked with others that happen to be trained with it. Products of stacked weights
are rounded by the place that a model has among the others, so what it learns would depend, in its
last digits, on how many fit into memory and on which of them were known already.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.batches import Batches, epoch_batches, poisson_batches
from policy_engine.audits.membership.training.noise import fill_normals
from policy_engine.audits.membership.training.parameters import (
    Design,
    Parameters,
    first_parameters,
    model_parameters,
    stack_models,
)
from policy_engine.audits.membership.training.runtime import (
    cores,
    gpus,
    need_tensorflow,
    use_few_threads,
)
from policy_engine.audits.membership.training.spending import Spending, stage_of, steps_per_epoch
from policy_engine.audits.membership.training.steps import (
    NetworkShape,
    Rates,
    TrainingState,
    TrainingWork,
    compiled,
)
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Network

ReportEpoch = Callable[[Callable[[], str]], None]
"""Is called after each epoch with a function that gives the text to report."""
FIRST, _ORDER, _DROPOUT, _NOISE = range(4)
"""What is random in the training of a model; each has a stream of its own."""
_NOISE_BYTES = 1 << 24
_NO_NOISE = np.zeros((1, 1, 1), np.float32)


def draws_on_device() -> bool:
    """Tell whether the noise of private training is drawn on a GPU, with the steps.

    Beside one, the processor's noise is what every step would wait for. It follows from the seed
    all the same, though it is another than a processor's.
    """
    return bool(gpus(need_tensorflow()))


_WORTH_A_THREAD = 2_000_000  # products of a step, below which threads only wait for each other


@dataclass(frozen=True, eq=False)
class TrainingJob:
    """Models to be trained: on which records, with which seeds, how.

    Model i learns from `rows[i]` of `features` (n, d) and `labels` (n,), and all that is random
    in it comes of `seeds[i]`. `spendings` has one for each model where training is private.
    """

    network: Network
    design: Design
    features: NDArray[Any]
    labels: NDArray[np.int64]
    rows: Sequence[NDArray[np.int64]]
    seeds: Sequence[int]
    spendings: Sequence[Spending] = ()
    first: int = 0

    def part(self, model: int) -> "TrainingJob":
        """Return the job of one of the models; `first` counts from the whole job's first."""
        own = slice(model, model + 1)
        return replace(
            self,
            rows=self.rows[own],
            seeds=self.seeds[own],
            spendings=self.spendings[own],
            first=model,
        )

    @property
    def spending(self) -> Spending | None:
        """What the first of the models may spend, None where training is not private."""
        return self.spendings[0] if self.spendings else None

    def rngs(self, purpose: int) -> list[np.random.Generator]:
        """Return a generator for each model."""
        return [np.random.default_rng([seed, purpose]) for seed in self.seeds]

    def shape(self) -> NetworkShape:
        """Return what a loop for these models is compiled for."""
        network, kind = self.network, "uint8" if self.features.dtype == np.uint8 else "float32"
        return NetworkShape(
            models=len(self.rows),
            design=self.design,
            optimizer=network.optimizer,
            momentum=network.momentum,
            l2=network.l2,
            private=bool(self.spendings),
            even=len(set(map(len, self.rows))) == 1,
            features=kind,
            draws=bool(self.spendings) and draws_on_device(),
        )


def train(job: TrainingJob, progress: Progress = silent) -> list[Parameters]:
    """Return the trained parameters of each model.

    They are trained side by side where that is quicker. Raises AuditError (A013) where a loss is
    no longer a number.
    """
    tf = need_tensorflow()
    use_few_threads()
    kind = np.uint8 if job.features.dtype == np.uint8 else np.float32
    tensors = (
        tf.convert_to_tensor(np.ascontiguousarray(job.features, kind)),
        tf.convert_to_tensor(job.labels.astype(np.int32)),
    )
    models, stop = range(len(job.rows)), Event()
    report = _epoch_reporter(len(models) * job.network.epochs, progress)

    def trained(model: int) -> list[Parameters]:
        return [] if stop.is_set() else _Stack(job.part(model), tensors).train(report, stop)

    threads = min(len(models), _threads(job))
    if threads == 1:
        return [parameters for model in models for parameters in trained(model)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(trained, model) for model in models]
        try:
            return [parameters for future in futures for parameters in future.result()]
        except BaseException:
            stop.set()
            raise


def _threads(job: TrainingJob) -> int:
    """Return how many models are worth training at once: small products wait for each other."""
    products = len(job.rows) * job.design.count() * job.network.batch_size
    return min(cores(), products // _WORTH_A_THREAD + 1)


def bytes_of_a_model(design: Design, network: Network) -> int:
    """Return about how much memory one more model takes: variables, gradients, activations."""
    slots = 2 if network.optimizer == "adam" else 1
    private = 1 if network.privacy else 0
    activations = 4 * network.batch_size * sum(design.widths)
    return 4 * (design.count() * (4 + slots + private) + activations)


def _epoch_reporter(total: int, progress: Progress) -> ReportEpoch:
    """Return what the stacks report their epochs to, from any thread."""
    lock, done = Lock(), count(1)

    def report(stage: Callable[[], str]) -> None:
        if progress is not silent:
            with lock:
                progress(stage(), next(done), total)

    return report


class _Stack:
    """The variables of some models, and what takes them through their epochs."""

    def __init__(self, job: TrainingJob, tensors: tuple[Any, Any]) -> None:
        self._tf, self._job, self._tensors = need_tensorflow(), job, tensors
        self._shape = job.shape()
        self._run = compiled(self._shape)
        first = stack_models([first_parameters(job.design, rng) for rng in job.rngs(FIRST)])
        self._parameters = [self._tf.Variable(array) for array in first]
        self._slots = [
            [self._tf.Variable(self._tf.zeros_like(array)) for array in first]
            for _ in range(self._shape.slots())
        ]
        self._order, self._dropout = job.rngs(_ORDER), job.rngs(_DROPOUT)
        self._noise = job.rngs(_NOISE)
        self._taken = self._tf.zeros(len(job.rows))

    def train(self, report: ReportEpoch, stop: Event) -> list[Parameters]:
        """Return each model's parameters after all epochs, or after those that a budget allows.

        Where `stop` is set, another stack has failed, and nothing is returned.
        """
        for epoch in range(self._job.network.epochs):
            batches, active = self._epoch(epoch)
            if stop.is_set():
                return []
            if not len(active):
                break
            losses = self._steps(batches, active)
            self._check(losses, epoch)
            report(self._stage)
        stack = tuple(variable.numpy() for variable in self._parameters)
        return [model_parameters(stack, model) for model in range(len(self._job.rows))]

    def _epoch(self, epoch: int) -> tuple[Batches, NDArray[np.bool_]]:
        """Return the batches of an epoch, and which models take part in which step."""
        job, size = self._job, self._job.network.batch_size
        if job.spending is None:
            batches = epoch_batches(job.rows, size, self._order)
            return batches, batches.counts > 0
        steps = np.array([steps_per_epoch(len(rows), size) for rows in job.rows])
        here = np.clip(job.spending.steps - epoch * steps, 0, steps)
        rates = [min(1.0, size / len(rows)) for rows in job.rows]
        active = np.arange(here.max())[:, None] < here
        return poisson_batches(job.rows, rates, here.tolist(), self._order), active

    def _steps(self, batches: Batches, active: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Take the steps in as many calls as the memory for noise asks for; return the losses."""
        size = 4 * self._job.design.count() * len(self._job.rows)
        is_given = self._shape.private and not self._shape.draws
        at_once = max(1, _NOISE_BYTES // size) if is_given else len(active)
        losses = np.zeros(len(self._job.rows), np.float32)
        for first in range(0, len(active), at_once):
            end = min(first + at_once, len(active))
            work = self._work(batches.slice_steps(first, end), active[first:end])
            self._taken, total = self._run(
                *self._tensors, work, self._rates(), self._state(), self._taken
            )
            losses += total.numpy()
        return losses

    def _work(self, batches: Batches, active: NDArray[np.bool_]) -> TrainingWork:
        keys = np.zeros(active.shape, np.uint64)
        if any(self._job.design.dropouts):
            for model, rng in enumerate(self._dropout):
                keys[:, model] = rng.integers(0, 1 << 64, len(active), np.uint64)
        spending = self._job.spending
        is_given = spending is not None and not self._shape.draws
        noise = self._fresh_noise(active, spending) if spending and is_given else _NO_NOISE
        draws = self._fresh_draws(active)
        return TrainingWork(
            batches.rows, batches.widths, batches.counts, active, keys, noise, draws
        )

    def _fresh_draws(self, active: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return what the noise of each step and model follows from where the loop draws it."""
        draws = np.zeros(active.shape, np.uint64)
        for model, steps_taken in enumerate(active.sum(axis=0) if self._shape.draws else ()):
            draws[:steps_taken, model] = self._noise[model].integers(
                0, 1 << 64, steps_taken, np.uint64
            )
        return draws

    def _fresh_noise(self, active: NDArray[np.bool_], spending: Spending) -> NDArray[np.float32]:
        """Return noise for each step, model and parameter, already over the expected batch."""
        noise = np.zeros((*active.shape, self._job.design.count()), np.float32)
        deviation = spending.noise_multiplier * spending.clipping_norm
        steps_taken = active.sum(axis=0)
        for model, expected in enumerate(self._expected()):
            own = noise[: steps_taken[model], model]
            fill_normals(self._noise[model], own, deviation / expected)
        return noise

    def _expected(self) -> list[float]:
        size = self._job.network.batch_size
        return [float(min(size, len(rows))) for rows in self._job.rows]

    def _rates(self) -> Rates:
        spending = self._job.spending
        norm = spending.clipping_norm if spending else 1.0
        multiplier = spending.noise_multiplier if spending else 0.0
        return Rates(self._job.network.learning_rate, norm, self._expected(), multiplier)

    def _state(self) -> TrainingState:
        slots = tuple(tuple(one.handle for one in slot) for slot in self._slots)
        return TrainingState(tuple(one.handle for one in self._parameters), slots)

    def _stage(self) -> str:
        spending = self._job.spending
        return stage_of(spending, int(self._taken.numpy().max()))

    def _check(self, losses: NDArray[np.float32], epoch: int) -> None:
        bad = np.flatnonzero(~np.isfinite(losses))
        if not len(bad) and epoch == self._job.network.epochs - 1:
            finite = [
                np.isfinite(one.numpy()).reshape(len(losses), -1).all(1) for one in self._parameters
            ]
            bad = np.flatnonzero(~np.logical_and.reduce(finite))
        if len(bad):
            message = (
                f"The loss of model {self._job.first + bad[0] + 1} is no longer a number in epoch "
                f"{epoch + 1} of {self._job.network.epochs}. The learning rate is "
                f"{self._job.network.learning_rate:g}."
            )
            hint = "Lower the learning rate, or scale the features to about -1 to 1."
            raise AuditError.of("A013", message, hint)
