from fractions import Fraction
from itertools import pairwise

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.differential_privacy.accounting import proven, rounded_up, zcdp_epsilon
from policy_engine.kernels.differential_privacy.calibration import (
    analytic_gaussian_sigma,
    calibrate,
)
from policy_engine.kernels.differential_privacy.parts import NoisyPart

DELTA = Fraction(1, 10**6)


def part(mechanism="discrete-laplace", share=1, cells=1, sensitivity=1):
    return NoisyPart(mechanism, Fraction(share), cells, sensitivity)


def laplaces(times, epsilon, sensitivity=1000):
    """Return as many figures that lose epsilon each, with the scales by which they do."""
    return [part(cells=times, sensitivity=sensitivity)], [sensitivity / Fraction(epsilon)]


@pytest.mark.parametrize(
    ("times", "epsilon", "composed"),
    [(100, "0.1", 4.69), (100, "0.01", 0.39), (365, "0.05", 4.57), (10, "0.1", 1.00)],
)
def test_compositions_of_the_table(times, epsilon, composed):
    loss = proven(*laplaces(times, epsilon), DELTA)
    assert float(loss.epsilon) == pytest.approx(composed, abs=0.01)


def test_ten_gaussians_of_sigma_ten():
    parts, scales = [part("discrete-gaussian")] * 10, [Fraction(10)] * 10
    assert float(proven(parts, scales, DELTA).epsilon) == pytest.approx(1.37, abs=0.01)
    assert float(zcdp_epsilon(Fraction(10, 200), DELTA)) == pytest.approx(1.47, abs=0.01)


@pytest.mark.parametrize(
    ("epsilon", "sigma"), [(0.1, 36.3), (0.5, 8.06), (1, 4.22), (3, 1.54), (8, 0.65)]
)
def test_sigmas_of_the_analytic_gaussian(epsilon, sigma):
    """Balle and Wang (2018) at delta 1e-6."""
    assert analytic_gaussian_sigma(epsilon, 1e-6) == pytest.approx(sigma, rel=0.005)
    assert analytic_gaussian_sigma(epsilon, 1e-6, 3) == pytest.approx(3 * sigma, rel=0.005)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize(("times", "epsilon"), [(30, 0.1), (100, 0.1), (300, 0.02)])
def test_laplaces_as_dp_accounting_composes_them(times, epsilon, sensitivity):
    loss = proven(*laplaces(times, str(epsilon), sensitivity), DELTA)
    one = pld.from_discrete_laplace_mechanism(
        epsilon / sensitivity,
        sensitivity,
        value_discretization_interval=1e-4,
        use_connect_dots=True,
    )
    theirs = one.self_compose(times).get_epsilon_for_delta(1e-6)
    assert float(loss.epsilon) == pytest.approx(theirs, rel=2e-3)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("sigma", "sensitivity", "times"), [(8, 1, 10), (40, 7, 20), (3, 2, 3)])
def test_gaussians_as_dp_accounting_composes_them(sigma, sensitivity, times):
    parts = [part("discrete-gaussian", cells=times, sensitivity=sensitivity)]
    loss = proven(parts, [Fraction(sigma)], DELTA)
    one = pld.from_discrete_gaussian_mechanism(sigma, sensitivity, use_connect_dots=True)
    theirs = one.self_compose(times).get_epsilon_for_delta(1e-6)
    assert float(loss.epsilon) == pytest.approx(theirs, rel=2e-3)


def test_without_a_delta_each_part_has_its_share():
    parts = [part(share="1/4", cells=3, sensitivity=14), part("permute-and-flip", "3/4", 3, 1)]
    found = calibrate(parts, Fraction(1, 2), Fraction(0))
    assert found.scales == (3 * 14 * 4 * 2, Fraction(2 * 3 * 4 * 2, 3))
    assert [cost.epsilon for cost in found.costs] == [Fraction(1, 8), Fraction(3, 8)]
    assert (found.epsilon, found.delta, found.accountant) == (Fraction(1, 2), 0, "sequential")


def test_few_pure_parts_spend_no_delta():
    parts = [part(share="1/2")] * 2
    assert calibrate(parts, Fraction(1), DELTA) == calibrate(parts, Fraction(1), Fraction(0))


def test_many_pure_parts_are_composed():
    parts = [part(share="1/2", cells=50)] * 2
    found = calibrate(parts, Fraction(1), DELTA)
    assert all(scale < 60 for scale in found.scales)
    assert Fraction(98, 100) < found.epsilon <= 1
    assert (found.delta, found.accountant) == (DELTA, "pld")


def test_one_gaussian_needs_about_what_the_analytic_needs():
    found = calibrate([part("discrete-gaussian", sensitivity=100)], Fraction(1), DELTA)
    assert found.scales[0] == pytest.approx(422, abs=4)
    assert found.epsilon <= 1


def test_partitions_have_half_of_delta_beside_gaussians():
    parts = [part("discrete-gaussian", "1/2", 3), part("partition-selection", "1/2", 3)]
    found = calibrate(parts, Fraction(1), DELTA)
    assert found.scales[1] == 6
    assert [cost.delta for cost in found.costs] == [DELTA / 2, DELTA / 2]
    assert found.delta == DELTA
    assert Fraction(99, 100) < found.epsilon <= 1


def test_partitions_have_all_of_delta_beside_pure_parts():
    parts = [part(share="1/2"), part("partition-selection", "1/2")]
    found = calibrate(parts, Fraction(1), DELTA)
    assert [cost.delta for cost in found.costs] == [0, DELTA]
    assert (found.epsilon, found.delta, found.scales) == (1, DELTA, (2, 2))


def test_scales_have_three_digits():
    parts = [part("discrete-gaussian", "1/3", 2, size) for size in (1, 14, 12345)]
    for scale in calibrate(parts, Fraction(1), DELTA).scales:
        assert rounded_up(scale, 3) == scale


@given(
    st.lists(
        st.builds(
            part,
            st.sampled_from(["discrete-laplace", "discrete-gaussian", "exponential"]),
            st.just(Fraction(1, 5)),
            st.sampled_from([1, 3, 40]),
            st.sampled_from([1, 14, 10**5]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["0.05", "1", "8"]),
    st.sampled_from(["1e-5", "1e-9"]),
)
def test_what_is_proven_is_what_was_asked_for_or_hardly_less(parts, epsilon, delta):
    parts = [*parts, part("partition-selection", Fraction(1, 5), 3)]
    found = calibrate(parts, Fraction(epsilon), Fraction(delta))
    asked = Fraction(epsilon) * len(parts) / 5
    assert asked * Fraction(97, 100) < found.epsilon <= asked
    assert found.delta <= Fraction(delta)
    again = proven(parts, found.scales, found.delta, found.costs[-1].delta)
    assert float(again.epsilon) == pytest.approx(float(found.epsilon), rel=1e-3)


def test_more_epsilon_never_needs_more_noise():
    parts = [part("discrete-gaussian", "1/2", 4), part("permute-and-flip", "1/2", 4)]
    scales = [calibrate(parts, Fraction(n, 4), DELTA).scales for n in range(1, 9)]
    for before, after in pairwise(scales):
        assert all(one >= other for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("parts", "epsilon", "delta", "message"),
    [
        ([], 1, 0, "Parts"),
        ([part()], 0, 0, "epsilon above 0"),
        ([part()], 1, 1, "to 1 are needed"),
        ([part()], 1, 2.0**-101, "from 2"),
        ([part(), part()], 1, 0, "above 1 in all"),
        ([part("discrete-gaussian")], 1, 0, "need a delta"),
        ([part("partition-selection")], 1, 0, "need a delta"),
        ([part(sensitivity=2**61)], 1, 0, "cannot be drawn"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(parts, epsilon, delta, message):
    with pytest.raises(ValueError, match=message):
        calibrate(parts, Fraction(epsilon), Fraction(delta))


@pytest.mark.parametrize("values", [{"cells": 0}, {"sensitivity": 0}, {"share": 0}, {"share": 2}])
def test_a_part_out_of_range_is_refused(values):
    with pytest.raises(ValueError, match="numbers above 0"):
        part(**values)


def test_partitions_are_selected_by_units():
    with pytest.raises(ValueError, match="by their units"):
        part("partition-selection", sensitivity=2)


def test_gaussian_noise_without_delta_proves_nothing():
    with pytest.raises(ValueError, match="delta above 0"):
        proven([part("discrete-gaussian")], [Fraction(10)], Fraction(0))


@pytest.mark.parametrize(
    ("number", "rounded"),
    [("1/3", "0.334"), ("999.9", "1000"), ("1000", "1000"), ("1001", "1010"), ("0", "0")],
)
def test_rounding_up_keeps_digits(number, rounded):
    assert rounded_up(Fraction(number), 3) == Fraction(rounded)
