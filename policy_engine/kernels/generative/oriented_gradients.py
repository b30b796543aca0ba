"""Histograms of oriented gradients of images, as scikit-image defines them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

ORIENTATIONS = 9
_SMALL = 1e-5
_MOST = 0.2


def oriented_gradients(images: NDArray[Any], cell: int = 9, block: int = 3) -> NDArray[np.float32]:
    """Return the features of images (n, height, width) or with channels at the end, (n, f).

    Cells of `cell` pixels a side have a histogram each of nine orientations, weighted by the length
    of the gradient, in the channel where that is longest; `block` cells a side are normalised
    together (L2-Hys). So skimage.feature.hog has it, and Dalal and Triggs: Histograms of oriented
    gradients for human detection, CVPR 2005. Pixels beyond the last whole cell do not count; of an
    image with fewer cells than a block all are one. Raises ValueError for images without a cell.
    """
    images = np.ascontiguousarray(images if images.ndim == 4 else images[..., None], np.float32)
    rows, columns = images.shape[1] // cell, images.shape[2] // cell
    if not rows or not columns:
        raise ValueError(f"images of {images.shape[1:3]} have no cell of {cell} pixels a side")
    histograms = np.zeros((len(images), rows, columns, ORIENTATIONS))
    angles = np.arange(1, ORIENTATIONS) * np.pi / ORIENTATIONS
    _add_gradients(images, cell, np.cos(angles), np.sin(angles), histograms)
    histograms /= cell * cell
    high, wide = min(block, rows), min(block, columns)
    blocks = np.lib.stride_tricks.sliding_window_view(histograms, (high, wide), axis=(1, 2))
    features = np.moveaxis(blocks, 3, -1).reshape(len(images), -1, high * wide * ORIENTATIONS)
    features = np.minimum(_shortened(features), _MOST)
    return _shortened(features).reshape(len(images), -1).astype(np.float32)


def _shortened(features: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = np.einsum("nbf,nbf->nb", features, features)
    shortened: NDArray[np.float64] = features / np.sqrt(squares + _SMALL**2)[..., None]
    return shortened


@compiled
def _add_gradients(images, cell, cosines, sines, histograms):  # type: ignore[no-untyped-def]
    """Add the gradient of each pixel to the histogram of its cell."""
    count, height, width, channels = images.shape
    rows, columns = histograms.shape[1] * cell, histograms.shape[2] * cell
    for image in range(count):
        for row in range(rows):
            for column in range(columns):
                longest, down, right = 0.0, 0.0, 0.0
                for channel in range(channels):
                    # The pixels of the edge have no gradient across it.
                    dy, dx = 0.0, 0.0
                    if 0 < row < height - 1:
                        dy = np.float64(images[image, row + 1, column, channel]) - np.float64(
                            images[image, row - 1, column, channel]
                        )
                    if 0 < column < width - 1:
                        dx = np.float64(images[image, row, column + 1, channel]) - np.float64(
                            images[image, row, column - 1, channel]
                        )
                    square = dx * dx + dy * dy
                    if square > longest:
                        longest, down, right = square, dy, dx
                if longest == 0.0:
                    continue
                if down < 0 or (down == 0 and right < 0):
                    down, right = -down, -right
                # Orientations are counted by the rays that the gradient is past: no arc tangent.
                orientation = 0
                for ray in range(len(cosines)):
                    if cosines[ray] * down >= sines[ray] * right:
                        orientation += 1
                histograms[image, row // cell, column // cell, orientation] += np.sqrt(longest)
