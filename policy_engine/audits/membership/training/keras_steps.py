"""One compiled step of any Keras model, plain or private, reused for all models of one kind."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError

Tensor = Any


def plain_step(tf: Any, model: Any, optimizer: Any, losses: Callable[..., Tensor]) -> Any:
    """Return a step that takes the mean gradient of some records; it returns their losses."""

    def step(features: Tensor, labels: Tensor) -> Tensor:
        with tf.GradientTape() as tape:
            each = losses(labels, model(features, training=True))
            loss = tf.add_n([tf.reduce_mean(each), *model.losses])
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return each

    return step


def private_step(tf: Any, model: Any, optimizer: Any, losses: Callable[..., Tensor]) -> Any:
    """Return a step of DP-SGD (Abadi et al., CCS 2016), exact for every layer.

    Each record's gradient is formed on its own, penalties included, and clipped as one vector;
    `present` (B,) is 0 for what only fills the batch up, and `noise` is added to the sum over
    the expected batch.
    """
    variables = model.trainable_variables

    def record_gradient(record: tuple[Tensor, Tensor]) -> tuple[list[Tensor], Tensor]:
        features, label = record
        with tf.GradientTape() as tape:
            one = losses(label[None], model(features[None], training=True))[0]
            loss = tf.add_n([one, *model.losses])
        gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
        return gradients, one

    def step(
        features: Tensor,
        labels: Tensor,
        present: Tensor,
        noise: Tensor,
        norm: Tensor,
        expected: Tensor,
    ) -> Tensor:
        gradients, each = tf.vectorized_map(record_gradient, (features, labels))
        flat = tf.concat([tf.reshape(g, (tf.shape(g)[0], -1)) for g in gradients], axis=1)
        lengths = tf.sqrt(tf.reduce_sum(tf.square(flat), axis=1))
        factors = present * norm / tf.maximum(lengths, norm) / expected
        summed = tf.linalg.matvec(flat, factors, transpose_a=True) + noise
        parts = tf.split(summed, [int(np.prod(one.shape)) for one in variables])
        pairs = zip(parts, variables, strict=True)
        optimizer.apply([tf.reshape(part, one.shape) for part, one in pairs], variables)
        return each * present

    return step


def refuse_mixing(model: Any, features: Tensor) -> None:
    """Raise AuditError (A010) for every layer that keeps something of the records it is trained on.

    Batch normalisation does, and so does any other layer with a state that a pass in training
    changes: it is neither clipped nor given noise. (A layer that only compares the records of a
    batch gives no more than any other, as every record's gradient is formed alone.)
    """
    layers = list(model._flatten_layers(include_self=True))  # noqa: SLF001 (no public way)
    before = [_state(layer) for layer in layers]
    model(features, training=True)
    mixing = [
        layer
        for layer, old in zip(layers, before, strict=True)
        if any((one != other).any() for one, other in zip(old, _state(layer), strict=True))
    ]
    if mixing:
        names = ", ".join(f"{one.name!r} ({type(one).__name__})" for one in mixing)
        message = f"Layers that mix the records of a batch cannot be trained privately: {names}."
        raise AuditError.of("A010", message, "Use layer or group normalisation instead.")


def _state(layer: Any) -> list[NDArray[Any]]:
    """Return a layer's own variables that are neither trained nor seeds of random numbers."""
    return arrays_of(layer._non_trainable_variables)  # noqa: SLF001 (the public has its parts' too)


def arrays_of(variables: Iterable[Any]) -> list[NDArray[Any]]:
    """Return copies of what Keras variables hold."""
    return [np.array(one.value.numpy()) for one in variables]
