"""A small conditional DCGAN: it samples, and its discriminator says how real a record looks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints
from policy_engine.audits.generative.models.codes import labels_of, one_hot, shares_of
from policy_engine.audits.generative.models.gan_steps import (
    GanDesign,
    GanInputs,
    GanState,
    compiled_networks,
    compiled_step,
    first_state,
)
from policy_engine.audits.membership.training.runtime import need_tensorflow, use_few_threads
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

_ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class GanSettings:
    """How a model is trained: `iterations` of one step of each network.

    The widths are those of the dense layer, the inner and the outer convolution: a quarter of the
    experiments'.
    """

    widths: tuple[int, int, int] = (256, 32, 16)
    latent: int = 62
    iterations: int = 3_500
    batch_size: int = 50
    learning_rate: float = 2e-4


@dataclass(frozen=True, eq=False)
class Dcgan:
    """A trained model. Its layers are normalised by frozen statistics, not by those of a batch.

    Those of the generator are of its own images; those of the discriminator are of the records that
    it was trained on. `shape` is that of one record as it is given.
    """

    design: GanDesign
    shape: tuple[int, ...]
    generator: dict[str, NDArray[np.float32]]
    discriminator: dict[str, NDArray[np.float32]]
    statistics: tuple[Any, Any]

    def sample(self, n: int, *, label: int | None = None, seed: int) -> NDArray[np.float32]:
        """Return `n` samples, (n, *shape), values from 0 to 1.

        They are of one class, or of all classes in turn.
        """
        labels = np.arange(n) % max(self.design.classes, 1) if label is None else np.full(n, label)
        codes = one_hot(labels, self.design.classes)
        noise = _noise(np.random.default_rng(seed), (n, self.design.latent))
        networks, (generator, _) = compiled_networks(self.design), self._tensors
        blocks = [
            networks.images(generator, noise[rows], codes[rows], self.statistics[0]).numpy()
            for rows in _blocks(n)
        ]
        images = np.concatenate([np.empty((0, *self.design.shape), np.float32), *blocks])
        return images.reshape(n, *self.shape)

    def discriminate(self, x: Floats, *, label: Ints | int | None = None) -> NDArray[np.float64]:
        """Return the discriminator's logits, (n,), the higher the rather real.

        Raises AuditError (A002) without the classes of the records, (A003) for values that are not
        between 0 and 1.
        """
        images = shares_of(x, int(np.prod(self.shape))).reshape(-1, *self.design.shape)
        codes = one_hot(labels_of(label, len(images), self.design.classes), self.design.classes)
        networks, (_, discriminator) = compiled_networks(self.design), self._tensors
        blocks = [
            networks.logits(discriminator, images[rows], codes[rows], self.statistics[1]).numpy()
            for rows in _blocks(len(images))
        ]
        return np.concatenate([np.empty(0), *blocks])

    @cached_property
    def _tensors(self) -> tuple[Any, Any]:
        constant = need_tensorflow().constant
        networks = self.generator, self.discriminator
        generator, discriminator = (
            {name: constant(one) for name, one in network.items()} for network in networks
        )
        return generator, discriminator


def fit_gan(
    values: Floats,
    labels: Ints | None,
    *,
    shape: tuple[int, ...],
    classes: int,
    settings: GanSettings,
    seed: int,
    progress: Progress = silent,
) -> Dcgan:
    """Return the model of some images, (n, d) of values from 0 to 1, and their labels.

    `shape` is (height, width) or (height, width, channels). The statistics are measured on one
    large batch when training is over. Without labels there is one class.

    Raises AuditError (A003) for values outside their range, (A013) where a loss is no longer a
    number; DataError (C011) without TensorFlow; ValueError for a shape that is not of images.
    """
    if len(shape) not in (2, 3):
        raise ValueError(f"images have a height and a width, not the shape {shape}")
    use_few_threads()
    design = GanDesign(
        shape=(shape[0], shape[1], shape[2] if len(shape) == 3 else 1),
        classes=classes,
        widths=settings.widths,
        latent=settings.latent,
        learning_rate=settings.learning_rate,
    )
    images = shares_of(values, int(np.prod(shape))).reshape(-1, *design.shape)
    codes = one_hot(np.zeros(len(images), np.int64) if labels is None else labels, classes)
    random = np.random.default_rng(seed)
    state, step = first_state(design, random), compiled_step(design)
    batches = _batches(images, codes, design, settings.batch_size, random)
    for iteration, inputs in zip(range(settings.iterations), batches, strict=False):
        state, *losses = step(state, inputs)
        if not np.isfinite(np.asarray(losses)).all():
            message = f"A loss is no longer a number in iteration {iteration + 1}."
            raise AuditError.of("A013", message, "Lower the learning rate.")
        progress("training a generative model", iteration + 1, settings.iterations)
    return _frozen(design, shape, state, next(_batches(images, codes, design, 1_000, random)))


def _batches(
    images: NDArray[np.float32],
    codes: NDArray[np.float32],
    design: GanDesign,
    batch_size: int,
    random: np.random.Generator,
) -> Iterator[GanInputs]:
    """Yield batches without end: each epoch in a new order, an incomplete last batch left out."""
    size = min(batch_size, len(images))
    while True:
        order = random.permutation(len(images))
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            yield GanInputs(images[rows], codes[rows], _noise(random, (2, size, design.latent)))


def _frozen(design: GanDesign, shape: tuple[int, ...], state: GanState, batch: GanInputs) -> Dcgan:
    statistics = compiled_networks(design).statistics(state, batch)
    generator, discriminator = (
        {name: np.asarray(one, np.float32) for name, one in network.items()}
        for network in (state.generator, state.discriminator)
    )
    return Dcgan(design, shape, generator, discriminator, statistics)


def _noise(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return evenly distributed noise from -1 to 1."""
    return random.uniform(-1, 1, shape).astype(np.float32)


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + _ROWS_AT_ONCE) for start in range(0, rows, _ROWS_AT_ONCE)]
