"""Local suppression: cells of quasi-identifiers are values of the input, or missing."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.cells import write_value
from policy_engine.engines import field_marks
from policy_engine.engines.arrays import cell_array, from_numpy, is_text, value_type
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.preparation import PreparedTable
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.errors import DataError
from policy_engine.kernels.grouping import classes_of, first_rows
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.columns import QuasiIdentifier
from policy_engine.plan.steps import Anonymize

if TYPE_CHECKING:  # compiled kernels
    from policy_engine.kernels.local_suppression import Suppression

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Words = NDArray[np.uint64]
Cells = tuple[Ints, list[str | None]]

_FINEST_WEIGHT = 1000


@dataclass(frozen=True)
class SuppressedTable:
    """The classes of rows that show the same, in the order of their values, missing ones first.

    `cells` are as for `Grouping`; `suppressed` counts the cells that were suppressed, by column.
    """

    rows: Partition
    cells: Mapping[str, Cells]
    suppressed: Mapping[str, int]


def null_cells(
    prepared: PreparedTable, step: Anonymize, words: Callable[[], Words]
) -> SuppressedTable:
    """Suppress few cells, so that every row matches k rows.

    `words` returns random bits of every row, (rows,), where rows of one tuple are treated
    differently. Raises DataError (R009) where the caps of columns do not allow it.
    """
    columns = {name: one.column for name, one in prepared.quasi.items()}
    tuple_of_row, count = classes_of([one.codes for one in columns.values()])
    first = first_rows(tuple_of_row, count)
    tuples = np.column_stack([_present(one)[first] for one in columns.values()])
    suppression = suppress_tuples(tuples, np.bincount(tuple_of_row), step)
    visible_codes = shown_codes(tuples, suppression)
    class_of_part, classes = classes_of(list(visible_codes.T + np.int32(1)))
    # Known only by a secret: otherwise a row's other values could tell in which part it is.
    is_parted = len(suppression.rows) > count
    part = suppression.part_of(tuple_of_row, words()) if is_parted else tuple_of_row
    class_of_row = class_of_part[part]
    starts = np.concatenate([[0], np.cumsum(np.bincount(class_of_row))])
    visible_codes = visible_codes[first_rows(class_of_part, classes)]
    return SuppressedTable(
        Partition(np.argsort(class_of_row, kind="stable"), starts),
        {
            name: value_cells(one, codes)
            for (name, one), codes in zip(columns.items(), visible_codes.T, strict=True)
        },
        dict(zip(columns, suppression.suppressed.tolist(), strict=True)),
    )


def shown_codes(tuples: Codes, suppression: "Suppression") -> Codes:
    """Return what each part of the tuples shows, (parts, columns), -1 for missing."""
    return np.where(suppression.cells, np.int32(-1), tuples[suppression.tuple_of]).astype(np.int32)


def suppress_tuples(tuples: Codes, counts: Ints, step: Anonymize) -> "Suppression":
    """Return the cells to suppress in distinct tuples of quasi-identifiers, as the step asks.

    `tuples` (tuples, columns) are codes in the order of the values, -1 for missing, and `counts`
    (tuples,) the rows of each. Of columns that serve equally, the one with more distinct values is
    suppressed, and of those, the later one. Raises DataError (R009) where the caps of columns
    do not allow it.
    """
    quasi, rows = step.columns.quasi_identifier, int(counts.sum())
    distinct = [len(np.unique(codes[codes >= 0])) for codes in tuples.T]
    order = np.argsort(distinct, kind="stable")
    most = np.array([one.most_suppressed(rows) for one in quasi], dtype=np.int64)
    from policy_engine.kernels.local_suppression import suppress_cells  # noqa: PLC0415 (compiled)

    suppression = suppress_cells(
        np.ascontiguousarray(tuples[:, order]),
        counts,
        step.k,
        _weights(quasi)[order],
        most[order],
        step.recoding.missing,
    )
    if suppression.exposed_rows:
        raise _capped_error(suppression.exposed_rows, quasi, step.k)
    return replace(suppression, cells=suppression.cells[:, np.argsort(order)])


def typed_column(
    field: pa.Field, classes: Partition, cell: Ints, texts: list[str | None]
) -> tuple[pa.Field, pa.Array]:
    """Return the cells of the rows, in the order of the classes, as a column of the type that it
    had in the input, or as texts."""
    values = None if field_marks.is_untyped(field) else typed_values(value_type(field.type), texts)
    if values is not None:
        rows = np.repeat(cell, np.diff(classes.starts))
        return pa.field(field.name, values.type), values.take(from_numpy(rows))
    metadata = field.metadata if field_marks.is_untyped(field) else None
    column = cell_array(classes.starts, cell, texts)
    return pa.field(field.name, column.type, metadata=metadata), column


def typed_values(kind: pa.DataType, texts: Sequence[str | None]) -> pa.Array | None:
    """Return distinct cells as values of the type that they have in the input; None where cells are
    texts: those of texts, and those that do not tell their values in full."""
    if is_text(kind):
        return None
    with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = pa.array(texts, pa.string())
        is_time = pa.types.is_time(kind)
        values = (parse_times_of_day(cells) if is_time else cells).cast(kind)
        return values if len(values.unique()) == len(values) else None
    return None


def cell_texts(column: ColumnCodes) -> list[str]:
    """Return the cells of the values of a column, (values,)."""
    return [write_value(label) for label in column.labels[int(column.has_missing) :]]


def _present(column: ColumnCodes) -> Codes:
    """Return the codes counted from the first value, -1 for missing, (rows,)."""
    return column.codes - np.int32(column.has_missing)


def value_cells(column: ColumnCodes, codes: Codes) -> Cells:
    """Return the number of each class's cell, (classes,), and the distinct cells.

    `codes` (classes,) are counted from the first value, -1 for missing.
    """
    distinct_codes, cell = np.unique(codes, return_inverse=True)
    texts = cell_texts(column)
    return cell, [None if code < 0 else texts[code] for code in distinct_codes.tolist()]


def _weights(quasi: tuple[QuasiIdentifier, ...]) -> Ints:
    """Return what a cell of each column costs, as integers from 1 to 1000, (columns,)."""
    weights = np.array([one.weight for one in quasi])
    whole = np.maximum(np.rint(weights / weights.max() * _FINEST_WEIGHT), 1).astype(np.int64)
    return np.asarray(whole // np.gcd.reduce(whole))


def _capped_error(exposed: int, quasi: tuple[QuasiIdentifier, ...], k: int) -> DataError:
    caps = ", ".join(
        f"{one.max_suppression:.4g} of {one.name!r}"
        for one in quasi
        if one.max_suppression is not None
    )
    message = f"{exposed:,} rows would match fewer than {k} rows. At most so many cells may be "
    return DataError.of(  # type: ignore[return-value]
        "R009", f"{message}suppressed: {caps}.", "Allow more suppression, or ask for a smaller k."
    )
