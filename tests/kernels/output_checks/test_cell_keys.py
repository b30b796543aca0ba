import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy_engine.kernels.output_checks.cell_keys import (
    add_noise,
    noise_table,
    round_by_keys,
    sums_of_keys,
    unit_keys,
)
from policy_engine.kernels.siphash import key_words

SECRET, OTHER = key_words(bytes(range(16))), key_words(bytes(16))
KEYS = unit_keys(np.arange(1000, dtype=np.uint64), SECRET)


@example((7, 0.7483188828560543))
@given(st.integers(1, 8).flatmap(lambda most: st.tuples(st.just(most), st.floats(0.2, 0.9))))
def test_noise_has_no_bias_its_variance_and_its_bounds(pair):
    most, share = pair
    table = noise_table(most, share * most)
    noise = np.arange(-most, most + 1)
    assert table.probabilities.sum(axis=1) == pytest.approx(np.ones(most + 1))
    assert table.probabilities @ noise == pytest.approx(np.zeros(most + 1), abs=1e-8)
    assert table.probabilities[1:] @ noise**2 == pytest.approx(np.full(most, share * most))
    assert not table.probabilities[np.arange(most + 1)[:, np.newaxis] + noise < 0].any()


def test_noise_of_one_either_way_is_worked_by_hand():
    assert noise_table(1, 0.5).probabilities.tolist() == [
        [0, 1, 0],
        pytest.approx([0.25, 0.5, 0.25]),
    ]


@pytest.mark.parametrize(("most", "variance"), [(0, 0.5), (3, 0.0), (3, 3.0)])
def test_a_variance_that_no_noise_has_is_refused(most, variance):
    with pytest.raises(ValueError, match="variance above 0"):
        noise_table(most, variance)


def test_the_same_population_has_the_same_key_in_any_order_and_table():
    units = np.array([3, 5, 8, 3, 8, 5, 4])
    sums = sums_of_keys(KEYS[units], np.array([0, 0, 0, 1, 1, 1, 2]), 4)
    assert sums[0] == sums[1]
    assert len(set(sums.tolist())) == 3
    assert sums[3] == 0


def test_the_same_cell_has_the_same_noise_and_another_secret_other_noise():
    table, counts = noise_table(4, 2.0), np.full(1000, 20)
    once, again = (add_noise(counts, KEYS, table, SECRET) for _ in range(2))
    assert (once == again).all()
    assert (add_noise(counts, KEYS, table, OTHER) != once).mean() > 0.5


@pytest.mark.parametrize("count", [0, 1, 2, 20])
def test_noise_is_drawn_as_its_table_says(count):
    table, keys = noise_table(4, 2.0), unit_keys(np.arange(20_000, dtype=np.uint64), OTHER)
    noise = add_noise(np.full(len(keys), count), keys, table, SECRET) - count
    shares = np.bincount(noise + 4, minlength=9) / len(keys)
    assert shares == pytest.approx(table.probabilities[min(count, 4)], abs=0.015)


@pytest.mark.parametrize("count", [0, 1, 7, 10])
def test_counts_are_rounded_to_multiples_beside_them_without_bias(count):
    """Of 20,000 cells, the mean is within 5 standard deviations of the count."""
    keys = unit_keys(np.arange(20_000, dtype=np.uint64), OTHER)
    rounded = round_by_keys(np.full(len(keys), count), keys, 5, SECRET)
    assert (rounded % 5 == 0).all()
    assert (np.abs(rounded - count) < 5).all()
    share = count % 5 / 5
    deviation = 5 * (share * (1 - share) / len(keys)) ** 0.5
    assert abs(rounded.mean() - count) <= 5 * deviation


def test_rounding_follows_from_the_cell_the_secret_and_the_base():
    """Noise that was drawn of a cell does not tell its rounding."""
    counts = np.full(1000, 11)
    once, again = (round_by_keys(counts, KEYS, 5, SECRET) for _ in range(2))
    assert (once == again).all()
    rises = once > 11
    for other in (
        round_by_keys(counts, KEYS, 5, OTHER) > 11,
        round_by_keys(np.full(1000, 22), KEYS, 10, SECRET) > 22,
        add_noise(counts, KEYS, noise_table(4, 3.0), SECRET) > 11,
    ):
        assert abs(np.corrcoef(rises, other)[0, 1]) < 0.15
