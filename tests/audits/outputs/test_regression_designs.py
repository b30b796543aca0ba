"""What is known of a regression's design: rank, leverage, and whom coefficients rest on."""

import numpy as np
import pytest

from policy_engine.audits.outputs.regression_designs import (
    RegressionDesign,
    counted_units,
    effective_count,
)

X = np.random.default_rng(3).normal(size=(60, 2))
UNITS = np.arange(60)
VARIABLES = np.column_stack([np.ones(60), X])


def test_leverage_and_rank_are_those_of_the_hat_matrix():
    hat = VARIABLES @ np.linalg.pinv(VARIABLES)
    design = RegressionDesign(np.column_stack([VARIABLES, X[:, 0]]), UNITS, 57)
    assert (design.rank, design.greatest_leverage) == (3, pytest.approx(np.diag(hat).max()))


def test_contributions_add_up_to_the_coefficients():
    outcome, weights = np.abs(X[:, 1]) * VARIABLES[:, 0] + 2, 1.0 + UNITS % 3
    design = RegressionDesign(VARIABLES, UNITS, 57, outcome, weights, weights)
    root = np.sqrt(weights)[:, None]
    expected = np.abs(np.linalg.pinv(VARIABLES * root) * root.T * outcome)
    assert np.array(list(design.contributions())) == pytest.approx(expected)


def test_what_is_left_without_a_few_is_what_others_tell():
    alone = (UNITS < 3).astype(float)
    few = RegressionDesign(np.column_stack([VARIABLES, alone]), UNITS, 56, least=4)
    fewer = RegressionDesign(np.column_stack([VARIABLES, alone]), UNITS, 56, least=3)
    assert few.share_without_few < 1e-9
    assert fewer.share_without_few > 0.01


def test_groups_are_of_units_that_have_another_value_than_most():
    column = np.where(UNITS < 6, UNITS, 0.0)
    design = RegressionDesign(np.column_stack([VARIABLES, column]), UNITS // 2, 26)
    assert design.smallest_group == 3
    classes = RegressionDesign(VARIABLES, UNITS, 57, np.minimum(UNITS // 25, 2.0), is_classes=True)
    assert classes.smallest_group == 10


def test_units_count_by_all_of_their_weights():
    weights = np.array([1.0, 1.0, 1e-9, 1e-9, 1e-9])
    assert counted_units(np.array([0, 1, 0, 2, 2]), weights).tolist() == [True] * 3 + [False] * 2


@pytest.mark.parametrize(("sizes", "count"), [([1.0] * 5, 5), ([1.0, 1.0, 1e-5], 2), ([0, 0], 0)])
def test_units_with_a_negligible_part_do_not_count(sizes, count):
    assert effective_count(np.array(sizes)) == count
