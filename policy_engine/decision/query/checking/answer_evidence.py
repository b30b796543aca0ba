"""The evidence of a checked answer, for owners and auditors: every figure, and what was decided."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from policy_engine.audits.outputs.reasons import reasons_in
from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
from policy_engine.decision.query.checking.condition_counts import ConditionCounts
from policy_engine.decision.query.rows import cell_json

if TYPE_CHECKING:
    from policy_engine.audits.outputs.model import TableVerdict
    from policy_engine.decision.model import Decision
    from policy_engine.release.output_ledger import ToldFigures

MOST_CELLS = 50
"""How many of the cells that tell something together are listed."""


def evidence_json(
    checked: CheckedAnswer, sql: str, decision: "Decision | None" = None
) -> dict[str, Any]:
    """Return all that is known of a checked answer, as JSON, which who asked may not see.

    For each cell, released or not, it has the exact figure, all reasons against it, and the
    evidence that they are from, with how many its condition tells something of; beside them the
    query, who asked, the check with its thresholds, the digest of the data, and the entry of the
    ledger, `number` 0 where nothing could leave. `ledger` of a cell is what the ledger has against
    it: what would be told of how many, and by which cells of which entries, 0 being this answer.
    `suppressions` say how the cells were found that protect others from totals.
    """
    verdict, recorded = checked.judged or checked.verdict, checked.recorded
    request = decision.request if decision else None
    return {
        "query": sql,
        "assignee": request.assignee if request else None,
        "purpose": request.purpose if request else None,
        "policyDigests": list(decision.policy_digests) if decision else [],
        "outcome": checked.outcome.value,
        "profile": checked.profile,
        "check": verdict.check.model_dump(mode="json"),
        "dataset": recorded.scope.dataset,
        "dataDigest": recorded.scope.data,
        "ledger": {
            "scopes": list(recorded.scope.scopes),
            "number": recorded.number,
            "hash": recorded.hash,
        },
        "aggregates": dict(
            zip((one.name for one in verdict.table.measures), checked.aggregates, strict=True)
        ),
        "suppressions": [one.to_json() for one in verdict.suppressions],
        "cells": [
            {
                **_cell(verdict, checked.conditions, row, number),
                "ledger": ledger_findings(checked, row, number),
            }
            for row in range(len(verdict.reasons))
            for number in range(len(verdict.table.measures))
        ],
    }


def _cell(
    verdict: "TableVerdict", conditions: ConditionCounts | None, row: int, number: int
) -> dict[str, Any]:
    measure, mask = verdict.table.measures[number], int(verdict.reasons[row, number])
    is_released = bool(verdict.released[row, number])
    figures = [one.evidence.figures(row) for one in measure.statistics]
    return {
        "row": row,
        "keys": cell_json(verdict.table.key_values(row)),
        "aggregate": measure.name,
        "value": cell_json(verdict.table.values[row, number].item()),
        "outcome": "released" if is_released else verdict.outcome_of(mask).value,
        "codes": [reason.value for reason in reasons_in(mask)],
        "statbarns": [one.statbarn.value for one in measure.statistics],
        "evidence": cell_json(figures),
        "condition": conditions.told(row, number) if conditions else None,
    }


def ledger_findings(checked: CheckedAnswer, row: int, number: int) -> list[dict[str, Any]]:
    """Return what the ledger has against a cell, with figures that who asked may not see."""
    width = len(checked.verdict.table.measures)
    reasons = checked.recorded.found.get(row * width + number, ())
    return [{"code": one.code, "told": _told(one.told) if one.told else None} for one in reasons]


def _told(figures: "ToldFigures") -> dict[str, Any]:
    """Return what would be told as JSON: of `units` of privacy, who have so many `rows`."""
    return {
        "kind": figures.kind,
        "units": figures.owners,
        "rows": figures.units,
        "low": figures.low,
        "high": figures.high,
        "with": [
            {"entry": one.entry, "measure": one.measure, "rows": one.units, **_where(one.condition)}
            for one in figures.cells[:MOST_CELLS]
        ],
        "more": max(len(figures.cells) - MOST_CELLS, 0),
        "limit": asdict(figures.limit) if figures.limit else None,
        "names": list(figures.names),
    }


def _where(condition: str) -> dict[str, Any]:
    """Return of which rows a released cell is, as far as that is known."""
    if not condition:
        return {"from": None, "where": None}
    source, parts = json.loads(condition)
    return {"from": source, "where": sorted(parts)}
