"""What each way of protecting an answer would cost, as its owner is told."""

import math

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.errors import RequestError

SIZES = {("north", "city"): 40, ("north", "farm"): 21, ("south", "city"): 33, ("south", "farm"): 7}
BY_BOTH = "SELECT region, sector, COUNT(*) AS n FROM T GROUP BY region, sector"
ABS = ("pe:outputCheck", "eq", "abs")


def ask(sql, *refinements, **more):
    """Return the comparisons for a query about 101 persons, of whom seven are in one cell."""
    cells = [cell for cell, size in SIZES.items() for _ in range(size)]
    columns = {
        name: [cell[place] for cell in cells] for place, name in ((0, "region"), (1, "sector"))
    }
    columns["pay"] = [1000 + number for number in range(len(cells))]
    policies = [policy_with(*(refinements or (ABS,)))]
    data = {TABLE: pa.table(columns)}
    return query_data(sql, policies, RESEARCHER, data, **{"alternatives": True, **more})


def compare(sql, *refinements, **more):
    return ask(sql, *refinements, **more).comparison


def costs(comparison):
    return {one.name: one for one in comparison.costs}


def test_a_small_cell_costs_a_blank_one_or_errors_of_all():
    """To multiples of five, 40, 21, 33 and 7 become 40, 20, 35 and 5: off by 0, 1, 2 and 2."""
    comparison = compare(BY_BOTH)
    assert (comparison.measure, comparison.cells, comparison.primary) == ("n", 4, 1)
    found = costs(comparison)
    assert found["suppress"].cost.blank_cells == 1
    assert found["round to 5"].cost.cell_error == 5 / 4
    assert found["round to 5"].cost.blank_cells == 0
    assert 0 <= found["noise up to 4"].cost.cell_error <= 4
    at_random = found["round at random to 5"].cost
    assert (at_random.blank_cells, at_random.small_exact) == (0, 0)
    assert 3 / 4 <= at_random.cell_error <= (4 + 3 + 3) / 4


@pytest.mark.parametrize(("epsilon", "loss"), [(None, 1.0), ("0.5", 0.5)])
def test_noise_under_differential_privacy_costs_what_is_expected_of_it(epsilon, loss):
    """Of geometric noise with the ratio r, 2r / (1 - r^2), in four cells and no totals."""
    ratio = math.exp(-loss)
    cost = costs(compare(BY_BOTH, epsilon=epsilon))[f"differential privacy, epsilon {loss:g}"].cost
    assert cost.cell_error == pytest.approx(2 * ratio / (1 - ratio**2))
    assert (cost.total_error, cost.blank_cells) == (0, 0)


def test_totals_divide_the_epsilon():
    """With totals of both keys, a person is in a cell of each of four tables."""
    found = costs(compare(BY_BOTH.replace("BY region, sector", "BY CUBE (region, sector)")))
    ratio = math.exp(-1 / 4)
    cost = found["differential privacy, epsilon 1"].cost
    assert cost.total_error == cost.cell_error == pytest.approx(2 * ratio / (1 - ratio**2))


def test_costs_of_all_figures_are_told_counts_first():
    sql = "SELECT region, AVG(pay) AS m, SUM(pay) / COUNT(*) AS r, COUNT(*) AS n FROM T GROUP BY 1"
    compared = ask(sql).comparisons
    assert [one.measure for one in compared] == ["n", "m", 'SUM("pay")']
    assert [[cost.name for cost in one.costs] for one in compared] == [
        [
            *("suppress", "round to 5", "round at random to 5", "noise up to 4"),
            "differential privacy, epsilon 1",
        ],
        ["suppress"],
        ["suppress", "round to 5"],
    ]


def test_with_totals_further_cells_would_be_blank():
    found = costs(compare(BY_BOTH.replace("BY region, sector", "BY CUBE (region, sector)")))
    suppressed, rounded = found["suppress"].cost, found["round to 5"].cost
    assert suppressed.blank_cells + suppressed.blank_totals >= 4
    assert rounded.blank_cells + rounded.blank_totals == 0
    assert 0 < rounded.total_error < 5


def test_coarser_groups_have_fewer_cells_and_none_blank():
    found = costs(compare(BY_BOTH))
    for name in ("region", "sector"):
        one = found[f"suppress, without {name}"]
        assert (one.cells, one.cost.blank_cells) == (2, 0)


def test_many_small_cells_make_a_suggestion():
    """One of four cells is more than a tenth."""
    assert "25%" in compare(BY_BOTH).suggestion
    assert compare("SELECT region, COUNT(*) AS n FROM T GROUP BY region").suggestion == ""


def test_no_row_of_the_answer_is_shown_beside():
    policies = [policy_with(ABS)]
    data = {TABLE: pa.table({"region": ["north"] * 20})}
    sql = "SELECT region, COUNT(*) AS n FROM T GROUP BY region"
    result = query_data(sql, policies, RESEARCHER, data, alternatives=True)
    assert (result.table, result.checked) == (None, None)


@pytest.mark.parametrize(
    "more",
    [
        {"run": False},
        {"epsilon": "1", "delta": "1e-9"},
        {"epsilon": "1", "ledger": "budget"},
        {"epsilon": "0"},
        {"output_ledger": "answers"},
    ],
)
def test_costs_are_told_in_place_of_an_answer(more):
    with pytest.raises(RequestError) as error:
        compare(BY_BOTH, **more)
    assert error.value.code == "D003"


def test_answer_that_is_not_checked_has_no_costs():
    with pytest.raises(RequestError) as error:
        query_data(
            "SELECT region FROM T",
            [policy_with()],
            RESEARCHER,
            {TABLE: pa.table({"region": ["north"]})},
            alternatives=True,
        )
    assert error.value.code == "K025"
