import numpy as np
import pytest
from masked import facts_of, rows_of
from pydantic import ValidationError

from policy_engine.methods.maskings.rank_swapping import RankSwapping

RANKS = np.random.default_rng(2).permutation(1000)


@pytest.mark.parametrize("variant", ["plain", "buckets", "distribution"])
def test_values_are_kept_and_none_moves_further_than_the_variant_lets_it(variant):
    masking = RankSwapping(name="pay", p=0.05, variant=variant)
    rows = rows_of(RANKS)
    made = rows.values[masking.perturb(rows)[:, 0]]
    assert sorted(made[:, 0]) == sorted(RANKS)
    tally = masking.tally(rows.values, made, rows.facts)
    assert tally["broken"].tolist() == [0]
    [figures] = masking.paired_figures(tally, rows.facts)
    assert 0 < figures["largestRankMove"] <= (1 if variant == "buckets" else 0.15)


def test_a_move_that_is_too_far_breaks_every_cell():
    before = np.arange(10)[:, None]
    tally = RankSwapping(name="pay", p=0.3).tally(before, before[::-1], facts_of(before))
    assert (tally["moves"].tolist(), tally["broken"].tolist()) == ([9], [10])


@pytest.mark.parametrize("p", [0, 1, 5, -0.1, float("nan"), True])
def test_a_share_that_is_none_is_refused(p):
    with pytest.raises(ValidationError):
        RankSwapping(name="pay", p=p)
