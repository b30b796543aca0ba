"""Both networks of a small conditional DCGAN, and the step that trains them in turn.

The layers are those of the experiments of MOSAICrOWN D5.2, section 4.4 (Radford et al., ICLR 2016).
The discriminator gives plain logits: clipped and normalised over a batch, as there, they say
little of a record. XLA is not used: on a processor it does not get through convolutions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.runtime import need_tensorflow

Tensor = Any
Parameters = dict[str, Any]
BETA_1, BETA_2, EPSILON = 0.5, 0.999, 1e-8
_DEVIATION, _LEAK, _LEAST_VARIANCE, _SIDE = 0.02, 0.2, 1e-5, 4


@dataclass(frozen=True)
class GanDesign:
    """The shape of images (height, width, channels), the classes, and the widths of the layers.

    `widths` are those of the dense layer, the inner and the outer convolution; `latent` is that of
    the noise.
    """

    shape: tuple[int, int, int]
    classes: int
    widths: tuple[int, int, int]
    latent: int
    learning_rate: float

    @property
    def codes(self) -> int:
        """The columns that say the class."""
        return self.classes if self.classes > 1 else 0

    @property
    def halves(self) -> tuple[int, int]:
        """Height and width behind the outer convolution."""
        return -(-self.shape[0] // 2), -(-self.shape[1] // 2)

    @property
    def quarters(self) -> tuple[int, int]:
        """Height and width behind both convolutions."""
        return -(-self.halves[0] // 2), -(-self.halves[1] // 2)

    @property
    def flat(self) -> int:
        """The values behind both convolutions."""
        return self.quarters[0] * self.quarters[1] * self.widths[1]


class GanState(NamedTuple):
    """The parameters of both networks, Adam's slots of each parameter, and the steps taken."""

    generator: Parameters
    discriminator: Parameters
    slots: tuple[dict[str, Any], dict[str, Any]]
    taken: Any


def first_state(design: GanDesign, random: np.random.Generator) -> GanState:
    """Return normal kernels with a standard deviation of .02, and neutral other parameters."""
    networks = [
        {name: _first(name, shape, random) for name, shape in shapes.items()}
        for shapes in (_generator_shapes(design), _discriminator_shapes(design))
    ]
    zeros = [
        {name: np.zeros_like(one) for network in networks for name, one in network.items()}
        for _ in range(2)
    ]
    return GanState(networks[0], networks[1], (zeros[0], zeros[1]), np.float32(0))


def _first(name: str, shape: Sequence[int], random: np.random.Generator) -> NDArray[np.float32]:
    if name.endswith("kernel"):
        kernel: NDArray[np.float32] = random.standard_normal(shape, dtype=np.float32)
        return kernel * np.float32(_DEVIATION)
    return np.full(shape, float(name.endswith("scale")), np.float32)


def _generator_shapes(design: GanDesign) -> dict[str, tuple[int, ...]]:
    dense, inner, outer = design.widths
    return {
        "g1 kernel": (design.latent + design.codes, dense),
        **_normal_shapes("g1", dense),
        "g2 kernel": (dense, design.flat),
        **_normal_shapes("g2", design.flat),
        "g3 kernel": (_SIDE, _SIDE, outer, inner),
        **_normal_shapes("g3", outer),
        "g4 kernel": (_SIDE, _SIDE, design.shape[2], outer),
        "g4 bias": (design.shape[2],),
    }


def _discriminator_shapes(design: GanDesign) -> dict[str, tuple[int, ...]]:
    dense, inner, outer = design.widths
    return {
        "d1 kernel": (_SIDE, _SIDE, design.shape[2] + design.codes, outer),
        "d1 bias": (outer,),
        "d2 kernel": (_SIDE, _SIDE, outer, inner),
        **_normal_shapes("d2", inner),
        "d3 kernel": (design.flat, dense),
        **_normal_shapes("d3", dense),
        "d4 kernel": (dense, 1),
        "d4 bias": (1,),
    }


def _normal_shapes(layer: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{layer} scale": (width,), f"{layer} offset": (width,)}


class GanInputs(NamedTuple):
    """One batch: images (b, h, w, c), one-hot classes (b, C), and noise (2, b, latent)."""

    images: NDArray[np.float32]
    codes: NDArray[np.float32]
    noise: NDArray[np.float32]


@lru_cache(maxsize=8)
def compiled_step(design: GanDesign) -> Callable[..., Any]:
    """Return the function of a state and `GanInputs` to the next state and both losses."""
    tf = need_tensorflow()
    function: Callable[..., Any] = tf.function(_Graph(tf, design).step, autograph=False)
    return function


@lru_cache(maxsize=8)
def compiled_networks(design: GanDesign) -> "CompiledNetworks":
    """Return both networks with frozen statistics, and what measures these."""
    tf = need_tensorflow()
    graph = _Graph(tf, design)
    functions = (graph.images, graph.logits, graph.statistics)
    return CompiledNetworks(
        *(tf.function(one, autograph=False, reduce_retracing=True) for one in functions)
    )


class CompiledNetworks(NamedTuple):
    """`images` and `logits` take parameters, inputs and statistics; `statistics` gives these."""

    images: Callable[..., Any]
    logits: Callable[..., Any]
    statistics: Callable[..., Any]


class _Normalisation:
    """Batch normalisation by a batch's own statistics, which it keeps, or by given ones."""

    def __init__(self, tf: Any, parameters: Parameters, statistics: Parameters | None) -> None:
        self._tf, self._parameters, self._frozen = tf, parameters, statistics
        self.statistics: Parameters = {}

    def __call__(self, layer: str, values: Tensor) -> Tensor:
        if self._frozen is None:
            axes = list(range(len(values.shape) - 1))
            self.statistics[layer] = self._tf.nn.moments(values, axes)
        mean, variance = (self._frozen or self.statistics)[layer]
        scale, offset = (self._parameters[f"{layer} {name}"] for name in ("scale", "offset"))
        arguments = (mean, variance, offset, scale, _LEAST_VARIANCE)
        return self._tf.nn.batch_normalization(values, *arguments)


class _Graph:
    def __init__(self, tf: Any, design: GanDesign) -> None:
        self._tf, self._design = tf, design

    def step(self, state: GanState, inputs: GanInputs) -> tuple[GanState, Tensor, Tensor]:
        """Train the discriminator on one batch, and then the generator."""
        tf = self._tf
        images, codes, noise = inputs
        with tf.GradientTape() as tape:
            tape.watch(state.discriminator)
            fakes = self.images(state.generator, noise[0], codes)
            of_images = self.logits(state.discriminator, images, codes)
            of_fakes = self.logits(state.discriminator, fakes, codes)
            d_loss = self._loss(of_images, 1.0) + self._loss(of_fakes, 0.0)
        gradients = tape.gradient(d_loss, state.discriminator)
        rate = self._rate(state.taken + 1)
        discriminator, d_slots = self._adam(state.discriminator, gradients, state.slots, rate)
        with tf.GradientTape() as tape:
            tape.watch(state.generator)
            fakes = self.images(state.generator, noise[1], codes)
            g_loss = self._loss(self.logits(discriminator, fakes, codes), 1.0)
        gradients = tape.gradient(g_loss, state.generator)
        generator, g_slots = self._adam(state.generator, gradients, state.slots, rate)
        slots = {**d_slots[0], **g_slots[0]}, {**d_slots[1], **g_slots[1]}
        return GanState(generator, discriminator, slots, state.taken + 1), d_loss, g_loss

    def images(
        self, parameters: Parameters, noise: Tensor, codes: Tensor, statistics: Any = None
    ) -> Tensor:
        """Return images (b, h, w, c), values from 0 to 1."""
        normal = _Normalisation(self._tf, parameters, statistics)
        return self._images(parameters, noise, codes, normal)

    def logits(
        self, parameters: Parameters, images: Tensor, codes: Tensor, statistics: Any = None
    ) -> Tensor:
        """Return what the discriminator says of images, (b,): the higher the rather real."""
        normal = _Normalisation(self._tf, parameters, statistics)
        return self._logits(parameters, images, codes, normal)

    def statistics(self, state: GanState, inputs: GanInputs) -> tuple[Parameters, Parameters]:
        """Return means and variances of the layers: of generated images, and of real ones."""
        of_fakes = _Normalisation(self._tf, state.generator, None)
        of_images = _Normalisation(self._tf, state.discriminator, None)
        self._images(state.generator, inputs.noise[0], inputs.codes, of_fakes)
        self._logits(state.discriminator, inputs.images, inputs.codes, of_images)
        return of_fakes.statistics, of_images.statistics

    def _images(self, p: Parameters, noise: Tensor, codes: Tensor, normal: _Normalisation) -> Any:
        tf, design = self._tf, self._design
        hidden = tf.concat([noise, codes], 1) @ p["g1 kernel"]
        hidden = tf.nn.relu(normal("g1", hidden)) @ p["g2 kernel"]
        hidden = tf.nn.relu(normal("g2", hidden))
        hidden = tf.reshape(hidden, (-1, *design.quarters, design.widths[1]))
        hidden = self._enlarged(hidden, p["g3 kernel"], (*design.halves, design.widths[2]))
        hidden = tf.nn.relu(normal("g3", hidden))
        return tf.sigmoid(self._enlarged(hidden, p["g4 kernel"], design.shape) + p["g4 bias"])

    def _logits(self, p: Parameters, images: Tensor, codes: Tensor, normal: _Normalisation) -> Any:
        tf = self._tf
        maps = tf.broadcast_to(
            codes[:, None, None, :], (tf.shape(images)[0], *self._design.shape[:2], codes.shape[1])
        )
        hidden = tf.concat([images, maps], 3)
        hidden = tf.nn.conv2d(hidden, p["d1 kernel"], 2, "SAME") + p["d1 bias"]
        hidden = tf.nn.conv2d(tf.nn.leaky_relu(hidden, _LEAK), p["d2 kernel"], 2, "SAME")
        hidden = tf.nn.leaky_relu(normal("d2", hidden), _LEAK)
        hidden = tf.reshape(hidden, (-1, self._design.flat)) @ p["d3 kernel"]
        hidden = tf.nn.leaky_relu(normal("d3", hidden), _LEAK)
        return (hidden @ p["d4 kernel"] + p["d4 bias"])[:, 0]

    def _enlarged(self, values: Tensor, kernel: Tensor, shape: Sequence[int]) -> Tensor:
        tf = self._tf
        output = (tf.shape(values)[0], *shape)
        enlarged = tf.nn.conv2d_transpose(values, kernel, output, 2, "SAME")
        return tf.ensure_shape(enlarged, (None, *shape))

    def _loss(self, logits: Tensor, label: float) -> Tensor:
        tf = self._tf
        labels = tf.fill(tf.shape(logits), label)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    def _rate(self, taken: Tensor) -> Tensor:
        tf = self._tf
        return self._design.learning_rate * tf.sqrt(1 - BETA_2**taken) / (1 - BETA_1**taken)

    def _adam(self, parameters: Parameters, gradients: Parameters, slots: Any, rate: Any) -> Any:
        """Return the next parameters, and their slots (Kingma and Ba, ICLR 2015)."""
        means = {
            name: BETA_1 * slots[0][name] + (1 - BETA_1) * one for name, one in gradients.items()
        }
        squares = {
            name: BETA_2 * slots[1][name] + (1 - BETA_2) * one * one
            for name, one in gradients.items()
        }
        sqrt = self._tf.sqrt
        return {
            name: one - rate * means[name] / (sqrt(squares[name]) + EPSILON)
            for name, one in parameters.items()
        }, (means, squares)
