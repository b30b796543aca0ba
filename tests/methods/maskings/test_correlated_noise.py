import numpy as np
import pytest
from masked import facts_of, rows_of, words_for
from pydantic import ValidationError

from policy_engine.methods.maskings.correlated_noise import CorrelatedNoise
from policy_engine.methods.perturbation import groups_of

RANDOM = np.random.default_rng(0)
FIRST = RANDOM.normal(size=20_000)
VALUES = np.stack([FIRST, FIRST + RANDOM.normal(size=20_000)], axis=1)


@pytest.mark.parametrize(("variant", "ratio"), [("plain", 1.1), ("kim", 1.0)])
def test_correlations_are_kept_and_by_kim_variances_too(variant, ratio):
    masking = CorrelatedNoise(name="pay", varianceShare=0.1, variant=variant)
    made = masking.perturb(rows_of(VALUES))
    for figures in masking.figures(facts_of(VALUES), facts_of(made)):
        assert figures["varianceRatio"] == pytest.approx(ratio, abs=0.02)
        assert figures["correlationChange"] < 0.02


def test_columns_of_one_scale_are_masked_together_in_the_order_of_their_names():
    one, other = (CorrelatedNoise(name=name, sdShare=0.1) for name in ("pay", "cap"))
    third = CorrelatedNoise(name="age", sdShare=0.2)
    assert groups_of([one, other, third]) == ((third,), (other, one))


def test_the_scale_is_given_once():
    with pytest.raises(ValidationError):
        CorrelatedNoise(name="pay")


def test_noise_that_turns_values_negative_is_doubted():
    masking = CorrelatedNoise(name="pay", sdShare=0.9)
    positive = np.abs(VALUES)
    rows = rows_of(positive, words_for(positive, 2))
    tally = masking.tally(positive, masking.perturb(rows), rows.facts)
    assert len(list(masking.doubts(["pay", "cap"], tally, rows.facts))) == 2


@pytest.mark.parametrize("variant", ["plain", "kim"])
def test_noise_that_is_far_in_one_column_or_in_a_difference_is_broken(variant):
    masking = CorrelatedNoise(name="pay", sdShare=0.1, variant=variant)
    near = np.stack([FIRST, FIRST + RANDOM.normal(size=20_000) * FIRST.std() / 10], axis=1)
    rows = rows_of(near, words_for(near, 2))
    made = masking.perturb(rows)
    assert masking.tally(near, made, rows.facts)["broken"].tolist() == [0, 0]
    made[0, 1] += FIRST.std()
    alone = masking.tally(near, made, rows.facts)["broken"].tolist()
    made[0, 1] -= FIRST.std() / 2
    of_both = masking.tally(near, made, rows.facts)["broken"].tolist()
    assert (alone, of_both) == ([1, 1], [1, 1])
