"""Lower bounds of epsilon: what they can show, and that they hold."""

import math

import numpy as np
import pytest
from everyday import examples

from policy_engine.audits.membership.epsilon_verdict import bounds_contradict
from policy_engine.audits.privacy.accounting import epsilon_of
from policy_engine.audits.privacy.empirical import ceiling, default_delta, epsilon_lower, pairs_of
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.audits.privacy.one_run_bound import one_run_bound
from policy_engine.errors import AuditError

NOISE = 4.0


def shown(attack, scores, is_member, delta, seed=0):
    return epsilon_lower({attack: scores}, is_member, np.zeros(len(scores), int), delta, seed=seed)


def _sides(members, others):
    scores = np.concatenate([members, others])
    return scores, np.arange(len(scores)) < len(members)


def _randomized_response(records, epsilon, random):
    """Return what an attacker who sees each record's answer scores; it tells of it with epsilon."""
    told = 1 / (1 + math.exp(-epsilon))
    answers = random.random((2, records // 2)) < np.array([[told], [1 - told]])
    return _sides(*(answers + random.random(answers.shape) / 2))


def test_a_perfect_attack_shows_the_ceiling():
    """Of 2,001 pairs 1,334 are counted, all guessed rightly: at delta 0, .05 = share^1334."""
    lower = shown("loss", *_sides(np.ones(2_001), np.zeros(2_001)), 0.0)
    share = 0.05 ** (1 / 1_334)
    assert (lower.pairs, lower.guesses, lower.correct) == (1_334, 1_334, 1_334)
    assert lower.value == lower.ceiling == pytest.approx(math.log(share / (1 - share)), abs=1e-5)
    assert ceiling(1_334, 1e-6) < lower.ceiling


def test_a_guess_shows_nothing():
    random = np.random.default_rng(0)
    lower = shown("loss", *_sides(random.random(500), random.random(500)), 1e-5)
    assert lower.value == 0


@pytest.mark.parametrize("score", [0.0, np.inf, np.nan])
def test_scores_that_all_tie_are_guessed_by_a_coin(score):
    lower = shown("gap", *_sides(np.full(900, score), np.full(900, score)), 1e-9)
    assert lower.value == 0
    assert lower.correct == pytest.approx(lower.guesses / 2, abs=3 * math.sqrt(lower.guesses))


def test_a_few_sure_members_are_guessed_and_no_others():
    """One in ten members scores above all: the surest pairs are those that hold one."""
    random = np.random.default_rng(2)
    members = np.where(np.arange(2_000) % 10 == 0, 5.0, random.random(2_000))
    lower = shown("loss", *_sides(members, random.random(2_000)), 0.0)
    assert lower.guesses < lower.pairs / 5
    assert lower.value > 3


@pytest.mark.one_in(4)
@pytest.mark.parametrize("records", [60, 250, 1_000, pytest.param(10_000, id="10k")])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_randomized_response_shows_its_epsilon_in_no_more_than_one_run_of_twenty(epsilon, records):
    """Where each record's answer has an epsilon, an exchange, which changes two, has twice that."""
    random = np.random.default_rng([records, round(4 * epsilon)])
    runs = examples(200, times=1)
    bounds = [
        shown("loss", *_randomized_response(records, epsilon, random), 0.0, run).value
        for run in range(runs)
    ]
    wrong = sum(bound > 2 * epsilon for bound in bounds)
    assert wrong <= 0.05 * runs + 2 * math.sqrt(0.05 * runs)
    if records * epsilon >= 1_000:
        assert np.median(bounds) > 0.5 * 2 * epsilon


@pytest.mark.nightly
@pytest.mark.parametrize("records", [60, 250, 1_000, 10_000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_coverage_over_many_runs(epsilon, records):
    random = np.random.default_rng([records, round(10 * epsilon)])
    runs = 1_000
    wrong = sum(
        shown("loss", *_randomized_response(records, epsilon, random), 0.0, run).value > 2 * epsilon
        for run in range(runs)
    )
    assert wrong <= 0.05 * runs + 3 * math.sqrt(0.05 * runs)


def _trained(noise, records, random):
    """Return how a model scores its members and non-members: a noisy sum of one axis a record.

    That is one step of DP-SGD on all records, whose gradients are as long as clipping allows.
    """
    is_member = random.permutation(np.arange(records) % 2 == 0)
    return is_member + noise * random.standard_normal(records), is_member


def _contradictions(noise, counted, runs):
    random = np.random.default_rng(7)
    upper = epsilon_of(counted, 1.0, 1, 1e-3)
    return sum(
        bounds_contradict(
            upper, shown("loss", *_trained(noise, 400, random), upper.substitution_delta, n)
        )
        for n in range(runs)
    )


@pytest.mark.nightly
def test_the_right_training_never_contradicts_its_accountant():
    """It may in one run of twenty at most, and does in far fewer: this attack is not the best."""
    assert _contradictions(NOISE, NOISE, runs=examples(200, times=1)) == 0
    assert _contradictions(1.0, 1.0, runs=examples(200, times=1)) == 0


def test_a_training_without_the_noise_that_is_counted_contradicts():
    assert _contradictions(0.0, NOISE, runs=5) == 5
    assert _contradictions(NOISE / 20, NOISE, runs=5) == 5


def test_members_who_were_told_contradict_nothing():
    scores, is_member = _sides(np.ones(400), np.zeros(400))
    upper = epsilon_of(NOISE, 1.0, 1, 1e-3)
    for members, contradicts in (("drawn", True), ("told", False), ("drawn-first", False)):
        labels = np.zeros(800, int)
        lower = epsilon_lower(
            {"a": scores}, is_member, labels, upper.substitution_delta, members=members
        )
        assert lower.value > upper.substitution
        assert bounds_contradict(upper, lower) is contradicts
    assert isinstance(upper, EpsilonUpper)


def test_pairs_are_of_one_class():
    """The classes tell members from non-members by their scores, and no pair is of two of them."""
    labels = np.repeat([0, 1], 300)
    is_member = np.concatenate([np.arange(300) < 200, np.arange(300) < 100])
    scores = np.where(labels == 0, 1.0, 0.0)
    assert pairs_of(is_member, labels) == 200
    lower = epsilon_lower({"class": scores}, is_member, labels, 0.0)
    assert (lower.value, lower.pairs) == (0, 133)


def test_the_same_seed_gives_the_same_bound():
    random = np.random.default_rng(0)
    sides = _sides(random.normal(1, 1, 300), random.normal(0, 1, 300))
    assert shown("loss", *sides, 0.0, 5) == shown("loss", *sides, 0.0, 5)


def test_too_few_records_are_refused():
    with pytest.raises(AuditError, match="A011 1 pairs of a member"):
        shown("loss", *_sides(np.ones(1), np.ones(3)), 0.0)


def test_the_attack_is_chosen_on_the_pairs_that_are_not_counted():
    perfect, is_member = _sides(np.ones(400), np.zeros(400))
    noise = np.random.default_rng(3).random(800)
    attacks = {"noise": noise, "perfect": perfect}
    found = epsilon_lower(attacks, is_member, np.zeros(800, int), 0.0)
    assert found.attack == "perfect"
    assert found.value == found.ceiling


@pytest.mark.nightly
def test_the_best_of_many_guesses_proves_nothing():
    random = np.random.default_rng(8)
    is_member, labels = np.arange(400) < 200, np.zeros(400, int)
    bounds = [
        epsilon_lower(
            {str(n): random.random(400) for n in range(20)}, is_member, labels, 0.0, seed=seed
        ).value
        for seed in range(40)
    ]
    assert sum(bound > 0 for bound in bounds) <= 6  # 2 are expected at 95%


def test_at_a_delta_of_one_over_the_records_less_can_be_shown():
    """Why bounds are compared at a hundredth of it."""
    assert ceiling(666, 1 / 1_000) < 0.7 * ceiling(666, default_delta(1_000))
    assert ceiling(666, default_delta(1_000)) > 0.95 * one_run_bound(666, 666, 666, 0.0)
