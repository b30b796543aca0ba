import numpy as np
import pytest
from masked import facts_of, rows_of
from pydantic import ValidationError

from policy_engine.methods.maskings.shuffling import Shuffling

RANDOM = np.random.default_rng(5)
GIVEN = RANDOM.normal(size=(4000, 1))
VALUES = (GIVEN[:, 0] + RANDOM.normal(size=4000)).argsort().argsort()


def test_values_are_kept_with_their_correlation_to_the_given_column_alone():
    masking = Shuffling(name="pay", given=("age",))
    made = VALUES[masking.perturb(rows_of(VALUES, given=GIVEN.argsort(0).argsort(0)))[:, 0]]
    assert sorted(made) == sorted(VALUES)
    old, new = (np.corrcoef(ranks, GIVEN[:, 0])[0, 1] for ranks in (VALUES, made))
    assert new == pytest.approx(old, abs=0.05)
    assert np.mean(made == VALUES) < 0.01


def test_the_furthest_move_is_told_as_a_share_of_all_ranks():
    before, after = np.array([[0], [1], [2], [3]]), np.array([[3], [0], [1], [2]])
    masking, facts = Shuffling(name="pay", given=("age",)), facts_of(before)
    tally = masking.tally(before, after, facts)
    assert tally["broken"].tolist() == [0]
    assert masking.paired_figures(tally, facts) == [{"largestRankMove": 0.75}]


def test_it_reads_the_columns_that_are_given():
    assert Shuffling(name="pay", given=("age", "sex")).reads == ("pay", "age", "sex")
    with pytest.raises(ValidationError):
        Shuffling(name="pay", given=())


def test_a_column_that_is_determined_is_told_by_its_unchanged_values():
    ranks = np.arange(100)
    rows = rows_of(ranks, given=ranks[:, None])
    made = Shuffling(name="pay", given=("age",)).perturb(rows)[:, 0]
    assert np.array_equal(ranks[made], ranks)
    assert facts_of(rows.values).rows == 100
