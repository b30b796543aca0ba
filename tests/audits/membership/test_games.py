import numpy as np
import pytest
from scipy.stats import binom, hypergeom, norm

from policy_engine.audits.membership import games
from policy_engine.audits.membership.games import play_games
from policy_engine.audits.membership.intervals import share_ends
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import clopper_pearson

HALVES = np.arange(400) < 200


def test_a_perfect_score_wins_both_games():
    found = play_games("loss", [(HALVES.astype(float), HALVES)], 0, records=50, repetitions=40)
    assert (found.single.value, found.set.value) == (1, 1)
    assert found.single.low == pytest.approx(clopper_pearson(400, 400).low)
    assert (found.records, found.repetitions, found.attack) == (50, 40, "loss")


def test_a_score_that_misleads_loses_both():
    found = play_games("loss", [(-HALVES.astype(float), HALVES)], 0, records=50, repetitions=40)
    assert (found.single.value, found.set.value) == (0, 0)


def test_equal_scores_are_put_in_an_order_by_draw():
    """The members of a draw's top half are then hypergeometric, and the sets as likely."""
    found = play_games("loss", [(np.zeros(400), HALVES)], 0, records=3, repetitions=4000)
    deviation = hypergeom(6, 3, 3).std() / 3
    assert found.single.value == pytest.approx(0.5, abs=4 * deviation / np.sqrt(4000))
    assert found.single.low < 0.5 < found.single.high
    assert found.set.low < 0.5 < found.set.high


def test_a_tie_between_the_sets_is_half_a_point():
    """Two members and two others, of each one above all: every draw ties."""
    scores = np.array([9.0, 1, 8, 2])
    found = play_games("loss", [(scores, np.array([True, True, False, False]))], 0, 2, 10)
    assert (found.single.value, found.set.value) == (0.5, 0.5)


def test_what_is_drawn_is_no_more_than_there_is():
    is_member = np.arange(10) < 3
    assert play_games("loss", [(np.arange(10.0), is_member)], 0).records == 3


def test_the_set_is_told_better_than_a_record():
    """D5.2, section 4.4: a small gain on each record is a large one on a set."""
    scores = np.random.default_rng(0).normal(size=400) + 0.3 * HALVES
    found = play_games("loss", [(scores, HALVES)], 0, records=100, repetitions=300)
    assert 0.52 < found.single.value < 0.62
    assert found.set.value > 0.85


def test_the_same_seed_draws_the_same():
    scores = np.random.default_rng(0).normal(size=400)
    one = play_games("loss", [(scores, HALVES)], 3)
    assert play_games("loss", [(scores, HALVES)], 3) == one
    assert play_games("loss", [(scores, HALVES)], 4) != one


def test_many_draws_are_made_in_blocks(monkeypatch):
    monkeypatch.setattr(games, "_BLOCK_SIZE", 300)
    found = play_games("loss", [(HALVES.astype(float), HALVES)], 0, records=50, repetitions=10)
    assert found.single.value == 1


@pytest.mark.parametrize("is_member", [np.ones(4, bool), np.zeros(4, bool)])
def test_one_kind_of_records_is_no_game(is_member):
    with pytest.raises(AuditError, match="A011"):
        play_games("loss", [(np.arange(4.0), is_member)], 0)


# -- what the intervals are over ------------------------------------------------------------------

LAWS = {
    "alike": lambda draw, n: (draw.normal(size=n), draw.normal(size=n)),
    "a little apart": lambda draw, n: (draw.normal(size=n) + 0.3, draw.normal(size=n)),
    "far apart": lambda draw, n: (draw.normal(size=n) + 3, draw.normal(size=n)),
    "members of all kinds": lambda draw, n: (5 * draw.normal(size=n) + 1, draw.normal(size=n)),
    "two values": lambda draw, n: (draw.random(n) < 0.98, draw.random(n) < 0.83),
}


def drawn(draw, law, n):
    return np.concatenate(LAWS[law](draw, n)).astype(float), np.arange(2 * n) < n


def truth(law, records, times=1500):
    """Return the two figures of games with records of which none was drawn before."""
    draw, shares = np.random.default_rng(99), []
    for _ in range(times):
        scores, is_member = drawn(draw, law, records)
        top = np.lexsort((draw.random(2 * records), -scores))[:records]
        shares.append(is_member[top].mean())
    return np.mean(shares), np.mean((np.sign(np.array(shares) - 0.5) + 1) / 2)


def misses(law, n, records, times):
    true, draw, missed = truth(law, records), np.random.default_rng(n), np.zeros(2, int)
    for seed in range(times):
        found = play_games("loss", [drawn(draw, law, n)], seed, records, 50)
        ends = (found.single, found.set)
        # The truth is itself a mean of 1,500 games.
        missed += [not e.low - 0.02 <= t <= e.high + 0.02 for e, t in zip(ends, true, strict=True)]
    return missed.max()


@pytest.mark.nightly
@pytest.mark.parametrize("law", LAWS)
def test_games_are_covered(law):
    assert misses(law, 60, 30, 30) <= binom.isf(1e-3, 30, 0.05)


@pytest.mark.nightly
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "records"), [(6, 6), (60, 30), (250, 100), (1000, 100)])
def test_games_are_covered_in_many(law, n, records):
    assert misses(law, n, records, 500) <= binom.isf(1e-3, 500, 0.05)


def test_the_draw_of_equal_scores_widens_the_set():
    """Most records have one score: who of them is on top is drawn anew in each game."""
    found = play_games("loss", [drawn(np.random.default_rng(1), "two values", 1000)], 0)
    assert found.set.low < 0.8 < truth("two values", 100, 300)[1] < found.set.high


def test_a_set_on_250_records_is_not_told_to_a_tenth_of_a_percent():
    """Nearly all draws of the same records win; of other records that is not known."""
    found = play_games("loss", [drawn(np.random.default_rng(1), "a little apart", 125)], 0)
    assert found.set.value == 1
    assert found.set.low < 0.96


def test_more_draws_of_the_same_records_do_not_narrow_the_interval():
    model = drawn(np.random.default_rng(2), "a little apart", 125)
    few, many = (play_games("loss", [model], 0, repetitions=n) for n in (100, 2000))
    width = few.single.high - few.single.low
    assert many.single.high - many.single.low == pytest.approx(width, rel=0.2)


@pytest.mark.nightly
def test_models_that_differ_widen_the_interval():
    draw = np.random.default_rng(3)
    leaky, tight = drawn(draw, "far apart", 200), drawn(draw, "alike", 200)
    alike = play_games("loss", [leaky, drawn(draw, "far apart", 200)], 0)
    found = play_games("loss", [leaky, tight], 0)
    assert (found.models, alike.models) == (2, 2)
    assert found.single.value == pytest.approx(0.72, abs=0.05)
    assert (found.single.low, found.single.high) == (0, 1)  # two models: 12.7 deviations
    assert alike.single.low > 0.7


@pytest.mark.nightly
def test_means_over_models_are_covered():
    """Each model has its own gap; the mean over models is that of the mean gap, nearly."""
    missed, draw = 0, np.random.default_rng(4)
    for seed in range(12):
        models = []
        for gap in draw.normal(1.0, 0.3, 4):
            scores = draw.normal(size=120)
            models.append((scores + gap * (np.arange(120) < 60), np.arange(120) < 60))
        found = play_games("loss", models, seed, 30, 50)
        missed += not found.single.low <= norm.cdf(0.5) <= found.single.high
    assert missed <= binom.isf(1e-3, 12, 0.05)


def test_records_of_two_widths_lie_farther_apart_than_a_binomial_has_it():
    """Where members are spread as five others, the cut takes few of them with it."""
    model = drawn(np.random.default_rng(5), "members of all kinds", 400)
    single = play_games("loss", [model], 0, repetitions=50).single
    low, high = share_ends(single.value, 800)
    assert single.high - single.low > 1.1 * (high - low)
