"""Rows that say by their presence that somebody has their keys."""

import numpy as np
import pytest

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.listing import listed_rows
from policy_engine.audits.outputs.model import (
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES


def listed(codes, units):
    """Return which rows of a table of counts by keys may be listed."""
    codes = np.array(codes)
    statistic = ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(np.array(units)))
    labels = tuple(range(int(codes[:, key].max()) + 1) for key in range(codes.shape[1]))
    names = tuple("ab"[: codes.shape[1]])
    values = np.array(units, float)[:, None]
    table = ResultTable(names, labels, codes, (Measure("n", (statistic,)),), values)
    verdict = judge(table, OutputCheck(profile=PROFILES["sacro"]))
    return listed_rows(verdict, np.zeros(len(codes), np.int64), np.array(units)).tolist()


CASES = {
    "half of the values are of few": ([[0], [1]], [50, 3], [True, True]),
    "most values are of few": ([[0], [1], [2]], [50, 3, 4], [True, False, False]),
    "all combinations": ([[0, 0], [0, 1], [1, 0], [1, 1]], [50, 3, 0, 50], [True] * 4),
    "not all combinations": ([[0, 0], [0, 1], [1, 1]], [50, 3, 50], [True, False, True]),
}


@pytest.mark.parametrize(("codes", "units", "expected"), CASES.values(), ids=CASES)
def test_row_is_listed_only_if_its_presence_tells_nothing(codes, units, expected):
    assert listed(codes, units) == expected
