"""Which counts are of the values of a column, for the ledger: a total would tell the others.

A table of counts by the values of a column, of which a few are withheld, tells all of its total but
the counts of those few, times their values. A total, a mean or another statistic of the column is
then one equation in few whole numbers, so the ledger gives either that table or those. Values that
the table lacks, since its condition leaves them out, are such as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.answer_populations import DatasetRows, PopulationRows
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.plain_arguments import measured_column
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    Populations,
    values_measure,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_COUNTS = ("count", "units", "binary")
MOST_WITHHELD = 10
"""How many whole counts, each below a threshold, may be solved for by a total of their values."""


def with_value_marks(
    answer: OutputAnswer,
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
    members: Sequence[PopulationRows],
) -> OutputAnswer:
    """Return an answer of which the counts by the values of a column are marked.

    `members` are the rows in its cells, in the order of its populations. Marked are the cells of
    lines of which at most `MOST_WITHHELD` are withheld: more unknown counts are not told by one
    equation. Where a line lacks a few values, there is one more that is withheld, of nobody.
    """
    marks, first, nobody = list[OutputCell](), 0, len(answer.populations)
    for part in members:
        sets = gathered.sets[part.rows[:1]].tolist()
        for key in (one for own in sets for one in gathered.queries.query.sets[own]):
            column = _valued(gathered, dataset_rows, key, part)
            if column:
                marks += _marks(gathered, verdict, part, key, column, first)
                if _lacks_few(gathered, verdict, dataset_rows, part, key, column):
                    marks.append(_withheld(nobody, column, verdict))
        first += len(part.rows)
    if not marks:
        return answer
    marked = replace(answer, cells=(*answer.cells, *marks))
    if all(one.population < nobody for one in marks):
        return marked
    none = Populations.of_masks(np.zeros((1, answer.populations.units), np.bool_))
    return replace(marked, populations=answer.populations.joined(none))


def _withheld(number: int, column: str, verdict: TableVerdict) -> OutputCell:
    """Return the mark of values that are not shown."""
    least = verdict.check.profile.min_units
    return OutputCell(number, values_measure(column), None, least, is_released=False)


def _lacks_few(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
    part: PopulationRows,
    key: int,
    column: str,
) -> bool:
    """Return whether a line of counts along a key lacks values of its column, and these and those
    that are withheld in it are few enough to be told by a total."""
    assert dataset_rows.values is not None  # noqa: S101 (`_valued` looks at it)
    values = dataset_rows.values(column)
    assert values is not None  # noqa: S101 (as above)
    labels = gathered.table.labels[key]
    is_value = np.array([one is not None and one == one for one in labels])  # noqa: PLR0124 (NaN)
    lines = _line_numbers(np.delete(gathered.table.codes[part.rows], key, axis=1))
    listed = np.bincount(lines, is_value[gathered.table.codes[part.rows, key]])
    lacking = pc.count_distinct(pa.array(values[:-1], from_pandas=True)).as_py() - listed
    withheld = [
        np.bincount(lines, ~verdict.released[part.rows, number])
        for number in _counts_of(gathered, part)
    ]
    return any(((lacking > 0) & (one + lacking <= MOST_WITHHELD)).any() for one in withheld)


def _counts_of(gathered: GatheredAnswer, part: PopulationRows) -> list[int]:
    """Return the aggregates that count the rows of a part."""
    aggregates = gathered.queries.query.aggregates
    return [
        number
        for number in part.aggregates
        if aggregates[number].kind in _COUNTS and part.name == gathered.populations[number][0]
    ]


def _valued(
    gathered: GatheredAnswer, dataset_rows: DatasetRows, key: int, part: PopulationRows
) -> str:
    """Return the column of numbers of which each value of a key is one value; empty if none."""
    if dataset_rows.unfiltered is None or dataset_rows.values is None or not len(part.numbers):
        return ""
    node = dataset_rows.unfiltered.resolved(gathered.queries.query.keys[key])
    if len(columns_of(node)) != 1:
        return ""
    column = measured_column(node)
    values = dataset_rows.values(column)
    return column if values is not None and _is_one_each(values[part.numbers], part.places) else ""


def _is_one_each(values: "NDArray[np.float64]", places: "NDArray[np.int64]") -> bool:
    """Return whether the values at each place are the same; missing ones are of no place."""
    is_there = ~np.isnan(values)
    own, at = values[is_there], places[is_there]
    some = np.zeros(places.max() + 1)
    some[at] = own
    return bool(len(own)) and bool((some[at] == own).all())


def _marks(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    part: PopulationRows,
    key: int,
    column: str,
    first: int,
) -> Iterator[OutputCell]:
    """Yield a cell for each count of some rows in the lines along a key."""
    query, least = gathered.queries.query, verdict.check.profile.min_units
    lines = _line_numbers(np.delete(gathered.table.codes[part.rows], key, axis=1))
    for number in _counts_of(gathered, part):
        released = verdict.released[part.rows, number]
        withheld = np.bincount(lines, ~released)
        for place in np.flatnonzero(withheld[lines] <= MOST_WITHHELD).tolist():
            figure = int(part.rows[place]) * len(query.aggregates) + number
            yield OutputCell(
                first + place,
                values_measure(column),
                None,
                least,
                is_released=bool(released[place]),
                figure=figure,
            )


def _line_numbers(others: "NDArray[np.int64]") -> "NDArray[np.int64]":
    if not others.shape[1]:
        return np.zeros(len(others), np.int64)
    numbers: NDArray[np.int64] = np.unique(others, axis=0, return_inverse=True)[1].reshape(-1)
    return numbers
