"""A conditional variational autoencoder, as the experiments of MOSAICrOWN D5.2 train it.

The experiments are those of section 4.4; they follow Hilprecht et al., "Monte Carlo and
Reconstruction Membership Inference Attacks against Generative Models", PoPETs 2019.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints
from policy_engine.audits.generative.models.codes import labels_of, one_hot, shares_of
from policy_engine.audits.generative.models.vae_steps import (
    StepInputs,
    VaeDesign,
    VaeState,
    compiled_passes,
    compiled_steps,
    first_state,
)
from policy_engine.audits.membership.training.runtime import need_tensorflow, use_few_threads
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

_STEPS_AT_ONCE = 64
_ROWS_AT_ONCE = 2_000  # more of them leave the cache of a processor


@dataclass(frozen=True)
class VaeSettings:
    """How a model is trained.

    `encoder` and `decoder` are the widths of two hidden layers each, `keep` is the probability
    with which dropout keeps a unit of them, `jit` has XLA compile the steps.
    """

    encoder: tuple[int, int] = (510, 500)
    decoder: tuple[int, int] = (500, 500)
    latent: int = 10
    keep: float = 0.9
    epochs: int = 300
    batch_size: int = 128
    learning_rate: float = 1e-3
    jit: bool = True


@dataclass(frozen=True, eq=False)
class ConditionalVae:
    """A trained model: it samples, and reconstructs. Dropout is off in both.

    `parameters` are the kernel and the bias of each of its six layers.
    """

    design: VaeDesign
    shape: tuple[int, ...]
    parameters: tuple[NDArray[np.float32], ...]

    def sample(self, n: int, *, label: int | None = None, seed: int) -> NDArray[np.float32]:
        """Return `n` samples, (n, *shape), values from 0 to 1.

        They are of one class, or of all classes in turn.
        """
        classes = self.design.classes
        labels = np.arange(n) % max(classes, 1) if label is None else np.full(n, label)
        latent = np.random.default_rng(seed).standard_normal(
            (n, self.design.latent), dtype=np.float32
        )
        blocks = [self._decoded(latent[r], one_hot(labels[r], classes)) for r in _blocks(n)]
        values = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return values.reshape(n, *self.shape)

    def reconstruct(
        self, x: Floats, *, label: Ints | int | None = None, passes: int, seed: int
    ) -> NDArray[np.float32]:
        """Return the records as the model remembers them, (n, *shape).

        With 0 passes the latent code is its mean, otherwise the result is the mean over as many
        codes, drawn at random. Raises AuditError (A002) without the classes of the records, (A003)
        for values that are not between 0 and 1.
        """
        flat = shares_of(x, self.design.features)
        codes = one_hot(labels_of(label, len(flat), self.design.classes), self.design.classes)
        random = np.random.default_rng(seed)
        values = np.zeros_like(flat)
        for rows in _blocks(len(flat)):
            mean, scale = self._encoded(flat[rows], codes[rows])
            for _ in range(max(passes, 1)):
                noise = random.standard_normal(mean.shape, dtype=np.float32) if passes else 0
                values[rows] += self._decoded(mean + scale * noise, codes[rows])
        values /= np.float32(max(passes, 1))
        return values.reshape(-1, *self.shape)

    @cached_property
    def _tensors(self) -> tuple[Any, ...]:
        tf = need_tensorflow()
        return tuple(tf.constant(one) for one in self.parameters)

    def _encoded(self, values: Any, codes: Any) -> list[NDArray[np.float32]]:
        encode, _ = compiled_passes(self.design)
        return [one.numpy() for one in encode(self._tensors, values, codes)]

    def _decoded(self, latent: Any, codes: Any) -> NDArray[np.float32]:
        _, decode = compiled_passes(self.design)
        # A view, where `numpy()` would copy: most of the time beside the products goes into copies.
        return np.asarray(memoryview(decode(self._tensors, latent, codes)))


def fit_vae(
    values: Floats,
    labels: Ints | None,
    *,
    shape: tuple[int, ...],
    classes: int,
    settings: VaeSettings,
    seed: int,
    progress: Progress = silent,
) -> ConditionalVae:
    """Return the model of some records, (n, d) of values from 0 to 1, and their labels.

    The loss is the mean over a batch of the sum over all values of the cross-entropy, and of
    the divergence of the latent codes from normal ones. Each epoch has a new order, of which the
    last, incomplete batch is left out. The last weights are the result. Without labels there is one
    class.

    Raises AuditError (A003) for values outside their range, (A013) where the loss is no longer a
    number; DataError (C011) without TensorFlow.
    """
    use_few_threads()
    flat = shares_of(values, int(np.prod(shape)))
    codes = one_hot(np.zeros(len(flat), np.int64) if labels is None else labels, classes)
    design = _design(flat.shape[1], classes, settings)
    random = np.random.default_rng(seed)
    state, steps = first_state(design, random), compiled_steps(design, jit=settings.jit)
    for epoch in range(settings.epochs):
        for inputs in _epoch(flat, codes, design, settings.batch_size, random):
            state, loss = steps(state, inputs)
        if not np.isfinite(loss.numpy()):
            message = f"The loss is no longer a number in epoch {epoch + 1} of {settings.epochs}."
            raise AuditError.of("A013", message, "Lower the learning rate.")
        progress("training a generative model", epoch + 1, settings.epochs)
    return ConditionalVae(design, shape, _arrays(state))


def _design(features: int, classes: int, settings: VaeSettings) -> VaeDesign:
    return VaeDesign(
        features=features,
        classes=classes if classes > 1 else 0,  # one class has no codes
        encoder=settings.encoder,
        decoder=settings.decoder,
        latent=settings.latent,
        keep=settings.keep,
        learning_rate=settings.learning_rate,
    )


def _epoch(
    values: NDArray[np.float32],
    codes: NDArray[np.float32],
    design: VaeDesign,
    batch_size: int,
    random: np.random.Generator,
) -> Any:
    """Yield the steps of an epoch, so many at once that memory does not grow with the records."""
    size = min(batch_size, len(values))
    order = random.permutation(len(values))[: len(values) // size * size].reshape(-1, size)
    for start in range(0, len(order), _STEPS_AT_ONCE):
        rows = order[start : start + _STEPS_AT_ONCE]
        hidden = (*rows.shape, sum(design.hidden))
        yield StepInputs(
            values[rows],
            codes[rows],
            random.standard_normal((*rows.shape, design.latent), dtype=np.float32),
            random.integers(0, 1 << 16, hidden, dtype=np.uint16),
        )


def _arrays(state: VaeState) -> tuple[NDArray[np.float32], ...]:
    return tuple(np.asarray(one, np.float32) for one in state.parameters)


def _blocks(rows: int) -> list[slice]:
    starts = range(0, max(rows, 1), _ROWS_AT_ONCE)
    return [slice(start, start + _ROWS_AT_ONCE) for start in starts]
