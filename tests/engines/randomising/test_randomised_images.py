"""Columns of images with noise: their scale, their shapes, and cells that are no images."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.number_lists import from_lists, to_lists
from policy_engine.engines.randomising import images as drawing
from policy_engine.engines.randomising.tables import count_strange, randomise_table
from policy_engine.engines.tables import plain_texts
from policy_engine.errors import DataError
from policy_engine.plan.randomisation import Randomisation

FACE = {
    "name": "face",
    "randomiser": "private-pixelation",
    "blockSize": 2,
    "pixelsChanged": 1,
    "height": 4,
    "width": 4,
}


def asked(epsilon="1", **settings):
    return Randomisation(columns=[{**FACE, **settings}], epsilon=Decimal(epsilon))


def published(images, one):
    return randomise_table(pa.table({"face": images}), one, None)


def test_the_mean_distance_of_the_noise_is_its_scale():
    """255 / (2^2 * 5) = 12.75, of 20,000 blocks in the middle of a range that cuts nothing off."""
    images = to_lists(np.full((5_000, 4, 4), 127.0))
    made = published(images, asked("5"))
    blocks = from_lists(made["face"].combine_chunks())[:, ::2, ::2]
    assert np.abs(blocks - 127).mean() == pytest.approx(12.75, rel=0.04)


@pytest.mark.parametrize("lengths", [(16,), (4, 4), (4, 4, 1)])
@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32])
def test_images_have_the_type_that_they_had(lengths, kind):
    one = asked("60")
    images = to_lists(np.full((3, *lengths), 100, dtype=kind))
    made = published(images, one)
    pixels = from_lists(made["face"].combine_chunks())
    assert (pixels.dtype, pixels.shape) == (np.dtype(kind), (3, *lengths))
    assert np.abs(pixels.astype(float) - 100).max() < 60
    assert count_strange(made, one) == (0,)


def test_what_is_no_image_of_the_shape_is_of_padding():
    """At an epsilon of 64 and blocks of 16 pixels the scale is 1 / 4."""
    one = asked("64", blockSize=4, padding=200.0)
    rows = [None, [1], [], [0] * 15, [0] * 17, [None] * 16, [0] * 16]
    made = published(pa.array(rows, pa.list_(pa.float64())), one)
    means = np.sort(from_lists(made["face"].combine_chunks())[:, 0])
    assert means[0] < 10
    assert (np.abs(means[1:] - 200) < 10).all()
    assert count_strange(made, one) == (0,)


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int64(), pa.float32()])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_missing_pixel_is_padding_and_changes_no_other_block(kind, depth):
    """At an epsilon of 64 the scale of a block of 4 pixels is 1, and (3 * 200 + 0) / 4 = 150."""
    pixels = [None, *[200] * 15]
    rows = [pixels] if depth == 1 else [[pixels[row : row + 4] for row in range(0, 16, 4)]]
    nested = pa.list_(kind) if depth == 1 else pa.list_(pa.list_(kind))
    made = published(pa.array(rows, nested), asked("64"))
    means = from_lists(made["face"].combine_chunks()).reshape(4, 4)[::2, ::2].astype(float)
    assert np.abs(means - [[150, 200], [200, 200]]).max() < 30


def test_pixels_that_are_uneven_missing_or_no_levels_are_counted():
    one = asked()
    even = [7.0] * 16
    rows = [even, [6.0, *even[1:]], [7.5] * 16, [256.0] * 16, [*even, 7.0]]
    assert count_strange(pa.table({"face": pa.array(rows[:4])}), one) == (3,)
    assert count_strange(pa.table({"face": pa.array(rows)}), one) == (5,)
    assert count_strange(pa.table({"face": pa.array([even, None])}), one) == (2,)


def test_without_the_package_that_draws_noise_it_is_named(monkeypatch):
    monkeypatch.setattr(drawing, "find_spec", lambda _name: None)
    with pytest.raises(DataError, match=r"C011 OpenDP.*policy-engine\[dp\]"):
        published(to_lists(np.zeros((1, 4, 4))), asked())


@pytest.mark.parametrize(
    ("images", "settings"),
    [
        (pa.array(["a"]), {}),
        (pa.array([[[[[1]]]]]), {}),
        (to_lists(np.zeros((1, 4, 4))), {"channels": 3}),
        (to_lists(np.zeros((1, 16), np.int8)), {}),
        (to_lists(np.zeros((1, 16), np.int64)), {"grid": 0.5}),
    ],
)
def test_a_type_that_holds_no_such_images_is_refused(images, settings):
    with pytest.raises(DataError, match="R013"):
        published(images, asked(**settings))


@pytest.mark.parametrize("lengths", [(2, 8), (15,), (4, 5), (1, 4, 4)])
def test_a_type_of_images_of_another_shape_is_refused(lengths):
    """The type says it of all images: nothing is told of one."""
    with pytest.raises(DataError, match="C009"):
        published(to_lists(np.zeros((2, *lengths))), asked())


@pytest.mark.parametrize("cells", [[[None] * 16] * 2, [None, []], []])
def test_lists_of_nulls_are_refused_whatever_their_cells(cells):
    faces = pa.table({"face": pa.array(cells, pa.list_(pa.null()))})
    with pytest.raises(DataError, match="R013"):
        randomise_table(plain_texts(faces), asked(), None)
