"""Lower bounds of epsilon: what they can show, and that they hold."""

import math

import numpy as np
import pytest

from policy_engine.audits.privacy.empirical import ceiling, epsilon_lower
from policy_engine.errors import AuditError


def shown(attack, scores, is_member, delta, seed=0):
    return epsilon_lower({attack: scores}, is_member, delta, seed)


def _sides(members, others):
    scores = np.concatenate([members, others])
    return scores, np.arange(len(scores)) < len(members)


def test_a_perfect_attack_on_a_thousand_a_side_shows_the_ceiling():
    """5.6 with 1,000 records counted on each side: log(.025^(1/1000) / (1 - .025^(1/1000)))."""
    lower = shown("loss", *_sides(np.ones(2_000), np.zeros(2_000)), 0.0)
    end = 0.025 ** (1 / 1_000)
    assert lower.value == lower.ceiling == pytest.approx(math.log(end / (1 - end)))
    assert lower.ceiling == pytest.approx(5.6, abs=0.01)
    assert ceiling(1_000, 1_000, 1e-3) < lower.ceiling


def test_a_guess_shows_nothing():
    random = np.random.default_rng(0)
    lower = shown("loss", *_sides(random.random(500), random.random(500)), 1e-5)
    assert lower.value == 0


def test_scores_that_all_tie_show_nothing():
    assert shown("gap", *_sides(np.ones(50), np.ones(50)), 1e-5).value == 0


def test_certain_non_members_show_as_much_as_certain_members():
    half = np.repeat([0.0, 1.0], 500)
    found = shown("loss", *_sides(half, np.zeros(1_000)), 0.0).value
    cleared = shown("loss", *_sides(np.ones(1_000), half), 0.0).value
    assert found == pytest.approx(cleared, abs=0.3)
    assert cleared > 3


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_randomized_response_shows_its_epsilon_and_hardly_ever_more(epsilon):
    random = np.random.default_rng(3)
    told = 1 / (1 + math.exp(-epsilon))
    bounds = []
    for seed in range(60):
        answers = random.random((2, 2_000)) < np.array([[told], [1 - told]])
        answers = answers + random.random(answers.shape) / 2
        bounds.append(shown("loss", *_sides(*answers), 0.0, seed).value)
    assert np.mean(np.array(bounds) > epsilon) <= 0.05
    assert np.median(bounds) > 0.6 * epsilon


def test_the_same_seed_gives_the_same_bound():
    random = np.random.default_rng(0)
    sides = _sides(random.normal(1, 1, 300), random.normal(0, 1, 300))
    assert shown("loss", *sides, 0.0, 5) == shown("loss", *sides, 0.0, 5)


def test_too_few_records_are_refused():
    with pytest.raises(AuditError, match="A011 1 members and 3 others"):
        shown("loss", *_sides(np.ones(1), np.ones(3)), 0.0)


def test_the_attack_is_chosen_on_the_half_that_is_not_counted():
    perfect, is_member = _sides(np.ones(400), np.zeros(400))
    noise = np.random.default_rng(3).random(800)
    found = epsilon_lower({"noise": noise, "perfect": perfect}, is_member, 0.0)
    assert found.attack == "perfect"
    assert found.value == found.ceiling


def test_the_best_of_many_guesses_proves_nothing():
    random = np.random.default_rng(8)
    is_member = np.arange(400) < 200
    bounds = [
        epsilon_lower({str(n): random.random(400) for n in range(20)}, is_member, 0.0, seed).value
        for seed in range(40)
    ]
    assert sum(bound > 0 for bound in bounds) <= 6  # 2 are expected at 95%
