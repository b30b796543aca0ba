"""Pixelation with differential privacy: its scale, its sensitivity, and blocks at the border."""

from fractions import Fraction

import numpy as np
import pytest

from policy_engine.kernels.local_privacy.noisy_blocks import NoisyBlocks
from policy_engine.kernels.pixelation import block_sums, lacking_pixels


def _none(values, scale):  # noqa: ARG001
    return list(values)


def _images(*pixels):
    return np.array(pixels, dtype=np.int64)[None, :, :, None]


@pytest.mark.parametrize(
    ("size", "changed", "epsilon", "scale"),
    [(4, 1, 10, 1.6), (4, 1, 1, 15.9), (4, 16, 1, 255), (2, 16, 10, 102), (7, 16, 1, 83.3)],
)
def test_the_scale_is_that_of_the_paper(size, changed, epsilon, scale):
    """255 m / (b^2 epsilon), for b, m and epsilon as they were tried on MNIST."""
    mechanism = NoisyBlocks(size, 255, changed, 1, Fraction(epsilon))
    assert float(mechanism.scale_of_means) == pytest.approx(scale, abs=0.06)


def test_channels_multiply_the_sensitivity():
    grey, colour = (NoisyBlocks(4, 255, 2, n, Fraction(1)) for n in (1, 3))
    assert (grey.sensitivity, colour.sensitivity) == (510, 1530)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_sums_change_by_no_more_than_the_sensitivity(size):
    """Three pixels of an image of 7 times 7 turn from black to white, wherever they are: 5 does not
    divide 7, and the corner's block has 4 pixels of its own."""
    mechanism = NoisyBlocks(size, 255, 3, 2, Fraction(1))
    random = np.random.default_rng(0)
    for _ in range(200):
        before = random.integers(0, 256, (1, 7, 7, 2))
        after = before.copy()
        places = random.choice(49, 3, replace=False)
        before.reshape(49, 2)[places], after.reshape(49, 2)[places] = 0, 255
        change = np.abs(block_sums(before, size, np.int64) - block_sums(after, size, np.int64))
        assert change.sum() == 3 * 2 * 255 == mechanism.sensitivity


def test_a_block_at_the_border_is_divided_by_all_its_pixels():
    """3 x 3 pixels in blocks of 2: the corner has one pixel of 200, and three of 20: 65."""
    mechanism = NoisyBlocks(2, 255, 1, 1, Fraction(1))
    image = _images([8, 4, 0], [0, 0, 0], [0, 0, 200])
    assert lacking_pixels(image.shape, 2)[0, :, :, 0].tolist() == [[0, 2], [2, 3]]
    published = mechanism.publish(image, 20, _none)
    assert published[0, :, :, 0].tolist() == [[3, 3, 10], [3, 3, 10], [10, 10, 65]]


def test_means_are_rounded_and_cut_off_after_the_noise():
    def noise(values, scale):
        assert scale == 255
        return [value + more for value, more in zip(values, (-30, 3000, 2), strict=True)]

    mechanism = NoisyBlocks(2, 255, 1, 1, Fraction(1))
    image = _images([5, 5, 100, 100, 3, 3], [5, 5, 100, 100, 3, 3])
    # 20 - 30 is below 0, 400 + 3000 above 1020, and (12 + 2) / 4 = 3.5 becomes 4.
    assert mechanism.publish(image, 0, noise)[0, 0, :, 0].tolist() == [0, 0, 255, 255, 4, 4]


def test_noise_beyond_all_bounds_is_cut_off():
    mechanism = NoisyBlocks(1, 255, 1, 1, Fraction(1))
    published = mechanism.publish(_images([7, 7]), 0, lambda *_: [2**62, -(2**62)])
    assert published.ravel().tolist() == [255, 0]
