"""How far noise moves values at most, and how far a variance ratio and a correlation say."""

import numpy as np
import pytest

from policy_engine.methods.maskings.noise import Noise
from policy_engine.methods.perturbation import least_displacement, most_displacement


def figures(before, after):
    ratio = float(after.var() / before.var())
    correlation = float(np.corrcoef(before, after)[0, 1])
    return {"varianceRatio": round(ratio, 3), "correlation": round(correlation, 3)}


@pytest.mark.parametrize("scale", [0.01, 0.3, 2.0])
def test_it_is_at_most_how_far_values_are_moved(scale):
    random = np.random.default_rng(0)
    for rows in (3, 10, 300):
        before = random.normal(size=rows)
        after = before + scale * random.normal(size=rows)
        moved = np.sqrt(np.mean((after - before) ** 2)) / before.std()
        assert least_displacement(figures(before, after)) <= moved


def test_it_is_told_by_hand():
    # Values of deviation 1 that change their sign move by 2 on average.
    assert least_displacement({"varianceRatio": 1, "correlation": -1}) == pytest.approx(2, abs=0.01)
    assert least_displacement({"varianceRatio": 4, "correlation": 1}) == pytest.approx(1, abs=0.01)
    assert least_displacement({"varianceRatio": 4}) == 0
    assert most_displacement(0.1, 1.0) == pytest.approx(1.1)
    assert most_displacement(0.1, 1.0, is_laplace=True) == pytest.approx(3.4)


@pytest.mark.parametrize("distribution", ["normal", "laplace"])
def test_what_noise_makes_of_few_values_is_never_too_far(distribution):
    random = np.random.default_rng(1)
    masking = Noise(name="pay", sd_share=0.05, distribution=distribution)
    draw = random.normal if distribution == "normal" else random.laplace
    size = 0.05 if distribution == "normal" else 0.05 / np.sqrt(2)
    for _ in range(300):
        before = random.integers(0, 9, random.integers(3, 8)) * 1.0
        if before.std():
            after = np.rint(before + draw(0, size * before.std(), len(before)))
            if after.std():
                assert masking.may_have_together(figures(before, after), ())
