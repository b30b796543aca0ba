"""Small counts that are shown rounded, and those that must not be."""

import numpy as np
import pytest

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.mitigating import (
    protect_by_noise,
    protect_by_rounding,
    rounded_figures,
)
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

COUNTS = np.array([[20, 6, 30], [25, 40, 35], [50, 45, 60]])
ONE = np.array([True])


def judged(counts, **check):
    """Return the verdict on a table of counts with all its totals, each cell by itself."""
    rows = np.vstack([counts, counts.sum(axis=0)])
    whole = np.column_stack([rows, rows.sum(axis=1)])
    codes = np.indices(whole.shape).reshape(2, -1).T
    codes = np.where(codes == np.array(counts.shape), TOTAL, codes)
    units = whole.ravel()
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    labels = tuple(range(size) for size in counts.shape)
    table = ResultTable(("a", "b"), labels, codes, (measure,), units[:, None].astype(float))
    return judge(table, OutputCheck(profile=PROFILES["abs"], **check))


def rounded(verdict, before):
    return protect_by_rounding(verdict, before, rounded_figures(verdict.table, 5, ONE), ONE, ONE)


def test_small_count_is_shown_where_others_leave_it_open():
    before = judged(COUNTS)
    figures = rounded(suppress_totals(before), before)
    assert figures.is_shown.all()
    table = figures.values.reshape(4, 4)
    assert (table % 5 == 0).all()
    assert table[0, 1] in (5, 10)
    assert (table[:3].sum(axis=0) == table[3]).all()


def test_small_count_that_exact_totals_tell_is_not_shown():
    """Without secondary suppression, 56 - 20 - 30 is six for who knows these."""
    before = judged(COUNTS, secondary="none")
    figures = rounded(before, before)
    assert np.flatnonzero(~figures.is_shown[:, 0]).tolist() == [1]


@pytest.mark.parametrize(("most", "is_open"), [(4, True), (0, False)])
def test_noise_has_to_leave_two_values_open(most, is_open):
    before = judged(COUNTS)
    verdict = suppress_totals(before)
    figures = protect_by_noise(verdict, before, ONE, before.table.values, most)
    assert bool(figures.is_shown[1, 0]) == is_open


def test_count_in_a_line_of_few_is_not_shown():
    """In the first row there are nine."""
    before = judged(np.array([[4, 5], [50, 60]]), secondary="none")
    figures = rounded(before, before)
    assert not figures.is_shown[[0, 1, 2], 0].any()
