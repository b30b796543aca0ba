"""The risk of single records, by published figures and by direct sums."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED_DATA

from policy_engine.kernels.individual_risk import (
    individual_risk,
    journalist_risks,
    k_map,
    presence,
    prosecutor_risks,
    share_above,
)


def risk(frequency, population):
    return individual_risk(np.array([frequency]), np.array([float(population)]))[0]


def by_direct_sum(frequency, population):
    """Return E(1/F), F being f and a negative binomial number of failures, term by term."""
    share = frequency / population
    probability, total = share**frequency, 0.0
    for more in range(200_000):
        total += probability / (frequency + more)
        probability *= (1 - share) * (frequency + more) / (more + 1)
    return total


@pytest.mark.parametrize(
    ("frequency", "population", "expected"),
    [  # of the tests of sdcMicro, and of its toy data after Franconi and Polettini (2004)
        (3, 108, 0.01355297),
        (1, 45.5, 0.08579129),
        (1, 17, 0.17707583),
        (2, 100, 0.01877883),
        (2, 110, 0.01714426),
        (2, 84.5, 0.02204233),
        (1, 541, 0.01165448),
        (1, 8, 0.29706308),
        (1, 5, 0.40235948),
    ],
)
def test_risk_is_the_published_one(frequency, population, expected):
    assert risk(frequency, population) == pytest.approx(expected, abs=5e-9)


def test_risk_in_a_sample_of_everybody_is_one_of_the_class():
    assert individual_risk(np.array([1, 2, 60]), np.array([1.0, 2.0, 60.0])) == pytest.approx(
        [1, 1 / 2, 1 / 60]
    )


@given(st.integers(1, 120), st.floats(1.0, 400.0))
def test_risk_is_the_expectation_of_one_over_the_population_frequency(frequency, ratio):
    population = frequency * ratio
    assert risk(frequency, population) == pytest.approx(by_direct_sum(frequency, population))


@given(st.integers(1, 200), st.floats(1.0, 1e9))
def test_risk_is_at_most_that_of_the_sample_and_falls_with_the_population(frequency, ratio):
    larger, smaller = risk(frequency, frequency * ratio), risk(frequency, frequency * ratio * 2)
    assert 0 < smaller < larger <= 1 / frequency * (1 + 1e-12)


def test_uniques_of_the_test_data_are_as_many_as_published():
    file = SHARED_DATA / "sdcmicro" / "testdata.csv.gz"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    table = pd.read_csv(file)
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    classes = table.groupby(keys, dropna=False)["sampling_weight"].agg(["size", "sum"])
    frequencies, population = classes["size"].to_numpy(), classes["sum"].to_numpy()
    assert (frequencies == 1).sum() == 157
    assert frequencies[frequencies == 2].sum() == 124
    # 10.7783 with the approximation that sdcMicro uses from f = 3 on, which is a bit higher.
    expected = (frequencies * individual_risk(frequencies, population)).sum()
    assert expected == pytest.approx(10.7783, rel=0.01)
    assert expected < 10.7783


def test_intruders_know_the_sample_or_the_population():
    frequencies, population = np.array([1, 2, 5]), np.array([4, 2, 50])
    sample = prosecutor_risks(frequencies)
    assert (sample.largest, sample.mean) == (1, 3 / 8)
    outside = journalist_risks(frequencies, population)
    assert outside.largest == 1 / 2
    assert outside.mean == pytest.approx((1 / 4 + 2 / 2 + 5 / 50) / 8)


def test_records_above_a_threshold_are_counted():
    frequencies = np.array([1, 2, 5])
    above = [share_above(frequencies, 1 / frequencies, threshold) for threshold in (0, 0.2, 0.5)]
    assert above == [1, 3 / 8, 1 / 8]


def test_population_classes_bound_presence_and_the_map():
    assert k_map(np.array([4, 2, 50])) == 2
    assert presence(np.array([1, 0, 5]), np.array([4, 3, 5])) == (0, 1)
