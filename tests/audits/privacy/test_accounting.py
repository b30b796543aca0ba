"""Epsilon of DP-SGD against published figures."""

import math
from functools import cache

import pytest
from everyday import everyday

from policy_engine.audits.privacy.accounting import (
    TrainingBudget,
    epsilon_of,
    noise_for,
    substitution_epsilon,
)
from policy_engine.errors import AuditError

nightly = pytest.mark.nightly

# MOSAICrOWN D5.2, section 4.3.3 (epsilon 3.5, 1.6, 1, .8, .4 with N=10,000), the other figures as
# its authors published them: batches of 100, 200 epochs, delta = 1/N.
CLASSIC = [
    (10_000, {2: 3.55, 4: 1.61, 6: 1.05, 8: 0.78, 16: 0.38}),
    pytest.param(8_000, {2: 3.96, 4: 1.79, 6: 1.16, 8: 0.86, 16: 0.42}, marks=nightly),
    pytest.param(50_000, {2: 1.63, 4: 0.76, 6: 0.50, 8: 0.37, 16: 0.22}, marks=nightly),
]


@cache
def _spent(records, noise):
    return epsilon_of(float(noise), 100 / records, 200 * records // 100, 1 / records)


@pytest.mark.nightly
@pytest.mark.parametrize(("records", "published"), CLASSIC)
def test_epsilon_as_published_with_the_conversion_of_2019(records, published):
    for noise, epsilon in published.items():
        assert _spent(records, noise).classic == pytest.approx(epsilon, abs=0.006)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("noise", "rdp", "pld"),
    [(2, 3.03, 2.74), (4, 1.30, None), (6, 0.82, None), (8, 0.59, 0.527), (16, 0.27, 0.241)],
)
def test_epsilon_of_today_as_dp_accounting_has_it(noise, rdp, pld):
    spent = _spent(10_000, noise)
    assert spent.rdp == pytest.approx(rdp, abs=0.005)
    assert pld is None or spent.pld == pytest.approx(pld, abs=0.005)
    assert spent.value == min(spent.rdp, spent.pld) < spent.classic


def _exact_delta(epsilon, noise):
    """Return delta of one Gaussian mechanism (Balle and Wang, ICML 2018, theorem 8)."""

    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    first = below(1 / (2 * noise) - epsilon * noise)
    return first - math.exp(epsilon) * below(-1 / (2 * noise) - epsilon * noise)


@pytest.mark.nightly
@pytest.mark.parametrize("noise", [1.0, 4.0])
def test_epsilon_of_one_step_on_all_records_is_that_of_the_gaussian_mechanism(noise):
    spent = epsilon_of(noise, 1.0, 1, 1e-5)
    assert _exact_delta(spent.pld, noise) == pytest.approx(1e-5, rel=0.01)
    assert _exact_delta(spent.rdp, noise) < 1e-5


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [(2.0, 0.01, 500), pytest.param(6.0, 0.1, 2_000, marks=nightly)],
)
def test_epsilon_falls_with_noise_and_rises_with_steps_and_rate(noise, rate, steps):
    spent = epsilon_of(noise, rate, steps, 1e-5).value
    assert epsilon_of(noise * 1.5, rate, steps, 1e-5).value < spent
    assert epsilon_of(noise, rate, steps * 2, 1e-5).value > spent
    assert epsilon_of(noise, rate * 2, steps, 1e-5).value > spent


@pytest.mark.nightly
def test_noise_spends_what_is_allowed_and_hardly_less():
    epsilon = 0.38
    noise = noise_for(epsilon, 0.01, 20_000, 1e-4)
    assert 0.99 * epsilon <= epsilon_of(noise, 0.01, 20_000, 1e-4).value <= epsilon


@pytest.mark.nightly
def test_noise_where_hardly_any_is_needed():
    assert noise_for(1e7, 0.01, 10, 1e-4) == 0.02


def test_noise_for_an_epsilon_out_of_reach_says_the_smallest():
    with pytest.raises(AuditError, match=r"A006 No noise reaches .* within reach is 0\.00"):
        noise_for(1e-6, 0.01, 20_000, 1e-4)


def test_an_epsilon_of_zero_is_refused():
    with pytest.raises(AuditError, match="A006 The epsilon is not positive"):
        noise_for(0.0, 0.01, 20_000, 1e-4)


def test_without_noise_there_is_no_epsilon():
    with pytest.raises(AuditError, match="A006 Without noise there is no epsilon"):
        epsilon_of(0.0, 0.01, 100, 1e-4)


def test_all_that_is_out_of_range_is_said_at_once():
    with pytest.raises(AuditError) as caught:
        TrainingBudget(-1.0, 1.5, 2.0)
    assert len(caught.value.problems) == 3


def test_a_large_epsilon_is_counted_on_a_coarser_grid():
    spent = epsilon_of(0.05, 0.01, 20_000, 1e-4)
    assert 20_000 < spent.value < spent.rdp


def test_budget_counts_as_the_accountant_does():
    budget = TrainingBudget(2.0, 0.01, 1e-4)
    assert budget.spent(0) == 0
    assert budget.spent(20_000) == pytest.approx(_spent(10_000, 2).rdp)


def test_budget_ends_before_it_is_exceeded():
    budget = TrainingBudget(2.0, 0.01, 1e-4)
    steps = budget.most_steps(1.0)
    assert budget.spent(steps) <= 1.0 < budget.spent(steps + 1)
    assert budget.most_steps(1e-9) == 0


def test_budget_that_never_ends():
    assert TrainingBudget(2.0, 1e-9, 1e-4).most_steps(1e6) >= 10**12


@pytest.mark.nightly
@pytest.mark.parametrize("noise", everyday((1.0, 4.0), 4.0))
def test_an_exchange_costs_what_two_steps_of_one_record_do_and_no_more(noise):
    """Of the Gaussian mechanism, whose exchange has twice the sensitivity, it is known exactly."""
    spent = epsilon_of(noise, 1.0, 1, 1e-4)
    exact = epsilon_of(noise / 2, 1.0, 1, spent.substitution_delta).value
    assert exact <= spent.substitution <= 1.02 * exact
    assert spent.substitution_delta == pytest.approx(1e-6)


@pytest.mark.nightly
def test_an_exchange_is_no_worse_than_the_usual_bound_of_groups():
    """Vadhan 2017, lemma 2.2: (epsilon, delta) of one is (2 epsilon, (1 + e^epsilon) delta)."""
    one = epsilon_of(2.0, 0.01, 2_000, 1e-6).value
    two = substitution_epsilon(2.0, 0.01, 2_000, (1 + math.exp(one)) * 1e-6)
    assert one < two <= 2 * one


@pytest.mark.nightly
@pytest.mark.parametrize("noise", everyday((0.02, 0.3), 0.02))
def test_an_exchange_has_an_epsilon_however_little_noise_there_is(noise):
    spent = epsilon_of(noise, 0.05, 10, 1e-3)
    assert spent.value < spent.substitution < math.inf
