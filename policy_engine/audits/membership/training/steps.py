"""One compiled loop over many steps of many networks, reused for all that have one shape.

Plain and private training are the same code. The forward pass keeps what enters each layer (a);
the backward pass gives the gradient of each record's loss by each layer's pre-activations
(delta); a layer's gradient is the sum over the records of a * delta, each record with a weight.
In plain training the weight is one over the batch. In private training (Abadi et al., CCS 2016)
it is the record's clipping factor over the expected batch, and noise is added to the sum. The
squared norm of a record's whole gradient is the sum over the layers of (1 + |a|^2) |delta|^2,
the 1 for the bias (Goodfellow, arXiv:1510.01799), so that clipping is exact and costs no
gradient per record.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from policy_engine.audits.membership.training.differentiation import Differentiation
from policy_engine.audits.membership.training.optimizers import optimizer_of
from policy_engine.audits.membership.training.parameters import Design
from policy_engine.audits.membership.training.runtime import need_tensorflow

Tensor = Any


@dataclass(frozen=True)
class NetworkShape:
    """What a loop is compiled for; all else are its arguments.

    `even` says that every model takes part in every step; `draws`, that the noise is drawn in the
    loop, on the device that it runs on, and not given.
    """

    models: int
    design: Design
    optimizer: Literal["adam", "sgd"]
    momentum: float
    l2: float
    private: bool
    even: bool
    features: str
    draws: bool = False

    def slots(self) -> int:
        """Return how many numbers the optimizer keeps for each parameter."""
        if self.optimizer == "adam":
            return 2
        return 1 if self.momentum else 0


class TrainingWork(NamedTuple):
    """What some steps train on: `Batches`, who takes part, and what is random.

    `active` (steps, S) says which models take part, `keys` (steps, S) seed dropout, `noise`
    (steps, S, parameters) is added to the gradients of private training; where the loop draws it,
    it follows from `draws` (steps, S).
    """

    rows: Tensor
    widths: Tensor
    counts: Tensor
    active: Tensor
    keys: Tensor
    noise: Tensor
    draws: Tensor


class Rates(NamedTuple):
    """Numbers that training depends on; `expected` (S,) is the mean size of a Poisson batch.

    `noise_multiplier` is that of noise that the loop draws.
    """

    learning_rate: Tensor
    clipping_norm: Tensor
    expected: Tensor
    noise_multiplier: Tensor


class TrainingState(NamedTuple):
    """The variables of the models by their handles: parameters, and the optimizer's slots."""

    parameters: tuple[Tensor, ...]
    slots: tuple[tuple[Tensor, ...], ...]


@lru_cache(maxsize=16)
def compiled(shape: NetworkShape) -> Any:
    """Return `_Loop.run` as a TensorFlow function."""
    tf = need_tensorflow()
    loop = _Loop(tf, shape)
    return tf.function(loop.run, input_signature=loop.signature(), autograph=False)


class _Loop:
    def __init__(self, tf: Any, shape: NetworkShape) -> None:
        self._tf, self._shape = tf, shape
        self._shapes = [(shape.models, *one) for one in shape.design.shapes()]
        self._differentiation = Differentiation(tf, shape.design)
        self._update = optimizer_of(tf, shape.optimizer, shape.momentum, even=shape.even)

    def signature(self) -> list[Any]:
        """Return what `run` takes: nothing in it depends on the number of records or steps."""
        spec, tf, models = self._tf.TensorSpec, self._tf, self._shape.models
        handles = tuple(spec((), tf.resource) for _ in self._shapes)
        numbers = spec((None,), tf.int32)
        counts, active, keys, draws = (
            spec((None, models), kind) for kind in (tf.int32, tf.bool, tf.uint64, tf.uint64)
        )
        number = spec((), tf.float32)
        noise = spec((None, None, None), tf.float32)
        return [
            spec((None, self._shape.design.widths[0]), tf.as_dtype(self._shape.features)),
            numbers,
            TrainingWork(numbers, numbers, counts, active, keys, noise, draws),
            Rates(number, number, spec((models,), tf.float32), number),
            TrainingState(handles, (handles,) * self._shape.slots()),
            spec((models,), tf.float32),
        ]

    def run(
        self,
        features: Tensor,
        labels: Tensor,
        work: TrainingWork,
        rates: Rates,
        state: TrainingState,
        steps_taken: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Take the steps; return how many each model has taken and its summed losses, (S,)."""
        tf, models = self._tf, self._shape.models
        offsets = tf.cumsum(work.widths, exclusive=True) * models

        def body(step: Tensor, steps_taken: Tensor, total: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            width = work.widths[step]
            flat = work.rows[offsets[step] : offsets[step] + models * width]
            rows = tf.reshape(flat, (models, width))
            present = tf.cast(tf.range(width) < work.counts[step][:, None], tf.float32)
            parameters = self._read(state)
            values = tf.cast(tf.gather(features, rows), tf.float32)
            passed = self._differentiation.forward(values, parameters, work.keys[step])
            losses, delta = self._differentiation.losses(passed, tf.gather(labels, rows))
            gradients = self._gradients(passed, delta, parameters, present, work, rates, step)
            steps_taken += tf.cast(work.active[step], tf.float32)
            self._update(state, gradients, rates.learning_rate, steps_taken, work.active[step])
            return step + 1, steps_taken, total + tf.reduce_sum(losses * present, axis=1)

        steps = tf.shape(work.widths)[0]
        start = (tf.constant(0), steps_taken, tf.zeros(models))
        _, steps_taken, total = tf.while_loop(lambda step, *_: step < steps, body, start)
        return steps_taken, total

    def _read(self, state: TrainingState) -> list[Tensor]:
        read = self._tf.raw_ops.ReadVariableOp
        pairs = zip(state.parameters, self._shapes, strict=True)
        return [self._tf.ensure_shape(read(resource=one, dtype="float32"), s) for one, s in pairs]

    def _gradients(
        self,
        passed: Any,
        delta: Tensor,
        parameters: list[Tensor],
        present: Tensor,
        work: TrainingWork,
        rates: Rates,
        step: Tensor,
    ) -> list[Tensor]:
        tf, differentiation = self._tf, self._differentiation
        if self._shape.private:
            deltas = differentiation.backward(passed, delta, parameters)
            weights = present * clipping_factors(tf, passed.inputs, deltas, rates.clipping_norm)
            weights /= rates.expected[:, None]
            deltas = [each * weights[:, :, None] for each in deltas]
        else:
            present /= tf.cast(tf.maximum(work.counts[step], 1), tf.float32)[:, None]
            deltas = differentiation.backward(passed, delta * present[:, :, None], parameters)
        gradients = sum_gradients(tf, passed.inputs, deltas)
        if self._shape.private:
            drawn = self._drawn(work.draws[step], rates) if self._shape.draws else work.noise[step]
            gradients = self._noised(gradients, drawn)
        if self._shape.l2:
            for kernel in range(0, len(gradients), 2):
                gradients[kernel] += 2 * self._shape.l2 * parameters[kernel]
        return gradients

    def _drawn(self, seeds: Tensor, rates: Rates) -> Tensor:
        """Return normal numbers (S, parameters), over the expected batch, by a seed (S,) each."""
        tf, count = self._tf, sum(self._sizes())
        pairs = tf.unstack(tf.bitcast(seeds, tf.int32), num=self._shape.models)
        normals = [tf.random.stateless_normal((count,), seed=pair) for pair in pairs]
        deviations = rates.noise_multiplier * rates.clipping_norm / rates.expected
        return tf.stack(normals) * deviations[:, None]

    def _sizes(self) -> list[int]:
        return [int(np.prod(shape[1:])) for shape in self._shapes]

    def _noised(self, gradients: list[Tensor], noise: Tensor) -> list[Tensor]:
        """Add to each gradient its part of the noise (S, parameters)."""
        parts = self._tf.split(noise, self._sizes(), axis=1)
        pairs = zip(gradients, parts, self._shapes, strict=True)
        return [gradient + self._tf.reshape(part, shape) for gradient, part, shape in pairs]


def clipping_factors(tf: Any, inputs: list[Tensor], deltas: list[Tensor], norm: Tensor) -> Tensor:
    """Return the factors that bring each record's gradient down to a norm, (S, B), at most 1."""
    pairs = zip(inputs, deltas, strict=True)
    squares = [(1 + _squared(tf, a)) * _squared(tf, delta) for a, delta in pairs]
    return norm / tf.maximum(tf.sqrt(tf.add_n(squares)), norm)


def sum_gradients(tf: Any, inputs: list[Tensor], deltas: list[Tensor]) -> list[Tensor]:
    """Return the gradients of kernels and biases: the sums over the records of a * delta."""
    gradients = []
    for a, delta in zip(inputs, deltas, strict=True):
        gradients += [tf.matmul(a, delta, transpose_a=True), tf.reduce_sum(delta, axis=1)]
    return gradients


def _squared(tf: Any, values: Tensor) -> Tensor:
    return tf.reduce_sum(tf.square(values), axis=-1)
