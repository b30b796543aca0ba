"""A table of results, what is known of each of its cells, and what was decided about them.

Statistics with the same risks are one class, a statbarn (B. Derrick, E. Green, F. Ritchie,
P. White: Towards a comprehensive theory and practice of output SDC, 2023), named as in the ontology
of ACRO 1.0. Evidence and verdicts are kept apart: who sees a verdict need
not see the figures that it comes from.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.reasons import (
    CheckOutcome,
    Reason,
    outcome_of,
    public_reason,
    reasons_in,
)
from policy_engine.kernels.output_checks.suppressing import SuppressionMethod
from policy_engine.methods.output_checks.parameters import OutputCheck

Counts = NDArray[np.int64]
Figures = NDArray[np.float64]
FoundBy = SuppressionMethod | Literal["no totals", "none in time"]
"""How cells were found that protect others; the last two are that totals are withheld."""
TOTAL = -1
"""The code of a key in rows that are totals over it."""


class Statbarn(StrEnum):
    """Statistics that share their risks."""

    FREQUENCIES = "frequencies"
    LINEAR_AGGREGATIONS = "linear aggregations"
    POSITION = "position"
    ENDPOINTS = "endpoints"
    MODE = "mode"
    SHAPE = "shape"
    CORRELATION_COEFFICIENTS = "correlation coefficients"
    CALCULATED_RATIOS = "calculated ratios"
    HAZARD_SURVIVAL_TABLES = "hazard and survival tables"
    NON_LINEAR_CONCENTRATION_RATIOS = "non-linear concentration ratios"
    GINI_COEFFICIENT = "Gini coefficient"
    STATISTICAL_HYPOTHESIS_TESTS = "statistical hypothesis tests"
    LINKED_MULTILEVEL_TABLES = "linked multilevel tables"
    CLUSTERS = "clusters"
    OTHER = "other"


@dataclass(frozen=True)
class CellEvidence:
    """What is known of a statistic in each row of a table: arrays with a figure for every row.

    Units are those of privacy: persons, never rows. None stands for what is not known: a rule that
    needs it then releases nothing. `units` contribute to the statistic, with anything but zero if
    it is a sum; `left_out` are units of the row that do not, or those with the rarer of two values.
    `largest`, `second` and `total` are the contributions of the two units that contribute most and
    of all, by absolute value; `negatives` are the units that contribute less than zero. `below`
    and `above` a percentile are units beyond it on either side, and `tied` those that have the
    percentile, or the mode, itself.
    `group_share` is the most of the units of a line of the table that are in the cell, and
    `rest_of_line` the fewest that are not (both NaN in a cell of no line); of a yes or no they are
    of those with a value. `mode_share` is the share of the units that have the mode. `is_constant`
    tells whether all units have one value, and `levels` how many different values the explanatory
    variable has; `coefficient` is the correlation. Where few values are told by a figure,
    `units_of_rarest_value` are those with the value that the fewest have, and as many as there are
    where it does not tell.
    """

    units: Counts
    rows: Counts | None = None
    left_out: Counts | None = None
    largest: Figures | None = None
    second: Figures | None = None
    total: Figures | None = None
    negatives: Counts | None = None
    degrees_of_freedom: Figures | None = None
    below: Counts | None = None
    above: Counts | None = None
    tied: Counts | None = None
    group_share: Figures | None = None
    rest_of_line: Figures | None = None
    mode_share: Figures | None = None
    is_constant: NDArray[np.bool_] | None = None
    levels: Counts | None = None
    coefficient: Figures | None = None
    units_of_rarest_value: Counts | None = None

    def figures(self, row: int) -> dict[str, Any]:
        """Return what is known of the statistic in a row, by name."""
        arrays = {name: values for name, values in vars(self).items() if values is not None}
        return {name: values[row].item() for name, values in arrays.items()}


@dataclass(frozen=True)
class ShownStatistic:
    """One statistic that a measure shows, of values of `columns`.

    `tail` is the share of units beyond a percentile, on its smaller side. The coefficients of a
    regression on nothing but categories are a table of means: it `is_implicit_table`.
    """

    statbarn: Statbarn
    evidence: CellEvidence
    columns: tuple[str, ...] = ()
    tail: float = 0.0
    is_implicit_table: bool = False


@dataclass(frozen=True)
class Measure:
    """A column of figures, which is safe where every statistic that it is computed from is.

    `lone_units` (rows,) are the numbers of the units that contribute alone to a row, -1 in others:
    the same number is the same unit. Without them nobody knows who they are.
    """

    name: str
    statistics: tuple[ShownStatistic, ...]
    lone_units: Counts | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ResultTable:
    """A table of results: rows by their keys, and the figures in them.

    `codes` (rows, keys) are positions in the `labels` of each key, `TOTAL` in rows that are totals
    over it. `values` (rows, measures) are the figures, NaN where there is none. `joint` are the
    combinations of codes of all keys that occur in the data, (combinations, keys), where the rows
    do not tell them.
    """

    keys: tuple[str, ...]
    labels: tuple[Sequence[Any], ...]
    codes: Counts
    measures: tuple[Measure, ...]
    values: Figures
    joint: Counts | None = field(default=None, repr=False)

    @cached_property
    def joint_codes(self) -> Counts | None:
        """The combinations of codes of all keys that occur, (combinations, keys): those that are
        given, or of the rows that somebody is in; None where no rows have all keys."""
        if self.joint is not None:
            return self.joint
        is_whole = (self.codes != TOTAL).all(axis=1)
        if not is_whole.any() or not self.measures:
            return None
        some = [one.evidence for measure in self.measures for one in measure.statistics]
        counts = [n for one in some for n in (one.units, one.rows, one.left_out) if n is not None]
        is_of_any = (np.column_stack(counts) > 0).any(axis=1)
        return np.asarray(self.codes[is_whole & is_of_any], np.int64)

    def key_values(self, row: int) -> dict[str, Any]:
        """Return the values of the keys in a row, without those that it is a total over."""
        named = zip(self.keys, self.labels, self.codes[row].tolist(), strict=True)
        return {name: labels[code] for name, labels, code in named if code != TOTAL}


@dataclass(frozen=True)
class CellVerdict:
    """What was decided about one cell that is not released, and why.

    Who asked may learn the `public_reason` and the `public_outcome`. All `reasons` and the
    `figures`, the evidence of each statistic in the cell, are for owners and auditors alone.
    """

    row: int
    measure: str
    outcome: CheckOutcome
    reasons: tuple[Reason, ...]
    public_reason: Reason
    public_outcome: CheckOutcome
    keys: dict[str, Any]
    figures: tuple[dict[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class MeasureSuppression:
    """How the cells of a measure were found that protect others: so many `cells`, by a `method`.

    The `gap` is by which share of their cost they may be dearer than the cheapest ones: 0 is the
    optimum. Where not all cells can be protected, or not in time, totals are withheld. All of it is
    for owners and auditors alone: it depends on what is withheld.
    """

    measure: str
    method: FoundBy
    cells: int
    gap: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"column": self.measure, "method": self.method, "cells": self.cells, "gap": self.gap}


@dataclass(frozen=True)
class TableVerdict:
    """What was decided about a table: for each cell, the reasons (bits) against its release.

    `reasons` is (rows, measures), zero where a cell is released. `suppressions` say how the cells
    were found that are withheld because they would reveal others.
    """

    table: ResultTable
    check: OutputCheck
    reasons: NDArray[np.uint32]
    suppressions: tuple[MeasureSuppression, ...] = field(default=(), repr=False)

    @cached_property
    def released(self) -> NDArray[np.bool_]:
        """Which cells are released, (rows, measures)."""
        is_denied = self.check.is_all_or_nothing and bool(self.reasons.any())
        passes: NDArray[np.bool_] = np.equal(self.reasons, 0)
        return np.zeros_like(passes) if is_denied else passes

    @property
    def outcome(self) -> CheckOutcome:
        """What was decided about the table: released if any cell is, else the worst outcome."""
        if self.released.any():
            return CheckOutcome.RELEASED
        masks = np.unique(self.reasons).tolist()
        outcomes = {self.outcome_of(mask) for mask in masks} or {CheckOutcome.REFUSED}
        return min(outcomes, key=list(CheckOutcome).index)

    def cells(self) -> Iterator[CellVerdict]:
        """Yield a verdict for each cell that is not released, row by row."""
        for row, number in np.argwhere(~self.released).tolist():
            measure, mask = self.table.measures[number], int(self.reasons[row, number])
            yield CellVerdict(
                row=row,
                measure=measure.name,
                outcome=self.outcome_of(mask),
                reasons=reasons_in(mask) or (Reason.DENIED_WITH_OTHERS,),
                public_reason=public_reason(mask),
                public_outcome=self.public_outcome_of(mask),
                keys=self.table.key_values(row),
                figures=tuple(one.evidence.figures(row) for one in measure.statistics),
            )

    def public_outcome_of(self, mask: int) -> CheckOutcome:
        """Return what who asked may learn of it: what follows from the `public_reason`."""
        return self.outcome_of(public_reason(mask).bit)

    def outcome_of(self, mask: int) -> CheckOutcome:
        """Return what follows from the reasons against a cell that is not released."""
        if self.check.mitigation == "deny":
            return CheckOutcome.REFUSED
        outcome = outcome_of(mask)
        if self.check.mitigation == "review" and outcome is not CheckOutcome.REFUSED:
            return CheckOutcome.REVIEW
        return outcome
