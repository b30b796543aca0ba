"""Form the classes of a prepared table, and the cells of each class."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.engines.care_levels import CareLevel, care_levels
from policy_engine.engines.class_evidence import ClassEvidence
from policy_engine.engines.engine import Progress, Stage
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.preparation import PreparedTable
from policy_engine.engines.reading_back import range_end
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.errors import DataError
from policy_engine.kernels import full_domain, mondrian
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.diversity import histogram
from policy_engine.kernels.grouping import classes_of, distinct, first_rows, sorted_order
from policy_engine.kernels.layout import SensitiveRows
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.plan.joint import EARLIER
from policy_engine.plan.steps import Anonymize, CellStyle

_MOST_NODES = 20_000_000


if TYPE_CHECKING:  # compiled kernels
    from policy_engine.kernels import grid


@dataclass(frozen=True)
class Grouping:
    """The classes that were formed, and the cells of each quasi-identifier.

    `cells` holds, by column, the number of every class's cell, (classes,), and the distinct cells.
    `suppressed` counts the rows that are not in a class, and `suppressed_cells` the cells that were
    suppressed, by column, where single ones are. The cells of `numeric` columns are numbers, those
    of `typed` columns have the type of the input; `doubts` are warnings, and `evidence` is what
    was seen when classes were microaggregated. `gain` is what outlying rows were suppressed for.
    If the time limit was reached, `open` counts what was not yet examined in the `stage`.
    """

    classes: Partition
    cells: Mapping[str, tuple[NDArray[np.int64], list[str | None]]]
    suppressed: int = 0
    stage: Stage = "partitioning"
    open: int = 0
    suppressed_cells: Mapping[str, int] = field(default_factory=dict)
    numeric: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    evidence: ClassEvidence | None = None
    gain: SuppressionGain | None = None


IsOver = Callable[[], bool]
RowWords = Callable[[], NDArray[np.uint64]]
"""Returns random bits of every row, (rows,), that only a secret tells."""


def form_classes(
    prepared: PreparedTable,
    step: Anonymize,
    progress: Progress,
    words: RowWords,
    style: CellStyle = "text",
    is_over: IsOver = never,
) -> Grouping:
    """Form the classes of the plan, with more care where that is not enough (`care_levels`).

    Without a privacy model, all rows are one class. Once it `is_over`, the best classes so far are
    returned: they satisfy every bound. Raises DataError where no node of the lattice does, nor any
    cells that may be suppressed.
    """
    if not step.models:
        return Grouping(Partition(np.arange(prepared.rows), np.array([0, prepared.rows])), {})
    if step.recoding.guide is not None:
        return _guide(prepared, step, progress, style, is_over)
    if step.recoding.algorithm == "local-suppression":
        return _suppress_cells(prepared, step, progress, words)
    if step.recoding.algorithm == "microaggregation":
        return _microaggregate(prepared, step, progress, words)
    for care in care_levels(step):
        grouping = _form_with_care(prepared, step, progress, care, is_over)
        if step.is_kept_by_union or not _breaks_merged(prepared, step, grouping, style):
            break
    return grouping


def _form_with_care(
    prepared: PreparedTable, step: Anonymize, progress: Progress, care: CareLevel, is_over: IsOver
) -> Grouping:
    if step.recoding.algorithm == "full-domain":
        return _full_domain(prepared, step, progress, care, is_over)
    axes = prepared.axes(step)
    is_grid = step.recoding.dimensionality == "single"
    if is_grid:
        from policy_engine.kernels import grid  # noqa: PLC0415 (compiled)

        classes = grid.grid(
            axes,
            care.least(step.k, prepared.rows),
            _bounds_check(prepared, step),
            lambda cuts: progress("cutting", cuts, 0),
            keeps_apart=care is not CareLevel.AS_PLANNED,
            is_over=is_over,
        )
        stage: Stage = "partitioning"
    else:
        classes, stage = _mondrian(prepared, step, axes, progress, care, is_over)
    progress("generalising", 0, prepared.rows)
    column_cells = {
        name: _grid_cells(generalizer, classes) if is_grid else generalizer.cells(classes)
        for name, generalizer in prepared.quasi.items()
    }
    return Grouping(classes, column_cells, stage=stage, open=classes.open)


def _microaggregate(
    prepared: PreparedTable, step: Anonymize, progress: Progress, words: RowWords
) -> Grouping:
    from policy_engine.engines.microaggregating import (  # noqa: PLC0415 (compiled)
        doubts_of_means,
        near_classes,
    )

    progress("microaggregating", 0, prepared.rows)
    classes = near_classes(prepared, step, words())
    evidence = classes.evidence()
    doubts = tuple(doubts_of_means(evidence.dominated, len(classes.rows.starts) - 1))
    return Grouping(
        classes.rows,
        classes.cells,
        numeric=tuple(classes.means),
        doubts=doubts,
        evidence=evidence,
    )


def _guide(
    prepared: PreparedTable, step: Anonymize, progress: Progress, style: CellStyle, is_over: IsOver
) -> Grouping:
    from policy_engine.engines import guided_classes  # noqa: PLC0415 (compiled)

    if guided_classes.needs_compiling():
        progress("compiling the partitioner (once per installation)", 0, 0)
    progress("partitioning", 0, prepared.rows)
    made = guided_classes.guided_classes(
        prepared,
        step,
        lambda rows: progress("partitioning", rows, prepared.rows),
        is_over,
    )
    grouping = Grouping(
        made.near.rows,
        made.near.cells,
        open=made.open,
        numeric=tuple(made.near.means),
        typed=made.typed,
        doubts=made.doubts,
    )
    if style != "bounds" or step.is_kept_by_union:
        return grouping
    # Where ranges are written as two columns, a missing value and any value are the same.
    if not _breaks_merged(prepared, step, grouping, style):
        return grouping
    whole = Partition(np.arange(prepared.rows), np.array([0, prepared.rows]))
    column_cells = {name: one.cells(whole) for name, one in prepared.quasi.items()}
    return replace(grouping, classes=whole, cells=column_cells)


def _suppress_cells(
    prepared: PreparedTable, step: Anonymize, progress: Progress, words: RowWords
) -> Grouping:
    from policy_engine.engines.suppressing import null_cells  # noqa: PLC0415 (as used)

    progress("suppressing cells", 0, prepared.rows)
    made = null_cells(prepared, step, words)
    return Grouping(
        made.rows, made.cells, suppressed_cells=made.suppressed, typed=tuple(made.cells)
    )


def _breaks_merged(
    prepared: PreparedTable, step: Anonymize, grouping: Grouping, style: CellStyle
) -> bool:
    """Return whether classes with equal cells, which are one class in the output, break a bound."""
    columns = [number[cell] for cell, number in _published_cells(grouping, style)]
    merged_class, count = classes_of(columns)
    if count == len(merged_class):
        return False
    order, sizes = grouping.classes.order, np.diff(grouping.classes.starts)
    class_of = np.repeat(merged_class, sizes)
    return bool(_violating(prepared, step, class_of, count, order).any())


def _published_cells(
    grouping: Grouping, style: CellStyle
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Yield each column's cell numbers, and a number for what is published of every cell."""
    for cell, texts in grouping.cells.values():
        published: Sequence[object] = texts
        cells_read = [cells.read_cell(text) for text in texts] if style == "bounds" else []
        if any(value.is_range for value in cells_read):
            published = [(range_end(value, 0), range_end(value, -1)) for value in cells_read]
        numbers: dict[object, int] = {}
        yield (
            cell,
            np.array([numbers.setdefault(value, len(numbers)) for value in published], np.int32),
        )


def _grid_cells(
    generalizer: Generalizer, classes: Partition
) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return the cells of the classes of a grid, in which a value has one cell in every row."""
    # All values between the least and the greatest of a class are in one interval of the grid.
    codes, starts = generalizer.column.codes[classes.order], classes.starts[:-1]
    covers = np.zeros(len(generalizer.column.labels), dtype=np.int64)
    np.add.at(covers, np.minimum.reduceat(codes, starts), 1)
    np.add.at(covers, np.maximum.reduceat(codes, starts), -1)
    interval = np.concatenate([[0], np.cumsum(np.cumsum(covers)[:-1] == 0)])
    row_interval = interval[generalizer.column.codes]
    edges = np.concatenate([[0], np.cumsum(np.bincount(row_interval))])
    cell, texts = generalizer.cells(Partition(np.argsort(row_interval, kind="stable"), edges))
    return cell[interval[codes[starts]]], texts


def _mondrian(
    prepared: PreparedTable,
    step: Anonymize,
    axes: list[Axis],
    progress: Progress,
    care: CareLevel,
    is_over: IsOver,
) -> tuple[Partition, Stage]:
    """Return the classes, and the stage in which the time limit was reached, if it was."""
    people, rows = prepared.sensitive_rows(), prepared.rows
    cutting, constraint = care.cutting(step), step.constraint(prepared.ancestries)
    constraint = constraint._replace(size=care.least(step.k, rows))
    is_polished = step.recoding.polish and care is CareLevel.AS_PLANNED
    order = prepared.content_order() if cutting.is_relaxed or is_polished else None
    edges = None
    if EARLIER in prepared.sensitive:
        order, edges = _strata(prepared, step, order)
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
        lambda rows_done: progress("partitioning", rows_done, rows),
        is_over=is_over,
        edges=edges,
    )
    stage: Stage = "partitioning"
    if is_polished and not classes.open:
        from policy_engine.kernels import polish  # noqa: PLC0415 (compiled)

        progress("polishing", 0, rows)
        stage = "polishing"
        classes = polish.polish(
            axes, people, constraint, cutting, _sort_by_number(classes), is_over
        )
    if order is not None:
        classes = replace(classes, order=order[classes.order])
    return classes, stage


def _strata(
    prepared: PreparedTable, step: Anonymize, order: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows by the intersections of earlier classes, in an order within each, and where
    each intersection begins.

    A class that keeps every bound within each intersection can be cut into those, which all keep
    it, and lose no more: so each is cut by itself. Raises DataError (R003) where one breaks a bound
    as a whole.
    """
    cells = prepared.sensitive[EARLIER].codes.astype(np.int64)
    _, cells = np.unique(cells, return_inverse=True)
    count = int(cells.max(initial=-1)) + 1
    if _violating(prepared, step, cells, count).any():
        message = "Persons of an intersection of earlier classes cannot keep every bound."
        raise DataError.of("R003", message)
    rows = np.arange(prepared.rows) if order is None else order
    rows = rows[np.argsort(cells[rows], kind="stable")]
    sizes = np.bincount(cells, minlength=count)
    return rows, np.concatenate([[0], np.cumsum(sizes)])


def _sort_by_number(classes: Partition) -> Partition:
    """Order the rows of each class by their numbers."""
    leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return replace(classes, order=classes.order[np.lexsort((classes.order, leaf))])


def _reorder_axis(axis: Axis, rows: NDArray[np.int64]) -> Axis:
    return Axis(axis.codes[rows], axis.shape, axis.has_missing, axis.is_wildcard, axis.weight)


def _reorder_people(people: SensitiveRows, rows: NDArray[np.int64]) -> SensitiveRows:
    persons = None if people.persons is None else people.persons[rows]
    return SensitiveRows(tuple(codes[rows] for codes in people.sensitive), persons)


def _bounds_check(prepared: PreparedTable, step: Anonymize) -> "grid.Holds | None":
    """Return a check of all bounds except the number of rows; None where there are none."""
    if prepared.persons is None and not any(map(step.models_about, prepared.sensitive)):
        return None

    def holds(class_of: NDArray[np.int64], count: int) -> bool:
        return not _violating(prepared, step, class_of, count).any()

    return holds


def _violating(
    prepared: PreparedTable,
    step: Anonymize,
    class_of: NDArray[np.int64],
    count: int,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes violate a bound on persons or sensitive values, (count,)."""
    chosen_rows = slice(None) if rows is None else rows
    persons = None if prepared.persons is None else prepared.persons[chosen_rows].astype(np.int64)
    broken = np.zeros(count, dtype=np.bool_)
    if persons is not None:
        width = int(persons.max(initial=0)) + 1
        broken |= np.bincount(distinct(class_of * width + persons) // width) < step.k
    for name, column in prepared.sensitive.items():
        if step.models_about(name):
            counts = histogram(class_of, count, column.values()[chosen_rows], persons)
            broken |= ~step.hold_by_class(counts, name, prepared.ancestries)
    return broken


def _full_domain(
    prepared: PreparedTable, step: Anonymize, progress: Progress, care: CareLevel, is_over: IsOver
) -> Grouping:
    ladders = [generalizer.ladder() for generalizer in prepared.quasi.values()]
    nodes = full_domain.lattice_size(ladders)
    if nodes > _MOST_NODES:
        number = f"{nodes:,}" if nodes < 10**15 else "more than 10^15"
        message = f"The lattice has {number} nodes. Allowed are {_MOST_NODES:,}."
        hint = "Give fewer quasi-identifiers, or taxonomies with fewer levels."
        raise DataError.of("R010", message, hint)
    limit = int(step.recoding.max_suppression * prepared.rows)
    recoding = full_domain.search(
        [
            full_domain.Ladder(ladder.codes, ladder.levels, ladder.loss, quasi.weight)
            for ladder, quasi in zip(ladders, step.columns.quasi_identifier, strict=True)
        ],
        size=care.least(step.k, prepared.rows),
        violating=lambda candidate: _violating(
            prepared, step, candidate.class_of, candidate.count, candidate.rows
        ),
        monotonic=step.is_monotonic,
        max_suppressed=limit,
        measure=step.recoding.loss,
        on_checked=lambda checked, unchecked: progress(
            "searching the lattice", checked, checked + unchecked
        ),
        is_over=is_over,
    )
    if recoding is None:
        message = f"No generalisation satisfies every bound with at most {limit} rows suppressed."
        raise DataError.of("R009", message, "Allow more suppression, or ask for less.")
    grouping = _group_recoded(prepared, ladders, recoding)
    return replace(grouping, stage="searching the lattice", open=recoding.unchecked)


def _group_recoded(
    prepared: PreparedTable,
    ladders: list[full_domain.Ladder],
    recoding: "full_domain.LatticeRecoding",
) -> Grouping:
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
        name: (column[turn].astype(np.int64), generalizer.labels_at(height))
        for (name, generalizer), column, height in zip(
            prepared.quasi.items(), groups, recoding.heights, strict=True
        )
    }
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Grouping(Partition(order, starts), column_cells, prepared.rows - len(released))


def sort_within_classes(prepared: PreparedTable, classes: Partition) -> Partition:
    """Order the rows of each class by the released values, so that input order leaves no trace."""
    ranks = [column[classes.order] for column in prepared.kept.values()]
    if not ranks:
        return classes
    leaf = np.repeat(np.arange(len(classes.starts) - 1, dtype=np.int32), np.diff(classes.starts))
    return Partition(classes.order[sorted_order([leaf, *ranks])], classes.starts)
