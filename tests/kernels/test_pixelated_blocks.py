import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from policy_engine.kernels.pixelation import (
    MOST_EXACT,
    count_other_means,
    count_uneven,
    pixelate,
)


def image(rows, kind=np.uint8):
    """Return one image of one channel."""
    return np.array(rows, dtype=kind)[None, :, :, None]


def pixels(images):
    return images[0, :, :, 0].tolist()


def test_every_block_is_its_mean():
    made = pixelate(image([[0, 2, 10, 10], [4, 6, 10, 20]]), 2)
    # 12 / 4 and 50 / 4, which is 12.5 and rounded away from zero.
    assert pixels(made) == [[3, 3, 13, 13], [3, 3, 13, 13]]
    assert made.dtype == np.uint8


def test_means_of_negative_integers_are_rounded_away_from_zero_too():
    rows = [[-10, -10], [-10, -20]]
    assert pixels(pixelate(image(rows, np.int16), 2)) == [[-13, -13], [-13, -13]]


def test_blocks_that_do_not_divide_the_image_count_the_padding():
    rows = [[1, 1, 8], [1, 1, 8], [4, 4, 16]]
    # (8 + 8 + 2 p) / 4, (4 + 4 + 2 p) / 4 and (16 + 3 p) / 4.
    assert pixels(pixelate(image(rows), 2)) == [[1, 1, 4], [1, 1, 4], [2, 2, 4]]
    assert pixels(pixelate(image(rows), 2, 100)) == [[1, 1, 54], [1, 1, 54], [52, 52, 79]]


def test_each_channel_has_its_own_mean():
    both = np.stack([image([[0, 4], [4, 4]])[..., 0], image([[9, 9], [9, 9]])[..., 0]], axis=3)
    assert pixelate(both, 2)[0].tolist() == [[[3, 9], [3, 9]], [[3, 9], [3, 9]]]


def test_floats_that_are_equal_stay_as_they_are():
    even = np.full((3, 5, 7, 1), 0.1)
    assert (pixelate(even, 5, 0.1) == even).all()
    assert pixels(pixelate(image([[0.5, 0.25], [0.25, 0.0]], np.float32), 2)) == [[0.25] * 2] * 2


def test_no_zero_is_negative():
    assert not np.signbit(pixelate(image([[-0.0, -0.0]] * 2, np.float64), 2)).any()


def test_a_mean_that_floats_cannot_hold_is_not_finite():
    rows = [[-1.7e308, 1.7e308], [1.7e308, 1.7e308]]
    assert not np.isfinite(pixelate(image(rows, np.float64), 2)).any()


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_large_integers_are_exact(kind):
    rows = [[MOST_EXACT, MOST_EXACT - 2], [MOST_EXACT, MOST_EXACT - 2]]
    assert pixels(pixelate(image(rows, kind), 2)) == [[MOST_EXACT - 1] * 2] * 2


def test_an_image_with_an_uneven_block_is_counted():
    even = image([[3, 3, 4], [3, 3, 4]])
    assert [count_uneven(even, size) for size in (2, 3)] == [0, 1]
    assert count_uneven(image([[3, 3], [3, 4]]), 2) == 1


def test_an_image_of_other_means_is_counted():
    before = image([[0, 2], [4, 6]])
    assert count_other_means(before, image([[3, 3], [3, 3]]), 2) == 0
    assert count_other_means(before, image([[4, 4], [4, 4]]), 2) == 1


def block_of(images, place, size, padding):
    """Return the pixels of the block that a pixel is in, padded, one by one."""
    number, row, across, channel = place
    rows, columns = ((at - at % size, at - at % size + size) for at in (row, across))
    found = images[number, slice(*rows), slice(*columns), channel].ravel().tolist()
    return [*found, *[padding] * (size * size - len(found))]


KINDS = st.sampled_from([np.uint8, np.int16, np.int32, np.float32, np.float64])


@st.composite
def pictures(draw):
    kind = np.dtype(draw(KINDS))
    shape = draw(st.tuples(*[st.integers(1, most) for most in (3, 7, 7, 2)]))
    least = 0 if kind.kind == "u" else -200
    numbers = (
        st.integers(least, 200)
        if kind.kind in "iu"
        else st.floats(-1e6, 1e6, width=kind.itemsize * 8)
    )
    return draw(hnp.arrays(kind, shape, elements=numbers))


@given(pictures(), st.integers(2, 5), st.integers(0, 100))
def test_pixels_are_means_by_exact_arithmetic(images, size, padding):
    made = pixelate(images, size, padding)
    assert (made.shape, made.dtype) == (images.shape, images.dtype)
    for place in np.ndindex(*images.shape):
        block = block_of(images, place, size, padding)
        mean = sum(map(Fraction, block)) / len(block)
        told = Fraction(made[place].item())
        if images.dtype.kind in "iu":
            away = math.floor(abs(mean) + Fraction(1, 2))
            assert told == (away if mean >= 0 else -away)
        else:
            largest = max(map(abs, [*block, padding]))
            limits = np.finfo(images.dtype)
            nearest = max(4 * float(limits.eps) * largest, float(limits.smallest_subnormal))
            assert abs(told - mean) <= nearest
    assert count_uneven(made, size) == 0
    assert count_other_means(images, made, size, padding) == 0


@given(pictures(), st.integers(2, 5), st.randoms())
def test_an_image_is_masked_alike_whatever_is_beside_it(images, size, random):
    order = list(range(len(images)))
    random.shuffle(order)
    alone = [pixelate(images[at : at + 1], size)[0] for at in order]
    together = pixelate(images[order], size)
    assert (np.stack(alone) == together).all()
