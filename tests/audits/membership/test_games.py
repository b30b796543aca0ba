import numpy as np
import pytest
from scipy.stats import hypergeom

from policy_engine.audits.membership import games
from policy_engine.audits.membership.games import play
from policy_engine.errors import AuditError

HALVES = np.arange(400) < 200


def test_a_perfect_score_wins_both_games():
    found = play("loss", HALVES.astype(float), HALVES, 0, records=50, repetitions=40)
    assert (found.single.value, found.set.value) == (1, 1)
    assert found.set.low == pytest.approx(40 / (40 + 1.96**2), abs=1e-4)
    assert (found.records, found.repetitions, found.attack) == (50, 40, "loss")


def test_a_score_that_misleads_loses_both():
    found = play("loss", -HALVES.astype(float), HALVES, 0, records=50, repetitions=40)
    assert (found.single.value, found.set.value) == (0, 0)


def test_equal_scores_are_put_in_an_order_by_draw():
    """The members of a draw's top half are then hypergeometric, and the sets as likely."""
    found = play("loss", np.zeros(400), HALVES, 0, records=3, repetitions=4000)
    deviation = hypergeom(6, 3, 3).std() / 3
    assert found.single.low < 0.5 < found.single.high
    width = 2 * 1.96 * deviation / np.sqrt(4000)
    assert found.single.high - found.single.low == pytest.approx(width, rel=0.05)
    assert found.set.low < 0.5 < found.set.high


def test_a_tie_between_the_sets_is_half_a_point():
    """Two members and two others, of each one above all: every draw ties."""
    scores = np.array([9.0, 1, 8, 2])
    found = play("loss", scores, np.array([True, True, False, False]), 0, 2, 10)
    assert (found.single.value, found.set.value) == (0.5, 0.5)


def test_what_is_drawn_is_no_more_than_there_is():
    is_member = np.arange(10) < 3
    assert play("loss", np.arange(10.0), is_member, 0).records == 3


def test_the_set_is_told_better_than_a_record():
    """D5.2, section 4.4: a small gain on each record is a large one on a set."""
    scores = np.random.default_rng(0).normal(size=400) + 0.3 * HALVES
    found = play("loss", scores, HALVES, 0, records=100, repetitions=300)
    assert 0.52 < found.single.value < 0.62
    assert found.set.value > 0.85


def test_the_same_seed_draws_the_same():
    scores = np.random.default_rng(0).normal(size=400)
    one = play("loss", scores, HALVES, 3)
    assert play("loss", scores, HALVES, 3) == one
    assert play("loss", scores, HALVES, 4) != one


def test_many_draws_are_made_in_blocks(monkeypatch):
    monkeypatch.setattr(games, "_AT_ONCE", 300)
    found = play("loss", HALVES.astype(float), HALVES, 0, records=50, repetitions=10)
    assert found.single.value == 1


@pytest.mark.parametrize("is_member", [np.ones(4, bool), np.zeros(4, bool)])
def test_one_kind_of_records_is_no_game(is_member):
    with pytest.raises(AuditError, match="A011"):
        play("loss", np.arange(4.0), is_member, 0)
