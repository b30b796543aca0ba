"""Tables with totals, in which no suppressed cell may be computed from the others."""

import numpy as np
import pytest

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.kernels.output_checks.recoverability import determined_in_two_way
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

COUNTS = np.array([[20, 6, 30], [25, 40, 35], [50, 45, 60]])


def with_totals(counts):
    rows = np.vstack([counts, counts.sum(axis=0)])
    return np.column_stack([rows, rows.sum(axis=1)])


def verdict_on(counts, **check):
    """Return the verdict on a table of counts with all its totals, and its shape."""
    whole = with_totals(counts)
    codes = np.indices(whole.shape).reshape(2, -1).T
    codes = np.where(codes == np.array(counts.shape), TOTAL, codes)
    units = whole.ravel()
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    labels = tuple(range(size) for size in counts.shape)
    table = ResultTable(("a", "b"), labels, codes, (measure,), units[:, None].astype(float))
    judged = judge(table, OutputCheck(profile=PROFILES["abs"], **check))
    return suppress_totals(judged), whole.shape


@pytest.mark.parametrize("secondary", ["exact", "interval"])
def test_suppressed_cell_cannot_be_computed(secondary):
    """A lone cell of 6 needs a rectangle of suppressed cells."""
    verdict, shape = verdict_on(COUNTS, secondary=secondary)
    is_suppressed = ~verdict.released.reshape(shape)
    assert is_suppressed[0, 1]
    assert is_suppressed.sum() >= 4
    assert not determined_in_two_way(is_suppressed).any()
    assert {cell.public_reason.value for cell in verdict.cells()} == {"K049"}
    assert {one.value for cell in verdict.cells() for one in cell.reasons} == {"K002", "K014"}


def test_nothing_more_is_suppressed_where_the_policy_asks_for_nothing_more():
    verdict, _ = verdict_on(COUNTS, secondary="none")
    assert (~verdict.released).sum() == 1


def test_table_without_small_cells_stays_as_it_is():
    verdict, _ = verdict_on(COUNTS + 10)
    assert verdict.released.all()
