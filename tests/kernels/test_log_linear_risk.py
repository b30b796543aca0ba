"""The risk of sample uniques by log-linear models: published figures, and populations drawn."""

import numpy as np
import pandas as pd
import pytest
from places import SHARED_DATA

from policy_engine.kernels.contingency import (
    ContingencyTable,
    fitted_means,
    main_effects,
    two_way_interactions,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.log_linear_risk import (
    chances_as_unique,
    expected_links,
    log_linear_risk,
    selected_risk,
)

# The ten persons of the tests of sdcMicro's modRisk, as R draws them from the seed 123.
PERSONS = np.array(
    [
        [2, 3, 2, 3, 3, 1, 2, 3, 2, 2],
        [2, 1, 2, 2, 1, 2, 1, 1, 1, 2],
        [5, 4, 4, 5, 4, 4, 3, 3, 2, 2],
    ]
).T


def test_figures_of_sdcmicro_are_found_by_its_conventions():
    # Its lambda is the sample's mean, and its divisor the number of occupied cells.
    table = ContingencyTable.of(PERSONS, main_effects(3))
    means = fitted_means(table, main_effects(3))[table.counts == 1]
    occupied = np.count_nonzero(table.counts)
    assert chances_as_unique(means, 0.01).sum() / occupied == pytest.approx(0.552916, abs=5e-7)
    assert expected_links(means, 0.01).sum() / occupied == pytest.approx(0.7053842, abs=5e-8)


def test_chances_are_those_of_poisson_frequencies():
    # Of three others expected, half are in the sample: 1 + Poisson(1.5) persons in all.
    others = np.arange(60)
    factorials = np.cumprod(np.append(1.0, others[1:]))
    chances = np.exp(-1.5) * 1.5**others / factorials
    assert chances_as_unique(np.array([3.0]), 0.5)[0] == pytest.approx(chances[0])
    expected = (chances / (1 + others)).sum()
    assert expected_links(np.array([3.0]), 0.5)[0] == pytest.approx(expected)


def test_uniques_of_a_whole_population_are_certain():
    found = log_linear_risk(PERSONS, 1.0, main_effects(3))
    assert found.rows.tolist() == [0, 2, 3, 5, 6, 7, 8, 9]
    assert (found.population_uniques, found.right_links) == (8, 8)


def test_risk_does_not_depend_on_the_order_of_records():
    order = np.array([3, 9, 0, 7, 5, 1, 8, 2, 6, 4])
    one, other = (log_linear_risk(PERSONS[at], 0.5, main_effects(3)) for at in (range(10), order))
    assert one.as_unique.tolist() == other.as_unique[np.argsort(order[other.rows])].tolist()
    assert (one.right_links, one.biases) == (other.right_links, other.biases)


def test_sample_without_uniques_has_no_figure():
    found = log_linear_risk(np.zeros((4, 2), dtype=np.int64), 0.5, main_effects(2))
    assert found == NotApplicable(reason="no record is unique in the sample")
    assert selected_risk(np.zeros((4, 2), dtype=np.int64), 0.5) == found


WIDTHS = (8, 8, 30, 30)


def drawn(seed, linked):
    """Return the codes of a population of which a tenth is a sample, and who is in that.

    The second column equals the first in this share of the persons, otherwise all are independent.
    """
    generator = np.random.default_rng(seed)
    codes = np.column_stack(
        [generator.choice(width, 40_000, p=generator.dirichlet(np.ones(width))) for width in WIDTHS]
    )
    codes[:, 1] = np.where(generator.random(40_000) < linked, codes[:, 0], codes[:, 1])
    return codes, generator.random(40_000) < 0.1


def truth(codes, is_sampled):
    """Return how many sample uniques are population uniques, and the sum of their 1/F."""
    keys = pd.Series(map(tuple, codes.tolist()))
    population = keys.map(keys.value_counts()).to_numpy()[is_sampled]
    sample = keys[is_sampled]
    is_unique = sample.map(sample.value_counts()).to_numpy() == 1
    return (population[is_unique] == 1).sum(), (1 / population[is_unique]).sum()


@pytest.mark.parametrize("seed", range(3))
def test_independent_columns_are_estimated_without_bias(seed):
    codes, is_sampled = drawn(seed, 0.0)
    found = log_linear_risk(codes[is_sampled], 0.1, main_effects(4))
    uniques, links = truth(codes, is_sampled)
    assert found.population_uniques == pytest.approx(uniques, rel=0.15)
    assert found.right_links == pytest.approx(links, rel=0.1)
    assert np.abs(found.biases).max() < 3.29


def test_biases_tell_models_too_simple_from_too_rich_ones():
    codes, is_sampled = drawn(1, 0.7)
    sample = codes[is_sampled]
    simple, rich = (
        log_linear_risk(sample, 0.1, margins)
        for margins in (main_effects(4), two_way_interactions(4))
    )
    uniques, links = truth(codes, is_sampled)
    assert min(simple.biases) > 3.29
    assert max(rich.biases) < -1.96
    margins, found = selected_risk(sample, 0.1)
    assert margins == (*main_effects(4), (0, 1))
    assert found.population_uniques == pytest.approx(uniques, rel=0.15)
    assert found.right_links == pytest.approx(links, rel=0.1)


def test_model_that_does_not_fit_is_said_to_be_none():
    # Three columns of which the third is the sum of the others: no two of them depend.
    generator = np.random.default_rng(5)
    one, two = generator.integers(0, 40, (2, 3000))
    found = selected_risk(np.column_stack([one, two, (one + two) % 40]), 0.1)
    assert isinstance(found, NotApplicable)
    assert found.reason.startswith("no log-linear model fits")


@pytest.mark.nightly
def test_uniques_of_adult_are_estimated_as_counted():
    file = SHARED_DATA / "adult.csv.gz"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    table = pd.read_csv(file, skipinitialspace=True)
    keys = ["age", "education", "marital-status", "race", "sex"]
    codes = np.column_stack([pd.factorize(table[key])[0] for key in keys])
    is_sampled = np.random.default_rng(5).random(len(codes)) < 0.1
    uniques, links = truth(codes, is_sampled)
    assert uniques == 388
    _, found = selected_risk(codes[is_sampled], 0.1)
    assert found.population_uniques == pytest.approx(uniques, rel=0.05)
    assert found.right_links == pytest.approx(links, rel=0.05)
