"""A table to classes and cells: encode, check, form classes, write cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy, from_texts, unchunk
from policy_engine.engines.cares import Care, cares
from policy_engine.engines.contents import by_content, marks
from policy_engine.engines.distinct_values import text_ranks
from policy_engine.engines.encoding import Encoded, ancestry, encode
from policy_engine.engines.engine import Progress, Stage
from policy_engine.engines.generalizations import Generalizer, encoded, generalizer
from policy_engine.engines.persons import person_texts
from policy_engine.engines.reading_back import end_of
from policy_engine.engines.text_types import infer_column_type
from policy_engine.errors import DataError, Problem
from policy_engine.kernels import full_domain, grid, mondrian, polish
from policy_engine.kernels.axis import Axis, Codes
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.diversity import ValueHistogram, histogram
from policy_engine.kernels.grouping import classes_of, distinct, first_rows
from policy_engine.kernels.layout import People
from policy_engine.kernels.mondrian import Partition, never
from policy_engine.methods import Bound
from policy_engine.plan.steps import Anonymize, CellStyle

_MOST_NODES = 20_000_000


@dataclass(frozen=True)
class Prepared:
    """A table with its columns encoded; `kept` are the columns that stay as they are, and
    `texts` what a row is known by: those, and who it is about."""

    rows: int
    quasi: Mapping[str, Generalizer]
    sensitive: Mapping[str, Encoded]
    kept: Mapping[str, list[NDArray[Any]]]
    ancestries: Mapping[str, Ancestry]
    persons: Codes | None
    texts: list[pa.ChunkedArray]

    def by_content(self) -> NDArray[np.int64]:
        """Return the rows in an order that follows from their content alone."""
        kept = [codes for column in self.kept.values() for codes in column]
        kept += [] if self.persons is None else [self.persons]
        quasi = [one.column.codes for one in self.quasi.values()]
        return by_content(quasi, marks(map(unchunk, self.texts), self.rows), kept)

    def people(self) -> People:
        """Return what no class may give away."""
        return People(tuple(one.values() for one in self.sensitive.values()), self.persons)

    def axes(self, step: Anonymize) -> list[Axis]:
        """Return the quasi-identifiers as the partitioners see them."""
        wildcard = step.recoding.missing == "wildcard"
        return [
            Axis(one.column.codes, one.shape(), one.column.has_missing, wildcard, asked.weight)
            for one, asked in zip(self.quasi.values(), step.columns.quasi_identifier, strict=True)
        ]


@dataclass(frozen=True)
class Grouped:
    """The classes formed, and what each quasi-identifier's cells are.

    `cells` holds by column the number of every class's cell, (classes,), and the distinct
    cells; `suppressed` counts the rows that are in no class. Where the time was over, `left` is
    what was not looked at in a `stage`.
    """

    classes: Partition
    cells: Mapping[str, tuple[NDArray[np.int64], list[str | None]]]
    suppressed: int = 0
    stage: Stage = "partitioning"
    left: int = 0


def prepare(
    table: pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    released: Sequence[str] = (),
) -> Prepared:
    """Encode the columns of a table by their roles; what else is `released` stays as it is.

    Raises DataError where values do not support what is asked of their column.
    """
    columns = step.columns
    quasi, sensitive = {}, {}
    kept: dict[str, list[NDArray[Any]]] = {}
    for asked in columns.quasi_identifier:
        numbers = tables.is_text_of_csv(table.schema.field(asked.name))
        column = encoded(asked, table.column(asked.name), numbers=numbers)
        taxonomy = taxonomies.get(asked.taxonomy)
        quasi[asked.name] = generalizer(asked.name, column, asked, taxonomy)
    for one in columns.sensitive:
        # Sensitive texts are compared as the certificate will compare them, read from a file.
        sensitive[one.name] = _encoded(table, one.name, numbers=True)
    for name in (*columns.sensitive_names, *kept_beside(step, released)):
        codes = (sensitive[name] if name in sensitive else _encoded(table, name)).codes
        kept[name] = [codes, text_ranks(table.column(name))]
    for name in columns.pseudonymize:
        kept[name] = [text_ranks(table.column(name))]
    return Prepared(
        rows=table.num_rows,
        quasi=quasi,
        sensitive=sensitive,
        kept=kept,
        ancestries={
            one.name: ancestry(one.name, sensitive[one.name], taxonomies[one.taxonomy])
            for one in columns.sensitive
            if one.taxonomy
        },
        persons=_persons(table, columns.privacy_unit) if columns.privacy_unit else None,
        texts=[*map(table.column, kept), *_person_texts(table, columns.privacy_unit)],
    )


def kept_beside(step: Anonymize, released: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that stay as they are and that no bound is about: the insensitive ones,
    and those that steps before made."""
    known = {*step.columns.released, *step.columns.dropped}
    return (*step.columns.insensitive, *(name for name in released if name not in known))


def _persons(table: pa.Table, name: str) -> Codes:
    """Return the number of each row's person; rows that name nobody are of one person."""
    return _encoded(table, name).values() + np.int32(1)


def _person_texts(table: pa.Table, name: str) -> Iterator[pa.ChunkedArray]:
    if name:
        field, column = table.schema.field(name), unchunk(table.column(name))
        kind = infer_column_type(column, numbers=tables.is_text_of_csv(field))
        yield pa.chunked_array([person_texts(column, kind)])


def _encoded(table: pa.Table, name: str, *, numbers: bool = False) -> Encoded:
    numbers = numbers or tables.is_text_of_csv(table.schema.field(name))
    return encode(name, table.column(name), numbers=numbers, generalised=False)


@dataclass(frozen=True)
class Overview:
    """What a table holds as a whole: its rows, its persons where they are told apart, and how
    often each sensitive value occurs, in one class of all rows."""

    rows: int
    persons: int | None
    histograms: Mapping[str, ValueHistogram]
    ancestries: Mapping[str, Ancestry]


def overview(prepared: Prepared) -> Overview:
    """Return what a prepared table holds as a whole."""
    persons = None if prepared.persons is None else prepared.persons.astype(np.int64)
    unchunk = np.zeros(prepared.rows, dtype=np.int64)
    histograms = {
        name: histogram(unchunk, 1, column.values(), persons)
        for name, column in prepared.sensitive.items()
    }
    count = None if persons is None else len(distinct(persons))
    return Overview(prepared.rows, count, histograms, prepared.ancestries)


def check_bearable(table: Overview, step: Anonymize) -> None:
    """Raise DataError with every bound that the table as a whole does not hold.

    A class of such a table could not hold it either, or not every class could.
    """
    problems = list(_too_little(table, step))
    if problems:
        raise DataError(*problems)


def _too_little(table: Overview, step: Anonymize) -> Iterator[Problem]:
    units = table.rows if table.persons is None else table.persons
    if units < step.k:
        what = "rows" if table.persons is None else "persons"
        message = f"The table has {units} {what}, fewer than k, which is {step.k}."
        yield Problem("R002", message)
    for name, counts in table.histograms.items():
        for method, one in step.about(name):
            bound = method.bound(one)
            [figure] = method.figures(counts, one, table.ancestries.get(name)).tolist()
            if not bound.holds(figure):
                yield _unbearable(bound, figure, counts)


def _unbearable(bound: Bound, figure: float, counts: ValueHistogram) -> Problem:
    words = {"at least": "below", "at most": "above", "below": "not below"}[bound.sense]
    reached = _rounded(figure, up=bound.sense != "at least")
    if not counts.members[0]:
        message = f"The sensitive column {bound.column!r} has no values."
        return Problem("R003", message)
    message = (
        f"{bound.name} of {bound.column!r} is {bound.asked:g}. The table as a whole reaches "
        f"{reached:g}, {words} that."
    )
    most = "at most" if bound.sense == "at least" else "at least"
    if bound.sense == "below":
        most = "above"
    # One value alone, or fewer than l: no bound that may be asked for would hold.
    bearable = np.isfinite(figure) and figure != 1
    hint = f"On this table, {bound.parameter} can be {most} {reached:g}." if bearable else ""
    return Problem("R003", message, hint)


def _rounded(figure: float, *, up: bool) -> float:
    """Return a figure with four digits, rounded to the side on which it can be asked for."""
    if not np.isfinite(figure) or float(figure).is_integer():
        return figure
    step = 10.0 ** (np.floor(np.log10(abs(figure))) - 3)
    return float(np.ceil(figure / step) * step if up else np.floor(figure / step) * step)


IsOver = Callable[[], bool]


def form_classes(
    prepared: Prepared,
    step: Anonymize,
    progress: Progress,
    style: CellStyle = "text",
    is_over: IsOver = never,
) -> Grouped:
    """Form the classes as the plan asks, with more care where that is not enough (`cares`).

    Once it `is_over`, the best found so far is taken: parts that could be cut further hold every
    bound as they are, and of all columns hidden the table does. Raises DataError where no node of a
    lattice holds.
    """
    for care in cares(step):
        grouped = _formed(prepared, step, progress, care, is_over)
        if step.is_kept_by_union or not _breaks_as_one(prepared, step, grouped, style):
            break
    return grouped


def _formed(
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
            _holds(prepared, step),
            lambda cuts: progress("cutting", cuts, 0),
            keeps_apart=care is not Care.AS_ASKED,
            is_over=is_over,
        )
        stage: Stage = "partitioning"
    else:
        classes, stage = _mondrian(prepared, step, axes, progress, care, is_over)
    progress("generalising", 0, prepared.rows)
    made = {
        name: _cells_of_grid(one, classes) if is_grid else one.cells(classes)
        for name, one in prepared.quasi.items()
    }
    return Grouped(classes, made, stage=stage, left=classes.open)


def _breaks_as_one(prepared: Prepared, step: Anonymize, grouped: Grouped, style: CellStyle) -> bool:
    """Tell whether classes with equal cells, which are one on the output, break a bound."""
    shown = [number[cell] for cell, number in _shown(grouped, style)]
    merged, count = classes_of(shown)
    if count == len(merged):
        return False
    order, sizes = grouped.classes.order, np.diff(grouped.classes.starts)
    class_of = np.repeat(merged, sizes)
    return bool(_violating(prepared, step, class_of, count, order).any())


def _shown(
    grouped: Grouped, style: CellStyle
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Yield the numbers of each column's cells, and a number for what is written of each."""
    for cell, texts in grouped.cells.values():
        written: Sequence[object] = texts
        parsed = [cells.read_cell(text) for text in texts] if style == "bounds" else []
        if any(one.is_range for one in parsed):
            written = [(end_of(one, 0), end_of(one, -1)) for one in parsed]
        numbers: dict[object, int] = {}
        yield cell, np.array([numbers.setdefault(one, len(numbers)) for one in written], np.int32)


def _cells_of_grid(
    one: Generalizer, classes: Partition
) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return the cells of the classes of a grid, in which a value has one cell in every row.

    Values that stand between the least and the greatest of any class are in one interval.
    """
    codes, starts = one.column.codes[classes.order], classes.starts[:-1]
    covers = np.zeros(len(one.column.labels), dtype=np.int64)
    np.add.at(covers, np.minimum.reduceat(codes, starts), 1)
    np.add.at(covers, np.maximum.reduceat(codes, starts), -1)
    interval = np.concatenate([[0], np.cumsum(np.cumsum(covers)[:-1] == 0)])
    of_row = interval[one.column.codes]
    edges = np.concatenate([[0], np.cumsum(np.bincount(of_row))])
    cell, texts = one.cells(Partition(np.argsort(of_row, kind="stable"), edges))
    return cell[interval[codes[starts]]], texts


def _mondrian(
    prepared: Prepared,
    step: Anonymize,
    axes: list[Axis],
    progress: Progress,
    care: Care,
    is_over: IsOver,
) -> tuple[Partition, Stage]:
    """Return the classes, and the stage at which the time was over, if it was."""
    people, rows = prepared.people(), prepared.rows
    cutting, constraint = care.cutting(step), step.constraint(prepared.ancestries)
    constraint = replace(constraint, size=care.least(step.k, rows))
    is_polished = step.recoding.polish and care is Care.AS_ASKED
    given = prepared.by_content() if cutting.is_relaxed or is_polished else None
    axes = axes if given is None else [_taken(axis, given) for axis in axes]
    people = people if given is None else _people_taken(people, given)
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
        classes = polish.polish(axes, people, constraint, cutting, _in_order(classes), is_over)
    if given is not None:
        classes = replace(classes, order=given[classes.order])
    return classes, stage


def _in_order(classes: Partition) -> Partition:
    """Order the rows of each class by their numbers."""
    leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return replace(classes, order=classes.order[np.lexsort((classes.order, leaf))])


def _taken(axis: Axis, rows: NDArray[np.int64]) -> Axis:
    return Axis(axis.codes[rows], axis.shape, axis.has_missing, axis.is_wildcard, axis.weight)


def _people_taken(people: People, rows: NDArray[np.int64]) -> People:
    persons = None if people.persons is None else people.persons[rows]
    return People(tuple(codes[rows] for codes in people.sensitive), persons)


def _holds(prepared: Prepared, step: Anonymize) -> grid.Holds | None:
    """Return what tells of class numbers whether every bound beyond the rows' number holds.

    None where there is none.
    """
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
    """Return which classes break a bound on persons or sensitive values, (count,)."""
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
        shown = f"{nodes:,}" if nodes < 10**15 else "more than 10^15"
        message = f"The lattice has {shown} nodes. Allowed are {_MOST_NODES:,}."
        hint = "Give fewer quasi-identifiers, or taxonomies with fewer levels."
        raise DataError.of("R010", message, hint)
    limit = int(step.recoding.max_suppression * prepared.rows)
    found = full_domain.search(
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
    if found is None:
        message = f"No generalisation holds every bound with at most {limit} rows suppressed."
        raise DataError.of("R009", message, "Allow more suppression, or ask for less.")
    made = _recoded(prepared, ladders, found)
    return replace(made, stage="searching the lattice", left=found.unchecked)


def _recoded(
    prepared: Prepared, ladders: list[full_domain.Ladder], found: full_domain.LatticeRecoding
) -> Grouped:
    """Return the classes of a node of the lattice, in the order of their generalised values."""
    count = int(found.class_of.max(initial=-1)) + 1
    kept = np.flatnonzero(found.class_of >= 0)
    first = kept[first_rows(found.class_of[kept], count)]
    heights = zip(ladders, found.heights, strict=True)
    groups = [ladder.levels[height][ladder.codes[first]] for ladder, height in heights]
    turn = np.lexsort(groups[::-1])
    rank = np.empty(count, dtype=np.int64)
    rank[turn] = np.arange(count)
    class_of = rank[found.class_of[kept]]
    order = kept[np.argsort(class_of, kind="stable")]
    sizes = np.bincount(class_of, minlength=count)
    made = {
        name: (column[turn].astype(np.int64), one.labels_at(height))
        for (name, one), column, height in zip(
            prepared.quasi.items(), groups, found.heights, strict=True
        )
    }
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Grouped(Partition(order, starts), made, prepared.rows - len(kept))


def sorted_within(prepared: Prepared, classes: Partition) -> Partition:
    """Order the rows of each class by the values kept, so that input order leaves no trace."""
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
