"""The classes of a sample in its population, by hand and by counting rows one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.individual_risk import journalist_risks, k_map, presence
from policy_engine.kernels.population_classes import PopulationClasses

# Sex and age group of five persons, three of whom are in the sample.
PERSONS = np.array([[0, 1], [0, 1], [0, -1], [1, 2], [1, 2]])
TABLES = arrays(np.int64, st.tuples(st.integers(1, 10), st.just(2)), elements=st.integers(-1, 2))


def brute_counts(sample, population):
    """Return f and F of every record of the sample."""
    return [
        (int((sample == row).all(axis=1).sum()), int((population == row).all(axis=1).sum()))
        for row in sample
    ]


def test_sample_is_counted_in_its_population():
    classes = PopulationClasses.of(PERSONS[[0, 2, 3]], PERSONS)
    frequencies, population = classes.sampled()
    assert k_map(population) == 1
    assert journalist_risks(frequencies, population).mean == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)
    assert presence(*classes.published()) == (1 / 2, 1)


def test_class_that_the_sample_lacks_bounds_presence():
    classes = PopulationClasses.of(PERSONS[:2], PERSONS)
    assert k_map(classes.sampled()[1]) == 2
    assert presence(*classes.published()) == (0, 1)


def test_population_that_lacks_the_sample_has_no_figures():
    classes = PopulationClasses.of(np.array([[0, 1], [0, 1], [1, 2], [3, 3]]), PERSONS[1:])
    found = classes.sampled()
    assert isinstance(found, NotApplicable)
    assert "2 of its 4 records" in found.reason


def test_row_of_the_population_may_stand_for_several_persons():
    classes = PopulationClasses.of(np.array([[7], [9]]), np.array([[7], [9]]), np.array([20, 30]))
    assert classes.sampled()[1].tolist() == [20, 30]


@given(TABLES, TABLES, st.randoms(use_true_random=False))
def test_counts_are_those_of_single_rows_in_any_order(sample, others, random):
    population = np.concatenate([sample, others])
    population = population[random.sample(range(len(population)), len(population))]
    classes = PopulationClasses.of(sample, population)
    of_record = zip(
        classes.frequencies[classes.class_of], classes.population[classes.class_of], strict=True
    )
    assert list(of_record) == brute_counts(sample, population)
    frequencies, counts = classes.sampled()
    assert (frequencies.sum(), (counts >= frequencies).all()) == (len(sample), True)
    assert classes.published()[1].sum() == len(population)
