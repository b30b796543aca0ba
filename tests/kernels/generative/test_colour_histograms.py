"""Shares of pixels by intensity and channel."""

import numpy as np

from policy_engine.kernels.generative.colour_histograms import colour_histograms


def test_pixels_are_spread_over_the_bins_of_each_channel():
    image = np.array([[[0.0, 1.0], [0.3, 0.99]], [[0.24, -1.0], [0.9, 7.0]]])
    histogram = colour_histograms(image[None], bins=4).reshape(2, 4)
    assert histogram.tolist() == [[0.5, 0.25, 0.0, 0.25], [0.25, 0.0, 0.0, 0.75]]


def test_where_a_pixel_lies_does_not_matter():
    images = np.random.default_rng(0).random((3, 5, 4, 3))
    shuffled = images.reshape(3, 20, 3)[:, np.random.default_rng(1).permutation(20)]
    histograms = colour_histograms(images)
    assert np.array_equal(histograms, colour_histograms(shuffled.reshape(images.shape)))
    assert np.allclose(histograms.reshape(3, 3, 16).sum(axis=2), 1)
