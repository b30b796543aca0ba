"""Models of Keras that sample, and perhaps reconstruct or discriminate.

A generator takes noise and gives records; an encoder takes records and gives the mean of their
latent codes and, where it has a second output, the logarithm of their variance; a discriminator
gives one number for each record. Each may take the class as a second input: one-hot where that is
wider than 1, otherwise as a whole number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints
from policy_engine.audits.generative.models.codes import labels_of, one_hot
from policy_engine.audits.membership.training.runtime import ignore_deprecations
from policy_engine.errors import AuditError

_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, eq=False)
class KerasGenerator:
    """A generator of Keras. What it cannot do besides is None."""

    generator: Any
    reconstruct: Callable[..., NDArray[Any]] | None = None
    discriminate: Callable[..., NDArray[Any]] | None = None

    def sample(self, n: int, *, label: int | None = None, seed: int) -> NDArray[np.float32]:
        """Return what the generator makes of standard normal noise.

        Without a label a generator that takes classes is given them in turn.
        """
        (latent, *_), classes = _widths(self.generator), _classes(self.generator)
        labels = np.arange(n) % max(classes, 1) if label is None else np.full(n, label)
        noise = np.random.default_rng(seed).standard_normal((n, latent), dtype=np.float32)
        return _run(self.generator, noise, labels)[0]


@dataclass(frozen=True, eq=False)
class KerasReconstruction:
    """A generator behind an encoder."""

    generator: Any
    encoder: Any

    def __call__(
        self, x: Floats, *, label: Ints | int | None = None, passes: int, seed: int
    ) -> NDArray[np.float32]:
        """Return what becomes of records: by the mean code, or the mean over some passes."""
        classes = max(_classes(self.generator), _classes(self.encoder))
        labels = labels_of(label, len(x), classes)
        mean, *others = _run(self.encoder, np.asarray(x, np.float32), labels)
        scale = np.exp(0.5 * others[0]) if others else np.zeros_like(mean)
        random = np.random.default_rng(seed)
        codes = [
            mean + scale * random.standard_normal(mean.shape, dtype=np.float32)
            for _ in range(passes)
        ] or [mean]
        answers = [_run(self.generator, one, labels)[0] for one in codes]
        mean_answer: NDArray[np.float32] = np.mean(answers, axis=0)
        return mean_answer


@dataclass(frozen=True, eq=False)
class KerasDiscriminator:
    """What a discriminator says of records."""

    discriminator: Any

    def __call__(self, x: Floats, *, label: Ints | int | None = None) -> NDArray[np.float64]:
        """Return its output for records, (n,). Raises AuditError (A014) where it has more."""
        labels = labels_of(label, len(x), _classes(self.discriminator))
        # At once: where a layer depends on the batch, the caller says what is in it.
        output = _run(self.discriminator, np.asarray(x, np.float32), labels, len(x))[0]
        if output.size != len(x):
            message = f"The discriminator gives an output of shape {output.shape}."
            raise AuditError.of("A014", message, "One number for each record is needed.")
        return output.reshape(-1).astype(np.float64)


def _widths(model: Any) -> list[int]:
    """Return the widths of the inputs of a model, (latent or features, classes)."""
    return [int(np.prod([side or 1 for side in one.shape[1:]])) for one in model.inputs]


def _classes(model: Any) -> int:
    """Return how many classes a model takes: 0 where it takes none, or a whole number."""
    widths = _widths(model)
    return widths[1] if len(widths) > 1 and widths[1] > 1 else 0


def _run(
    model: Any, values: NDArray[np.float32], labels: Ints, rows_at_once: int = _ROWS_AT_ONCE
) -> list[NDArray[np.float32]]:
    """Return the outputs of a model on some records and their labels."""
    shape = [side or -1 for side in model.inputs[0].shape[1:]]
    inputs: list[NDArray[Any]] = [values.reshape(len(values), *shape)]
    if len(model.inputs) > 1:
        classes = _classes(model)
        codes = one_hot(labels, classes) if classes else labels[:, None]
        inputs.append(codes.reshape(len(values), *model.inputs[1].shape[1:]))
    blocks = [
        _outputs(model, [one[start : start + rows_at_once] for one in inputs])
        for start in range(0, len(values), rows_at_once)
    ]
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _outputs(model: Any, inputs: list[NDArray[Any]]) -> list[NDArray[np.float32]]:
    with ignore_deprecations():
        outputs = model.predict_on_batch(inputs if len(inputs) > 1 else inputs[0])
    several = outputs if isinstance(outputs, list | tuple) else [outputs]
    return [np.asarray(one, np.float32) for one in several]
