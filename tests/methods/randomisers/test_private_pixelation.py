from fractions import Fraction

import pytest
from pydantic import ValidationError

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation

FACE = {"name": "face", "blockSize": 4, "pixelsChanged": 16, "height": 28, "width": 28}


def test_its_scale_is_that_of_the_paper():
    """255 * 16 / (4^2 * 10) = 25.5, and three times that in colour."""
    assert PrivatePixelation(**FACE).figures(Fraction(10))["scale"] == 25.5
    colour = PrivatePixelation(**FACE, channels=3)
    assert colour.figures(Fraction(10)) == {"scale": 76.5, "largestVariance": 2 * 76.5**2}


def test_the_scale_is_in_the_units_of_pixels():
    unit = PrivatePixelation(**FACE, lower=0.0, upper=1.0, grid=0.004, padding=0.5)
    assert unit.figures(Fraction(10))["scale"] == pytest.approx(0.1)
    assert (unit.levels, unit.padding_level) == (250, 125)
    assert not unit.is_repeatable


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"blockSize": 29}, "blockSize"),
        ({"blockSize": 0}, "blockSize"),
        ({"pixelsChanged": 785}, "pixelsChanged"),
        ({"pixelsChanged": 0}, "pixelsChanged"),
        ({"padding": 256}, "padding"),
        ({"upper": 0}, "upper"),
        ({"height": 0}, "height"),
        ({"channels": 65}, "channels"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings, parameter):
    with pytest.raises(ValidationError):
        PrivatePixelation(**{**FACE, **settings})
    findings = parameter_findings(PrivatePixelation, {**FACE, **settings}, "private-pixelation")
    assert parameter in [finding.parameter for finding in findings]


def test_noise_that_is_too_large_to_be_drawn_is_refused():
    image = PrivatePixelation(
        name="x", blockSize=1, pixelsChanged=2**40, height=2**20, width=2**20, channels=64
    )
    with pytest.raises(ValueError, match="too large"):
        image.check(Fraction(1, 10**6))
