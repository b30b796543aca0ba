import math
from fractions import Fraction

import pytest
from pydantic import ValidationError

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.randomiser import randomiser_class
from policy_engine.methods.randomisers.k_ary_randomised_response import KAryRandomisedResponse

SEX = KAryRandomisedResponse(name="sex", categories=("F", "M"))


def test_what_is_none_of_the_categories_is_one_more_value():
    assert SEX.values == ("F", "M", "other")
    named = KAryRandomisedResponse(name="sex", categories=("F", "M", "?"), otherwise="?")
    assert named.values == ("?", "F", "M")
    assert randomiser_class("k-ary-randomised-response") is KAryRandomisedResponse


def test_its_figures_are_those_of_the_formulas():
    """Of three values at an epsilon of ln 4: 4 of 6 parts, and 1 each; (d - 2 + 4) / 9."""
    figures = SEX.figures(Fraction(math.log(4)))
    assert figures["ownProbability"] == pytest.approx(4 / 6)
    assert figures["otherProbability"] == pytest.approx(1 / 6)
    assert figures["variance"] == pytest.approx((3 - 2 + 4) / 9)
    # At a frequency of 1: (4/6 * 2/6) / (3/6)^2.
    assert figures["largestVariance"] == pytest.approx(8 / 9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"categories": ()},
        {"categories": ("a", "a")},
        {"categories": ("other",)},
        {"categories": ("a",), "otherwise": ""},
        {"categories": ("a",), "otherwise": "a"},
        {"categories": ("a",), "share": 0},
        {"categories": tuple(map(str, range(5000)))},
    ],
)
def test_a_setting_out_of_range_is_refused(settings):
    with pytest.raises(ValidationError):
        KAryRandomisedResponse(name="sex", **settings)
    values = {"name": "sex", **settings}
    assert parameter_findings(KAryRandomisedResponse, values, "k-ary-randomised-response")
