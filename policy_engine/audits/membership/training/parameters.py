"""The parameters of stacked dense networks: their shapes, first values, and what they compute."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.methods.audits.classifier import Activation, Network

Parameters = tuple[NDArray[np.float32], ...]
"""Kernel and bias of each layer in turn: (in, out) and (out,), or (S, in, out) and (S, out)."""

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@dataclass(frozen=True)
class Design:
    """Widths from the features to the classes, activations and dropout of the hidden layers."""

    widths: tuple[int, ...]
    activations: tuple[Activation, ...]
    dropouts: tuple[float, ...]

    @classmethod
    def of(cls, network: Network, features: int, classes: int) -> "Design":
        """Return the layers of a network for a number of features and classes."""
        return cls(
            (features, *(layer.units for layer in network.layers), classes),
            tuple(layer.activation for layer in network.layers),
            tuple(layer.dropout for layer in network.layers),
        )

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of one model's kernels and biases, in turn."""
        pairs = zip(self.widths, self.widths[1:], strict=False)
        return [shape for wide, out in pairs for shape in ((wide, out), (out,))]

    def count(self) -> int:
        """Return how many parameters one model has."""
        return sum(int(np.prod(shape)) for shape in self.shapes())


def first_parameters(design: Design, rng: np.random.Generator) -> Parameters:
    """Return Glorot-uniform kernels and zero biases (Glorot and Bengio, AISTATS 2010)."""
    return tuple(
        _glorot(shape, rng) if len(shape) == 2 else np.zeros(shape, np.float32)
        for shape in design.shapes()
    )


def _glorot(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    limit = np.sqrt(6.0 / sum(shape))
    return rng.uniform(-limit, limit, shape).astype(np.float32)


def stack_models(models: Sequence[Parameters]) -> Parameters:
    """Return the parameters of several models as one stack."""
    return tuple(np.stack(arrays) for arrays in zip(*models, strict=True))


def model_parameters(stack: Parameters, model: int) -> Parameters:
    """Return one model's parameters."""
    return tuple(array[model] for array in stack)


def logits_of(
    parameters: Parameters, activations: Sequence[Activation], features: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return what one model says of records before the softmax, (n, C)."""
    last = len(parameters) // 2 - 1
    values = features
    for layer, (kernel, bias) in enumerate(zip(parameters[::2], parameters[1::2], strict=True)):
        values = values @ kernel + bias
        if layer < last:
            values = activate(activations[layer], values)
    return values


def activate(  # noqa: PLR0911 (one for each activation)
    activation: Activation, z: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return an activation of pre-activations, by Keras's definitions, as float32."""
    match activation:
        case "relu":
            return np.maximum(z, np.float32(0))
        case "tanh":
            return np.tanh(z)
        case "sigmoid":
            return _sigmoid(z)
        case "softplus":
            return np.logaddexp(z, np.float32(0))
        case "elu":
            return _elu(z, 1.0)
        case "selu":
            return np.float32(SELU_SCALE) * _elu(z, SELU_ALPHA)
        case "linear":
            return z


def _sigmoid(z: NDArray[np.float32]) -> NDArray[np.float32]:
    small = np.exp(-np.abs(z))
    return (np.where(z >= 0, np.float32(1), small) / (np.float32(1) + small)).astype(np.float32)


def _elu(z: NDArray[np.float32], alpha: float) -> NDArray[np.float32]:
    return np.where(z > 0, z, np.float32(alpha) * np.expm1(np.minimum(z, np.float32(0))))
