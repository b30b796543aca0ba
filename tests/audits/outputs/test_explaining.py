"""What is told of cells that are not released, and to whom."""

import json
from dataclasses import replace

import numpy as np

from policy_engine.audits.outputs.explaining import (
    confidential_verdict,
    explain_cell,
    public_verdict,
)
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import (
    CellEvidence,
    Measure,
    MeasureSuppression,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES


def verdict():
    """Return the verdict on totals of two regions, in one of which a unit has 987 of 1,000."""
    known = CellEvidence(
        units=np.array([40, 41]),
        largest=np.array([10.0, 987.0]),
        second=np.array([9.0, 5.0]),
        total=np.array([500.0, 1000.0]),
        negatives=np.array([0, 0]),
    )
    measure = Measure("total", (ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, known, ("pay",)),))
    codes, values = np.array([[0], [1]]), np.array([[500.0], [1000.0]])
    table = ResultTable(("region",), (("north", "south"),), codes, (measure,), values)
    return judge(table, OutputCheck(profile=PROFILES["sacro"]))


def test_assignee_learns_codes_and_no_figure():
    told = public_verdict(verdict())
    assert told["suppressed"] == [
        {
            "row": 1,
            "column": "total",
            "keys": {"region": "south"},
            "outcome": "suppressed",
            "codes": ["K049"],
        }
    ]
    assert (told["outcome"], told["profile"]) == ("released", "sacro 1.0")
    text = json.dumps(told)
    assert "987" not in text
    assert "0.9" not in text


def test_owner_learns_the_evidence_and_the_thresholds():
    told = confidential_verdict(verdict())
    [cell] = told["suppressed"]
    assert cell["codes"] == ["K005", "K006"]
    [evidence] = cell["evidence"]
    assert evidence == {
        "units": 41,
        "largest": 987.0,
        "second": 5.0,
        "total": 1000.0,
        "negatives": 0,
    }
    assert told["check"]["profile"]["max_two_largest_share"] == 0.9


def test_owner_learns_how_cells_that_protect_others_were_found_and_assignee_does_not():
    way = MeasureSuppression("total", "sub-tables", 3, 0.125)
    told = confidential_verdict(replace(verdict(), suppressions=(way,)))
    expected = {"column": "total", "method": "sub-tables", "cells": 3, "gap": 0.125}
    assert told["suppressions"] == [expected]
    text = json.dumps(public_verdict(replace(verdict(), suppressions=(way,))))
    assert "sub-tables" not in text
    assert "suppressions" not in text


def test_reason_is_one_sentence():
    [cell] = verdict().cells()
    sentence = "The cell is withheld, for itself or for what it would tell of others."
    assert explain_cell(cell) == f"K049 {sentence}"
