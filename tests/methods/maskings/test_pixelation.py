import numpy as np
import pytest
from pydantic import ValidationError

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.masking import masking_class
from policy_engine.methods.maskings.pixelation import Pixelation

FACE = Pixelation(name="face", blockSize=2, padding=3)
IMAGE = np.array([[0, 2, 9], [4, 6, 9]], np.uint8)[None, :, :, None]


def test_every_block_is_its_mean_and_is_found_to_be():
    made = FACE.mask(IMAGE)
    # The blocks at the right lack two pixels each: (9 + 9 + 3 + 3) / 4.
    assert made[0, :, :, 0].tolist() == [[3, 3, 6], [3, 3, 6]]
    assert (FACE.count_broken(IMAGE), FACE.count_broken(made)) == (1, 0)
    assert (FACE.count_unlike(IMAGE, made), FACE.count_unlike(IMAGE, made + 1)) == (0, 1)


def test_it_says_what_it_does():
    assert FACE.how == "pixelation, blockSize 2, padding 3"
    assert masking_class("pixelation") is Pixelation
    assert dict(FACE.constants) == {"padding": 3}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"blockSize": 1},
        {"blockSize": 2.5},
        {"blockSize": 4097},
        {"blockSize": "2"},
        {"blockSize": 2, "padding": float("nan")},
        {"blockSize": 2, "height": 0, "width": 3},
    ],
)
def test_a_setting_out_of_range_is_refused(settings):
    with pytest.raises(ValidationError):
        Pixelation(name="face", **settings)


def test_a_shape_without_a_width_or_smaller_than_a_block_is_refused_at_once():
    given = {"name": "face", "blockSize": 4, "height": 3, "channels": 3}
    found = parameter_findings(Pixelation, given, "pixelation")
    assert [(one.code, one.parameter) for one in found] == [
        ("M003", "blockSize"),
        ("M002", "height"),
    ]
