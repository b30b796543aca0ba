"""The rows that outputs are made of, with the unit of privacy that each is about."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from policy_engine.audits.outputs.chosen_rows import chosen_rows
from policy_engine.audits.outputs.interval_texts import with_interval_texts
from policy_engine.audits.outputs.model import Counts, Figures
from policy_engine.audits.outputs.row_contents import check_contents, check_labels
from policy_engine.engines.person_spellings import check_person_type, known_persons
from policy_engine.errors import (
    DataError,
    PolicyEngineError,
    RequestError,
    did_you_mean,
    join_names,
)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as codes, (rows,), of its distinct values in order, -1 where it is missing."""

    name: str
    codes: Counts
    labels: tuple[Any, ...]


class OwnedRows(NamedTuple):
    """Rows of the data: the number of each one's unit, (rows,), and its own in the whole data, None
    where each unit has one row."""

    units: Counts
    numbers: Counts | None = None

    @property
    def row_numbers(self) -> Counts:
        """The number of each row, (rows,)."""
        return self.units if self.numbers is None else self.numbers


@dataclass(frozen=True, eq=False)
class Microdata:
    """A table of rows; `unit` is the column that says whom each is of, empty where each row is of
    another. `index` has the labels of the rows if they came with some (a pandas index). Rows chosen
    from a `whole` table keep the numbers that they, and their units, have there."""

    table: pa.Table
    unit: str = ""
    index: Any = field(default=None, repr=False)
    whole: "Microdata | None" = field(default=None, repr=False)

    @classmethod
    def of(cls, frame: Any, unit: str = "") -> "Microdata":
        """Return the rows of a pandas, polars or Arrow frame.

        Raises DataError (C010) for what is none, (C005) for one without the column of the unit,
        (C009) for a unit of bytes or lists, which name no person.
        """
        index = getattr(frame, "index", None)
        data = cls(arrow_table(frame), unit, index if hasattr(index, "get_indexer") else None)
        if unit:
            check_person_type(data.column(unit).type)
        return data

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column by its name. Raises DataError (C005) if there is none."""
        if name in self.table.column_names:
            return self.table[name]
        hint = did_you_mean(name, self.table.column_names)
        message = f"The data has no column {name!r}. It has {join_names(self.table.column_names)}."
        raise DataError.of("C005", message, hint)

    @cached_property
    def units(self) -> Counts:
        """The number of each row's unit, (rows,), -1 where the row does not say whose it is."""
        if self.whole is not None:
            return self._units_in(self.whole)
        if not self.unit:
            return np.arange(self.rows)
        return self._coded_unit.codes

    @cached_property
    def numbers(self) -> Counts:
        """The number of each row in the whole table, (rows,), -1 where it says of no unit that it
        is of it."""
        if self.whole is None:
            return np.arange(self.rows)
        places = chosen_rows(self, self.whole)
        if len(np.unique(places[places >= 0])) < int((places >= 0).sum()):
            message = "Some rows of the session's data are there more than once."
            raise RequestError.of("K025", message, "Give each row once, without merging others.")
        return places

    @cached_property
    def _coded_unit(self) -> CodedColumn:
        return coded(self.unit, _one_zero(known_persons(self.column(self.unit))))

    def _units_in(self, whole: "Microdata") -> Counts:
        """Return the number that each row's unit has in the whole table."""
        if not self.unit:
            places = whole.positions(self)
            if places is None:
                raise _unplaced_error(self.rows, whole.rows)
            names = self.table.column_names
            check_contents(whole.table, places, {name: self.table[name] for name in names})
            return places
        numbers = {label: number for number, label in enumerate(whole._coded_unit.labels)}  # noqa: SLF001
        own = [numbers.get(label, -2) for label in self._coded_unit.labels]
        if -2 in own:
            message = (
                f"The rows are of units ({self.unit!r}) that the session's data does not have."
            )
            raise RequestError.of("K025", message, "Give rows of the data of the session.")
        return np.array([*own, -1], np.int64)[self._coded_unit.codes]

    @cached_property
    def owners(self) -> Counts:
        """Whose each row of the whole table is, (rows of the whole,): a row that does not say has
        an owner of its own."""
        if self.whole is not None:
            return self.whole.owners
        is_nobody, owners = self.units < 0, self.units.copy()
        owners[is_nobody] = self.unit_count + np.arange(int(is_nobody.sum()))
        return owners

    @cached_property
    def has_repeats(self) -> bool:
        """Whether some unit of the whole table has several rows."""
        return bool(np.bincount(self.owners, minlength=1).max() > 1)

    @cached_property
    def unit_count(self) -> int:
        """How many units the whole table has."""
        if self.whole is not None:
            return self.whole.unit_count
        return int(self.units.max(initial=-1)) + 1

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the data, in hexadecimal."""
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, self.table.schema.remove_metadata()) as writer:
            writer.write_table(self.table.replace_schema_metadata(None).combine_chunks())
        return hashlib.sha256(stream.getvalue()).hexdigest()

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which columns each row lacks, of those that some row lacks: (rows, columns)."""
        masks = [_is_missing(column) for column in self.table.columns]
        return np.column_stack([np.zeros((self.rows, 0), np.bool_), *filter(np.any, masks)])

    @property
    def row_digest(self) -> str:
        """The SHA-256 of the data as what rows are counted of, where others counted units."""
        return hashlib.sha256(f"rows of {self.digest}".encode()).hexdigest()

    def positions(self, source: Any) -> Counts | None:
        """Return which rows the values of a series or an array are of, None if nothing says so.

        They are those of its index labels, or all rows in order where there are as many.
        """
        labels = getattr(source, "index", None)
        if self.index is not None and hasattr(labels, "get_indexer") and self.index.is_unique:
            return self._labelled(labels)
        rows = source.rows if isinstance(source, Microdata) else len(source)
        return np.arange(self.rows) if rows == self.rows else None

    def _labelled(self, labels: Any) -> Counts | None:
        places: Counts = np.asarray(self.index.get_indexer(labels), np.int64)
        return places if (places >= 0).all() else None

    def located(self, source: Any) -> Counts:
        """Return which rows a series, an array or a frame of columns is of, by its labels.

        Raises RequestError (K025) where nothing says so, or its values are those of other rows.
        """
        if not hasattr(source, "__len__"):
            message = f"This is not a column: {source!r}."
            raise RequestError.of("K025", message, "Give a name, a series or an array of values.")
        places = self.positions(source)
        if places is None:
            raise _unplaced_error(len(source), self.rows)
        check_labels(self.table, places, named_columns(source))
        return places

    def places(self, labels: Any, rows: int, columns: Mapping[str, Any]) -> Counts | None:
        """Return which rows the labels of a model's rows are of, None if nothing says so.

        Raises RequestError (K025) where its columns have the values of other rows.
        """
        places = np.arange(self.rows) if rows == self.rows else None
        if labels is not None and self.index is not None and self.index.is_unique:
            places = self._labelled(labels) if len(labels) == rows else None
        if places is not None:
            arrays = {name: arrow_column(column) for name, column in columns.items()}
            check_labels(self.table, places, arrays)
        return places

    def owned(self, places: ArrayLike) -> OwnedRows:
        """Return some rows by their numbers, and those of their units."""
        chosen = np.asarray(places, np.int64)
        return OwnedRows(self.units[chosen], self.numbers[chosen])

    def part(self, frame: Any) -> "Microdata":
        """Return rows of this data that somebody chose, or with columns that were made of it.

        Raises RequestError (K025) for rows of other units, or if nothing says which rows they are.
        """
        chosen = Microdata.of(frame, self.unit)
        part = replace(chosen, whole=self.whole or self)
        part.units, part.numbers  # noqa: B018 (both raise)
        return part

    def choose(self, sources: Sequence[Any]) -> "ChosenColumns":
        """Return columns, by name or as series or arrays of values, of the same rows.

        Raises DataError (C005) for a name that is not there, RequestError (K025) where nothing
        says which rows a series is of, or they are not the same.
        """
        chosen = np.arange(self.rows)
        for source in sources:
            if not isinstance(source, str):
                places = self.located(source)
                if len(chosen) != len(places) and len(chosen) != self.rows:
                    raise _unplaced_error(len(places), len(chosen))
                chosen = places
        columns = []
        for number, source in enumerate(sources):
            if isinstance(source, str):
                columns.append((source, self.column(source).take(pa.array(chosen))))
                continue
            if not np.array_equal(self.located(source), chosen):
                raise _unplaced_error(len(source), len(chosen))
            columns.append((_name_of(source, number), arrow_column(source)))
        return ChosenColumns(tuple(columns), self.units[chosen], self.numbers[chosen])


class ChosenColumns(NamedTuple):
    """Columns of the same rows by their names, and the numbers of each row's unit and of the row
    in the whole data."""

    columns: tuple[tuple[str, pa.ChunkedArray], ...]
    units: Counts
    numbers: Counts


def _is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    is_float = pa.types.is_floating(column.type)
    return np.asarray(pc.is_null(column, nan_is_null=is_float).to_numpy(), np.bool_)


def _name_of(source: Any, number: int) -> str:
    name = getattr(source, "name", None)
    return f"column {number + 1}" if name is None else str(name)


def named_columns(source: Any) -> Mapping[str, pa.ChunkedArray]:
    """Return the columns of a frame, or a series, by their names; an array has none."""
    if hasattr(source, "columns") and hasattr(source, "__arrow_c_stream__"):
        table = arrow_table(source)
        return {name: table[name] for name in table.column_names}
    name = getattr(source, "name", None)
    return {} if name is None else {str(name): arrow_column(source)}


def _unplaced_error(rows: int, whole: int) -> PolicyEngineError:
    message = f"Nothing says whose the {rows:,} values are: the data has {whole:,} rows."
    hint = "Give columns by name, whole columns, or pandas series with the index of the data."
    return RequestError.of("K025", message, hint)


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame as an Arrow table. Raises DataError (C010) for what is none."""
    if not hasattr(frame, "__arrow_c_stream__"):
        message = f"This is not a table: {type(frame).__name__}."
        raise DataError.of("C010", message, "Give a pandas, polars or Arrow table, or a path.")
    try:
        # Some libraries fail on what others let pass, so it is asked before and after.
        _check_names(_names_of(frame))
        table = pa.table(with_interval_texts(frame))
        _check_names(table.column_names)
        columns = [_one_zero(_plain_texts(column)) for column in table.columns]
        return pa.table(columns, names=table.column_names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:
        # Of what Arrow has no type for, such as sparse columns, pandas raises a plain TypeError.
        message = f"The table cannot be read: {str(error).splitlines()[0].rstrip('.')}."
        raise DataError.of("C010", message) from None


def _names_of(frame: Any) -> Sequence[str]:
    """Return the names of a frame's columns; those of an Arrow table are read with it."""
    if isinstance(frame, pa.Table):
        return list(frame.column_names)
    return [str(name) for name in getattr(frame, "columns", ["?"])]


def _check_names(names: Sequence[str]) -> None:
    """Raise DataError (C010) for a table without columns, or with two of one name."""
    if not names:
        raise DataError.of("C010", "The table has no columns.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError.of("C010", f"The table has several columns {twice!r}.", "Rename them.")


def arrow_column(source: Any) -> pa.ChunkedArray:
    """Return a series or an array as an Arrow column. Raises DataError (C009) where it is none."""
    try:
        if hasattr(source, "__arrow_c_stream__"):
            return _plain_texts(pa.chunked_array(with_interval_texts(source)))
        return pa.chunked_array([pa.array(source, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError):
        message = f"This is not a column of one type: {type(source).__name__}."
        raise DataError.of("C009", message) from None


def _plain_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts in one type, whichever a library keeps them in."""
    kinds = (pa.string_view(), pa.large_string())
    return column.cast(pa.string()) if column.type in kinds else column


def _one_zero(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers with 0 for -0, which are one value of a key."""
    if column.type not in (pa.float32(), pa.float64()):
        return column
    return pc.add(column, pa.scalar(0.0, column.type))


def coded(name: str, column: pa.ChunkedArray) -> CodedColumn:
    """Return a column as codes of its values; categories keep their order."""
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        labels, codes = array.dictionary.to_pylist(), pc.fill_null(array.indices, -1)
        return _without_unused(name, np.asarray(codes, np.int64), labels)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_nested(array.type) or isinstance(array.type, pa.BaseExtensionType):
        array = pa.array([None if one is None else str(one) for one in array.to_pylist()])
    packed = array.dictionary_encode()
    order = pc.array_sort_indices(packed.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order], ranks[-1] = np.arange(len(order)), -1
    places = np.asarray(pc.fill_null(packed.indices, -1), np.int64)
    return CodedColumn(name, ranks[places], tuple(packed.dictionary.take(order).to_pylist()))


def _without_unused(name: str, codes: Counts, labels: Sequence[Any]) -> CodedColumn:
    used = np.unique(codes[codes >= 0])
    ranks = np.full(len(labels) + 1, -1, np.int64)
    ranks[used] = np.arange(len(used))
    return CodedColumn(name, ranks[codes], tuple(labels[one] for one in used.tolist()))


def feature_matrix(features: Any) -> Figures:
    """Return the numbers of a frame or an array of explanatory variables, (rows, variables).

    Raises DataError (C009) for what are none.
    """
    try:
        if hasattr(features, "__arrow_c_stream__") and not hasattr(features, "to_numpy"):
            table = arrow_table(features)
            matrix = np.column_stack([numbers_of(name, table[name]) for name in table.column_names])
        else:
            matrix = np.asarray(features, np.float64)
    except (TypeError, ValueError):
        raise DataError.of("C009", "The features of a model are columns of numbers.") from None
    if matrix.ndim not in (1, 2) or not matrix.size:
        raise DataError.of("C009", "The features of a model are columns of numbers.")
    if not np.isfinite(matrix).all():
        hint = "Give the rows that the model was fitted to."
        raise DataError.of("C009", "The features have values that are missing or infinite.", hint)
    return matrix[:, None] if matrix.ndim == 1 else matrix


_FLOATS = r"^(-?(0|[1-9][0-9]*)?\.[0-9]+([eE][+-]?[0-9]+)?|-?(0|[1-9][0-9]*))?$"


def with_floats(table: pa.Table) -> pa.Table:
    """Return a table in which texts that are all decimal fractions are floats: with more digits
    than a float keeps, they are no less figures of statistics. Codes with leading zeros stay."""
    columns = []
    for column in table.columns:
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if is_text and _are_floats(column):
            blank = pc.equal(column, "")
            columns.append(pc.if_else(blank, None, column).cast(pa.float64()))
        else:
            columns.append(column)
    return pa.table(columns, names=table.column_names)


def _are_floats(column: pa.ChunkedArray) -> bool:
    is_float = pc.all(pc.match_substring_regex(column, _FLOATS)).as_py()
    return bool(is_float) and bool(pc.any(pc.match_substring(column, ".")).as_py())


def is_numeric(kind: Any) -> bool:
    """Return whether a type is one of numbers, or of yes and no."""
    types = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean
    return any(is_it(kind) for is_it in types)


def numbers_of(name: str, column: pa.ChunkedArray) -> Figures:
    """Return the numbers of a column, (rows,), NaN where it is missing.

    Raises DataError (C009) for a column without numbers.
    """
    kind: Any = column.type
    if not is_numeric(kind):
        raise DataError.of("C009", f"The column {name!r} is not one of numbers: it has {kind}.")
    column = column.cast(pa.int8()) if pa.types.is_boolean(kind) else column
    values: NDArray[np.float64] = np.asarray(column.cast(pa.float64(), safe=False), np.float64)
    return values
