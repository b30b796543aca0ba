import math
from fractions import Fraction

import pytest
from pydantic import ValidationError

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.randomisers.duchi import Duchi

DAYS = Duchi(name="days", lower=0.0, upper=14.0)


def test_its_grid_is_public():
    assert (DAYS.steps, DAYS.other_step) == (14, 7)
    wage = Duchi(name="wage", lower=-1.0, upper=1.0, grid=0.1, missingAs=-0.8)
    assert (wage.steps, wage.other_step) == (20, 2)


def test_its_figures_are_those_of_the_formulas():
    """At an epsilon of ln 3: 3 parts of 4 at the ends; in the middle 7^2 * (4 / 2)^2."""
    figures = DAYS.figures(Fraction(math.log(3)))
    assert figures["ownProbability"] == pytest.approx(3 / 4)
    assert figures["otherProbability"] == pytest.approx(1 / 4)
    assert figures["largestVariance"] == pytest.approx(49 * 4)


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({}, "lower"),
        ({"lower": 0}, "upper"),
        ({"lower": 3, "upper": 3}, "upper"),
        ({"lower": 3, "upper": 1}, "upper"),
        ({"lower": 0, "upper": 1, "grid": 0.3}, "grid"),
        ({"lower": 0, "upper": 1, "grid": 2}, "grid"),
        ({"lower": 0, "upper": 1, "grid": 0}, "grid"),
        ({"lower": 0, "upper": 100_000}, "grid"),
        ({"lower": 0, "upper": 1, "missingAs": 2}, "missingAs"),
        ({"lower": "a", "upper": 1}, "lower"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings, parameter):
    with pytest.raises(ValidationError):
        Duchi(name="days", **settings)
    findings = parameter_findings(Duchi, {"name": "days", **settings}, "duchi")
    assert parameter in [finding.parameter for finding in findings]
