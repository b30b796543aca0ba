"""The output ledger: what was released, so that no answer undoes the protection of another."""

from policy_engine.release.output_ledger.answers import (
    COUNT,
    DISTINCT_PERSONS,
    PERSONS,
    PERSONS_AND_ROWS,
    CellOutcome,
    EmptyParts,
    FindEmptyParts,
    IsSameCondition,
    LedgerOutcome,
    Measured,
    MetLimit,
    OutputAnswer,
    OutputCell,
    Protection,
    ToldCell,
    ToldFigures,
    column_of,
    held_measure,
    pair_measure,
    product_columns,
    shape_measure,
    spread_column,
    statistics_of,
    values_measure,
)
from policy_engine.release.output_ledger.entries import OutputEntry
from policy_engine.release.output_ledger.ledger import OutputLedger
from policy_engine.release.output_ledger.populations import Populations
from policy_engine.release.output_ledger.store import OutputLedgerFile
from policy_engine.release.output_ledger.summaries import LedgerSummary, ScopeSummary
from policy_engine.release.output_ledger.unit_owners import UnitOwners

__all__ = [
    "COUNT",
    "DISTINCT_PERSONS",
    "PERSONS",
    "PERSONS_AND_ROWS",
    "CellOutcome",
    "EmptyParts",
    "FindEmptyParts",
    "IsSameCondition",
    "LedgerOutcome",
    "LedgerSummary",
    "Measured",
    "MetLimit",
    "OutputAnswer",
    "OutputCell",
    "OutputEntry",
    "OutputLedger",
    "OutputLedgerFile",
    "Populations",
    "Protection",
    "ScopeSummary",
    "ToldCell",
    "ToldFigures",
    "UnitOwners",
    "column_of",
    "held_measure",
    "pair_measure",
    "product_columns",
    "shape_measure",
    "spread_column",
    "statistics_of",
    "values_measure",
]
