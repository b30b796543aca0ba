"""What a randomised table promises, in words: records of any values, images that are alike."""

from decimal import Decimal

import pytest

from policy_engine.cli.tables.randomised import promise
from policy_engine.plan.randomisation import Randomisation

SCAN = {
    "name": "Scan",
    "randomiser": "private-pixelation",
    "blockSize": 4,
    "pixelsChanged": 16,
    "height": 28,
    "width": 28,
}
ALIKE = "for images that differ in at most 16 pixels"
SEX = {"name": "sex", "randomiser": "k-ary-randomised-response", "categories": ["F", "M"]}


@pytest.mark.parametrize(
    ("columns", "promised"),
    [
        ([SCAN], f"epsilon 8, {ALIKE}"),
        ([SEX], "epsilon 8, whatever a record holds"),
        (
            [SEX, SCAN],
            f"epsilon 8, whatever else a record holds, {ALIKE} of Scan",
        ),
    ],
)
def test_images_are_promised_epsilon_for_a_few_pixels(columns, promised):
    assert promise(Randomisation(columns=columns, epsilon=Decimal(8))) == promised
