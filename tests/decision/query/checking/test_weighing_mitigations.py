"""What each way of protecting an answer would cost, as its owner is told."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.errors import RequestError

SIZES = {("north", "city"): 40, ("north", "farm"): 21, ("south", "city"): 33, ("south", "farm"): 7}
BY_BOTH = "SELECT region, sector, COUNT(*) AS n FROM T GROUP BY region, sector"
ABS = ("pe:outputCheck", "eq", "abs")


def compare(sql, *refinements, **more):
    """Return the comparison for a query about 101 persons, of whom seven are in one cell."""
    cells = [cell for cell, size in SIZES.items() for _ in range(size)]
    columns = {
        name: [cell[place] for cell in cells] for place, name in ((0, "region"), (1, "sector"))
    }
    policies = [policy_with(*(refinements or (ABS,)))]
    data = {TABLE: pa.table(columns)}
    return query_data(sql, policies, RESEARCHER, data, **{"alternatives": True, **more}).comparison


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


@pytest.mark.parametrize("more", [{"run": False}, {"epsilon": "1"}])
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
