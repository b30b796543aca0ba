"""A prepared table to classes, and classes to cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.engines.arrays import from_numpy, from_texts
from policy_engine.engines.cares import Care, cares
from policy_engine.engines.engine import Progress, Stage
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.preparation import Prepared
from policy_engine.engines.reading_back import end_of
from policy_engine.errors import DataError
from policy_engine.kernels import full_domain, grid, mondrian, polish
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.diversity import histogram
from policy_engine.kernels.grouping import classes_of, distinct, first_rows
from policy_engine.kernels.layout import People
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.plan.steps import Anonymize, CellStyle

_MOST_NODES = 20_000_000


@dataclass(frozen=True)
class Grouped:
    """The classes that were formed, and the cells of each quasi-identifier.

    `cells` holds by column the number of every class's cell, (classes,), and the distinct
    cells; `suppressed` counts the rows that are in no class. If the time limit was reached, `open`
    is what was not yet examined in the `stage`.
    """

    classes: Partition
    cells: Mapping[str, tuple[NDArray[np.int64], list[str | None]]]
    suppressed: int = 0
    stage: Stage = "partitioning"
    open: int = 0


IsOver = Callable[[], bool]


def form_classes(
    prepared: Prepared,
    step: Anonymize,
    progress: Progress,
    style: CellStyle = "text",
    is_over: IsOver = never,
) -> Grouped:
    """Form the classes of the plan, with more care where that is not enough (`cares`).

    Once it `is_over`, the best classes so far are returned: they satisfy every bound. Raises
    DataError where no node of the lattice does.
    """
    for care in cares(step):
        grouped = _form_with_care(prepared, step, progress, care, is_over)
        if step.is_kept_by_union or not _breaks_merged(prepared, step, grouped, style):
            break
    return grouped


def _form_with_care(
    prepared: Prepared, step: Anonymize, progress: Progress, care: Care, is_over: IsOver
) -> Grouped:
    if step.recoding.algorithm == "full-domain":
        return _full_domain(prepared, step, progress, care, is_over)
    axes = prepared.axes(step)
    is_grid = step.recoding.dimensionality == "single"
    if is_grid:
        classes = grid.grid(
            axes,
            care.least(step.k, prepared.rows),
            _bounds_check(prepared, step),
            lambda cuts: progress("cutting", cuts, 0),
            keeps_apart=care is not Care.AS_ASKED,
            is_over=is_over,
        )
        stage: Stage = "partitioning"
    else:
        classes, stage = _mondrian(prepared, step, axes, progress, care, is_over)
    progress("generalising", 0, prepared.rows)
    column_cells = {
        name: _grid_cells(one, classes) if is_grid else one.cells(classes)
        for name, one in prepared.quasi.items()
    }
    return Grouped(classes, column_cells, stage=stage, open=classes.open)


def _breaks_merged(prepared: Prepared, step: Anonymize, grouped: Grouped, style: CellStyle) -> bool:
    """Return whether classes with equal cells, which are one on the output, violate a bound."""
    columns = [number[cell] for cell, number in _published_cells(grouped, style)]
    merged, count = classes_of(columns)
    if count == len(merged):
        return False
    order, sizes = grouped.classes.order, np.diff(grouped.classes.starts)
    class_of = np.repeat(merged, sizes)
    return bool(_violating(prepared, step, class_of, count, order).any())


def _published_cells(
    grouped: Grouped, style: CellStyle
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Yield each column's cell numbers, and for every cell a number of what is published of it."""
    for cell, texts in grouped.cells.values():
        written: Sequence[object] = texts
        parsed = [cells.read_cell(text) for text in texts] if style == "bounds" else []
        if any(one.is_range for one in parsed):
            written = [(end_of(one, 0), end_of(one, -1)) for one in parsed]
        numbers: dict[object, int] = {}
        yield cell, np.array([numbers.setdefault(one, len(numbers)) for one in written], np.int32)


def _grid_cells(one: Generalizer, classes: Partition) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return the cells of the classes of a grid, in which a value has one cell in every row."""
    # All values between the least and the greatest of a class are in one interval of the grid.
    codes, starts = one.column.codes[classes.order], classes.starts[:-1]
    covers = np.zeros(len(one.column.labels), dtype=np.int64)
    np.add.at(covers, np.minimum.reduceat(codes, starts), 1)
    np.add.at(covers, np.maximum.reduceat(codes, starts), -1)
    interval = np.concatenate([[0], np.cumsum(np.cumsum(covers)[:-1] == 0)])
    row_interval = interval[one.column.codes]
    edges = np.concatenate([[0], np.cumsum(np.bincount(row_interval))])
    cell, texts = one.cells(Partition(np.argsort(row_interval, kind="stable"), edges))
    return cell[interval[codes[starts]]], texts


def _mondrian(
    prepared: Prepared,
    step: Anonymize,
    axes: list[Axis],
    progress: Progress,
    care: Care,
    is_over: IsOver,
) -> tuple[Partition, Stage]:
    """Return the classes, and the stage in which the time limit was reached, if it was."""
    people, rows = prepared.people(), prepared.rows
    cutting, constraint = care.cutting(step), step.constraint(prepared.ancestries)
    constraint = replace(constraint, size=care.least(step.k, rows))
    is_polished = step.recoding.polish and care is Care.AS_ASKED
    order = prepared.content_order() if cutting.is_relaxed or is_polished else None
    axes = axes if order is None else [_reorder_axis(axis, order) for axis in axes]
    people = people if order is None else _reorder_people(people, order)
    if mondrian.needs_compiling():
        progress("compiling the partitioner (once per installation)", 0, 0)
    progress("partitioning", 0, rows)
    classes = mondrian.partition(
        axes,
        people,
        constraint,
        cutting,
        lambda done: progress("partitioning", done, rows),
        is_over=is_over,
    )
    stage: Stage = "partitioning"
    if is_polished and not classes.open:
        progress("polishing", 0, rows)
        stage = "polishing"
        classes = polish.polish(
            axes, people, constraint, cutting, _sort_by_number(classes), is_over
        )
    if order is not None:
        classes = replace(classes, order=order[classes.order])
    return classes, stage


def _sort_by_number(classes: Partition) -> Partition:
    """Order the rows of each class by their numbers."""
    leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return replace(classes, order=classes.order[np.lexsort((classes.order, leaf))])


def _reorder_axis(axis: Axis, rows: NDArray[np.int64]) -> Axis:
    return Axis(axis.codes[rows], axis.shape, axis.has_missing, axis.is_wildcard, axis.weight)


def _reorder_people(people: People, rows: NDArray[np.int64]) -> People:
    persons = None if people.persons is None else people.persons[rows]
    return People(tuple(codes[rows] for codes in people.sensitive), persons)


def _bounds_check(prepared: Prepared, step: Anonymize) -> grid.Holds | None:
    """Return a check of all bounds but that on the number of rows; None where there are none."""
    if prepared.persons is None and not any(map(step.about, prepared.sensitive)):
        return None

    def holds(class_of: NDArray[np.int64], count: int) -> bool:
        return not _violating(prepared, step, class_of, count).any()

    return holds


def _violating(
    prepared: Prepared,
    step: Anonymize,
    class_of: NDArray[np.int64],
    count: int,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes violate a bound on persons or sensitive values, (count,)."""
    taken = slice(None) if rows is None else rows
    persons = None if prepared.persons is None else prepared.persons[taken].astype(np.int64)
    broken = np.zeros(count, dtype=np.bool_)
    if persons is not None:
        width = int(persons.max(initial=0)) + 1
        broken |= np.bincount(distinct(class_of * width + persons) // width) < step.k
    for name, column in prepared.sensitive.items():
        if step.about(name):
            counts = histogram(class_of, count, column.values()[taken], persons)
            broken |= ~step.holding(counts, name, prepared.ancestries)
    return broken


def _full_domain(
    prepared: Prepared, step: Anonymize, progress: Progress, care: Care, is_over: IsOver
) -> Grouped:
    ladders = [one.ladder() for one in prepared.quasi.values()]
    nodes = full_domain.lattice_size(ladders)
    if nodes > _MOST_NODES:
        number = f"{nodes:,}" if nodes < 10**15 else "more than 10^15"
        message = f"The lattice has {number} nodes. Allowed are {_MOST_NODES:,}."
        hint = "Give fewer quasi-identifiers, or taxonomies with fewer levels."
        raise DataError.of("R010", message, hint)
    limit = int(step.recoding.max_suppression * prepared.rows)
    recoding = full_domain.search(
        [
            full_domain.Ladder(one.codes, one.levels, one.loss, asked.weight)
            for one, asked in zip(ladders, step.columns.quasi_identifier, strict=True)
        ],
        size=care.least(step.k, prepared.rows),
        violating=lambda kept: _violating(prepared, step, kept.class_of, kept.count, kept.rows),
        monotonic=step.is_monotonic,
        max_suppressed=limit,
        measure=step.recoding.loss,
        on_checked=lambda done, left: progress("searching the lattice", done, done + left),
        is_over=is_over,
    )
    if recoding is None:
        message = f"No generalisation holds every bound with at most {limit} rows suppressed."
        raise DataError.of("R009", message, "Allow more suppression, or ask for less.")
    grouped = _recoded(prepared, ladders, recoding)
    return replace(grouped, stage="searching the lattice", open=recoding.unchecked)


def _recoded(
    prepared: Prepared, ladders: list[full_domain.Ladder], recoding: full_domain.LatticeRecoding
) -> Grouped:
    """Return the classes of a node of the lattice, in the order of their generalised values."""
    count = int(recoding.class_of.max(initial=-1)) + 1
    released = np.flatnonzero(recoding.class_of >= 0)
    first = released[first_rows(recoding.class_of[released], count)]
    heights = zip(ladders, recoding.heights, strict=True)
    groups = [ladder.levels[height][ladder.codes[first]] for ladder, height in heights]
    turn = np.lexsort(groups[::-1])
    rank = np.empty(count, dtype=np.int64)
    rank[turn] = np.arange(count)
    class_of = rank[recoding.class_of[released]]
    order = released[np.argsort(class_of, kind="stable")]
    sizes = np.bincount(class_of, minlength=count)
    column_cells = {
        name: (column[turn].astype(np.int64), one.labels_at(height))
        for (name, one), column, height in zip(
            prepared.quasi.items(), groups, recoding.heights, strict=True
        )
    }
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Grouped(Partition(order, starts), column_cells, prepared.rows - len(released))


def sorted_within(prepared: Prepared, classes: Partition) -> Partition:
    """Order the rows of each class by the released values, so that input order leaves no trace."""
    kept = [codes for column in prepared.kept.values() for codes in column]
    if not kept:
        return classes
    leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    keys = [column[classes.order] for column in reversed(kept)]
    order = classes.order[np.lexsort(np.stack([*keys, leaf]))]
    return Partition(order, classes.starts)


def cell_array(classes: Partition, cell: NDArray[np.int64], texts: list[str | None]) -> pa.Array:
    """Return the cell of every row, in the order of the classes, as dictionary-encoded text."""
    rows = np.repeat(cell, np.diff(classes.starts)).astype(np.int32)
    empty = np.array([text is None for text in texts])[rows]
    dictionary = from_texts([text or "" for text in texts])
    return pa.DictionaryArray.from_arrays(from_numpy(rows, empty), dictionary)
