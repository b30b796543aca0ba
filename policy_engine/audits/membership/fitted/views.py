"""Records seen several ways: images mirrored and shifted, other records disturbed a little."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.disturbing import STRENGTHS
from policy_engine.audits.membership.fitted.blocks import Block, is_number
from policy_engine.audits.membership.observations import VIEWS, Observations, Terms, Views
from policy_engine.errors import AuditError

Logits = NDArray[np.float32]

MOST_OF_IMAGES = 18
MOST_VIEWS = 21
_CHANGED = 0.25
"""The share of bits that are flipped, and of texts that are drawn again, at strength 1."""
_VIEW = 37
_SHIFTS = (0, -1, 1)
_MIRRORED, _SHIFTED = 0.5, 1.0


def most_views(records: Block) -> int:
    """Return in how many views such records can be seen at most, themselves among them."""
    return MOST_OF_IMAGES if _are_images(records) else MOST_VIEWS


def strengths_of(records: Block, views: int) -> tuple[float, ...]:
    """Return how strong each view is but that of the records themselves, the weakest first.

    Raises AuditError (A003) for more views than there are.
    """
    if not 1 <= views <= most_views(records):
        message = f"There are 1 to {most_views(records)} views of these records. Given: {views}."
        raise AuditError.of("A003", message)
    if _are_images(records):
        return tuple(_MIRRORED if number == 1 else _SHIFTED for number in range(1, views))
    return tuple(STRENGTHS[number * len(STRENGTHS) // (views - 1)] for number in range(views - 1))


def views_of(records: Block, views: int, seed: int) -> Iterator[Block]:
    """Yield several views of records, the first unchanged: the same for every model.

    Images, (n, height, width) or with channels last, are mirrored from left to right, then both
    are shifted by a pixel in each direction, with the edge repeated (Carlini et al., IEEE S&P
    2022, section VI-C). Of other records numbers get normal noise, so many deviations of their
    column strong, and bits and texts change now and then (Choquette-Choo et al., ICML 2021,
    section 4.3). Raises AuditError (A003) for more views than there are.
    """
    yield records
    for number, strength in enumerate(strengths_of(records, views), start=1):
        if _are_images(records):
            yield _move(records, number)
        else:
            yield _disturb(records, strength, np.random.default_rng([seed, _VIEW, number]))


def observe_views(
    logits: Sequence[Logits], strengths: tuple[float, ...], labels: NDArray[np.int64], gives: Terms
) -> Observations:
    """Return what a model says of records, (n, C), and of their other views."""
    if len(logits) == 1:
        return Observations(logits[0], labels, gives)
    views = Views(np.stack(logits[1:]), strengths)
    return Observations(logits[0], labels, gives | {VIEWS}, views)


def _are_images(records: Block) -> bool:
    return isinstance(records, np.ndarray) and records.ndim in (3, 4)


def _move(images: NDArray[np.generic], number: int) -> NDArray[np.generic]:
    """Return images in one of the eighteen views: mirrored or not, shifted or not."""
    move, is_mirrored = divmod(number, 2)
    down, right = _SHIFTS[move // len(_SHIFTS)], _SHIFTS[move % len(_SHIFTS)]
    turned = images[:, :, ::-1] if is_mirrored else images
    rest = [(0, 0)] * (images.ndim - 3)
    wide = np.pad(turned, [(0, 0), (1, 1), (1, 1), *rest], mode="edge")
    rows = slice(1 - down, 1 - down + images.shape[1])
    columns = slice(1 - right, 1 - right + images.shape[2])
    return np.ascontiguousarray(wide[:, rows, columns])


def _disturb(records: Block, strength: float, random: np.random.Generator) -> Block:
    if isinstance(records, np.ndarray):
        return _add_noise(records, strength, random)
    columns = [_disturb_column(column, strength, random) for column in records.columns]
    return pa.table(columns, names=records.column_names)


def _disturb_column(
    column: pa.ChunkedArray, strength: float, random: np.random.Generator
) -> pa.Array:
    if is_number(column.type) and not pa.types.is_boolean(column.type):
        values = column.cast(pa.float64()).to_numpy()[:, None]
        return pa.array(_add_noise(values, strength, random)[:, 0])
    rows = np.arange(len(column))
    chosen = random.random(len(column)) < _CHANGED * strength
    rows[chosen] = random.integers(0, len(column), int(chosen.sum()))
    return column.take(pa.array(rows))


def _add_noise(values: NDArray[Any], strength: float, random: np.random.Generator) -> NDArray[Any]:
    numbers = values.astype(np.float64)
    if bool(np.isin(numbers, (0.0, 1.0)).all()):
        noisy = np.where(random.random(numbers.shape) < _CHANGED * strength, 1 - numbers, numbers)
    else:
        noise = strength * np.nanstd(numbers, axis=0) * random.normal(size=numbers.shape)
        noisy = numbers + noise
    if values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        noisy = np.clip(np.rint(noisy), limits.min, limits.max)
    return np.asarray(noisy, dtype=values.dtype)
