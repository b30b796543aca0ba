import numpy as np
import pytest

from policy_engine.audits.outputs import total_grids
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.total_grids import grids_of

CODES = np.array([[0, 0], [0, 1], [1, 2], [0, TOTAL], [1, TOTAL], [TOTAL, TOTAL]])
UNITS = np.array([1, 5, 1, 6, 1, 7])


def table(codes=CODES, units=UNITS, joint=None):
    """Return a table of districts 0 to 2 in regions 0 and 1, and all totals."""
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    labels = ("A", "B"), ("a1", "a2", "b1")
    return ResultTable(
        ("region", "district"), labels, codes, (measure,), units[:, None] * 1.0, joint
    )


def test_totals_of_a_hierarchy_are_those_of_its_parts():
    nested, flat = grids_of(table())
    assert (nested.shape, flat.shape) == ((6,), (3, 4))
    assert nested.is_part.tolist() == [True, True, True, False, False, False]
    assert nested.summed(UNITS * 1.0)[nested.cells].tolist() == UNITS.tolist()
    assert flat.summed(UNITS * 1.0)[flat.cells].tolist() == UNITS.tolist()


def test_the_only_one_of_a_region_is_alone_in_it():
    nested, _ = grids_of(table())
    lone = np.array([7, -1, 8, -1, -1, -1])
    assert nested.contributors(lone, UNITS)[nested.cells].tolist() == [7, -1, 8, -1, 8, -1]


def test_a_cell_has_several_rows_where_a_region_follows_from_a_district():
    codes = np.vstack([CODES, [[TOTAL, 0]]])
    nested, _ = grids_of(table(codes, np.append(UNITS, 1)))
    assert nested.cells[0] == nested.cells[-1]
    is_first = np.arange(7) == 0
    assert nested.rows_of(nested.any_of(is_first)).tolist() == [True, *[False] * 5, True]


def test_a_table_without_rows_by_all_keys_has_the_grid_of_what_is_known_to_occur():
    codes = np.array([[TOTAL, 0], [TOTAL, 1], [TOTAL, 2], [0, TOTAL], [1, TOTAL]])
    assert grids_of(table(codes, UNITS[:5])) == ()
    [nested] = grids_of(table(codes, UNITS[:5], CODES[:3]))
    assert nested.summed(UNITS[:5] * 1.0)[nested.cells].tolist() == UNITS[:5].tolist()


@pytest.mark.parametrize(("most", "shapes"), [(12, [(6,), (3, 4)]), (11, [(6,)]), (5, [])])
def test_larger_grids_than_may_be_are_none(most, shapes, monkeypatch):
    monkeypatch.setattr(total_grids, "MOST_CELLS", most)
    assert [one.shape for one in grids_of(table())] == shapes


def test_a_table_without_totals_has_none():
    assert grids_of(table(CODES[:3], UNITS[:3])) == ()
