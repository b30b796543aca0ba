"""Marks for missing or suppressed cells in columns of numbers and times, and cells that are
neither."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.audits.disclosure.other_tools.cell_shapes import Axis, read_shape
from policy_engine.audits.disclosure.result import FileKind, MissingMarks
from policy_engine.engines.arrays import (
    from_numpy,
    is_nested_or_span,
    is_text,
    to_numpy,
    value_type,
)
from policy_engine.engines.distinct_values import index_distinct
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.text_types import LazyTextForm, infer_type
from policy_engine.errors import Problem, format_count

MARKS = frozenset(("", "na", "n/a", "<na>", "nan", "null", "none", "*", ".", "?", "-"))
"""What other tools write for a missing or suppressed cell, in lower case."""


def is_mark(text: str) -> bool:
    """Tell whether a text is a mark for a missing or suppressed cell."""
    return text.strip().lower() in MARKS


@dataclass(frozen=True)
class DistinctTexts:
    """A column by its distinct values, as `texts`, and which of them each row has, -1 for none."""

    texts: pa.Array
    indices: NDArray[np.int64]
    kind: pa.DataType

    @classmethod
    def of(cls, table: pa.Table, name: str) -> "DistinctTexts":
        """Return a column of a table; texts have the kind of values that they all are."""
        field = table.schema.field(name)
        indices, values = index_distinct(name, table.column(name))
        texts, kind = values.cast(pa.string()), value_type(field.type)
        if is_text(kind):
            kind = infer_type(LazyTextForm(texts))
        return cls(texts, to_numpy(indices, -1).astype(np.int64), kind)

    @property
    def axis(self) -> Axis | None:
        """What the values are where they are numbers or times, None for others."""
        if pa.types.is_temporal(self.kind) and not pa.types.is_duration(self.kind):
            return "times"
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        return "numbers" if any(is_kind(self.kind) for is_kind in kinds) else None

    def marked(self) -> NDArray[np.bool_]:
        """Return which of the texts are marks, (texts,)."""
        if self.axis is None:
            return np.array([is_mark(text) for text in self.texts.to_pylist()], dtype=np.bool_)
        is_nan = pc.match_substring_regex(self.texts, r"^\s*[nN][aA][nN]\s*$")
        return np.asarray(to_numpy(is_nan))

    def rows(self, chosen: NDArray[np.bool_]) -> int:
        """Return how many rows have one of the chosen texts."""
        counts = np.bincount(self.indices + 1, minlength=len(self.texts) + 1)[1:]
        return int(counts[chosen].sum())

    def without(self, gone: NDArray[np.bool_]) -> pa.ChunkedArray:
        """Return the column without the texts that are `gone`, (texts,)."""
        kept = np.append(np.where(gone, -1, np.arange(len(self.texts))), -1)[self.indices]
        codes = from_numpy(kept.astype(np.int32), kept < 0)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, self.texts)])


def column_axis(table: pa.Table, name: str) -> Axis | None:
    """Return what the values of a column are where they are numbers or times, None for others.

    Texts are read where nothing says that they are no more than that.
    """
    field = table.schema.field(name)
    if is_text(value_type(field.type)) and not is_untyped(field):
        return None
    return DistinctTexts.of(table, name).axis


def without_marks(
    tables: Mapping[FileKind, pa.Table], names: Sequence[str]
) -> tuple[dict[FileKind, pa.Table], tuple[MissingMarks, ...]]:
    """Return tables with marks in columns of numbers or times as missing cells, and which were
    found.

    The columns are those of the `names` that hold nothing but values and marks in the original.
    """
    cleaned_tables, all_marks = dict(tables), list[MissingMarks]()
    for name in _columns(cleaned_tables["original"], names):
        original, marks = _cleaned(cleaned_tables["original"], "original", name)
        if column_axis(original, name) is None:
            continue
        cleaned_tables["original"] = original
        all_marks += marks
        for kind, table in cleaned_tables.items():
            if kind != "original" and _columns(table, [name]):
                cleaned_tables[kind], marks = _cleaned(table, kind, name)
                all_marks += marks
    return cleaned_tables, tuple(all_marks)


def unreadable_cells(
    original: pa.Table, release: pa.Table, names: Sequence[str]
) -> Iterator[Problem]:
    """Yield the columns of numbers or times (A027) of which a release has cells that are neither
    values nor ranges of them."""
    for name in _columns(release, _columns(original, names)):
        axis = column_axis(original, name)
        if axis is not None:
            yield from _odd_cells(release, name, axis)


def _columns(table: pa.Table, names: Sequence[str]) -> list[str]:
    """Return the names of columns that a table has and whose values have an order."""
    schema = table.schema
    here = [name for name in dict.fromkeys(names) if name in schema.names]
    return [name for name in here if not is_nested_or_span(schema.field(name).type)]


def _cleaned(
    table: pa.Table, kind: FileKind, name: str
) -> tuple[pa.Table, tuple[MissingMarks, ...]]:
    """Return a table with one of its columns without marks, and how many cells are marks there."""
    field = table.schema.field(name)
    if not is_text(value_type(field.type)):
        return table, ()
    column = DistinctTexts.of(table, name)
    gone = column.marked()
    if not gone.any():
        return table, ()
    marks = tuple(sorted(column.texts.filter(from_numpy(gone)).to_pylist()))
    missing_marks = MissingMarks(table=kind, column=name, marks=marks, cells=column.rows(gone))
    texts = column.without(gone).cast(field.type)
    return table.set_column(table.schema.get_field_index(name), field, texts), (missing_marks,)


def _odd_cells(table: pa.Table, name: str, axis: Axis) -> Iterator[Problem]:
    column = DistinctTexts.of(table, name)
    if column.axis == axis:
        return
    texts = column.texts.to_pylist()
    odd = np.array([read_shape(text, axis) is None for text in texts], dtype=np.bool_)
    if not odd.any():
        return
    count, example = column.rows(odd), min(column.texts.filter(from_numpy(odd)).to_pylist())
    many = "s" if count > 1 else ""
    a, are = ("", "are") if count > 1 else ("a ", "is")
    words = f"{are} neither {a}{axis.removesuffix('s')}{many} nor {a}range{many}"
    message = f"{format_count(count, 'cell')} of {name!r} in the release {words}"
    yield Problem("A027", f"{message}, such as {example!r:.60}.", _HINT)


_HINT = "The original has nothing else. Correct the cells, or name known columns without this one."
