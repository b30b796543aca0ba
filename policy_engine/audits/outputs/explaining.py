"""Why a cell is not released, at two levels: for who asked, and for owners and auditors.

How far a cell misses a threshold tells of the values in it, and the thresholds of dominance rules
are confidential themselves: who asked learns the rule's code and one sentence.
"""

from typing import Any

from policy_engine.audits.outputs.model import CellVerdict, TableVerdict
from policy_engine.audits.outputs.reasons import SENTENCES, Reason


def explain_cell(verdict: CellVerdict) -> str:
    """Return why a cell is not released, without any figure."""
    return f"{verdict.public_reason} {SENTENCES[verdict.public_reason]}"


CONDITIONAL = (
    "Of those whom a condition decides about, enough persons must satisfy it, and enough must not. "
    "Leave out what nearly everybody or nearly nobody satisfies, or ask for more values of it; "
    "else coarser groups help."
)
"""What passes of cells under a condition: it follows from the query, whatever withholds a cell."""
SHORTENED = "rows of which nothing is released are not listed, if there are any"
"""What is said of an answer whose keys could tell of somebody, whatever is in it."""


def sentence_of(code: str) -> str:
    """Return what a reason says to those who may not see the figures, by its code."""
    return SENTENCES[Reason(code)]


def public_cell(verdict: CellVerdict) -> dict[str, Any]:
    """Return what the assignee may learn of a cell that is not released, as JSON."""
    return {
        "row": verdict.row,
        "column": verdict.measure,
        "keys": verdict.keys,
        "outcome": verdict.public_outcome.value,
        "codes": [verdict.public_reason.value],
    }


def confidential_cell(verdict: CellVerdict) -> dict[str, Any]:
    """Return what owner and auditor may learn of it: all its reasons, with the evidence."""
    codes = [reason.value for reason in verdict.reasons]
    evidence = {"outcome": verdict.outcome.value, "codes": codes, "evidence": list(verdict.figures)}
    return {**public_cell(verdict), **evidence}


def public_verdict(verdict: TableVerdict) -> dict[str, Any]:
    """Return what the assignee may learn of a table: what was decided, and by which rules."""
    return {
        "outcome": verdict.outcome.value,
        "profile": verdict.check.profile.title,
        "suppressed": [public_cell(one) for one in verdict.cells()],
        "reasons": {reason.value: SENTENCES[reason] for reason in reasons_of(verdict)},
    }


def confidential_verdict(verdict: TableVerdict) -> dict[str, Any]:
    """Return what owner and auditor may learn of a table: with thresholds and evidence, and how the
    cells were found that protect others."""
    public = public_verdict(verdict)
    cells = [confidential_cell(one) for one in verdict.cells()]
    reasons_met = {reason for one in verdict.cells() for reason in one.reasons}
    reasons = {reason.value: SENTENCES[reason] for reason in Reason if reason in reasons_met}
    more = {"check": verdict.check.model_dump(mode="json"), "suppressed": cells}
    ways = [one.to_json() for one in verdict.suppressions]
    return {**public, **more, "suppressions": ways, "reasons": reasons}


def reasons_of(verdict: TableVerdict) -> tuple[Reason, ...]:
    """Return the reasons that are told of a table's cells, in the order of their codes."""
    reasons = {one.public_reason for one in verdict.cells()}
    return tuple(reason for reason in Reason if reason in reasons)
