"""The counts by which the conditions of cells are judged: those nearest to too few."""

import numpy as np
import pyarrow as pa

from policy_engine.audits.outputs.reasons import Reason
from policy_engine.decision.query.checking.condition_counts import ConditionCounts

FEW, GROUP = Reason.FEW_UNITS.bit, Reason.GROUP_DISCLOSURE.bit


def counts(inside, outside, least, column, *, is_of_units=False):
    """Return what three cells are judged by; of the last one, nothing is told."""
    table = pa.table({"cell": [0, 1], "inside": inside, "outside": outside})
    return ConditionCounts.judged([table], 3, least, frozenset({column}), is_of_units=is_of_units)


def told(some):
    return [(one["inside"], one["outside"], one["columns"]) if one else None for one in some]


def seen(of_cells):
    whole = ConditionCounts.zeros(3, 1)
    whole.add(np.ix_(np.arange(3), np.array([0])), of_cells)
    return [whole.told(row, 0) for row in range(3)]


def test_reasons_are_of_the_side_that_has_too_few():
    own = counts([4, 10], [10, 9], 10, "pay")
    assert own.reasons.tolist() == [FEW, GROUP, 0]
    assert told(seen(own)) == [(4, 10, ["pay"]), (10, 9, ["pay"]), None]


def test_numbers_nearest_to_too_few_are_told_whichever_are_first():
    pay, ill = counts([4, 30], [10, 40], 10, "pay"), counts([9, 20], [9, 50], 10, "ill")
    for both in (pay.joined(ill), ill.joined(pay)):
        assert told(seen(both)) == [(4, 10, ["pay"]), (20, 50, ["ill"]), None]
        assert both.reasons.tolist() == [FEW | GROUP, 0, 0]


def test_units_are_as_near_as_their_own_least_number_says():
    rows, units = (
        counts([30, 30], [30, 30], 28, "pay"),
        counts([11, 13], [15, 15], 10, "ill", is_of_units=True),
    )
    assert [one and one["counted"] for one in seen(rows.joined(units))] == ["units", "rows", None]


def test_second_count_is_of_cells_that_passed_the_first():
    tables = [
        pa.table({"cell": [0, 1], "inside": [4, 20], "outside": [20, 20]}),
        pa.table({"cell": [0], "inside": [2], "outside": [2]}),
    ]
    own = ConditionCounts.judged(tables, 3, 10, frozenset({"pay"}), is_of_units=False)
    assert own.reasons.tolist() == [FEW, FEW | GROUP, 0]
    assert told(seen(own)) == [(4, 20, ["pay"]), (0, 0, ["pay"]), None]
