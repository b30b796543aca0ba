"""The form of what a folder of outputs says of them, where others may have written it."""

import json
from collections.abc import Mapping

from pydantic import BaseModel, JsonValue

from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.release.output_folder.model import FolderEvidence, Submission

Figures = Mapping[str, JsonValue]


class _Cell(BaseModel):
    """A cell that is not released, as everybody may see it."""

    column: str
    keys: Figures = {}
    codes: tuple[str, ...]


class _Condition(BaseModel):
    """By which figures the condition of a cell was judged."""

    columns: tuple[str, ...]
    inside: int
    outside: int
    least: int
    counted: str


class _KnownCell(_Cell):
    """A cell that is not released, with figures."""

    keys: Figures
    evidence: tuple[Figures, ...]
    condition: _Condition | None = None


class _Verdict(BaseModel):
    """What everybody may see of a verdict."""

    reasons: dict[str, str]
    suppressed: tuple[_Cell, ...] = ()


class _KnownVerdict(BaseModel):
    """What owners and checkers may see of it."""

    reasons: dict[str, str] = {}
    suppressed: tuple[_KnownCell, ...] = ()


def is_well_said(submission: Submission, evidence: FolderEvidence) -> bool:
    """Return whether verdicts, evidence and check have the form in which folders are written.

    Then pages can be made of them, and answers in JSON.
    """
    try:
        OutputCheck.model_validate(evidence.check)
        for one in submission.outputs:
            _Verdict.model_validate(one.verdict)
        for facts in evidence.outputs:
            _KnownVerdict.model_validate(facts.verdict)
        parts = [submission.model_dump(), evidence.model_dump()]
        json.dumps(parts, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True
