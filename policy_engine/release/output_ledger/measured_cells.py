"""Cells of columns that follow from others: measured as those, or left to a person.

Totals of a column in other units are totals of it, once it is known how many rows they are of; and
who knows the totals of all but one of several columns that are linearly related knows those of
the last one. So what a measure is called depends on the columns that the ledger knows.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from policy_engine.release.column_relations import MeasuredColumn
from policy_engine.release.output_ledger.answers import (
    Measured,
    OutputCell,
    column_of,
    pair_measure,
    pair_of,
    shape_measure,
    spread_column,
    statistic_columns,
    systems_of,
    valued_column,
    values_measure,
)
from policy_engine.release.output_ledger.contents import AnswerContent
from policy_engine.release.output_ledger.knowledge import Knowledge


def in_known_columns(
    content: AnswerContent, measured: Measured | None, before: Knowledge
) -> AnswerContent:
    """Return an answer whose cells are measured as columns that are known before it, or as those of
    cells before them, where they follow from these; and which ones follow from several."""
    if measured is None:
        return content
    columns: dict[str, MeasuredColumn] = {}
    names = [*dict.fromkeys(_earlier_columns(before))]
    own = [cell.measure for cell in content.cells]
    paired = [*dict.fromkeys(name for one in before.released for name in _paired(one))]
    for name in dict.fromkeys(
        (*map(_column, own), *(name for one in own for name in _paired(one)))
    ):
        if name:
            columns[name] = _of_units(measured, name, names, paired)
            names += [columns[name].name] * (columns[name].name not in names)
    return replace(
        content,
        cells=tuple(_measured_as(cell, columns, content) for cell in content.cells),
        bounds=dict(_bounds(content, columns)),
        related=dict(_related(content, columns)),
    )


def _of_units(
    measured: Measured, name: str, names: Sequence[str], paired: Sequence[str]
) -> MeasuredColumn:
    """Return what a column is measured as after those of some `names`: in other units, as one of
    those that statistics of two columns are of, too, which are no parts of others."""
    column = measured(name, names)
    if column.name != name or not paired:
        return column
    other = measured(name, [*names, *paired])
    if other.name == name:
        return column
    return replace(other, parts=column.parts, tell_counts=column.tell_counts or bool(other.shift))


def _paired(measure: str) -> list[str]:
    """Return the columns of a statistic of two; none for other measures."""
    return sorted(statistic_columns(measure)) if pair_of(measure) else []


def withheld_parts(
    content: AnswerContent, before: Knowledge, codes: Container[int]
) -> Iterator[int]:
    """Yield the places of cells to be released that follow from several columns of which something
    is withheld: before the answer, or in it, where its cells with `codes` are as well."""
    if not content.related:
        return
    own = (
        cell.measure
        for place, cell in enumerate(content.cells)
        if place in codes or not cell.is_released
    )
    measures = {*own, *(measure for measure, _ in before.suppressed)}
    withheld = {_column(one) for one in measures if _is_linear(one)}
    for place, columns in content.related.items():
        is_shown = content.cells[place].is_released and place not in codes
        if is_shown and not withheld.isdisjoint(columns):
            yield place


def _earlier_columns(before: Knowledge) -> Iterator[str]:
    measures = [*before.released, *(measure for measure, _ in before.suppressed)]
    return (name for measure in measures if (name := _column(measure)))


def _column(measure: str) -> str:
    """Return the only column that a measure is of; empty for one of none, or of several."""
    columns = {valued_column(measure), spread_column(measure), *map(column_of, systems_of(measure))}
    columns |= frozenset() if pair_of(measure) else statistic_columns(measure)
    columns -= {""}
    return columns.pop() if len(columns) == 1 else ""


def _is_linear(measure: str) -> bool:
    return any(map(column_of, systems_of(measure)))


def _pair_measured_as(cell: OutputCell, columns: Mapping[str, MeasuredColumn]) -> OutputCell:
    """Return a statistic of two columns as another one of those that they are measured as, since it
    may tell more than the same one."""
    pair = _paired(cell.measure)
    bases = [columns[name].name for name in pair]
    if bases == pair:
        return cell
    statistic = f"{cell.measure.rpartition(']:')[2]} of {' and '.join(pair)}".replace("]", " ")
    return replace(cell, measure=pair_measure(sorted({*bases}), statistic))


def _measured_as(
    cell: OutputCell, columns: Mapping[str, MeasuredColumn], content: AnswerContent
) -> OutputCell:
    """Return a cell as one of the column that its own is measured as."""
    if pair_of(cell.measure):
        return _pair_measured_as(cell, columns)
    column = columns.get(_column(cell.measure))
    if column is None:
        return cell
    if valued_column(cell.measure):
        return replace(cell, measure=values_measure(column.name))
    if spread := spread_column(cell.measure):
        return replace(cell, measure=cell.measure.replace(f":{spread}:", f":{column.name}:", 1))
    if not _is_linear(cell.measure):
        statistic = cell.measure.rpartition("]:")[2]
        return replace(cell, measure=shape_measure([column.name], statistic))
    function, rows = cell.measure.partition(":")[0], int(content.fingerprints[cell.population][0])
    value = None if cell.value is None else column.of_base(cell.value, function, rows)
    if function == "sum" and column.tell_counts:
        # Who knows the other columns, too, knows of how many rows it is, as of a mean.
        function, value = "mean", None if value is None or not rows else value / rows
    return replace(cell, measure=f"{function}:{column.name}", value=value)


def _bounds(
    content: AnswerContent, columns: Mapping[str, MeasuredColumn]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the bounds of columns as those of the ones that they are measured as."""
    for name, (least, most) in content.bounds.items():
        column = columns.get(name, MeasuredColumn(name))
        if column.shift == 0 and column.factor > 0:
            yield column.name, (least / column.factor, most / column.factor)


def _related(
    content: AnswerContent, columns: Mapping[str, MeasuredColumn]
) -> Iterator[tuple[int, frozenset[str]]]:
    for place, cell in enumerate(content.cells):
        column = columns.get(_column(cell.measure)) if _is_linear(cell.measure) else None
        if column is not None and column.parts:
            yield place, frozenset((column.name, *column.parts))
