"""The smooth stand-in for the number of links has the slopes it says, and is climbed."""

import numpy as np
import pytest
from linkage_instances import FAMILIES
from scipy.optimize import approx_fprime

from policy_engine.kernels.linkage.learned.surrogate import _form, _mean, _missed, climb

RANDOM = np.random.default_rng(0)
OWN = RANDOM.normal(size=(8, 3)) * [2.0, 1.0, 0.5]
OTHERS = RANDOM.normal(size=(40, 3)) * 2
PERSONS = np.repeat(np.arange(8), 5)


def missed(distances, parameters, power=4.0):
    features = distances.features
    return _missed(features(OWN), features(OTHERS), PERSONS, parameters, power)


def test_a_link_is_as_likely_as_a_choice_by_powers_of_the_distances():
    distances = FAMILIES["weighted mean"](1)
    mine, others = (distances.features(np.array(rows)) for rows in ([[1.0]], [[2.0], [3.0]]))
    value, _ = _missed(mine, others, np.array([0, 0]), np.array([1.0]), 2.0)
    assert 1 - value == pytest.approx(1 / (1 + 1 / 4**2 + 1 / 9**2))


@pytest.mark.parametrize("name", FAMILIES)
def test_slopes_are_those_of_the_links_missed(name):
    distances = FAMILIES[name](3)
    start = distances.inner
    first, move = (
        _form(start)
        if distances.ordered is None
        else _mean(distances, distances.features(OWN), start)
    )
    place = first + np.linspace(-0.3, 0.3, len(first))
    parameters, back = move(place)
    slopes = back(missed(distances, parameters)[1])
    expected = approx_fprime(place, lambda at: missed(distances, move(at)[0])[0], 1e-7)
    assert slopes == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_climb_makes_links_likelier_by_a_member(name):
    distances = FAMILIES[name](3)
    parameters = climb(OWN, OTHERS, PERSONS, distances, distances.inner, 4.0)
    assert missed(distances, parameters)[0] < missed(distances, distances.inner)[0]
    assert (distances.constraints @ parameters).min() >= -1e-9
    assert distances.total @ parameters == pytest.approx(1)


def test_corners_are_members():
    for family in FAMILIES.values():
        distances = family(3)
        assert (distances.corners @ distances.constraints.T).min() >= 0
        assert distances.corners @ distances.total == pytest.approx(1)
