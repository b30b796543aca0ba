"""How many units of a cell have each of few values, where its figure could tell that.

A total, a mean or a measure of spread of few different values tells, with a number of rows, how
many have which: then each value must be that of enough units, as in counts of them. A total of a
column of many values does not, where enough units might have each just as well.
"""

from dataclasses import replace

import numpy as np

from policy_engine.audits.outputs.model import (
    Counts,
    Measure,
    ResultTable,
    Statbarn,
)
from policy_engine.audits.outputs.tabulating import CellMembers, Tabulation
from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.kernels.output_checks.value_histograms import tell_counts

LEAST_RANKED = 10
"""A column of fewer different values has neither percentiles nor modes."""
_VALUED = (Statbarn.LINEAR_AGGREGATIONS, Statbarn.SHAPE)


def with_few_values(made: Tabulation, least: int) -> Tabulation:
    """Return a table with the units of the value that the fewest have in its evidence, in cells of
    fewer values than are enough (`least`) for units; figures of two values are counts already."""
    if not len(made.aggregates) == len(made.members) == len(made.table.measures):
        return made  # A model, or a table made elsewhere, of which no rows are known.
    spread = {
        one.column
        for one, measure in zip(made.aggregates, made.table.measures, strict=True)
        if measure.statistics[0].statbarn is Statbarn.SHAPE
    }
    measures = tuple(
        _with_fewest(measure, members, made.table, least, is_total=one.column not in spread)
        for one, measure, members in zip(
            made.aggregates, made.table.measures, made.members, strict=True
        )
    )
    return replace(made, table=replace(made.table, measures=measures))


def _with_fewest(
    measure: Measure, members: CellMembers, table: ResultTable, least: int, *, is_total: bool
) -> Measure:
    first, *others = measure.statistics
    if first.statbarn not in _VALUED or members.values is None:
        return measure
    fewest = fewest_units(members, len(table.codes), least, is_total=is_total)
    evidence = replace(first.evidence, units_of_rarest_value=fewest)
    return replace(measure, statistics=(replace(first, evidence=evidence), *others))


def fewest_units(members: CellMembers, count: int, least: int, *, is_total: bool) -> Counts:
    """Return how many units of each of so many cells have the value that the fewest have, (cells,):
    in cells of fewer values than `least`; of others, and of totals that do not tell it, all units.
    """
    assert members.values is not None  # noqa: S101 (of values)
    values, codes = np.unique(members.values, return_inverse=True)
    width = max(len(values), 1)
    pairs, places = np.unique(members.rows * width + codes.reshape(-1), return_inverse=True)
    rows = np.bincount(places.reshape(-1), minlength=len(pairs))
    owners = int(members.units.max(initial=0)) + 1
    once = distinct_numbers(places.reshape(-1) * owners + members.units)
    units = np.bincount(once // owners, minlength=len(pairs))
    cells, kinds = np.divmod(pairs, width)
    every = distinct_numbers(members.rows * owners + members.units) // owners
    fewest = np.bincount(every, minlength=count)
    starts = np.searchsorted(cells, np.arange(count + 1))
    can_hide = is_total and len(values) >= LEAST_RANKED
    numbers = np.diff(starts)
    for cell in np.flatnonzero((numbers > 0) & (numbers < least)).tolist():
        own = slice(starts[cell], starts[cell + 1])
        counts = values[kinds[own]].tolist(), rows[own].tolist(), (units[own] < least).tolist()
        if not can_hide or tell_counts(*counts, least):
            fewest[cell] = units[own].min()
    return fewest.astype(np.int64)
