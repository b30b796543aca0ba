"""How often predicates fit one person, counted on all members, and how far that is chance."""

import numpy as np
import pytest
from risk_tables import material

from policy_engine.audits.generative.risks.result import SyntheticRisk
from policy_engine.audits.generative.risks.singling_out import (
    SinglingOutSettings,
    single_out_by_several_columns,
)
from policy_engine.audits.generative.risks.successes import naive_successes, singled_out
from policy_engine.audits.generative.risks.tables import AttackedRows
from policy_engine.kernels.generative.predicate_counts import EQUAL, Predicates, weighted_rows


def rows(*values):
    return np.array(values, float)[:, None]


def tables(members, holdout):
    return AttackedRows((), rows(*members), rows(*holdout), rows(0), np.zeros(1), ())


def equal_to(*values):
    places = np.zeros((len(values), 1), np.int64)
    return Predicates(places, np.full_like(places, EQUAL), rows(*values))


def shares(members, holdout, *values):
    train, control = singled_out(tables(members, holdout), equal_to(*values))
    return train.share, control.share


def test_one_of_all_members_is_singled_out():
    """A part of the members may have 1 once: all have it twice."""
    assert shares([1, 1, 2, 3], [2, 3, 4, 4], 1, 2) == (0.5, 0.5)
    assert shares([1, 1, 2, 3], [2], 1)[0] == 0


def test_of_a_larger_holdout_as_many_are_drawn():
    """Two of four are drawn: 1 is in it with a probability of a half; one of two 5 with 2/3."""
    assert shares([1, 2], [1, 3, 5, 5], 1) == (1, pytest.approx(1 / 2))
    assert shares([1, 2], [1, 3, 5, 5], 5) == (0, pytest.approx(2 / 3))


def test_a_smaller_holdout_takes_the_places_of_as_many_members():
    """One of the holdout for two members: twice what it reaches, unless a member is left that
    fits."""
    assert shares([1, 2], [3], 3, 4) == (0, pytest.approx(2 * 1 / 2))
    assert shares([1, 2, 2, 2], [1, 4], 1) == (1, pytest.approx(min(2 * 1 / 2, 1)))
    assert shares([1, 2, 2, 2], [1, 4], 1, 5) == (0.5, pytest.approx(2 * 1 / 2 / 2))


def test_the_weights_of_a_row_are_those_of_what_it_satisfies():
    weights = np.array([1.0, 10.0, 0.0])
    assert weighted_rows(rows(1, 2, 3), equal_to(1, 2, 3), weights).tolist() == [1, 10, 0]


def test_predicates_that_fit_the_same_rows_are_fewer_than_they_seem():
    members = [*range(100)]
    apart = naive_successes(tables(members, [0]), equal_to(*range(50), *range(1000, 1050)))
    alike = naive_successes(tables(members, [0]), equal_to(*[7] * 50, *range(1000, 1050)))
    assert apart.share == alike.share == 0.5
    assert apart.size == 100
    assert alike.size == pytest.approx(2, rel=0.02)


@pytest.mark.nightly
@pytest.mark.parametrize(("members", "holdout"), [(100, 100), (100, 300), (300, 100)])
def test_intervals_have_0_where_nobody_was_seen(members, holdout):
    """95% of 40 runs are 38: 34 or more are to be expected in 99.9 of 100 tests."""
    covered = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        sides = [
            np.column_stack([random.normal(size=(count, 2)).round(2), random.integers(0, 6, count)])
            for count in (members, holdout, 200)
        ]
        risk = single_out_by_several_columns(
            material(*sides, "ab", seed=seed), SinglingOutSettings(attacks=200)
        )
        if isinstance(risk, SyntheticRisk):
            covered.append(risk.value.low <= 0 <= risk.value.high)
    assert len(covered) > 30
    assert np.mean(covered) >= 0.85
