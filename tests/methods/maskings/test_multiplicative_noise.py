import numpy as np
import pytest
from masked import facts_of, rows_of
from pydantic import ValidationError

from policy_engine.methods.maskings.multiplicative_noise import MultiplicativeNoise

MASKING = MultiplicativeNoise(name="pay", logSd=0.2)


def test_the_mean_is_kept_and_so_are_signs_and_zeros():
    values = np.concatenate([np.full(20_000, 100.0), [-5.0, 0.0, 3.0]])
    made = MASKING.perturb(rows_of(values))[:, 0]
    assert made[:-3].mean() == pytest.approx(100, abs=1)
    assert np.log(made[:-3]).std() == pytest.approx(0.2, abs=0.01)
    assert np.sign(made[-3:]).tolist() == [-1, 0, 1]


def test_a_sign_that_changed_breaks_it_and_one_rounded_away_does_not():
    before, after = (
        np.array([[1.0], [-1.0], [0.4], [0.0]]),
        np.array([[-2.0], [-3.0], [0.0], [0.0]]),
    )
    assert MASKING.tally(before, after, facts_of(before))["broken"].tolist() == [1]


@pytest.mark.parametrize("sd", [0, -1, 6, float("inf"), True])
def test_a_deviation_that_is_none_is_refused(sd):
    with pytest.raises(ValidationError):
        MultiplicativeNoise(name="pay", logSd=sd)
