"""Randomized response: its probabilities, its epsilon, and that it undoes on average."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.membership.randomized_response import (
    Bins,
    composed_epsilon,
    epsilon_of_coins,
    estimated_shares,
    perturb,
    perturb_bits,
    perturb_codes,
    retention,
)
from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.errors import AuditError


def _column(kind, width, name="column"):
    return EncodedColumn(name=name, kind=kind, width=width, says="")


BITS = (_column("bits", 600),)


def test_two_fair_coins_are_ln_three():
    """MOSAICrOWN D5.2, section 4.1."""
    assert epsilon_of_coins(0.5) == pytest.approx(math.log(3))
    assert retention(math.log(3)) == pytest.approx(0.75)


@given(epsilon=st.floats(0.01, 20), values=st.integers(2, 50))
def test_retention_has_its_epsilon(epsilon, values):
    kept = retention(epsilon, values)
    other = (1 - kept) / (values - 1)
    assert math.log(kept / other) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "composed"), [(8, 4_800), (1, 600), (0.1, 60)])
def test_epsilon_of_a_record_is_the_sum_over_its_attributes(epsilon, composed):
    """MOSAICrOWN D5.2, table 4.2: 600 x epsilon_i, from 4,800 to 60."""
    assert composed_epsilon(BITS, epsilon) == pytest.approx(composed)


def test_a_column_of_values_is_one_attribute():
    encoding = (_column("bits", 1), _column("one-hot", 7), _column("number", 1))
    assert composed_epsilon(encoding, 0.5) == 1.5


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_bits_flip_as_often_as_epsilon_says(epsilon):
    bits = np.zeros((2_000, 100), np.uint8)
    flipped = perturb_bits(bits, epsilon, np.random.default_rng(1))
    assert flipped.dtype == np.uint8
    assert flipped.mean() == pytest.approx(1 / (1 + math.exp(epsilon)), abs=0.005)


def test_bits_of_one_and_of_zero_flip_alike():
    bits = np.repeat([[0], [1]], 100_000, axis=0).astype(np.uint8)
    flips = perturb_bits(bits, 1.0, np.random.default_rng(1)) != bits
    assert flips[:100_000].mean() == pytest.approx(flips[100_000:].mean(), abs=0.01)


def test_many_bits_need_no_floats():
    bits = np.zeros((20_000, 600), np.uint8)
    tracemalloc.start()
    perturb_bits(bits, 1.0, np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < bits.nbytes + 50e6


def test_codes_keep_or_take_any_other_value_alike():
    codes = np.full(60_000, 2)
    answered = perturb_codes(codes, 4, 1.0, np.random.default_rng(1))
    shares = np.bincount(answered, minlength=4) / len(codes)
    kept = retention(1.0, 4)
    other = (1 - kept) / 3
    assert shares == pytest.approx([other, other, kept, other], abs=0.01)


def test_shares_are_estimated_without_bias():
    random = np.random.default_rng(1)
    codes = random.choice(3, p=[0.7, 0.3, 0.0], size=50_000)
    estimates = [estimated_shares(perturb_codes(codes, 3, 0.5, random), 3, 0.5) for _ in range(20)]
    assert np.mean(estimates, axis=0) == pytest.approx([0.7, 0.3, 0.0], abs=0.01)
    assert np.sum(estimates[0]) == pytest.approx(1)


def test_each_column_is_answered_by_its_kind():
    features = np.array([[1, 0, 1, 0, -0.5], [0, 1, 0, 0, 0.5]] * 500, np.float32)
    encoding = (_column("bits", 1), _column("one-hot", 3), _column("number", 1))
    answered = perturb(features, encoding, 0.5, np.random.default_rng(1))
    assert answered.dtype == np.float32
    assert (answered[:, 1:4].sum(axis=1) == 1).all()
    assert answered[:, 1:4].any(axis=0).all()
    assert set(np.unique(answered[:, 4])) == {-0.5, 0.5}
    assert (answered != features).any(axis=0).all()
    assert features[0].tolist() == [1, 0, 1, 0, -0.5]


def test_the_same_seed_gives_the_same_answers():
    bits = np.random.default_rng(0).integers(2, size=(50, 600), dtype=np.uint8)
    one, other = (perturb(bits, BITS, 1.0, np.random.default_rng(7)) for _ in range(2))
    assert (one == other).all()


def test_all_columns_that_cannot_be_answered_are_named():
    features = np.full((300, 4), 0.5)
    encoding = (_column("one-hot", 2, "job"), _column("one-hot", 2, "town"))
    with pytest.raises(AuditError, match="'job'") as caught:
        perturb(features, encoding, 1.0, np.random.default_rng(0))
    assert "'town' stand for no value" in str(caught.value)


def test_many_numbers_are_answered_as_the_middles_of_bins():
    """Of 0 to 100 in four bins; almost all true at an epsilon of 20, all alike at one near 0."""
    numbers = np.linspace(0, 100, 4_001, dtype=np.float32)[:, None]
    encoding = (_column("number", 1, "wage"),)
    for epsilon, is_true in ((20.0, 1.0), (1e-9, 0.25)):
        random = np.random.default_rng(1)
        answered = perturb(numbers, encoding, epsilon, random, Bins(4))
        assert np.unique(answered).tolist() == [12.5, 37.5, 62.5, 87.5]
        near = np.abs(answered - numbers) <= 12.5
        assert near.mean() == pytest.approx(is_true, abs=0.03)


def test_numbers_beyond_a_declared_range_are_answered_as_its_ends():
    numbers = np.array([[-1e30], [0.0], [9.99], [1e30]], np.float32)
    bins = Bins(2, {"wage": (0.0, 10.0)})
    answered = perturb(
        numbers, (_column("number", 1, "wage"),), 50.0, np.random.default_rng(1), bins
    )
    assert answered.ravel().tolist() == [2.5, 2.5, 7.5, 7.5]


def test_what_is_answered_in_a_declared_range_tells_no_number_of_the_records():
    """All answers are of the public grid, whatever the records hold."""
    random = np.random.default_rng(2)
    bins = Bins(5, {"wage": (0.0, 1.0)})
    encoding = (_column("number", 1, "wage"),)
    few, many = (
        perturb(random.random((400, 1)) * scale, encoding, 0.5, random, bins)
        for scale in (0.1, 0.9)
    )
    assert np.unique(few) == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert (np.unique(few) == np.unique(many)).all()


def test_whole_numbers_stay_whole():
    numbers = np.arange(256, dtype=np.uint8)[:, None]
    answered = perturb(numbers, (_column("kept", 1),), 1.0, np.random.default_rng(0))
    assert answered.dtype == np.uint8
    assert len(np.unique(answered)) == 10


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(AuditError, match="A006"):
        perturb_bits(np.zeros((1, 1), np.uint8), epsilon, np.random.default_rng(0))
