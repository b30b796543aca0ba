"""What each masking makes of known values, by its published density, and by what it really does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.linkage import likelihood_links, links, plant
from policy_engine.kernels.linkage.mechanisms import (
    added_noise,
    became,
    correlated_noise,
    group_intervals,
    group_members,
    intervals,
    multiplied_noise,
    nearest_means,
    rounded_at_random,
)
from policy_engine.kernels.microaggregation import aggregate
from policy_engine.kernels.noise import add_correlated_noise, add_noise, multiply_noise
from policy_engine.kernels.random_rounding import round_at_random

VALUES = st.integers(-5, 5).map(float)
PAIRS = arrays(np.float64, (2, 6), elements=VALUES)


def words(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, shape, dtype=np.uint64)


def normal(shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def linked(columns, persons):
    """Return the share of right links, each person's own record being that of its number."""
    found = likelihood_links(columns, np.arange(persons))
    assert np.isfinite(found.log_likelihood).all()
    return found.linked.mean()


@given(PAIRS, st.floats(0.1, 10))
def test_log_likelihood_of_normal_noise_is_that_of_its_density(pair, deviation):
    column = added_noise(*pair, deviation, "normal")
    found = likelihood_links([column], np.arange(6)).log_likelihood
    assert found == pytest.approx(-((pair[1] - pair[0]) ** 2) / (2 * deviation**2))


@given(PAIRS, st.floats(0.1, 10))
def test_log_likelihood_of_laplace_noise_is_that_of_its_density(pair, deviation):
    column = added_noise(*pair, deviation, "laplace")
    found = likelihood_links([column], np.arange(6)).log_likelihood
    assert found == pytest.approx(-np.abs(pair[1] - pair[0]) * math.sqrt(2) / deviation)


@given(PAIRS, st.floats(0.1, 2))
def test_log_likelihood_of_multiplied_noise_is_that_of_the_logarithm(pair, deviation):
    found = likelihood_links([multiplied_noise(*pair, deviation)], np.arange(6)).log_likelihood
    for before, after, log in zip(*pair, found, strict=True):
        if np.sign(before) != np.sign(after):
            assert log == -math.inf
        elif before == 0:
            # Zeros stay zeros; a constant of the person.
            assert math.isfinite(log)
        else:
            ratio = math.log(after / before) + deviation**2 / 2
            assert log == pytest.approx(-((ratio / deviation) ** 2) / 2, abs=1e-9)


def test_zero_is_linked_to_zeros_alone():
    column = multiplied_noise(np.zeros(1), np.array([0.0, 1e-30, -1e-30]), 0.1)
    assert likelihood_links([column], np.arange(1)).linked.tolist() == [1]


@pytest.mark.parametrize("keeps_covariance", [False, True])
def test_correlated_noise_has_the_distance_of_mahalanobis(keeps_covariance):
    before = normal((40, 3)) @ np.array([[1, 0.5, 0], [0, 2, 0.3], [0, 0, 1]])
    means, covariance = before.mean(axis=0), np.cov(before.T)
    after = add_correlated_noise(
        before, means, covariance, 0.2, words((40, 3)), keeps_covariance=keeps_covariance
    )
    options = (means, covariance, 0.2, np.zeros(3))
    columns = correlated_noise(before, after, *options, keeps_covariance=keeps_covariance)
    moves = (after - means) * (math.sqrt(1.2) if keeps_covariance else 1) - (before - means)
    distances = np.einsum("ri,ij,rj->r", moves, np.linalg.inv(0.2 * covariance), moves)
    found = likelihood_links(columns, np.arange(40)).log_likelihood
    assert found == pytest.approx(-distances / 2)


def test_columns_that_determine_each_other_do_so_but_for_rounding():
    before = np.round(normal((50, 2)) * 100)
    before = np.column_stack([before, before.sum(axis=1)])
    means, covariance = before.mean(axis=0), np.cov(before.T)
    noisy = add_correlated_noise(
        before, means, covariance, 0.5, words((50, 3)), keeps_covariance=False
    )
    options = (means, covariance, 0.5, np.ones(3))
    columns = correlated_noise(before, np.round(noisy), *options, keeps_covariance=False)
    found = likelihood_links(columns, np.arange(50)).log_likelihood
    assert found.min() > -20


def test_value_is_rounded_to_the_nearer_multiple_more_often():
    known, released = np.array([23.0, 23, 20, 24]), np.array([20.0, 30, 20, 0])
    found = likelihood_links([rounded_at_random(known, released, 10)], np.arange(4))
    assert found.log_likelihood == pytest.approx([math.log(0.7), math.log(0.3), 0, -math.inf])
    assert found.linked.tolist() == [0.5, 0, 0.5, 0]


@given(
    arrays(np.float64, 8, elements=st.integers(-999, 999).map(lambda value: value / 10)),
    st.integers(0, 99),
)
def test_what_random_rounding_makes_is_possible(values, seed):
    released = round_at_random(values, 10, words(8, seed))
    linked([rounded_at_random(values, released, 10.0)], 8)


def test_noise_that_was_really_added_is_linked_more_often_than_by_distance():
    before = normal((400, 3)) * [1, 10, 100]
    scales = np.array([0.1, 20, 20])
    after = np.column_stack(
        [add_noise(*one, "normal") for one in zip(before.T, scales, words((3, 400)), strict=True)]
    )
    columns = [added_noise(*one, "normal") for one in zip(before.T, after.T, scales, strict=True)]
    deviations = before.std(axis=0)
    distance = links(plant(after / deviations), before / deviations, np.arange(400)).mean()
    assert linked(columns, 400) > 2 * distance


def test_multiplied_noise_that_was_really_made_is_possible():
    values = np.append(normal(300), [0.0, 0.0])
    released = multiply_noise(values, 0.5, words(302))
    assert linked([multiplied_noise(values, released, 0.5)], 302) > 1 / 302


def test_value_masked_by_itself_is_linked_to_the_records_with_what_it_becomes():
    known = np.array([4.0, 6, 14, 16])
    released = np.array([0.0, 10, 10, 20])
    rounded = np.round(known / 10) * 10
    found = likelihood_links([became(rounded, released)], np.arange(4))
    assert found.linked.tolist() == [1, 0.5, 0.5, 1]


def test_value_is_linked_to_the_records_of_its_class():
    known = np.array([1.0, 2, 5, 6, 7])
    low, high = np.array([1.0, 1, 5, 5, 5]), np.array([2.0, 2, 7, 7, 7])
    assert likelihood_links(intervals(known, low, high), np.arange(5)).linked == pytest.approx(
        [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3]
    )


def test_of_two_cells_that_overlap_the_one_of_fewer_values_is_likelier():
    known = np.array([5.0, 1, 2, 3, 4])
    low, high = np.array([4.5, 1, 1, 1, 1]), np.array([5.0, 5, 5, 5, 5])
    plain = likelihood_links(intervals(known, low, high), np.arange(5)).linked
    assert plain.tolist() == [0.2, 0.25, 0.25, 0.25, 0.25]
    dense = likelihood_links(intervals(known, low, high, "known"), np.arange(5)).linked
    assert dense.tolist() == [1, 0.25, 0.25, 0.25, 0.25]


@given(arrays(np.float64, 12, elements=VALUES), st.integers(2, 5))
def test_who_knows_a_column_knows_its_optimal_groups(values, size):
    released = aggregate(values[:, np.newaxis], size, words(12))[:, 0]
    found = likelihood_links(group_intervals(values, released, values), np.arange(12))
    assert np.isfinite(found.log_likelihood).all()
    assert found.linked.max() <= 1 / size + 1e-12


def test_value_that_no_other_has_is_linked_to_one_of_its_group():
    values = np.array([1.0, 2, 3, 10, 11, 12, 13])
    released = np.array([2.0, 2, 2, 11.5, 11.5, 11.5, 11.5])
    found = likelihood_links(group_intervals(values, released, values), np.arange(7)).linked
    assert found == pytest.approx([1 / 3] * 3 + [1 / 4] * 4)


def test_rows_of_the_nearest_mean_share_a_link():
    table = np.repeat([[0.0, 0], [100, 100]], 3, axis=0) + normal((6, 2))
    released = aggregate(table, 3, words(6))
    assert linked(nearest_means(table, released, table.std(axis=0)), 6) == pytest.approx(1 / 3)


# The third of the first three is nearer to the mean of the others than to its own.
GROUPED = np.array([[0.0, 0], [0, 1], [9, 2], [10, 3], [11, 3], [12, 3]])
OWN_MEANS = np.repeat([[3.0, 1], [11, 3]], 3, axis=0)


def test_who_makes_groups_again_finds_those_in_them():
    members = group_members(GROUPED, OWN_MEANS, OWN_MEANS[::-1])
    assert likelihood_links([members], np.arange(6)[::-1]).linked == pytest.approx(1 / 3)


def test_of_equal_persons_in_two_groups_nobody_knows_who_is_in_which():
    twins = GROUPED[[0, 1, 3, 3, 4, 5]]
    found = likelihood_links([group_members(twins, OWN_MEANS, OWN_MEANS)], np.arange(6)).linked
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    "released", [OWN_MEANS + 1, OWN_MEANS[[0, 0, 3, 3, 3, 3]], OWN_MEANS[:5], OWN_MEANS[:0]]
)
def test_groups_whose_means_are_not_those_published_are_not_known(released):
    assert group_members(GROUPED, OWN_MEANS, released) is None


def test_file_of_other_persons_is_linked_by_chance():
    known, released = normal((300, 2)), normal((300, 2), seed=2)
    columns = [added_noise(*pair, 1.0, "normal") for pair in zip(known.T, released.T, strict=True)]
    assert likelihood_links(columns, np.arange(300)).linked.mean() < 5 / 300
