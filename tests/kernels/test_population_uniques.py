"""Population uniques: models find again what made the sample, and say when they do not fit."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED_DATA

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.population_uniques import (
    SampledClasses,
    pitman_uniques,
    population_uniques,
    snb_uniques,
    zayatz_uniques,
)


def sampled(sizes, share, seed=1):
    """Return the classes of a sample of a population with these class sizes, and its uniques."""
    rng = np.random.default_rng(seed)
    persons = np.repeat(np.arange(len(sizes)), sizes)
    drawn = rng.choice(persons, int(share * len(persons)), replace=False)
    frequencies = np.bincount(drawn)
    return SampledClasses.of(frequencies[frequencies > 0], len(persons)), (sizes == 1).sum()


def pitman_sizes(alpha, theta, persons, seed=1):
    """Return the class sizes that Pitman's model makes, person by person."""
    rng = np.random.default_rng(seed)
    seats, tables, draws = np.zeros(persons, dtype=int), 0, rng.random(persons)
    members = np.zeros(persons, dtype=int)
    for person in range(persons):
        if draws[person] * (theta + person) < theta + alpha * tables:
            seats[person], tables = tables, tables + 1
        else:
            seats[person] = seats[rng.integers(person)]
            while rng.random() * members[seats[person]] < alpha:
                seats[person] = seats[rng.integers(person)]
        members[seats[person]] += 1
    return members[:tables]


def test_sizes_after_the_slide_negative_binomial_are_found_again():
    sizes = 1 + np.random.default_rng(7).negative_binomial(0.8, 0.05, 40_000)
    classes, truth = sampled(sizes, 0.3)
    assert snb_uniques(classes) == pytest.approx(truth, rel=0.2)


def test_sizes_after_pitman_are_found_again():
    classes, truth = sampled(pitman_sizes(0.5, 200.0, 60_000), 0.1)
    assert pitman_uniques(classes) == pytest.approx(truth, rel=0.1)


def test_sample_of_everybody_has_all_the_uniques():
    classes, truth = sampled(np.array([1] * 30 + [2] * 20 + [5] * 10), 1.0)
    assert zayatz_uniques(classes) == pytest.approx(truth)


def test_zayatz_is_the_share_of_uniques_among_those_seen_once():
    # Two classes of one record and one of two: 4 of 8 persons. By hypergeometric chances, one
    # of one is seen with 1/2, and of one of two exactly one record with 2 C(6, 3) / C(8, 4) = 4/7.
    classes = SampledClasses.of(np.array([1, 1, 2]), 8)
    as_unique = (2 * 1 / 2) / (2 * 1 / 2 + 1 * 4 / 7)
    assert zayatz_uniques(classes) == pytest.approx(2 * as_unique / 0.5)


def test_sample_without_uniques_has_no_estimate():
    name, found = population_uniques(SampledClasses.of(np.array([3, 4]), 100))
    assert name == "zayatz"
    assert isinstance(found, NotApplicable)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=200), st.floats(1, 50))
def test_estimate_is_a_number_of_persons_or_none(frequencies, times):
    classes = SampledClasses.of(np.array(frequencies), math.ceil(sum(frequencies) * times))
    for found in (
        population_uniques(classes)[1],
        zayatz_uniques(classes),
        snb_uniques(classes),
    ):
        is_number = not isinstance(found, NotApplicable)
        assert not is_number or 0 < found <= classes.population * (1 + 1e-9)


def test_birthdays_and_sexes_of_a_million_persons_are_estimated_as_measured():
    file = SHARED_DATA / "fr_disability_portfolio.parquet"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    table = pd.read_parquet(file, columns=["BirthDate", "Gender"])
    codes = table.groupby(["BirthDate", "Gender"], dropna=False).ngroup().to_numpy()
    assert (np.bincount(codes) == 1).sum() == 5_141
    classes, _ = sampled(np.bincount(codes), 0.2)
    assert zayatz_uniques(classes) == pytest.approx(6_581, rel=0.1)
    assert pitman_uniques(classes) == pytest.approx(9_620, rel=0.1)
    name, found = population_uniques(classes)
    assert name == "snb"
    assert found == pytest.approx(5_141, rel=0.2)
