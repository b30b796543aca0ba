"""How the pixels of images are spread over the intensities of each channel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

BINS = 16


def colour_histograms(images: NDArray[Any], bins: int = BINS) -> NDArray[np.float32]:
    """Return the shares of pixels in each bin of each channel, (n, channels * bins).

    `images` (n, height, width, channels) are from 0 to 1; what is outside counts in the end bins
    (MOSAICrOWN D5.2, section 4.4.2).
    """
    pixels = np.ascontiguousarray(images, np.float32).reshape(len(images), -1, images.shape[-1])
    counts = np.zeros((len(images), images.shape[-1], bins), np.float32)
    _count(pixels, counts)
    return counts.reshape(len(images), -1) / np.float32(max(pixels.shape[1], 1))


@compiled
def _count(pixels, counts):  # type: ignore[no-untyped-def]
    bins = counts.shape[2]
    for image in range(pixels.shape[0]):
        for pixel in range(pixels.shape[1]):
            for channel in range(pixels.shape[2]):
                place = int(pixels[image, pixel, channel] * bins)
                counts[image, channel, min(max(place, 0), bins - 1)] += 1
