"""The form of what a folder of outputs says of them."""

import pytest

from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.release.output_folder.model import (
    FolderEvidence,
    OutputEvidence,
    Submission,
    SubmittedOutput,
)
from policy_engine.release.output_folder.said import is_well_said

CHECK = OutputCheck(profile=PROFILES["sacro"]).model_dump(mode="json")
CELL = {"column": "n", "keys": {"region": "north"}, "codes": ["K002"], "evidence": [{"units": 2}]}


def said(*, check=CHECK, verdict=None, facts=None, known=None):
    public = {"reasons": {"K002": "Too few."}, "suppressed": [CELL]} if verdict is None else verdict
    output = SubmittedOutput(
        name="a", kind="table", request="r", status="review", verdict=public, files=()
    )
    figures = {"suppressed": [CELL]} if facts is None else facts
    evidence = OutputEvidence(name="a", verdict=figures, known=known or {})
    return is_well_said(
        Submission(check="sacro", outputs=(output,)),
        FolderEvidence(check=check, outputs=(evidence,)),
    )


def test_what_is_written_has_the_form():
    assert said()
    assert said(facts={}, known={"coefficient": 1.5})


@pytest.mark.parametrize("check", [{}, {"profile": []}, {"profile": {"min_units": 3}}])
def test_a_check_is_one(check):
    assert not said(check=check)


@pytest.mark.parametrize(
    "verdict", [{}, {"reasons": [1]}, {"reasons": "x"}, {"reasons": {}, "suppressed": 5}]
)
def test_a_verdict_has_reasons_and_cells(verdict):
    assert not said(verdict=verdict)


@pytest.mark.parametrize(
    "cells", [5, [5], [{"evidence": [3]}], [{**CELL, "evidence": 3}], [{**CELL, "condition": {}}]]
)
def test_evidence_is_of_cells(cells):
    assert not said(facts={"suppressed": cells})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_figures_can_be_told(value):
    assert not said(known={"a": value})
