import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.masking.images import (
    count_broken,
    image_mark,
    mask_images,
    see_images,
)
from policy_engine.errors import DataError
from policy_engine.methods.maskings.pixelation import Pixelation

KEY = bytes(range(16))
FLAT = Pixelation(name="face", blockSize=2, height=2, width=2)
NESTED = Pixelation(name="face", blockSize=2)
BYTE = pa.uint8()
SIX = np.array([[0, 2, 4, 6], [1, 1, 1, 1]], np.uint8)


def flat(values=SIX):
    """Return images as fixed-size lists of all their pixels."""
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def nested(layout=pa.list_, kind=BYTE):
    """Return the same images, and a missing one, as lists of rows of a layout."""
    rows = [[[0, 2], [4, 6]], None, [[1, 1], [1, 1]]]
    return pa.chunked_array([pa.array(rows, layout(layout(kind)))])


def shown(column):
    return column.to_pylist()


LAYOUTS = [
    pa.list_,
    pa.large_list,
    lambda inner: pa.list_(inner, 2),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [pa.uint8(), pa.int64(), pa.float16(), pa.float32()])
def test_images_in_any_layout_are_masked_in_their_type(layout, kind):
    column = nested(layout, kind)
    made = mask_images(column, NESTED)
    assert made.type == column.type
    assert shown(made) == [[[3, 3], [3, 3]], None, [[1, 1], [1, 1]]]
    made.validate(full=True)
    assert (count_broken(column, NESTED), count_broken(made, NESTED)) == (1, 0)


def test_flat_images_have_the_shape_that_is_given():
    wide = Pixelation(name="face", blockSize=2, height=2, width=2, channels=2)
    column = pa.chunked_array([flat(np.array([[0, 9, 2, 9, 4, 9, 6, 9]], np.int16))])
    assert shown(mask_images(column, wide)) == [[3, 9] * 4]


def test_sliced_images_and_several_chunks_are_masked_as_others():
    whole = pa.chunked_array([flat(), flat()])
    made = mask_images(whole.slice(1, 2), FLAT)
    assert shown(made) == [[1, 1, 1, 1], [3, 3, 3, 3]]
    assert see_images(whole.slice(1, 2), made, FLAT, KEY).unchanged == 4


def test_what_images_show_is_added_up():
    column = pa.chunked_array([flat(), flat()])
    seen = see_images(column, mask_images(column, FLAT), FLAT, KEY)
    assert (seen.images, seen.pixels, seen.unchanged, seen.unlike) == (4, 16, 8, 0)
    assert seen.shape == (2, 2, 1)
    other = pa.chunked_array([pa.concat_arrays([flat(), flat()])])
    assert seen == see_images(other, mask_images(other, FLAT), FLAT, KEY)


def test_a_mark_does_not_depend_on_the_layout_or_the_order():
    column = mask_images(nested(), NESTED)
    mixed = pa.chunked_array([pa.concat_arrays(column.chunks).take(pa.array([2, 0]))])
    assert image_mark(mixed.cast(nested(kind=pa.int32()).type), KEY) == image_mark(column, KEY)
    assert image_mark(nested(), KEY) != image_mark(column, KEY)


def test_a_column_of_missing_images_stays_so():
    column = pa.chunked_array([pa.nulls(2, pa.list_(pa.uint8()))])
    assert mask_images(column, FLAT).equals(column)
    assert see_images(column, column, FLAT, KEY).images == 0


RAGGED = [[[1, 2], [3, 4]], [[1, 2], [3]]]
UNFIT = {
    "texts": (pa.array(["a"]), NESTED),
    "values of the type int64": (pa.array([1]), NESTED),
    "holds texts": (pa.array(["a"]).dictionary_encode(), NESTED),
    "values of the type list": (pa.array([[["a"]]]), NESTED),
    "differ in their shape": (pa.array(RAGGED), NESTED),
    "numbers are missing": (pa.array([[[1, None], [1, 2]]]), NESTED),
    "images in which numbers": (pa.array([[None, [1, 2]]]), NESTED),
    "not finite": (pa.array([[[1.0, float("nan")], [1.0, 2]]]), NESTED),
    "do not tell the shape": (pa.array([[1, 2, 3, 4]]), NESTED),
    "lists of 3 numbers, not images of 2 x 2 x 1": (pa.array([[1, 2, 3]]), FLAT),
    "images of 3 x 2 x 1, not of 2 x 2": (pa.array([[[1, 2]] * 3]), FLAT),
    "images are 1 high and 2 wide": (pa.array([[[1, 2]]]), NESTED),
    "nested 4 deep": (pa.array([[[[[1]]]]]), NESTED),
    "without channels": (
        pa.array([[[[], []], [[], []]]], pa.list_(pa.list_(pa.list_(pa.int8())))),
        NESTED,
    ),
    "pixels beyond": (pa.array([[[2**40, 1], [1, 2]]]), NESTED),
    "cannot hold": (pa.array([[[-1.7e308, 1.7e308], [1.7e308, 1.7e308]]]), NESTED),
    "padding is 0.5": (flat(), FLAT.model_copy(update={"padding": 0.5})),
    "padding is 256": (flat(), FLAT.model_copy(update={"padding": 256.0})),
}


@pytest.mark.parametrize("message", UNFIT)
def test_a_column_that_does_not_hold_such_images_is_refused(message):
    array, masking = UNFIT[message]
    with pytest.raises(DataError, match=message) as error:
        mask_images(pa.chunked_array([array]), masking)
    assert [one.code for one in error.value.problems] == ["R013"]


def test_parts_with_images_of_two_shapes_are_refused_when_they_are_put_together():
    one, other = (pa.chunked_array([pa.array([[[1] * wide] * 2])]) for wide in (2, 3))
    seen = [see_images(column, column, NESTED, KEY) for column in (one, other)]
    with pytest.raises(DataError, match="differ in their shape"):
        seen[0].merge(seen[1])


def test_cells_that_are_not_images_are_broken():
    assert count_broken(pa.chunked_array([pa.array(["a", None])]), NESTED) == 1
