"""Which figures are by the rank of a column's values, and which are counts that its values choose.

That the median of 60 persons is 1,400 tells that 30 of them have no more: beside the number of all
who have no more, of one person more, it tells what that one has. So the ledger gives one or other.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.population_conditions import population_condition
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    compared_measure,
    rank_measure,
)

_RANKED, _COUNTS = ("position", "mode"), ("count", "units", "binary")


def with_rank_marks(
    answer: OutputAnswer, gathered: GatheredAnswer, verdict: TableVerdict, rows: UnfilteredRows
) -> OutputAnswer:
    """Return an answer with marks of figures by rank, and of counts that values of columns choose:
    those of a condition, and of keys."""
    populations = {cell.figure: cell.population for cell in answer.cells}
    width, least = len(verdict.table.measures), verdict.check.profile.min_units
    measures = cache(lambda number, own: (*_measures(gathered, number, own, rows),))
    marks = []
    for number in range(width):
        for row in verdict.released[:, number].nonzero()[0].tolist():
            place = row * width + number
            for measure in measures(number, int(gathered.sets[row])):
                about = populations.get(place, 0), measure, None, least
                marks.append(OutputCell(*about, figure=place))
    return replace(answer, cells=(*answer.cells, *marks))


def _measures(
    gathered: GatheredAnswer, number: int, own: int, rows: UnfilteredRows
) -> Iterator[str]:
    """Yield the marks of an aggregate in a grouping set."""
    query = gathered.queries.query
    aggregate = query.aggregates[number]
    if aggregate.kind in _RANKED:
        yield from map(rank_measure, sorted(columns_of(rows.resolved(aggregate.arguments[0]))))
    if aggregate.kind in _COUNTS:
        parts = population_condition(gathered.queries, number, rows).parts
        keys = [rows.resolved(query.keys[key]) for key in query.sets[own]]
        columns = frozenset[str]().union(*map(columns_of, (*parts, *keys)))
        yield from map(compared_measure, sorted(columns))
