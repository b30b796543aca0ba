"""The losses of the mechanisms, exactly, on all neighbours of small domains."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.differential_privacy import loss_distributions
from policy_engine.kernels.differential_privacy.calibration import calibrate
from policy_engine.kernels.differential_privacy.contributions import bound_contributions
from policy_engine.kernels.differential_privacy.loss_distributions import (
    compose,
    gaussian_losses,
    laplace_losses,
    pure_losses,
)
from policy_engine.kernels.differential_privacy.parts import NoisyPart
from policy_engine.kernels.differential_privacy.selection import (
    quantile_scores,
    quantile_sensitivity,
)

HALF = Fraction(1, 2)
D52 = (1, 3, 5, 7, 8, 11, 12, 13, 17, 22)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def neighbours(values, most):
    """Yield all tables of up to so many rows of these values, with a row more."""
    for size in range(most):
        for table in combinations_with_replacement(values, size):
            for value in values:
                yield table, (*table, value)


def laplace_loss(one, other, scale):
    """Return the greatest log ratio of noisy answers, exactly: |x - b| - |x - a| over scale."""
    answers = range(min(one, other) - 5, max(one, other) + 6)
    return max(abs(Fraction(abs(x - other) - abs(x - one)) / scale) for x in answers)


def weighed(scores, scale):
    weights = np.exp((np.array(scores) - max(scores)) / float(scale))
    return weights / weights.sum()


def flipped(scores, scale):
    """Return the probabilities of permute-and-flip, the integral over the time of arrival.

    A candidate arrives at a uniform time, and is chosen by its coin if no other that arrived before
    it was: p_r = c_r int_0^1 prod_(s != r) (1 - t c_s) dt, whose polynomial 24 nodes integrate
    exactly.
    """
    coins = np.exp((np.array(scores) - max(scores)) / float(scale))
    left = 1 - np.outer((NODES + 1) / 2, coins)
    found = []
    for place, coin in enumerate(coins):
        others = np.delete(left, place, axis=1).prod(axis=1)
        found.append(coin * float(others @ WEIGHTS) / 2)
    return np.array(found)


def log_ratio(one, other):
    return float(np.abs(np.log(one) - np.log(other)).max())


@pytest.mark.parametrize("aggregate", [len, sum])
def test_counts_and_sums_lose_epsilon_and_no_more(aggregate):
    """Rows of 0, 1, 2 or 3: a row changes the count by 1 and the sum by up to 3."""
    sensitivity = {len: 1, sum: 3}[aggregate]
    part = NoisyPart("discrete-laplace", Fraction(1), 1, sensitivity)
    [scale] = calibrate([part], HALF, Fraction(0)).scales
    losses = [
        laplace_loss(aggregate(one), aggregate(other), scale)
        for one, other in neighbours(range(4), 4)
    ]
    assert max(losses) == HALF


def test_cells_that_one_unit_changes_lose_epsilon_together():
    """A unit in two of three groups, with up to two rows of each."""
    part = NoisyPart("discrete-laplace", Fraction(1), 2, 2)
    [scale] = calibrate([part], HALF, Fraction(0)).scales
    units = [cells for cells in product(range(3), repeat=3) if 0 in cells]
    assert max(sum(laplace_loss(0, cell, scale) for cell in cells) for cells in units) == HALF


@pytest.mark.parametrize("law", [weighed, flipped])
@pytest.mark.parametrize("at", [HALF, Fraction(1, 3), Fraction(9, 10)])
def test_quantiles_lose_no_more_than_epsilon(law, at):
    part = NoisyPart("permute-and-flip", Fraction(1), 1, quantile_sensitivity(at))
    [scale] = calibrate([part], Fraction(1), Fraction(0)).scales
    losses = []
    for one, other in neighbours(range(4), 5):
        tables = (np.bincount(table, minlength=4) for table in (one, other))
        chances = [law(quantile_scores(table, at), scale) for table in tables]
        losses.append(log_ratio(*chances))
    assert 0.4 < max(losses) <= 1 + 1e-9


@pytest.mark.parametrize("law", [weighed, flipped])
def test_monotone_choices_lose_epsilon_at_half_the_scale(law):
    """The commonest of four values, of which a unit more has each once or not at all."""
    part = NoisyPart("permute-and-flip", Fraction(1), 1, 1, is_monotone=True)
    [scale] = calibrate([part], Fraction(1), Fraction(0)).scales
    losses = [
        log_ratio(law(counts, scale), law(np.add(counts, more), scale))
        for counts in product(range(3), repeat=4)
        for more in product(range(2), repeat=4)
    ]
    assert scale == 1
    assert 0.7 < max(losses) <= 1 + 1e-9


@pytest.mark.parametrize(("name", "law"), [("exponential", weighed), ("permute-and-flip", flipped)])
def test_choices_lose_no_more_than_their_rho(name, law):
    """Of any scores of three candidates, each one more or less: Renyi's divergences, by alpha."""
    part = NoisyPart(name, Fraction(1), 1, 1)
    rho = float(part.rho(part.strength(Fraction(1))))
    assert rho == {"exponential": 1 / 2, "permute-and-flip": 2}[name]
    worst = 0.0
    for scores, change in product(product(range(3), repeat=2), product((-1, 0, 1), repeat=3)):
        before = np.array([*scores, 1])
        one, other = law(before, 1), law(before + change, 1)
        for alpha in (1.1, 2.0, 8.0):
            renyi = math.log((one**alpha * other ** (1 - alpha)).sum()) / (alpha - 1)
            worst = max(worst, renyi / alpha)
    assert 0.4 < worst <= rho


def test_the_median_of_d52_as_printed_has_no_epsilon():
    """Were only elements of the table answers, 8 could not be that of a table without 8."""
    less = [value for value in D52 if value != 8]
    chances = dict(zip(D52, weighed([0] * 10, 1), strict=True))
    without = dict(zip(less, weighed([0] * 9, 1), strict=True))
    assert chances[8] > 0
    assert 8 not in without


@pytest.mark.parametrize(
    ("law", "sensitivity", "chances"),
    [
        (weighed, 1, (0.26, 0.43, 0.71)),
        (weighed, HALF, (0.43, 0.71, 0.92)),
        (flipped, HALF, (0.448, 0.739, 0.934)),
    ],
)
def test_the_median_of_d52_is_in_8_to_11(law, sensitivity, chances):
    """On the grid 0..30 with the sensitivity of a rank of a half, at epsilon .5, 1 and 2."""
    scores = quantile_scores(np.bincount(D52, minlength=31), HALF)
    for epsilon, chance in zip((0.5, 1, 2), chances, strict=True):
        found = law(scores, 2 * float(2 * sensitivity) / epsilon)
        assert found[8:12].sum() == pytest.approx(chance, abs=0.005)


def test_the_median_of_d52_is_calibrated_to_the_smaller_sensitivity():
    part = NoisyPart("permute-and-flip", Fraction(1), 1, quantile_sensitivity(HALF))
    assert calibrate([part], Fraction(1), Fraction(0)).scales == (2,)


MOST_GROUPS, MOST_ROWS, LARGEST = 2, 2, 3
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-LARGEST, LARGEST)), max_size=30
)


def bounded(rows):
    """Return the counts and sums of four groups, after contributions are bounded."""
    words = [np.array([row[place] for row in rows], np.int64).view(np.uint64) for place in range(3)]
    kept = bound_contributions(*words, bytes(16), MOST_GROUPS, MOST_ROWS)
    groups, values = (words[place][kept].view(np.int64) for place in (1, 2))
    sums = np.bincount(groups, values, 4).astype(int)
    return np.bincount(groups, minlength=4), sums


@given(ROWS, st.integers(0, 3), ROWS)
def test_a_table_loses_no_more_than_epsilon_and_rho(rows, unit, others):
    """Counts and sums by group, of units that have any rows, one of which goes or is exchanged."""
    without = [row for row in rows if row[0] != unit]
    instead = without + [(unit, *row[1:]) for row in others]
    for neighbour, units in ((without, 1), (instead, 2)):
        parts = [
            NoisyPart("discrete-laplace", HALF, units * MOST_GROUPS, MOST_ROWS),
            # What is taken away and what is added may have either sign.
            NoisyPart("discrete-laplace", HALF, units * MOST_GROUPS, units * MOST_ROWS * LARGEST),
        ]
        scales = calibrate(parts, Fraction(1), Fraction(0)).scales
        apart = [
            abs(one - other) for one, other in zip(bounded(rows), bounded(neighbour), strict=True)
        ]
        assert (
            sum(Fraction(int(d.sum())) / scale for d, scale in zip(apart, scales, strict=True)) <= 1
        )
        for part, change in zip(parts, apart, strict=True):
            assert (change > 0).sum() <= part.cells
            assert change.max() <= part.sensitivity
            assert (change**2).sum() <= 2 * part.rho(Fraction(part.sensitivity))


def laplace_mass(scale):
    base = math.exp(-1 / scale)
    return lambda x: (1 - base) / (1 + base) * base ** abs(x)


def gaussian_mass(sigma):
    total = sum(math.exp(-(x**2) / (2 * sigma**2)) for x in range(-400, 401))
    return lambda x: math.exp(-(x**2) / (2 * sigma**2)) / total


def delta_of(mass, shifts, epsilon, reach):
    """Return the exact delta of neighbours whose cells are apart by these shifts, by all answers
    of all cells up to `reach` from both."""
    losses = {0.0: 1.0}
    for shift in shifts:
        found = defaultdict(float)
        for x in range(-reach, reach + 1):
            loss = round(math.log(mass(x) / mass(x - shift)), 12)
            for before, chance in losses.items():
                found[round(before + loss, 12)] += chance * mass(x)
        losses = found
    return sum(chance * max(0.0, -math.expm1(epsilon - loss)) for loss, chance in losses.items())


@pytest.mark.one_in(8)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.77, 1.1])
@pytest.mark.parametrize(
    ("mass", "distribution"),
    [
        (laplace_mass(5), laplace_losses(3 / 5, 3)),
        (gaussian_mass(4), gaussian_losses(3 / 4, 3, 1e-12)),
    ],
)
def test_a_pair_of_distributions_dominates_all_changes_of_two_cells(mass, distribution, epsilon):
    """Cells move by -3 to 3, alike or not: none has a greater delta than both of 3."""
    bound = compose([distribution], [2], 1.0, 0.1).delta(epsilon)
    worst = delta_of(mass, (3, 3), epsilon, 60)
    assert worst <= bound <= worst * 1.001
    for shifts in product(range(-3, 4), repeat=2):
        assert delta_of(mass, shifts, epsilon, 60) <= bound


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.2, 0.9, 1.4])
def test_compositions_are_those_of_all_answers(times, epsilon):
    distribution = laplace_losses(1 / 2, 1)
    exact = delta_of(laplace_mass(2), (1,) * times, epsilon, 80)
    bound = compose([distribution], [times], epsilon, 0.3).delta(epsilon)
    assert exact <= bound <= exact * (1 + 1e-6) + 1e-10


def test_different_mechanisms_are_composed():
    """A Laplace, a Gaussian, and what loses .3 at most: its losses are .3 or -.3."""
    parts = [laplace_losses(2 / 5, 2), gaussian_losses(2 / 4, 2, 1e-12), pure_losses(0.3)]
    losses = [np.exp(parts[2].losses), parts[2].masses]
    assert losses[1].sum() == pytest.approx(1)
    assert (losses[1] / losses[0]).sum() == pytest.approx(1)
    for epsilon in (0.3, 0.9):
        exact = 0.0
        for x in range(-60, 61):
            chance, other = laplace_mass(5)(x), laplace_mass(5)(x - 2)
            for loss, mass in zip(parts[2].losses, parts[2].masses, strict=True):
                left = epsilon - math.log(chance / other) - float(loss)
                exact += chance * mass * delta_of(gaussian_mass(4), (2,), left, 60)
        bound = compose(parts, [1, 1, 1], 1.0, 1e-3).delta(epsilon)
        assert exact <= bound <= exact * 1.001


@pytest.mark.parametrize("delta", [1e-9, 1e-12, 1e-20])
def test_small_deltas_are_as_exact(delta):
    """The binomial distribution of how many of 60 answers of randomised response speak for one."""
    base, times = 0.1, 60
    p = 1 / (1 + math.exp(-base))
    epsilon = 5.0
    for _ in range(2):
        composed = compose([pure_losses(base)], [times], epsilon, delta)
        epsilon = composed.epsilon(delta, times * base)
    exact = sum(
        math.comb(times, k)
        * p**k
        * (1 - p) ** (times - k)
        * max(0.0, -math.expm1(epsilon - base * (2 * k - times)))
        for k in range(times + 1)
    )
    assert delta * 0.999 < exact <= delta


def test_a_coarser_laplace_dominates_one_of_a_large_sensitivity(monkeypatch):
    exact = [delta_of(laplace_mass(50), (41, 41), epsilon, 900) for epsilon in (0.2, 0.8, 1.2)]
    monkeypatch.setattr(loss_distributions, "_MOST_STEPS", 8)
    coarse = laplace_losses(41 / 50, 41)
    assert len(coarse.losses) <= 9
    composed = compose([coarse], [2], 1.0, 0.3)
    for epsilon, delta in zip((0.2, 0.8, 1.2), exact, strict=True):
        assert delta <= composed.delta(epsilon) <= delta * 1.2


def test_blocks_of_answers_dominate_a_gaussian_of_a_large_sigma(monkeypatch):
    exact = [delta_of(gaussian_mass(40), (41,), epsilon, 350) for epsilon in (0.0, 1.0, 3.0)]
    monkeypatch.setattr(loss_distributions, "_MOST_BLOCKS", 100)
    coarse = gaussian_losses(41 / 40, 41, 1e-14)
    assert len(coarse.losses) <= 100
    composed = compose([coarse], [1], 3.0, 1e-4)
    for epsilon, delta in zip((0.0, 1.0, 3.0), exact, strict=True):
        assert delta <= composed.delta(epsilon) <= delta * 1.5


def test_more_mechanisms_than_the_grid_has_room_for_are_not_composed():
    assert compose([pure_losses(0.1)], [20_000], 1.0, 1e-6) is None
