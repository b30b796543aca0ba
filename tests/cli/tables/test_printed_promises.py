"""What a randomised table promises, in words: records of any values, images that are alike."""

from decimal import Decimal

import pytest

from policy_engine.cli.tables.randomised import describe, promise
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


def test_the_answers_of_one_column_are_counted_alone_where_each_record_has_one_answer():
    wage = {"name": "wage", "randomiser": "piecewise", "lower": 0, "upper": 9, "grid": 1}
    sampled = Randomisation(columns=[SEX, wage], epsilon=Decimal(2), compose="sample-one-attribute")
    sex, wages = (describe(one, sampled) for one in sampled.columns)
    assert "the variance of a frequency is" in sex
    assert sex.endswith("for n answers to this column alone")
    assert "each answer has a probability of" in wages
    whole = Randomisation(columns=[SEX], epsilon=Decimal(2))
    assert describe(whole.columns[0], whole).endswith("for n answers")
