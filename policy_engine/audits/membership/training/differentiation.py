"""Forward and backward through stacked dense layers, on TensorFlow's own operations."""

from dataclasses import dataclass
from typing import Any

from policy_engine.audits.membership.training.parameters import Design
from policy_engine.methods.audits.classifier import Activation

Tensor = Any

_PHILOX = 1


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """What a forward pass leaves behind, each (S, B, units).

    `inputs` entered the layers; `outputs` left them, the last one without softmax; `masks` are
    what dropout multiplied the hidden ones by, None where there is no dropout.
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    masks: list[Tensor | None]


class Differentiation:
    """Losses of records, and their gradients by each layer's pre-activations."""

    def __init__(self, tf: Any, design: Design) -> None:
        self._tf, self._design = tf, design

    def forward(self, values: Tensor, parameters: list[Tensor], keys: Tensor) -> ForwardPass:
        """Return the pass of records (S, B, d); `keys` (S,) seed the dropout of each model."""
        passed = ForwardPass([], [], [])
        for layer, dropout in enumerate((*self._design.dropouts, 0.0)):
            passed.inputs.append(values)
            kernel, bias = parameters[2 * layer : 2 * layer + 2]
            values = self._tf.matmul(values, kernel) + bias[:, None, :]
            if layer < len(self._design.activations):
                values = _activate(self._tf, self._design.activations[layer], values)
            passed.outputs.append(values)
            mask = self._mask(values, dropout, keys, layer) if dropout else None
            passed.masks.append(mask)
            values = values if mask is None else values * mask
        return passed

    def losses(self, passed: ForwardPass, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return each record's cross-entropy (S, B), and its gradient by the logits (S, B, C)."""
        logits = passed.outputs[-1]
        size, classes = self._tf.shape(logits), self._design.widths[-1]
        loss, delta = self._tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(
            features=self._tf.reshape(logits, (-1, classes)), labels=self._tf.reshape(labels, (-1,))
        )
        return self._tf.reshape(loss, size[:2]), self._tf.reshape(delta, size)

    def backward(
        self, passed: ForwardPass, delta: Tensor, parameters: list[Tensor]
    ) -> list[Tensor]:
        """Return the gradients by the pre-activations of every layer, the first layer first."""
        deltas = [delta]
        for layer in range(len(self._design.activations) - 1, -1, -1):
            back = self._tf.matmul(deltas[0], parameters[2 * layer + 2], transpose_b=True)
            mask = passed.masks[layer]
            back = back if mask is None else back * mask
            activation = self._design.activations[layer]
            deltas.insert(
                0, _multiply_derivative(self._tf, activation, passed.outputs[layer], back)
            )
        return deltas

    def _mask(self, values: Tensor, dropout: float, keys: Tensor, layer: int) -> Tensor:
        tf, shape = self._tf, self._tf.shape(values)[1:]
        counter = tf.constant([0, layer], tf.uint64)
        drawn = [
            tf.raw_ops.StatelessRandomUniformV2(
                shape=shape, key=keys[model : model + 1], counter=counter, alg=_PHILOX
            )
            for model in range(values.shape[0])
        ]
        return tf.cast(tf.stack(drawn) >= dropout, tf.float32) / (1 - dropout)


def _activate(tf: Any, activation: Activation, z: Tensor) -> Tensor:
    return z if activation == "linear" else getattr(tf.nn, activation)(z)


def _multiply_derivative(  # noqa: PLR0911 (one for each activation)
    tf: Any, activation: Activation, output: Tensor, back: Tensor
) -> Tensor:
    """Return `back` times the derivative of an activation, which its output tells."""
    match activation:
        case "relu":
            return tf.raw_ops.ReluGrad(gradients=back, features=output)
        case "tanh":
            return tf.raw_ops.TanhGrad(y=output, dy=back)
        case "sigmoid":
            return tf.raw_ops.SigmoidGrad(y=output, dy=back)
        case "elu":
            return tf.raw_ops.EluGrad(gradients=back, outputs=output)
        case "selu":
            return tf.raw_ops.SeluGrad(gradients=back, outputs=output)
        case "softplus":
            return -back * tf.math.expm1(-output)
        case "linear":
            return back
