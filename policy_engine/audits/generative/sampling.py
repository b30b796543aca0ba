"""Samples of a generator in batches: those that were released, or those that a model draws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints, Material, RecordSet
from policy_engine.audits.generative.models.own_code import own_array, own_code
from policy_engine.errors import AuditError, join_names

_BATCH = 1_000
"""Samples of a class that are drawn at once: of more, what a network computes leaves the cache."""
_ENOUGH = 20
"""Fewer samples may all be the same by chance, where they have few values."""


Apply = Callable[[Floats], Floats]


def unchanged(values: Floats) -> Floats:
    """Return samples as they are."""
    return values


class Sampler(Protocol):
    """Where samples come from."""

    @property
    def is_limited(self) -> bool:
        """Whether there are no more samples than those released."""
        ...

    def batches(
        self, count: int, seed: int, start: int = 0, apply: Apply = unchanged
    ) -> Iterator[RecordSet]:
        """Yield `count` samples, or all where there are fewer, but for the first `start` of them.

        A batch ends at each of `marks(count)`. Its values are what `apply` makes of the samples
        (n, d), such as their points in a space: it is made while they are in the cache.
        """
        ...


def marks(count: int) -> tuple[int, ...]:
    """Return 1,000, 3,000, 10,000 and so on below a count, and the count."""
    powers = (place * 10**power for power in range(3, 16) for place in (1, 3))
    return (*(mark for mark in powers if mark < count), count)


def _batches(start: int, count: int, largest: int) -> Iterator[tuple[int, int]]:
    """Yield the starts and ends of batches of at most `largest`, one of which ends at each mark."""
    for mark in marks(count):
        while start < mark:
            end = min(start + largest, mark)
            yield start, end
            start = end


@dataclass(frozen=True)
class ReleasedSamples:
    """The records of a file, each once, in an order by draw."""

    record_set: RecordSet
    is_limited: bool = True

    def batches(
        self, count: int, seed: int, start: int = 0, apply: Apply = unchanged
    ) -> Iterator[RecordSet]:
        """Yield records of the file."""
        records = self.record_set
        order = np.random.default_rng([seed, len(records)]).permutation(len(records))
        for first, end in _batches(start, min(count, len(records)), 10 * _BATCH):
            rows = order[first:end]
            labels = None if records.labels is None else records.labels[rows]
            yield RecordSet(records.name, apply(records.values[rows]), labels)


@dataclass(frozen=True)
class ModelSamples:
    """What a model draws: `classes` in equal numbers, or without a label where there are none.

    `shape` is that of one record; `name` stands for the model in messages. Bytes are shares of 255
    where those of the records `are_shares`; the `precision` is that of the records.
    """

    model: Any
    shape: tuple[int, ...]
    classes: int = 0
    name: str = "the model"
    are_shares: bool = False
    precision: Any = np.float32
    is_limited: bool = False

    def batches(
        self, count: int, seed: int, start: int = 0, apply: Apply = unchanged
    ) -> Iterator[RecordSet]:
        """Yield samples of the model.

        Raises AuditError (A032) where they are not numbers of the shape, where some are missing or
        infinite, where all of one class are alike, and where other seeds give the same.
        """
        labels = range(self.classes) if self.classes else (None,)
        before: dict[int | None, Floats] = {}
        for first, end in _batches(start, count, _BATCH * len(labels)):
            # What is left over goes to other classes each time.
            turned = [labels[(one + first) % len(labels)] for one in range(len(labels))]
            parts: list[tuple[int | None, Floats]] = []
            for label, rows in zip(turned, _shares(end - first, len(labels)), strict=True):
                if not rows:
                    continue
                samples = self._draw(rows, label, [seed, first, label or 0])
                if label in before and _are_repeated(before[label], samples):
                    message = f"{self.name} gives the same samples for other seeds."
                    raise AuditError.of("A032", message, "It is to use its seed.")
                before[label] = samples[:_COMPARED].copy()
                parts.append((label, apply(samples)))
            values = np.concatenate([samples for _, samples in parts])
            yield RecordSet(self.name, values, self._labels(parts))

    def _labels(self, parts: Sequence[tuple[int | None, Floats]]) -> Ints | None:
        if not self.classes:
            return None
        labels = [np.full(len(samples), label or 0, np.int64) for label, samples in parts]
        return np.concatenate(labels)

    def _draw(self, count: int, label: int | None, seed: list[int]) -> Floats:
        number = int(np.random.SeedSequence(seed).generate_state(1)[0] >> 1)
        samples = own_array(ask_samples(self.model, count, label, number), self.name)
        self._check(samples, count, label)
        if self.are_shares and samples.dtype == np.uint8:
            samples = samples / np.float32(255)
        # In a precision of its own a sample would be equal to no record.
        return samples.reshape(count, -1).astype(self.precision, copy=False)

    def _check(self, samples: NDArray[Any], count: int, label: int | None) -> None:
        shape = (count, *self.shape)
        if samples.dtype.kind not in "biuf" or samples.shape not in (shape, _flat(shape)):
            message = f"{self.name} gives {samples.dtype} of shape {samples.shape}."
            raise AuditError.of("A032", message, f"Allowed are numbers of shape {shape}.")
        of_class = "" if label is None else f" of class {label}"
        if not _are_finite(samples):
            bad = int((~np.isfinite(samples)).reshape(count, -1).any(axis=1).sum())
            message = f"{bad:,} of {count:,} samples{of_class} of {self.name} are not finite."
            raise AuditError.of("A032", message)
        are_ends_alike = np.array_equal(samples[0], samples[-1])  # spares a look at all
        if count >= _ENOUGH and are_ends_alike and (samples == samples[:1]).all():
            message = f"{count:,} samples{of_class} of {self.name} are all the same."
            raise AuditError.of("A032", message, "Does it use its seed, and was it trained?")


def ask_samples(model: Any, count: int, label: int | None, seed: int) -> Any:
    """Return what a model samples. Raises AuditError (A032) for whatever it raises."""
    hint = "It has a method sample(n, *, label=None, seed), which returns n records."
    with own_code("A032", "The model", "as it samples", hint):
        return model.sample(count, label=label, seed=seed)


_COMPARED = 200


def _are_repeated(before: Floats, samples: Floats) -> bool:
    """Return whether samples begin as those before, and hardly by chance."""
    count = min(len(before), len(samples))
    if count < _ENOUGH or not np.array_equal(before[:count], samples[:count]):
        return False
    # So often one sample is equal to the next.
    chance = max(float((before[1:] == before[:-1]).all(axis=1).mean()), 1 / count)
    return bool(count * np.log(chance) < np.log(_CHANCE))


_CHANCE = 1e-9


def _are_finite(samples: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        total = samples.sum()  # makes no array: where it is finite, so are its parts
    return bool(np.isfinite(total) or np.isfinite(samples).all())


def _flat(shape: tuple[int, ...]) -> tuple[int, int]:
    return shape[0], int(np.prod(shape[1:]))


def _shares(count: int, parts: int) -> list[int]:
    """Return `parts` whole numbers as equal as can be, whose sum is `count`."""
    return [count // parts + (place < count % parts) for place in range(parts)]


def sampler_of(material: Material) -> Sampler | None:
    """Return the samples of the model where it draws some, or else those that were released."""
    if material.model is not None and hasattr(material.model, "sample"):
        if texts := [one.name for one in material.columns if not one.is_number or one.is_time]:
            message = f"The model gives no texts, and the columns {join_names(texts)} have some."
            hint = "Return a frame, a list of dicts or an array of objects from sample()."
            raise AuditError.of("A032", message, hint)
        shape = material.shape or (len(material.columns),)
        values = material.members.values
        are_shares = not material.is_table and values.min() >= 0 and values.max() <= 1
        classes = len(material.classes)
        return ModelSamples(
            material.model,
            shape,
            classes,
            are_shares=bool(are_shares),
            precision=values.dtype.type,
        )
    return ReleasedSamples(material.synthetic) if material.synthetic is not None else None


def first_samples(sampler: Sampler, seed: int) -> RecordSet:
    """Return the first batch, as a part of what tells a model from another one."""
    return next(iter(sampler.batches(_BATCH, seed)))
