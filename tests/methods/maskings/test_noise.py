import numpy as np
import pytest
from masked import facts_of, rows_of, words_for
from pydantic import ValidationError

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.maskings.noise import Noise

VALUES = np.linspace(0, 99, 10_000)


@pytest.mark.parametrize("scale", [{"sdShare": 0.5}, {"varianceShare": 0.25}])
@pytest.mark.parametrize("distribution", ["normal", "laplace"])
def test_the_variance_grows_by_the_share_that_is_asked_for(scale, distribution):
    masking = Noise(name="pay", distribution=distribution, **scale)
    made = masking.perturb(rows_of(VALUES))
    assert made.var() / VALUES.var() == pytest.approx(1.25, abs=0.02)
    assert made.mean() == pytest.approx(VALUES.mean(), abs=0.5)


@pytest.mark.parametrize("share", [0, -0.1, 101, float("nan"), True, "0.1"])
def test_a_scale_that_is_none_is_refused(share):
    with pytest.raises(ValidationError):
        Noise(name="pay", sdShare=share)


def test_the_scale_is_given_once():
    both = {"name": "pay", "sdShare": 0.1, "varianceShare": 0.1}
    assert [one.code for one in parameter_findings(Noise, {"name": "pay"}, "noise")] == ["M002"]
    assert [one.code for one in parameter_findings(Noise, both, "noise")] == ["M003"]
    with pytest.raises(ValidationError):
        Noise(**both)


def test_a_column_without_negative_values_that_gets_some_is_doubted():
    masking, before = Noise(name="pay", sdShare=0.9), np.array([[1.0], [2.0], [0.0], [4.0]])
    tally = masking.tally(before, before - 1.5, facts_of(before))
    assert (tally["broken"].tolist(), tally["turned"].tolist()) == ([0], [2])
    [doubt] = masking.doubts(["pay"], tally, facts_of(before))
    assert "'pay' has no negative values, and noise turned 50.0% of them negative" in doubt
    with_negative = masking.tally(-before, before - 1.5, facts_of(before))
    assert not list(masking.doubts(["pay"], with_negative, facts_of(before)))


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        ({"sdShare": 0.99}, []),
        ({"varianceShare": 0.99}, []),
        ({"sdShare": 1}, ["1 times the standard deviation of its column. sdShare is a share"]),
        ({"varianceShare": 10.5}, ["10.5 times the variance of its column. varianceShare is a"]),
    ],
)
def test_as_much_noise_as_there_is_variance_is_doubted(scale, told):
    before = np.array([[-1.0], [2.0]])
    masking, facts = Noise(name="pay", **scale), facts_of(before)
    doubts = [*masking.doubts(["pay"], masking.tally(before, before, facts), facts)]
    assert len(doubts) == len(told)
    assert all(part in one for part, one in zip(told, doubts, strict=True))


@pytest.mark.parametrize(
    ("after", "correlation"), [([1, 2, 3], 1), ([3, 2, 1], -1), ([2, 5, 2], 0), ([4, 4, 4], 0)]
)
def test_the_correlation_of_the_values_before_and_after_is_told(after, correlation):
    facts = facts_of(np.stack([[1, 2, 3], after], axis=1))
    figures = Noise(name="pay", sdShare=1).paired_figures({}, facts, facts.moments)
    assert figures == [{"correlation": pytest.approx(correlation, abs=1e-12)}]


def test_the_same_words_are_the_same_noise():
    masking = Noise(name="pay", sdShare=0.5)
    order = np.random.default_rng(1).permutation(len(VALUES))
    words = words_for(VALUES)
    made, other = (
        masking.perturb(rows_of(VALUES, words)),
        masking.perturb(rows_of(VALUES[order], words[order])),
    )
    assert np.array_equal(made[order], other)
