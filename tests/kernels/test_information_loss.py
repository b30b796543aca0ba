import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.information_loss import (
    column_losses,
    correlations,
    distances,
    eigenvalues,
    pair_losses,
    rank_correlations,
    standard_deviations,
)

TABLES = arrays(
    np.float64, st.tuples(st.integers(2, 30), st.just(3)), elements=st.integers(-20, 20).map(float)
)


def il1s(before, after):
    return distances(before, after, standard_deviations(before))


def test_distances_are_means_in_units_of_the_spread():
    # S is sqrt(2): one cell of two moved by 1, which is half of sqrt(2) S.
    assert il1s(np.array([[0.0], [2.0]]), np.array([[1.0], [2.0]])) == pytest.approx([0.25])


def test_distances_do_not_grow_with_the_table():
    before = np.array([[0.0], [2.0]] * 500)
    assert il1s(before, before + 1) == pytest.approx([np.sqrt(0.5)], rel=1e-3)


def test_a_constant_column_has_no_distance():
    assert np.isnan(il1s(np.ones((3, 1)), np.zeros((3, 1)))).all()


def test_a_mean_that_moved_by_a_standard_error_lost_68_percent():
    # The variance of the four values is 1, that of their mean 1/4.
    before = np.array([-1.0, 1.0, -1.0, 1.0])
    losses = column_losses(before, before + 0.5)
    assert losses.mean == pytest.approx(68.2689, abs=1e-3)
    assert losses.variance == 0


def test_a_variance_that_no_sample_has_lost_everything():
    # Every distance from the mean is 1, so that of no sample of such values differs.
    before = np.array([-1.0, 1.0, -1.0, 1.0])
    assert column_losses(before, 2 * before).variance == 100


def test_a_variance_is_judged_by_the_fourth_moment():
    # m2 = 2, m4 = 34/5 = 6.8: the variance of a sample's variance is (6.8 - 4) / 5 = 0.56.
    before = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    found = column_losses(before, before * np.sqrt(1.5)).variance
    assert found == pytest.approx(81.855, abs=1e-3)  # a change of 1, 1.3363 errors


def test_a_correlation_is_judged_by_its_standard_error():
    x = np.array([1.0, 1.0, -1.0, -1.0])
    before = np.stack([x, np.array([1.0, -1.0, 1.0, -1.0])], axis=1)
    after = np.stack([x, x], axis=1)
    covariance, correlation = pair_losses(before, after)
    # From 0 to 1, which is two errors of 1/2; the products are 1 or -1, so their mean errs alike.
    assert correlation == pytest.approx([95.45], abs=1e-2)
    assert covariance == pytest.approx([95.45], abs=1e-2)


def test_ranks_are_correlated_where_values_are_bent():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    bent = np.stack([x, np.exp(5 * x)], axis=1)
    assert rank_correlations(bent)[0, 1] == pytest.approx(1)
    assert correlations(bent)[0, 1] < 0.8


def test_equal_values_share_the_mean_of_their_ranks():
    # Ranks 1.5, 1.5, 3 and 1, 2, 3: covariance 1.5, variances 1.5 and 2.
    values = np.array([[7.0, 1.0], [7.0, 2.0], [9.0, 3.0]])
    assert rank_correlations(values)[0, 1] == pytest.approx(1.5 / np.sqrt(3))


def test_eigenvalues_are_those_of_the_correlations():
    assert eigenvalues(np.array([[1.0, 0.6], [0.6, 1.0]])) == pytest.approx([1.6, 0.4])


@given(TABLES)
def test_a_table_as_it_was_has_lost_nothing(values):
    found = column_losses(values[:, 0], values[:, 0])
    assert (found.mean, found.variance, found.quantiles) == (0, 0, 0)
    assert np.nan_to_num(il1s(values, values)).tolist() == [0, 0, 0]
    for losses in pair_losses(values, values):
        assert np.nan_to_num(losses).tolist() == [0, 0, 0]


@given(TABLES, st.randoms())
def test_columns_that_are_permuted_keep_their_own_figures(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    found = column_losses(values[:, 0], values[order, 0])
    assert (found.mean, found.variance, found.quantiles) == (0, 0, 0)


@given(TABLES, TABLES)
def test_losses_are_percentages(before, after):
    found = column_losses(before[:, 0], after[:, 0])
    assert all(0 <= one <= 100 for one in (found.mean, found.variance, found.quantiles))
    for losses in pair_losses(before, after):
        assert (np.nan_to_num(losses) >= 0).all()
        assert (np.nan_to_num(losses) <= 100).all()


@given(TABLES, st.randoms())
def test_the_order_of_rows_changes_no_figure(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    masked = np.round(values, -1) + 1 / 3
    one, other = (il1s(values[rows], masked[rows]) for rows in (slice(None), order))
    assert np.array_equal(one, other, equal_nan=True)
    assert np.array_equal(correlations(values), correlations(values[order]), equal_nan=True)
