"""Pixelation: every block of an image is published as its mean."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Images = NDArray[Any]
"""Images of integers or floats, (images, height, width, channels)."""
MOST_EXACT = 2**38
"""Up to here, either way, the sums of integers in the largest blocks are exact."""
LARGEST_BLOCK = 4096
_PIXELS = 2**18
"""So many numbers at a time stay in the cache."""


def pixelate(images: Images, size: int, padding: float = 0) -> Images:
    """Return images in which every block of `size` times `size` pixels is its mean, by channel.

    Blocks begin at the upper left corner. Pixels that a block lacks at the lower and right border
    count as `padding`, and are not part of the result, which has the shape and the type of the
    input. The mean of integers, which are at most `MOST_EXACT`, is rounded to the nearest one, of
    two to that further from zero. That of floats is the first pixel and the mean difference
    from it, row by row: the block alone decides it to the bit, and equal pixels stay as they are.
    It is not finite where the differences of a block exceed what floats can hold.
    """
    published = np.empty_like(images)
    means = _integer_means if _is_exact(images) else _float_means
    for part in _parts(images):
        _fill(published[part], means(images[part], size, padding), size)
    return published


def count_uneven(images: Images, size: int) -> int:
    """Return how many images have a block that is not all of one value in each channel."""
    return sum(int(_uneven(images[part], size).sum()) for part in _parts(images))


def _uneven(images: Images, size: int) -> NDArray[np.bool_]:
    uneven = np.zeros(len(images), dtype=np.bool_)
    for axis in (1, 2):
        places = np.arange(1, images.shape[axis])
        inside = places[places % size != 0]
        before, after = (np.take(images, at, axis=axis) for at in (inside - 1, inside))
        uneven |= (before != after).any(axis=(1, 2, 3))
    return uneven


def count_other_means(before: Images, after: Images, size: int, padding: float = 0) -> int:
    """Return how many pixelated images have a block that is not the mean of the original one.

    Sums are made between the edges of blocks, not as `pixelate` makes them. A mean of floats may
    differ in the last digits of their type.
    """
    parts = _parts(before)
    return sum(_count_other(before[part], after[part], size, padding) for part in parts)


def _count_other(before: Images, after: Images, size: int, padding: float) -> int:
    edges = [np.arange(0, length, size) for length in before.shape[1:3]]
    is_exact = _is_exact(before)
    wide = before.astype(np.int64 if is_exact else np.float64)
    sums = np.add.reduceat(np.add.reduceat(wide, edges[0], axis=1), edges[1], axis=2)
    sums = sums + lacking_pixels(before.shape, size) * (int(padding) if is_exact else padding)
    apart = np.abs(sums - after[:, ::size, ::size].astype(sums.dtype) * size**2)
    allowed = size**2 / 2 if is_exact else _rounding(before, size, padding)
    return int((apart > allowed).any(axis=(1, 2, 3)).sum())


def _is_exact(images: Images) -> bool:
    return images.dtype.kind in "iu"


def _parts(images: Images) -> Iterator[slice]:
    at_once = max(1, _PIXELS // max(1, math.prod(images.shape[1:])))
    return (slice(start, start + at_once) for start in range(0, len(images), at_once))


def _rounding(images: Images, size: int, padding: float) -> NDArray[np.float64]:
    """Return how far sums of floats may be from what rounded means tell, (images, 1, 1, 1)."""
    largest = np.abs(images).max(axis=(1, 2, 3), keepdims=True, initial=abs(padding))
    steps = 2 * np.finfo(images.dtype).eps + 2 * size**2 * np.finfo(np.float64).eps
    tiny = float(np.finfo(images.dtype).smallest_subnormal)
    return np.asarray(size**2 * (steps * largest.astype(np.float64) + tiny))


def _integer_means(images: Images, size: int, padding: float) -> Images:
    # Only what is as wide as the sums is copied: the sum of an unsigned integer of 64 bits
    # and a signed one would be a float.
    exact = images.astype(np.int64) if images.dtype.itemsize == 8 else images
    sums = block_sums(exact, size, np.int64) + lacking_pixels(images.shape, size) * int(padding)
    pixels = size * size
    return np.asarray(np.sign(sums) * ((2 * np.abs(sums) + pixels) // (2 * pixels)))


def _float_means(images: Images, size: int, padding: float) -> Images:
    with np.errstate(over="ignore", invalid="ignore"):
        first = images[:, ::size, ::size].astype(np.float64)
        differences = images - repeat_blocks(first, size, images.shape)
        sums = block_sums(differences, size, np.float64)
        sums = sums + lacking_pixels(images.shape, size) * (padding - first)
        return np.asarray((first + sums / size**2 + 0.0).astype(images.dtype))


def block_sums(images: Images, size: int, kind: Any) -> Images:
    """Return the sums of blocks, (images, blocks down, blocks across, channels)."""
    count, height, width, channels = images.shape
    rows = np.zeros((count, height, -(-width // size), channels), kind)
    for place in range(min(size, width)):
        pixels = images[:, :, place::size]
        rows[:, :, : pixels.shape[2]] += pixels
    sums = np.zeros((count, -(-height // size), *rows.shape[2:]), kind)
    for place in range(min(size, height)):
        part = rows[:, place::size]
        sums[:, : part.shape[1]] += part
    return sums


def lacking_pixels(shape: tuple[int, ...], size: int) -> NDArray[np.int64]:
    """Return how many pixels each block lacks, (1, blocks down, blocks across, 1)."""
    down, across = (np.minimum(size, length - np.arange(0, length, size)) for length in shape[1:3])
    return np.asarray(size**2 - down[:, None] * across[None, :])[None, :, :, None]


def repeat_blocks(blocks: Images, size: int, shape: tuple[int, ...]) -> Images:
    """Return what each block has for every pixel of it, in the shape of the images."""
    pixels = np.empty(shape, blocks.dtype)
    _fill(pixels, blocks, size)
    return pixels


def _fill(images: Images, blocks: Images, size: int) -> None:
    """Set every pixel to what its block has."""
    _, height, width, _ = images.shape
    for place in range(min(size, width)):
        pixels = images[:, ::size, place::size]
        pixels[...] = blocks[:, :, : pixels.shape[2]]
    for place in range(1, min(size, height)):
        rows = images[:, place::size]
        rows[...] = images[:, ::size][:, : rows.shape[1]]
