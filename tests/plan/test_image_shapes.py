"""Images of another shape than the policy says are refused before anything is read."""

import numpy as np
import pytest

from policy_engine.data.array_shapes import array_shape
from policy_engine.errors import DataError
from policy_engine.plan.image_shapes import check_image_shapes
from policy_engine.plan.inputs import Read
from policy_engine.plan.randomisation import Randomisation


def check(path, **changes):
    """Check the images of a file as a policy for 4 times 4 pixels does."""
    face = {"name": "image", "randomiser": "private-pixelation", "blockSize": 2}
    face |= {"pixelsChanged": 1, "height": 4, "width": 4, **changes}
    read = Read(asset="http://e.org/T", location=str(path), format=path.suffix[1:], columns=())
    check_image_shapes(Randomisation(columns=[face], epsilon="1"), read)


@pytest.mark.parametrize("shape", [(3, 4, 4), (0, 4, 4), (3, 4, 4, 1)])
def test_images_of_the_shape_are_read(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    assert array_shape(tmp_path / "a.npy", "image") == shape
    check(tmp_path / "a.npy")


@pytest.mark.parametrize("shape", [(3, 2, 8), (3, 16), (3,), (3, 4, 4, 3)])
def test_images_of_another_shape_are_refused(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    with pytest.raises(DataError, match=r"C009.*Its randomiser has \(4, 4\) or \(4, 4, 1\)"):
        check(tmp_path / "a.npy")


def test_images_of_an_archive_may_be_flat(tmp_path):
    np.savez(tmp_path / "a.npz", image=np.zeros((3, 48)), other=np.zeros(3))
    check(tmp_path / "a.npz", channels=3)
    with pytest.raises(DataError, match="C009"):
        check(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"\x93NUMPY\x01\x00\x05\x00(((((", b"\x93NUMPY\x09\x00"]
)
def test_a_file_without_a_header_has_no_shape(tmp_path, content):
    for name in ("a.npy", "a.npz"):
        (tmp_path / name).write_bytes(content)
        assert array_shape(tmp_path / name, "image") is None
