"""Columns of images that are masked, and what of them is found when they are read back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, value_type
from policy_engine.engines.number_lists import (
    from_lists,
    is_array_of_numbers,
    list_depth,
    to_lists,
)
from policy_engine.engines.row_keys import row_keys
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.kernels.pixelation import MOST_EXACT
from policy_engine.methods.masking import ImageMasking, exactly

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class ImageEvidence:
    """What is known of a column of images that was masked, or of parts of one, added up.

    Of `images` with `pixels` in all, `unchanged` pixels are as before, and `unlike` images are not
    what the masking makes; `shape` is that of each, None of no image, and `mark` that of the masked
    column.
    """

    name: str
    images: int = 0
    pixels: int = 0
    unchanged: int = 0
    unlike: int = 0
    shape: Shape | None = None
    mark: int = 0

    def merge(self, other: "ImageEvidence") -> "ImageEvidence":
        """Return the evidence of two parts of a column. Raises DataError (R013) where the images
        of the one have another shape."""
        if None not in (self.shape, other.shape) and self.shape != other.shape:
            raise _ragged(self.name)
        return ImageEvidence(
            self.name,
            self.images + other.images,
            self.pixels + other.pixels,
            self.unchanged + other.unchanged,
            self.unlike + other.unlike,
            self.shape or other.shape,
            (self.mark + other.mark) % 2**64,
        )


def mask_images(column: pa.ChunkedArray, masking: ImageMasking) -> pa.ChunkedArray:
    """Return a column of images masked, with the type that it had; missing ones stay missing.

    Raises DataError (R013) where the column does not hold images that the masking takes.
    """
    chunks = [_mask_chunk(chunk, masking) for chunk in column.chunks]
    return pa.chunked_array(chunks, column.type)


def see_images(
    before: pa.ChunkedArray, after: pa.ChunkedArray, masking: ImageMasking, key: bytes
) -> ImageEvidence:
    """Return what a column of images shows before and after masking, in chunks of the same rows.

    Raises DataError (R013) where the images differ in their shape.
    """
    evidence = ImageEvidence(masking.name)
    for one, other in zip(before.chunks, after.chunks, strict=True):
        evidence = evidence.merge(_see_chunk(one, other, masking, key))
    return evidence


def count_broken(column: pa.ChunkedArray, masking: ImageMasking) -> int:
    """Return how many cells of a column are not what the masking publishes, or not images."""
    broken = 0
    for chunk in column.chunks:
        try:
            images = _images(chunk, masking)
        except PolicyEngineError:
            broken += len(chunk) - chunk.null_count
            continue
        broken += 0 if images is None else masking.count_broken(images)
    return broken


def image_mark(column: pa.ChunkedArray, key: bytes) -> int:
    """Return a number that depends on the images of a column and not on their order.

    Whoever knows the key can find other images with the same number.
    """
    present = column.drop_null()
    if not len(present):
        return 0
    return int(row_keys([present], key)[:, 0].sum(dtype=np.uint64))


def _mask_chunk(chunk: pa.Array, masking: ImageMasking) -> pa.Array:
    images = _images(chunk, masking)
    if images is None:
        return chunk
    _check_constants(images.dtype, masking)
    masked = masking.mask(images)
    masked += masked.dtype.type(0)  # no -0.0
    if masked.dtype.kind == "f" and not np.isfinite(masked).all():
        message = f"The {masking.masking} of {masking.name!r} makes numbers that the type "
        message += f"{chunk.type} cannot hold."
        raise DataError.of("R013", message, "Change its parameters, or the type.")
    depth = list_depth(chunk.type)
    lengths = masked.shape[1 : 1 + depth] if depth > 1 else (-1,)
    lists = to_lists(masked.reshape(len(masked), *lengths), chunk.type)
    if not chunk.null_count:
        return lists
    present = to_numpy(chunk.is_valid())
    return lists.take(from_numpy(np.cumsum(present) - 1, ~present))


def _see_chunk(
    before: pa.Array, after: pa.Array, masking: ImageMasking, key: bytes
) -> ImageEvidence:
    old, new = _images(before, masking), _images(after, masking)
    if old is None or new is None:
        return ImageEvidence(masking.name)
    return ImageEvidence(
        masking.name,
        images=len(old),
        pixels=old.size,
        unchanged=int(np.count_nonzero(old == new)),
        unlike=masking.count_unlike(old, new),
        shape=_shape_of(old),
        mark=image_mark(pa.chunked_array([after]), key),
    )


def _shape_of(images: NDArray[Any]) -> Shape:
    _, height, width, channels = images.shape
    return height, width, channels


def _images(lists: pa.Array, masking: ImageMasking) -> NDArray[Any] | None:
    """Return the images that are there, (images, height, width, channels); None if there are none.

    Raises DataError (R013) where they are not images that the masking takes.
    """
    _check_type(lists.type, masking)
    if lists.null_count == len(lists):
        return None
    try:
        pixels = from_lists(lists.drop_null() if lists.null_count else lists)
    except ValueError as error:
        raise _unfit(masking, str(error)) from None
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise _unfit(masking, "pixels that are not finite numbers")
    if pixels.dtype.kind in "iu" and pixels.itemsize == 8:
        _check_exact(pixels, masking)
    return pixels.reshape(-1, *_shape(pixels.shape[1:], masking))


def _check_type(kind: pa.DataType, masking: ImageMasking) -> None:
    if is_array_of_numbers(kind):
        return
    kind_of_values = value_type(kind)
    content = "texts" if is_text(kind_of_values) else f"values of the type {kind_of_values}"
    raise _unfit(masking, content)


def _check_exact(pixels: NDArray[Any], masking: ImageMasking) -> None:
    if pixels.size and not -MOST_EXACT <= int(pixels.min()) <= int(pixels.max()) <= MOST_EXACT:
        raise _unfit(masking, f"pixels beyond {MOST_EXACT:,}")


def _check_constants(kind: np.dtype[Any], masking: ImageMasking) -> None:
    """Raise DataError (R013) where a parameter that counts as a pixel is not of their type."""
    for name, constant in masking.constants.items():
        if kind.kind == "f":
            continue
        limits = np.iinfo(kind)
        if not (constant.is_integer() and limits.min <= constant <= limits.max):
            message = f"The column {masking.name!r} holds images of {kind}, and its {name} is "
            message += f"{exactly(constant)}."
            hint = f"Let {name} be an integer from {limits.min} to {limits.max}."
            raise DataError.of("R013", message, hint)


def _shape(lengths: Sequence[int], masking: ImageMasking) -> Shape:
    """Return the shape of images, given the lengths of their lists from the outer one inwards.

    Raises DataError (R013) where it is not known, not that of the parameters, or too small.
    """
    expected_shape = (masking.height, masking.width, masking.channels)
    if len(lengths) == 1:
        shape = _flat_shape(lengths[0], masking)
    elif len(lengths) <= 3:
        shape = (lengths[0], lengths[1], lengths[2] if len(lengths) == 3 else 1)
    else:
        raise _unfit(masking, f"lists nested {len(lengths)} deep")
    if any(
        expected not in (None, actual)
        for expected, actual in zip(expected_shape, shape, strict=True)
    ):
        raise _unfit(masking, f"images of {_text(shape)}, not of {_text(expected_shape)}")
    if min(shape[:2]) < masking.smallest:
        message = f"A block of {masking.name!r} is {masking.smallest} pixels wide and high. Its "
        message += f"images are {shape[0]} high and {shape[1]} wide."
        raise DataError.of("R013", message, "Let the blocks be smaller.")
    if not shape[2]:
        raise _unfit(masking, "images without channels")
    return shape


def _flat_shape(length: int, masking: ImageMasking) -> Shape:
    if masking.height is None or masking.width is None:
        message = f"The column {masking.name!r} holds flat lists of {length:,} numbers, which do "
        message += "not tell the shape of images."
        raise DataError.of("R013", message, "Give pe:height, pe:width and, if any, pe:channels.")
    shape = (masking.height, masking.width, masking.channels or 1)
    if shape[0] * shape[1] * shape[2] != length:
        raise _unfit(masking, f"lists of {length:,} numbers, not images of {_text(shape)}")
    return shape


def _text(shape: Sequence[int | None]) -> str:
    return " x ".join("?" if length is None else str(length) for length in shape)


def _unfit(masking: ImageMasking, content: str) -> PolicyEngineError:
    message = f"The column {masking.name!r} holds {content}. {masking.masking} needs images of "
    message += "numbers, all of one shape."
    return DataError.of("R013", message, "Give the column another role, or fix its images.")


def _ragged(name: str) -> PolicyEngineError:
    message = f"The images of the column {name!r} differ in their shape."
    return DataError.of("R013", message, "Give all images one height, width and depth.")
