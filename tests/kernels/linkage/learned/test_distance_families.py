"""The distances of each family are what their definitions say, and families hold one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from linkage_instances import FAMILIES

from policy_engine.kernels.linkage.learned import (
    bilinear,
    choquet,
    choquet_of_pairs,
    ordered_weighted_mean,
    weighted_mean,
)
from policy_engine.kernels.linkage.learned.forms import matrix_of, semidefinite
from policy_engine.kernels.linkage.learned.learning import translated
from policy_engine.kernels.linkage.learned.rivals import reach

DIFFERENCES = np.array([1.0, -3.0, 2.0])
ROWS = arrays(np.float64, (6, 3), elements=st.integers(-5, 5).map(float))
NUMBERS = arrays(np.float64, 21, elements=st.floats(0, 1))


def member(distances, numbers):
    """Return any member: towards the constraint that the numbers break first."""
    size = len(distances.total)
    if distances.ordered is None:
        root = np.resize(numbers, (3, 3)) - 0.5 + np.eye(3)
        return semidefinite((root @ root.T)[np.triu_indices(3)])
    step = np.resize(numbers, size) - 0.5
    step -= distances.total * (distances.total @ step) / (distances.total @ distances.total)
    slack, change = distances.constraints @ distances.inner, distances.constraints @ step
    far = np.min(np.where(change < 0, slack / np.minimum(change, -1e-12) * -1, 1.0))
    return distances.inner + min(far, 1.0) * 0.999 * step


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_holds_a_distance_with_all_constraints_above_0(name):
    distances = FAMILIES[name](3)
    assert (distances.constraints @ distances.inner > 0).all()
    assert distances.total @ distances.inner == pytest.approx(1)


def test_a_weighted_mean_weighs_columns_and_an_ordered_one_ranks():
    weights = np.array([0.5, 0.2, 0.3])
    assert weighted_mean(3).features(DIFFERENCES) @ weights == pytest.approx(0.5 + 1.8 + 1.2)
    ordered = ordered_weighted_mean(3).features(DIFFERENCES)
    assert ordered.tolist() == [9, 4, 1]


def test_a_choquet_integral_adds_steps_times_the_capacity_of_those_at_or_above():
    # Sets {0}, {1}, {0, 1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}; squares 1, 9, 4.
    capacity = np.array([0.1, 0.3, 0.4, 0.2, 0.6, 0.9, 1.0])
    value = choquet(3).features(DIFFERENCES) @ capacity
    assert value == pytest.approx((9 - 4) * 0.3 + (4 - 1) * 0.9 + 1 * 1.0)


def test_a_bilinear_form_is_that_of_its_matrix():
    matrix = np.array([[0.5, -0.1, 0.2], [-0.1, 0.3, 0.0], [0.2, 0.0, 0.2]])
    parameters = matrix[np.triu_indices(3)]
    assert (matrix_of(parameters) == matrix).all()
    value = bilinear(3).features(DIFFERENCES) @ parameters
    assert value == pytest.approx(DIFFERENCES @ matrix @ DIFFERENCES)


HELD = [
    ("weighted mean", ["pairs", "submodular pairs", "choquet", "submodular", "bilinear"]),
    ("ordered", ["choquet"]),
    ("submodular pairs", ["pairs", "submodular", "choquet"]),
    ("pairs", ["choquet"]),
    ("submodular", ["choquet"]),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("inner", "outer"), [(one, other) for one, all_ in HELD for other in all_])
@given(rows=ROWS, numbers=NUMBERS)
def test_a_distance_of_a_family_is_the_same_in_one_that_holds_it(inner, outer, rows, numbers):
    family, distances = FAMILIES[inner](3), FAMILIES[outer](3)
    parameters = member(family, numbers)
    same = translated(family, parameters, distances)
    assert (distances.constraints @ same).min() >= -1e-9
    assert distances.total @ same == pytest.approx(1)
    expected = family.features(rows) @ parameters
    assert distances.features(rows) @ same == pytest.approx(expected, abs=1e-9)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FAMILIES)
@given(rows=ROWS, numbers=NUMBERS)
def test_no_distance_goes_beyond_the_reach(name, rows, numbers):
    distances = FAMILIES[name](3)
    values = distances.features(rows) @ member(distances, numbers)
    least, most = reach(rows[0], rows, distances)
    assert (values - values[0] >= least - 1e-9).all()
    assert (values - values[0] <= most + 1e-9).all()


def test_submodular_pairs_are_the_submodular_ones_of_all_pairs():
    """A 2-additive capacity is submodular if no two columns weigh more together."""
    pairs, both = choquet_of_pairs(3), choquet_of_pairs(3, submodular=True)
    lesser = translated(pairs, np.eye(9)[6], choquet(3))
    greater = translated(both, np.eye(6)[3], choquet(3))
    constraints = choquet(3, submodular=True).constraints
    assert (constraints @ lesser).min() < 0
    assert (constraints @ greater).min() >= 0


def test_a_full_capacity_of_many_columns_is_refused():
    with pytest.raises(ValueError, match="at most 10 columns, not 11"):
        choquet(11)
