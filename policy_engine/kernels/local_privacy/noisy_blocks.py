"""Pixelation with differential privacy: the means of blocks, with noise, of every image.

Fan: Image Pixelization with Differential Privacy, DBSec 2018. Images that differ in `changed`
pixels are neighbours: each pixel is in one block, so that all sums of blocks together change by at
most levels * changed * channels, and epsilon is spent once for the whole image.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.pixelation import block_sums, lacking_pixels, repeat_blocks

Images = NDArray[np.int64]
Noise = Callable[[Sequence[int], Fraction], list[int]]
"""Adds to each integer noise of the discrete Laplace distribution of a scale."""

_BLOCKS = 2**18
"""For so many blocks noise is drawn at a time."""


@dataclass(frozen=True)
class NoisyBlocks:
    """Blocks of `size` times `size` pixels of 0 to `levels`, in each of the `channels`.

    `size` need not divide the image: pixels that a block lacks are a public constant, so that
    its sum has them all, and its mean is always the sum over size * size. A mean of fewer pixels
    would change by more.
    """

    size: int
    levels: int
    changed: int
    channels: int
    epsilon: Fraction

    @property
    def sensitivity(self) -> int:
        """By how much all sums of blocks together change at most."""
        return self.levels * self.changed * self.channels

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of a block's sum."""
        return self.sensitivity / self.epsilon

    @property
    def scale_of_means(self) -> Fraction:
        """The scale of the noise of a block's mean: levels * changed * channels / (size**2 *
        epsilon)."""
        return self.scale / self.size**2

    def publish(self, images: Images, padding: int, noise: Noise) -> Images:
        """Return images, (images, height, width, channels), of which every block has its noisy
        mean.

        Means are rounded to the nearest level, and cut off at 0 and `levels`, only once they have
        their noise.
        """
        sums: NDArray[Any] = block_sums(images, self.size, np.int64)
        sums = sums + lacking_pixels(images.shape, self.size) * padding
        flat = sums.reshape(-1)
        noisy = np.empty_like(flat)
        for start in range(0, len(flat), _BLOCKS):
            some = slice(start, start + _BLOCKS)
            noisy[some] = noise(flat[some].tolist(), self.scale)
        # What is cut off anyway is cut off first: twice the sum is to fit into 64 bits.
        pixels = self.size**2
        kept = np.clip(noisy, 0, self.levels * pixels)
        means = ((2 * kept + pixels) // (2 * pixels)).reshape(sums.shape)
        return np.asarray(repeat_blocks(means, self.size, images.shape))
