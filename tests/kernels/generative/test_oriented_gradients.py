"""Histograms of oriented gradients are those of scikit-image."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.generative.oriented_gradients import oriented_gradients


def gradient(image, row, column):
    """Return the gradient of a channel at a pixel, down and to the right."""
    height, width = image.shape
    inside = 0 < row < height - 1, 0 < column < width - 1
    return (
        image[row + 1, column] - image[row - 1, column] if inside[0] else 0.0,
        image[row, column + 1] - image[row, column - 1] if inside[1] else 0.0,
    )


def defined(image, cell, block):
    """Return the features by the words of the definition, pixel by pixel."""
    rows, columns = image.shape[0] // cell, image.shape[1] // cell
    cells = np.zeros((rows, columns, 9))
    for row in range(rows * cell):
        for column in range(columns * cell):
            channels = [gradient(image[..., one], row, column) for one in range(image.shape[2])]
            down, right = max(channels, key=lambda one: math.hypot(*one))
            orientation = math.degrees(math.atan2(down, right)) % 180
            length = math.hypot(down, right) / cell**2
            cells[row // cell, column // cell, int(orientation // 20) % 9] += length
    features = []
    for row in range(rows - block + 1):
        for column in range(columns - block + 1):
            part = cells[row : row + block, column : column + block].ravel()
            part = np.minimum(part / math.sqrt((part**2).sum() + 1e-10), 0.2)
            features.extend(part / math.sqrt((part**2).sum() + 1e-10))
    return np.array(features)


@settings(max_examples=8, deadline=None)
@given(st.integers(9, 14), st.integers(9, 14), st.sampled_from([1, 3]), st.integers(0, 99))
def test_features_are_those_of_the_definition(height, width, channels, seed):
    image = np.random.default_rng(seed).random((height, width, channels)).astype(np.float32)
    features = oriented_gradients(image[None], cell=3, block=2)[0]
    assert np.allclose(features, defined(image.astype(float), 3, 2), atol=1e-6)


def test_features_of_digits_are_those_of_scikit_image():
    # skimage.feature.hog(image, 9, (9, 9), (3, 3)) of version 0.26.
    row, column = np.mgrid[0:28, 0:28]
    features = oriented_gradients((((row * column + 3 * column) % 17) / 16)[None])[0]
    expected = [0.179485, 0.114853, 0.169927, 0.059895, 0.100755, 0.056948, 0.0833, 0.038705]
    assert features.shape == (81,)
    assert np.allclose(features[:8], expected, atol=1e-6)
    assert np.isclose(features.sum(), 8.054290)


def test_features_of_colours_are_those_of_scikit_image():
    # skimage.feature.hog(image, 9, (4, 4), (2, 2), channel_axis=-1) of version 0.26.
    row, column = np.mgrid[0:14, 0:12]
    channels = (
        ((row * column + 3 * column) % 7) / 6,
        ((column * column + row) % 5) / 4,
        ((column + row * row) % 6) / 5,
    )
    features = oriented_gradients(np.stack(channels, axis=-1)[None], cell=4, block=2)[0]
    expected = [0.25421, 0.0, 0.092358, 0.091644, 0.184431, 0.091644, 0.25421, 0.091644]
    assert features.shape == (144,)
    assert np.allclose(features[:8], expected, atol=1e-6)
    assert np.isclose(features.sum(), 19.321382)


@pytest.mark.parametrize(
    ("down", "right", "orientation"), [(0, 1, 0), (1, 0, 4), (-1, 0, 4), (1, 1, 2), (1, -1, 6)]
)
def test_a_slope_has_one_orientation(down, right, orientation):
    row, column = np.mgrid[0:11, 0:11]
    image = (down * row + right * column)[None] / 11
    features = oriented_gradients(image[:, 1:10, 1:10], cell=3, block=1)[0].reshape(9, 9)
    # Of the cells the one in the middle has no pixel of the edge.
    assert features[4].argmax() == orientation
    assert np.count_nonzero(features[4]) == 1


def test_an_even_image_has_no_gradients():
    assert not oriented_gradients(np.ones((2, 27, 27))).any()


def test_a_small_image_is_one_block():
    assert oriented_gradients(np.zeros((2, 18, 9))).shape == (2, 18)
    with pytest.raises(ValueError, match="no cell of 9"):
        oriented_gradients(np.zeros((2, 8, 9)))
