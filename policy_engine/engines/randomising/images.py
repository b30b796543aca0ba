"""Images that are randomised: the levels of their pixels, and the images that are published."""

import math
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.number_lists import from_lists, list_depth, to_lists
from policy_engine.errors import DataError
from policy_engine.kernels.pixelation import count_uneven
from policy_engine.methods.randomiser import exact
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation

Ints = NDArray[np.int64]


def check_images(randomiser: PrivatePixelation, kind: pa.DataType) -> None:
    """Raise DataError (R013) where the type of a column is not that of lists of numbers that can
    hold the levels of its pixels, (C009) where it is of images of another shape, (C011) without
    the package that draws noise."""
    if find_spec("opendp") is None:
        message = f"OpenDP, which draws the noise of {randomiser.name!r}, is not installed."
        raise DataError.of("C011", message, "pip install 'policy-engine[dp]'.")
    name, depth, number = randomiser.name, list_depth(kind), kind
    while depth and hasattr(number, "value_type"):
        number = number.value_type
    if not 1 <= depth <= _DEPTH:
        message = f"The column {name!r} holds values of the type {kind}. Its randomiser needs "
        message += "images: lists of numbers, nested up to three deep."
        raise DataError.of("R013", message, "Give the column another randomiser.")
    if depth == 2 and randomiser.channels > 1:
        message = f"The column {name!r} holds images of one channel. Its randomiser has "
        raise DataError.of("R013", f"{message}{randomiser.channels}.", "Change pe:channels.")
    lengths = _fixed_lengths(kind)
    problem = None if lengths is None else randomiser.shape_problem(lengths, "")
    if problem is not None:
        raise problem
    if pa.types.is_integer(number):
        limits = np.iinfo(number.to_pandas_dtype())
        ends = (exact(randomiser.lower), exact(randomiser.upper), exact(randomiser.grid))
        is_whole = all(one.denominator == 1 for one in ends)
        if not is_whole or ends[0] < limits.min or ends[1] > limits.max:
            message = f"The column {name!r} holds images of {number}, which cannot hold its levels."
            hint = f"Let lower, upper and grid be integers from {limits.min} to {limits.max}."
            raise DataError.of("R013", message, hint)


_DEPTH = 3


def _fixed_lengths(kind: pa.DataType) -> tuple[int, ...] | None:
    """Return the lengths of lists that a type fixes for all cells, None if it leaves one open."""
    lengths = []
    while list_depth(kind):
        if not pa.types.is_fixed_size_list(kind):
            return None
        lengths.append(int(kind.list_size))
        kind = kind.value_type
    return tuple(lengths)


def levels_of(column: pa.ChunkedArray, randomiser: PrivatePixelation) -> Ints:
    """Return the levels of the pixels of each cell, (rows, height, width, channels).

    A pixel that is missing is padding, and nothing else of its image changes. A cell that is
    missing, or no image of the shape, has the padding everywhere.
    """
    levels = np.full((len(column), *randomiser.shape), randomiser.padding_level, dtype=np.int64)
    start = 0
    for chunk in column.chunks:
        for place, image in _images(chunk, randomiser):
            levels[start + place : start + place + len(image)] = image
        start += len(chunk)
    return levels


def _images(cells: pa.Array, randomiser: PrivatePixelation) -> Iterator[tuple[int, Ints]]:
    """Yield the images of the shape among some cells, each or all with the place of the first."""
    size = math.prod(randomiser.shape)
    images = None if cells.null_count else _pixels(cells, size)
    if images is not None:
        yield 0, _levels(images, randomiser)
        return
    for place in range(len(cells)):
        image = _pixels(cells.slice(place, 1), size) if cells[place].is_valid else None
        if image is not None:
            yield place, _levels(image, randomiser)


def _pixels(cells: pa.Array, size: int) -> NDArray[Any] | None:
    """Return pixels, (cells, size), or None if a cell is not an image of that size."""
    if not list_depth(cells.type) or not len(cells):
        return None
    try:
        pixels = from_lists(cells, missing=math.nan, widens=True)
    except ValueError:
        return None
    return pixels.reshape(len(cells), -1) if pixels.size == len(cells) * size else None


def _levels(pixels: NDArray[Any], randomiser: PrivatePixelation) -> Ints:
    numbers = pixels.astype(np.float64)
    lower, upper = randomiser.lower, randomiser.upper
    within_bounds = np.clip(np.where(np.isnan(numbers), lower, numbers), lower, upper)
    levels = np.rint((within_bounds - lower) / randomiser.grid).astype(np.int64)
    levels = np.clip(levels, 0, randomiser.levels)
    levels = np.where(np.isnan(numbers), randomiser.padding_level, levels)
    return levels.reshape(-1, *randomiser.shape)


def published_images(levels: Ints, kind: pa.DataType, randomiser: PrivatePixelation) -> pa.Array:
    """Return images of levels, (images, height, width, channels), as lists as deep and of numbers
    as the column has."""
    number, depth = kind, list_depth(kind)
    for _ in range(depth):
        number = number.value_type
    values = _level_values(randomiser).astype(number.to_pandas_dtype())
    height, width, channels = randomiser.shape
    lengths = {1: (height * width * channels,), 2: (height, width), 3: randomiser.shape}[depth]
    return to_lists(values[levels].reshape(len(levels), *lengths))


def _level_values(randomiser: PrivatePixelation) -> NDArray[np.float64]:
    lower, grid = exact(randomiser.lower), exact(randomiser.grid)
    return np.array([float(lower + level * grid) for level in range(randomiser.levels + 1)])


def count_strange_images(column: pa.ChunkedArray, randomiser: PrivatePixelation) -> int:
    """Return how many cells of a published column are no images of even blocks of its levels."""
    strange, size = 0, math.prod(randomiser.shape)
    for chunk in column.chunks:
        pixels = None if chunk.null_count else _pixels(chunk, size)
        if pixels is None:
            strange += len(chunk)
            continue
        kind = pixels.dtype
        is_level = np.isin(pixels, _level_values(randomiser).astype(kind)).all(axis=1)
        images = pixels.reshape(-1, *randomiser.shape)[is_level]
        uneven = count_uneven(images, randomiser.block_size)
        strange += int(np.count_nonzero(~is_level)) + uneven
    return strange
