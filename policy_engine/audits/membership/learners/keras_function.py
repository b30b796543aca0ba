"""Any classifier that a function makes with Keras, trained with or without privacy."""

import hashlib
import inspect
import json
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.learners.learner import NOT_PRIVATE
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, Terms
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.released.files import read_weights, write_keras
from policy_engine.audits.membership.training.batches import Batches, epoch_batches, poisson_batches
from policy_engine.audits.membership.training.keras_steps import (
    arrays_of,
    plain_step,
    private_step,
    refuse_mixing,
)
from policy_engine.audits.membership.training.noise import fill_normals
from policy_engine.audits.membership.training.runtime import (
    need_keras,
    need_tensorflow,
)
from policy_engine.audits.membership.training.spending import (
    Spending,
    most_spent,
    spending_of,
    stage_of,
    steps_per_epoch,
)
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy

Weights = list[NDArray[Any]]
_ROWS_AT_ONCE = 1024
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class KerasModels:
    """Trained models that one function made: the weights of each, and what they run in."""

    shared: "_SharedModel"
    models: tuple[Weights, ...]
    spendings: tuple[Spending, ...] = ()

    @cached_property
    def epsilon(self) -> EpsilonUpper | NotApplicable:
        """The differential privacy of what was run, of the model that spent most."""
        return most_spent(self.spendings) if self.spendings else NOT_PRIVATE

    def logits(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return the logits, or the logs of the probabilities, of records (n, d): (S, n, C)."""
        return np.stack([self.shared.logits(weights, features) for weights in self.models])

    def save(self, path: Path, model: int = 0) -> "KerasModels":
        """Write one model as a `.keras` file, as the function makes it, and read it back."""
        network = self.shared.fresh(0)
        network.set_weights(self.models[model])
        write_keras(network, path)
        return replace(self, models=(list(read_weights(path)),))


@dataclass(frozen=True, eq=False)
class KerasLearner:
    """Trains what a function makes: a Keras model with one output per class.

    The output is probabilities or logits; the loss is the cross-entropy. A compiled model brings
    its optimizer, any other is trained by Adam. Python's and numpy's generators of random numbers
    are seeded while the function runs, and put back. With `privacy` every record's gradient is
    formed on its own: exact for any layer, and several times slower than plain training; the
    records of a batch share its dropout. The noise comes of the seed: a model is private only
    towards those who do not know it.
    """

    make: Callable[[], Any]
    epochs: int
    batch_size: int
    privacy: CentralPrivacy | None = None
    gives: ClassVar[Terms] = CONFIDENCE_ANSWERS

    @cached_property
    def name(self) -> str:
        """What the model is, as Keras describes it, and how it is trained, by a sha-256."""
        model = _make_model(self.make, 0)
        privacy = self.privacy.model_dump_json() if self.privacy else ""
        first = hashlib.sha256(
            b"".join(one.tobytes() for one in arrays_of(model.weights))
        ).hexdigest()
        settings = [_description(model), self.epochs, self.batch_size, privacy, first]
        return f"keras {hashlib.sha256(json.dumps(settings).encode()).hexdigest()}"

    def train(
        self,
        records: Records,
        rows: Sequence[NDArray[np.int64]],
        seeds: Sequence[int],
        progress: Progress = silent,
    ) -> KerasModels:
        """Return a model for each set of rows.

        Raises AuditError where the model's inputs or outputs are not the records' (A009), a
        layer mixes records under privacy (A010), a loss is no longer a number (A013), or an
        epsilon cannot be reached (A006); DataError (C011) without TensorFlow.
        """
        shared = _SharedModel(self.make, records, private=self.privacy is not None)
        spent = {size: self._spending(size) for size in dict.fromkeys(map(len, rows))}
        models = []
        for number, (own, seed) in enumerate(zip(rows, seeds, strict=True)):
            shared.fill(seed)
            self._fit(shared, own, seed, spent[len(own)], (number, len(rows)), progress)
            models.append(shared.weights())
        spendings = [spent[len(own)] for own in rows]
        return KerasModels(shared, tuple(models), tuple(one for one in spendings if one))

    def _spending(self, records: int) -> Spending | None:
        if self.privacy is None:
            return None
        return spending_of(self.privacy, records, self.batch_size, self.epochs)

    def memory(self, records: Records, rows: int, models: int) -> int:
        """Return about how many bytes training takes at its peak."""
        model = _build(_make_model(self.make, 0), records.features.shape[1])
        size = 4 * int(model.count_params())
        gradients = self.batch_size if self.privacy else 4
        order = 16 * rows
        return (1 << 30) + records.features.nbytes + order + size * (4 + gradients + models)

    def _fit(
        self,
        shared: "_SharedModel",
        rows: NDArray[np.int64],
        seed: int,
        spending: Spending | None,
        which: tuple[int, int],
        progress: Progress,
    ) -> None:
        number, models = which
        order = np.random.default_rng([seed, 1])
        expected = min(self.batch_size, len(rows))
        noise = _Noise(spending, expected, np.random.default_rng([seed, 3])) if spending else None
        steps_taken = 0
        for epoch in range(self.epochs):
            batches = self._batches(rows, order, spending.steps - steps_taken if spending else None)
            steps_taken += len(batches.widths)
            if not np.isfinite(shared.epoch(batches, noise)):
                message = (
                    f"The loss of model {number + 1} is no longer a number in epoch {epoch + 1} "
                    f"of {self.epochs}."
                )
                raise AuditError.of("A013", message, "Lower the learning rate of the optimizer.")
            if progress is not silent:
                done, total = number * self.epochs + epoch + 1, models * self.epochs
                progress(stage_of(spending, steps_taken), done, total)
            if spending and steps_taken == spending.steps:
                break

    def _batches(
        self, rows: NDArray[np.int64], rng: np.random.Generator, steps_left: int | None
    ) -> Batches:
        if steps_left is None:
            return epoch_batches([rows], self.batch_size, [rng])
        steps = min(steps_left, steps_per_epoch(len(rows), self.batch_size))
        rate = min(1.0, self.batch_size / len(rows))
        return poisson_batches([rows], [rate], [steps], [rng])


@dataclass(frozen=True, eq=False)
class _Noise:
    """The inputs of the steps of one model's private training, besides the records."""

    spending: Spending
    expected: int
    rng: np.random.Generator

    def step_noise(self, size: int) -> tuple[NDArray[np.float32], np.float32, np.float32]:
        """Return fresh noise (size,), the clipping norm, and the expected batch."""
        noise = np.empty((1, size), np.float32)
        deviation = self.spending.noise_multiplier * self.spending.clipping_norm
        fill_normals(self.rng, noise, deviation / self.expected)
        return noise[0], np.float32(self.spending.clipping_norm), np.float32(self.expected)


class _SharedModel:
    """One model and its compiled step, through which the models of all seeds go in turn."""

    def __init__(self, make: Callable[[], Any], records: Records, *, private: bool) -> None:
        self._tf, self._keras = need_tensorflow(), need_keras()
        self._make = make
        self.model = _build(_make_model(make, 0), records.features.shape[1])
        self._shape = _input_shape(self.model, records.features.shape[1])
        self._has_probabilities = _gives_probabilities(self._keras, self.model)
        self._features = self._tf.convert_to_tensor(records.features)
        self._labels = self._tf.convert_to_tensor(records.labels.astype(np.int32))
        first = self._shape_inputs(self._features[:2])
        self._check_outputs(self.model(first), len(records.classes))
        if private:
            refuse_mixing(self.model, first)
        optimizer = getattr(self.model, "optimizer", None) or self._keras.optimizers.Adam()
        optimizer.build(self.model.trainable_variables)
        self._slots = list(zip(optimizer.variables, arrays_of(optimizer.variables), strict=True))
        self._size = sum(int(np.prod(one.shape)) for one in self.model.trainable_variables)
        step = private_step if private else plain_step
        self._step = step(self._tf, self.model, optimizer, self._losses)
        self._take = self._tf.function(
            self._step_of_rows, input_signature=self._signature(private), autograph=False
        )
        self._forward = self._tf.function(self._logits, autograph=False, reduce_retracing=True)

    def fresh(self, seed: int) -> Any:
        """Return a new model with the first weights of a seed."""
        return _build(_make_model(self._make, seed), self._features.shape[1])

    def fill(self, seed: int) -> None:
        """Take the first weights of a seed, and forget what the optimizer knows."""
        fresh = self.fresh(seed)
        for mine, theirs in zip(self.model.variables, fresh.variables, strict=True):
            mine.assign(theirs)
        for variable, first in self._slots:
            variable.assign(first)

    def weights(self) -> Weights:
        """Return a copy of the weights, in Keras's order."""
        return arrays_of(self.model.weights)

    def epoch(self, batches: Batches, noise: _Noise | None) -> float:
        """Take the steps of some batches of one model; return the sum of the losses."""
        total, offsets = 0.0, batches.offsets()
        for step, count in enumerate(batches.counts[:, 0]):
            rows = batches.rows[offsets[step] : offsets[step + 1]]
            private: tuple[Any, ...] = ()
            if noise is not None:
                present = (np.arange(len(rows)) < count).astype(np.float32)
                private = (present, *noise.step_noise(self._size))
            total += float(self._take(rows, *private))
        return total

    def logits(self, weights: Weights, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return what one model says of records (n, d): (n, C)."""
        self.model.set_weights(weights)
        parts = range(0, len(features), _ROWS_AT_ONCE)
        logits = [
            self._forward(self._shape_inputs(features[start : start + _ROWS_AT_ONCE]))
            for start in parts
        ]
        return np.concatenate([one.numpy() for one in logits])

    def _signature(self, private: bool) -> list[Any]:
        spec, number = self._tf.TensorSpec, self._tf.float32
        rows = spec((None,), self._tf.int32)
        if not private:
            return [rows]
        return [
            rows,
            spec((None,), number),
            spec((self._size,), number),
            spec((), number),
            spec((), number),
        ]

    def _step_of_rows(self, rows: Any, *private: Any) -> Any:
        features = self._shape_inputs(self._tf.gather(self._features, rows))
        labels = self._tf.gather(self._labels, rows)
        return self._tf.reduce_sum(self._step(features, labels, *private))

    def _logits(self, features: Any) -> Any:
        outputs = self._tf.cast(self.model(features, training=False), self._tf.float32)
        tiny = np.finfo(np.float32).tiny
        return self._tf.math.log(outputs + tiny) if self._has_probabilities else outputs

    def _losses(self, labels: Any, outputs: Any) -> Any:
        return self._keras.losses.sparse_categorical_crossentropy(
            labels, outputs, from_logits=not self._has_probabilities
        )

    def _shape_inputs(self, features: Any) -> Any:
        inputs = getattr(self.model, "inputs", None)
        kind = inputs[0].dtype if inputs else "float32"
        return self._tf.cast(self._tf.reshape(features, (-1, *self._shape)), kind)

    def _check_outputs(self, outputs: Any, classes: int) -> None:
        """Refuse outputs that are not one logit, or one share of 1, for each class."""
        if outputs.shape[1:] != (classes,):
            message = (
                f"The model has outputs of shape {tuple(outputs.shape[1:])}, not {(classes,)}."
            )
            raise AuditError.of("A009", message, "Give it one output for each class.")
        sums = np.abs(np.sum(outputs, axis=1) - 1)
        if self._has_probabilities and (np.min(outputs) < 0 or np.max(sums) > _ROUNDING):
            message = "The model's outputs are neither logits nor probabilities that sum to 1."
            raise AuditError.of("A009", message, "End it with a softmax, or with no activation.")


def _make_model(make: Callable[[], Any], seed: int) -> Any:
    """Return a new model; what Python and numpy draw at random meanwhile comes of the seed."""
    need_keras()
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 (put back)
    try:
        random.seed(seed)
        np.random.seed(seed % (1 << 32))  # noqa: NPY002 (what Keras and users draw from)
        return make()
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002 (put back)


def _input_shape(model: Any, features: int) -> tuple[int, ...]:
    """Return the shape of one record as the model takes it."""
    try:
        shape = tuple(model.input_shape[1:])
    except (AttributeError, ValueError):
        return (features,)
    if int(np.prod(shape)) != features:
        message = f"The model takes records of shape {shape}. The data has {features:,} features."
        raise AuditError.of("A009", message)
    return shape


def _gives_probabilities(keras: Any, model: Any) -> bool:
    """Tell whether outputs are probabilities, by the last activation.

    Where that is a softmax within a layer it is taken off, as logits do not saturate.
    """
    last = model.layers[-1] if model.layers else model
    activation = getattr(last, "activation", None)
    if activation is keras.activations.softmax:
        last.activation = keras.activations.linear
        return False
    return activation is not keras.activations.linear


def _build(model: Any, features: int) -> Any:
    """Return a model that has its weights, which some have only once they saw their inputs."""
    if not model.built:
        model(np.zeros((1, *_input_shape(model, features)), np.float32))
    return model


def _description(model: Any) -> str:
    """Return what a model is, the names that Keras numbers through left out.

    That is what Keras writes of it and its layers, and the code of what is not Keras's own; where
    that cannot be had, a text that is never given again, so that nothing is taken for another.
    """
    layers = model._flatten_layers(include_self=True)  # noqa: SLF001 (no public way)
    parts = [*layers, *filter(None, [getattr(model, "optimizer", None)])]
    text = json.dumps([_describe_part(one) for one in parts], default=repr)
    for number, part in enumerate(parts):
        text = text.replace(json.dumps(part.name), f'"{number}"')
    return text


def _describe_part(part: Any) -> list[Any]:
    kind = type(part)
    try:
        code = "" if kind.__module__.startswith("keras.") else inspect.getsource(kind)
        return [kind.__qualname__, code, part.get_config()]
    except (OSError, TypeError, NotImplementedError, ValueError):
        return [kind.__qualname__, uuid.uuid4().hex]
