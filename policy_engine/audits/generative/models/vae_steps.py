"""The steps of training a conditional variational autoencoder, compiled once for all models.

Nothing is random in here: what is drawn comes with the steps, so that the same seed gives the
same model, whether TensorFlow compiles the steps (XLA) or not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.runtime import need_tensorflow

Tensor = Any
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
_LEAST_SCALE = 1e-6
_LEVELS = 1 << 16
_LAYERS = 6


@dataclass(frozen=True)
class VaeDesign:
    """The widths of both networks, and what their training is compiled for.

    `encoder` and `decoder` have two hidden layers each. `keep` is the probability with which
    dropout keeps a hidden unit.
    """

    features: int
    classes: int
    encoder: tuple[int, int]
    decoder: tuple[int, int]
    latent: int
    keep: float
    learning_rate: float

    @property
    def hidden(self) -> tuple[int, ...]:
        """The widths of the hidden layers, in the order in which a record passes them."""
        return *self.encoder, *self.decoder

    def shapes(self) -> list[tuple[int, int]]:
        """Return the shapes of the weights of the six layers."""
        first, second = self.encoder
        third, fourth = self.decoder
        return [
            (self.features + self.classes, first),
            (first, second),
            (second, 2 * self.latent),
            (self.latent + self.classes, third),
            (third, fourth),
            (fourth, self.features),
        ]


class StepInputs(NamedTuple):
    """What some steps train on: all have the axes (steps, batch, width).

    `codes` are labels, one-hot; `normals` make the latent codes of the means; `levels` are random
    whole numbers of 16 bits, one for each hidden unit, which say what dropout drops.
    """

    values: NDArray[np.float32]
    codes: NDArray[np.float32]
    normals: NDArray[np.float32]
    levels: NDArray[np.uint16]


class VaeState(NamedTuple):
    """The parameters (kernel and bias of each layer), Adam's two slots, and the steps taken."""

    parameters: tuple[Tensor, ...]
    means: tuple[Tensor, ...]
    squares: tuple[Tensor, ...]
    taken: Tensor


def first_state(design: VaeDesign, random: np.random.Generator) -> VaeState:
    """Return truncated normal kernels of variance 2.6 / fan-in before truncation, biases of 0."""
    parameters: list[NDArray[np.float32]] = []
    for inputs, outputs in design.shapes():
        kernel = _truncated_normals(random, (inputs, outputs)) * np.sqrt(1.3 * 2 / inputs)
        parameters += [kernel.astype(np.float32), np.zeros(outputs, np.float32)]
    zeros = tuple(np.zeros_like(one) for one in parameters)
    return VaeState(tuple(parameters), zeros, zeros, np.float32(0))


def _truncated_normals(
    random: np.random.Generator, shape: tuple[int, int]
) -> NDArray[np.floating[Any]]:
    normals = random.standard_normal(shape)
    while (is_far := np.abs(normals) > 2).any():
        normals[is_far] = random.standard_normal(int(is_far.sum()))
    return normals


@lru_cache(maxsize=16)
def compiled_steps(design: VaeDesign, *, jit: bool = True) -> Callable[..., Any]:
    """Return the function of a state and `StepInputs` to the next state and the mean loss."""
    tf = need_tensorflow()
    vae = _Graph(tf, design)
    function: Callable[..., Any] = tf.function(vae.steps, jit_compile=jit, autograph=False)
    return function


@lru_cache(maxsize=16)
def compiled_passes(design: VaeDesign) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the encoder (mean and scale) and the decoder (values), both without dropout."""
    tf = need_tensorflow()
    vae = _Graph(tf, design)
    encode: Callable[..., Any] = tf.function(vae.encode, autograph=False, reduce_retracing=True)
    return encode, _traced_decoder(tf, vae, design)


def _traced_decoder(tf: Any, vae: "_Graph", design: VaeDesign) -> Callable[..., Any]:
    """Return the decoder for any number of codes: it is called thousands of times, and to find out
    whether a trace fits takes as long as a tenth of its work."""
    weights = [tf.TensorSpec(one) for shape in design.shapes() for one in (shape, shape[1:])]
    inputs = [tf.TensorSpec((None, width)) for width in (design.latent, design.classes)]
    traced = tf.function(vae.values, autograph=False).get_concrete_function(tuple(weights), *inputs)

    def decode(parameters: tuple[Tensor, ...], latent: Any, codes: Any) -> Tensor:
        return traced(parameters, tf.constant(latent), tf.constant(codes))

    return decode


class _Graph:
    """Both networks on tensors. Hidden activations: elu, tanh in the encoder; tanh, elu after."""

    def __init__(self, tf: Any, design: VaeDesign) -> None:
        self._tf, self._design = tf, design

    def steps(self, state: VaeState, inputs: StepInputs) -> tuple[VaeState, Tensor]:
        """Take one step of Adam for each batch."""
        tf = self._tf
        count = inputs.values.shape[0]

        def body(step: Tensor, state: VaeState, total: Tensor) -> tuple[Tensor, VaeState, Tensor]:
            batch: list[Tensor] = [one[step] for one in inputs]
            gradients, loss = self._gradients(state.parameters, StepInputs(*batch))
            return step + 1, self._adam(state, gradients), total + loss

        start = (tf.constant(0), state, tf.constant(0.0))
        _, state, total = tf.while_loop(lambda step, *_: step < count, body, start)
        return state, total / count

    def encode(self, parameters: tuple[Tensor, ...], values: Tensor, codes: Tensor) -> Any:
        """Return the means and the scales of the latent codes of records."""
        return self._encode(parameters, values, codes, None)

    def values(self, parameters: tuple[Tensor, ...], latent: Tensor, codes: Tensor) -> Tensor:
        """Return the values that latent codes stand for, between 0 and 1."""
        return self._tf.sigmoid(self._decode(parameters, latent, codes, None))

    def _gradients(self, parameters: tuple[Tensor, ...], batch: StepInputs) -> Any:
        tf = self._tf
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            masks = self._masks(batch.levels)
            mean, scale = self._encode(parameters, batch.values, batch.codes, masks[:2])
            latent = mean + scale * batch.normals
            logits = self._decode(parameters, latent, batch.codes, masks[2:])
            entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=batch.values, logits=logits)
            divergence = 0.5 * (mean**2 + scale**2 - tf.math.log(1e-8 + scale**2) - 1)
            loss = tf.reduce_mean(tf.reduce_sum(entropy, 1) + tf.reduce_sum(divergence, 1))
        return tape.gradient(loss, parameters), loss

    def _masks(self, levels: Tensor) -> list[Tensor]:
        """Return the factors of the hidden units: 0, or what makes up for those that are 0."""
        tf, keep = self._tf, self._design.keep
        kept = tf.cast(tf.cast(levels, tf.int32) < round(keep * _LEVELS), tf.float32) / keep
        parts: list[Tensor] = tf.split(kept, self._design.hidden, axis=1)
        return parts

    def _encode(
        self, parameters: tuple[Tensor, ...], values: Tensor, codes: Tensor, masks: Any
    ) -> tuple[Tensor, Tensor]:
        tf = self._tf
        hidden = _joined(tf, values, codes)
        for layer, activation in enumerate((tf.nn.elu, tf.tanh)):
            hidden = _dropped(activation(_dense(tf, parameters, layer, hidden)), masks, layer)
        mean, raw = tf.split(_dense(tf, parameters, 2, hidden), 2, axis=1)
        return mean, _LEAST_SCALE + tf.nn.softplus(raw)

    def _decode(
        self, parameters: tuple[Tensor, ...], latent: Tensor, codes: Tensor, masks: Any
    ) -> Tensor:
        tf = self._tf
        hidden = _joined(tf, latent, codes)
        for layer, activation in enumerate((tf.tanh, tf.nn.elu)):
            hidden = _dropped(activation(_dense(tf, parameters, 3 + layer, hidden)), masks, layer)
        return _dense(tf, parameters, _LAYERS - 1, hidden)

    def _adam(self, state: VaeState, gradients: list[Tensor]) -> VaeState:
        """Return the next state (Kingma and Ba, ICLR 2015, with the corrected rate)."""
        tf = self._tf
        taken = state.taken + 1
        rate = self._design.learning_rate * tf.sqrt(1 - BETA_2**taken) / (1 - BETA_1**taken)
        means = [m + (1 - BETA_1) * (g - m) for m, g in zip(state.means, gradients, strict=True)]
        squares = [
            v + (1 - BETA_2) * (g * g - v) for v, g in zip(state.squares, gradients, strict=True)
        ]
        parameters = [
            p - rate * m / (tf.sqrt(v) + EPSILON)
            for p, m, v in zip(state.parameters, means, squares, strict=True)
        ]
        return VaeState(tuple(parameters), tuple(means), tuple(squares), taken)


def _joined(tf: Any, values: Tensor, codes: Tensor) -> Tensor:
    return tf.concat([values, codes], axis=1)


def _dense(tf: Any, parameters: tuple[Tensor, ...], layer: int, values: Tensor) -> Tensor:
    return tf.matmul(values, parameters[2 * layer]) + parameters[2 * layer + 1]


def _dropped(hidden: Tensor, masks: Any, layer: int) -> Tensor:
    return hidden if masks is None else hidden * masks[layer]
