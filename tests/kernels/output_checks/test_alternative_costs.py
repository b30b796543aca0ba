import numpy as np

from policy_engine.kernels.output_checks.alternative_costs import alternative_cost, expected_cost

VALUES = np.array([3.0, 20, 0, 23])
IS_TOTAL = np.array([False, False, False, True])


def test_blank_cells_have_no_error_and_are_counted():
    cost = alternative_cost(VALUES, np.array([np.nan, np.nan, 0, 23]), IS_TOTAL, 10)
    assert (cost.cell_error, cost.total_error, cost.blank_cells, cost.small_exact) == (0, 0, 2, 0)


def test_errors_are_means_and_small_cells_are_those_left_right():
    cost = alternative_cost(VALUES, np.array([3.0, 22, 1, 25]), IS_TOTAL, 10, broken_totals=1)
    assert (cost.cell_error, cost.total_error) == (1, 2)
    assert (cost.small_exact, cost.broken_totals) == (1, 1)


def test_a_table_that_is_all_blank_has_no_error():
    cost = alternative_cost(VALUES, np.full(4, np.nan), IS_TOTAL, 10)
    assert (cost.cell_error, cost.total_error, cost.blank_cells, cost.blank_totals) == (0, 0, 3, 1)


def test_expected_cost_is_that_of_the_distribution():
    """Summed up to 200, beyond which the noise of scale 2 is less likely than 1e-43."""
    noise = np.arange(-200, 201)
    shares = np.exp(-np.abs(noise) / 2)
    shares /= shares.sum()
    values = np.full(1001, 5.0)
    cost = expected_cost(values, np.arange(1001) == 1000, 10, 2.0)
    np.testing.assert_allclose(cost.cell_error, (shares * np.abs(noise)).sum())
    assert cost.total_error == cost.cell_error
    assert cost.small_exact == round(1000 * shares[200])


def test_nothing_is_expected_of_a_table_without_totals():
    cost = expected_cost(VALUES, np.zeros(4, dtype=bool), 10, 1e-9)
    assert (cost.total_error, cost.cell_error, cost.small_exact) == (0, 0, 1)
