"""How far dominated totals stay unknown, and of how many units a total is at the least."""

import numpy as np
import pytest

from policy_engine.audits.outputs.dominated_totals import least_contributors, upper_levels
from policy_engine.methods.output_checks.profiles import PROFILES


def profile(**thresholds):
    none = {"max_largest_share": None, "max_two_largest_share": None, "p_percent": None}
    return PROFILES["abs"].model_copy(update={**none, **thresholds})


@pytest.mark.parametrize(
    ("thresholds", "level"),
    [
        ({"p_percent": 0.1}, 8 - 5),  # The second, with 15 of 100, sees no closer than 8 to 80.
        ({"p_percent": 0.05}, 0),  # The others hide 80 enough: they have 5, and 4 are needed.
        ({"max_largest_share": 0.5}, 160 - 100),
        ({"max_two_largest_share": 0.76}, 125 - 100),
        ({"max_two_largest_share": 0.76, "max_largest_share": 0.5}, 60),
        ({}, 0),
    ],
)
def test_level_above_a_dominated_total(thresholds, level):
    sizes = (np.array([one]) for one in (80.0, 15.0, 100.0))
    assert upper_levels(profile(**thresholds), *sizes) == pytest.approx([level])


def test_infinite_totals_have_no_level():
    none = np.array([np.inf])
    assert upper_levels(PROFILES["abs"], none, none, none) == [0]


@pytest.mark.parametrize(
    ("thresholds", "least"),
    [
        ({}, 2),
        ({"max_largest_share": 0.5}, 2),
        ({"max_largest_share": 0.3}, 4),
        ({"max_two_largest_share": 0.85}, 3),
        ({"max_two_largest_share": 0.1}, 20),
        ({"p_percent": 0.1}, 3),
    ],
)
def test_as_few_units_as_no_rule_finds_dominated(thresholds, least):
    assert least_contributors(profile(min_units=2, **thresholds)) == least


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_ask_for_more_units_than_that(name):
    assert least_contributors(PROFILES[name]) == PROFILES[name].min_units
