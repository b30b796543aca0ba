"""Read tables in files with types of their own: JSON lines, Arrow, workbooks, statistics.

What libraries say of damaged files is not passed on, since it may quote values.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from policy_engine.data.csv_reading import check_is_header
from policy_engine.data.sheets import split_sheet
from policy_engine.errors import DataError, did_you_mean, join_names

if TYPE_CHECKING:
    import pyarrow as pa

JSON_LINES = ("jsonl", "ndjson")
ARROW = ("arrow", "feather")
WORKBOOKS = ("xlsx", "xls", "ods")
STATISTICS = ("sav", "dta", "sas7bdat", "xpt")
_BLOCK = 1 << 25  # bytes; no line may be longer
_EXACT = 2**53
"""Up to it, a float is the integer that it was."""


def read_typed(path: Path, kind: str) -> "pa.Table":
    """Return the table of a file.

    Raises DataError where it cannot be read (C010), holds numbers that no type has (C009), or the
    package that reads it is missing (C011); OSError.
    """
    with _read_errors(path, kind):
        if kind in JSON_LINES:
            return _read_json_lines(path)
        if kind in ARROW:
            return _read_arrow(path)
        return _read_workbook(path) if kind in WORKBOOKS else _read_statistics(path, kind)


def typed_names(path: Path, kind: str) -> tuple[str, ...]:
    """Return the names of a file's columns, without its rows where that can be. Raises as
    `read_typed`."""
    with _read_errors(path, kind):
        if kind in STATISTICS:
            return tuple(_statistics(path, kind, metadataonly=True)[1].column_names)
        if kind in ARROW:
            return _arrow_names(path)
    return tuple(read_typed(path, kind).column_names)


@contextmanager
def _read_errors(path: Path, kind: str) -> Iterator[None]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    try:
        yield
    except (pa.ArrowException, ValueError, TypeError, LookupError, OverflowError):
        message = f"The file is not a .{kind} file of one table, or it is damaged."
        hint = "Each line is one object, with the same type in each field." * (kind in JSON_LINES)
        raise DataError.of("C010", message, hint, str(path)) from None


def _read_json_lines(path: Path) -> "pa.Table":
    """Return the table of JSON lines; texts stay texts, also where they look like times."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    from pyarrow import json  # noqa: PLC0415

    options = json.ReadOptions(use_threads=False, block_size=_BLOCK)
    table = json.read_json(path, read_options=options)
    times = [one.name for one in table.schema if pa.types.is_temporal(one.type)]
    if times:
        texts = pa.schema([(name, pa.string()) for name in times])
        table = json.read_json(
            path,
            read_options=options,
            parse_options=json.ParseOptions(explicit_schema=texts),
        ).select(table.column_names)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_floating(field.type):
            _check_exact(field.name, column, path)
    return table


def _check_exact(name: str, column: Any, path: Path) -> None:
    """Raise DataError (C009) for integers that are too large for a type, and would be rounded."""
    import pyarrow.compute as pc  # noqa: PLC0415 (slow to import)

    if (pc.max(pc.abs(column)).as_py() or 0) >= _EXACT:
        message = f"The column {name!r} has numbers of 2**53 or more, which would be rounded."
        raise DataError.of("C009", message, "Write them as texts.", str(path))


def _read_arrow(path: Path) -> "pa.Table":
    """Return the table of an Arrow IPC file or stream, or of a Feather file."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    from pyarrow import feather, ipc  # noqa: PLC0415

    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        if magic == b"ARROW1":
            table = ipc.open_file(file).read_all()
        elif magic[:4] == b"FEA1":
            table = feather.read_table(path, memory_map=False)
        else:
            table = ipc.open_stream(file).read_all()
    table.validate(full=True)
    return table


def _arrow_names(path: Path) -> tuple[str, ...]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    from pyarrow import ipc  # noqa: PLC0415

    with pa.OSFile(str(path)) as file:
        if file.read(6) == b"ARROW1":
            file.seek(0)
            return tuple(ipc.open_file(file).schema.names)
    return tuple(_read_arrow(path).column_names)


def _read_workbook(path: Path) -> "pa.Table":
    """Return the table of a sheet: its first row has the names, empty cells are missing."""
    _check_installed("python_calamine", "python-calamine", "excel", path)
    import python_calamine as calamine  # noqa: PLC0415 (as used)

    file, name = split_sheet(path)
    try:
        book = calamine.CalamineWorkbook.from_path(str(file))
        sheet = name or book.sheet_names[0]
        if sheet not in book.sheet_names:
            message = f"The workbook has no sheet {sheet!r}. It has {join_names(book.sheet_names)}."
            hint = did_you_mean(sheet, book.sheet_names)
            raise DataError.of("C010", message, hint, str(file))
        rows = book.get_sheet_by_name(sheet).to_python()
    except calamine.CalamineError:
        raise ValueError(path) from None
    if file.suffix.lower() == ".xlsx":
        _check_computed(file)
    return _sheet_table(rows, path)


def _check_computed(path: Path) -> None:
    """Raise DataError (C010) where cells have formulas and no values, which would be missing: the
    program that wrote them computes nothing."""
    with ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and _UNCOMPUTED.search(archive.read(name)):
                message = "The workbook has formulas whose values were never computed."
                hint = "Open it in a spreadsheet program, and save it."
                raise DataError.of("C010", message, hint, str(path))


_UNCOMPUTED = re.compile(rb"(</f>|<f\b[^>]*/>)\s*(<v\s*/>|<v>\s*</v>)?\s*</c>")


def _sheet_table(rows: Sequence[Sequence[Any]], path: Path) -> "pa.Table":
    """Return the table of a sheet's rows, without columns and rows in which nothing is."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    if not rows:
        raise DataError.of("C010", "The sheet is empty.", source=str(path))
    header, cells = rows[0], [row for row in rows[1:] if any(one not in ("", None) for one in row)]
    columns = [
        [row[place] if place < len(row) else None for row in cells] for place in range(len(header))
    ]
    filled = [
        (_text(name), column)
        for name, column in zip_longest(header, columns, fillvalue=())
        if name != "" or any(one not in ("", None) for one in column)
    ]
    names = [name for name, _ in filled]
    if names.count("") > len(names) / 2:
        named = len(names) - names.count("")
        message = f"The first row names {named} of {len(names)} columns: is it a title?"
        hint = "Delete what is above the row with the names of the columns."
        raise DataError.of("C010", message, hint, str(path))
    check_is_header(names, path)
    return pa.Table.from_arrays([to_column(column) for _, column in filled], names=names)


def _read_statistics(path: Path, kind: str) -> "pa.Table":
    """Return the table of a file of SPSS, Stata or SAS: codes, not their labels; what is declared
    as missing is missing, and so are empty texts."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    columns, about = _statistics(path, kind)
    names = list(about.column_names)
    return pa.Table.from_arrays([to_column(columns[name]) for name in names], names=names)


def _statistics(path: Path, kind: str, **options: Any) -> tuple[Any, Any]:
    _check_installed("pyreadstat", "pyreadstat", "statistics", path)
    import pyreadstat  # noqa: PLC0415 (as used)

    readers: dict[str, Any] = {
        "sav": pyreadstat.read_sav,
        "dta": pyreadstat.read_dta,
        "sas7bdat": pyreadstat.read_sas7bdat,
        "xpt": pyreadstat.read_xport,
    }
    try:
        columns, about = readers[kind](str(path), output_format="dict", **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        raise ValueError(path) from None
    if not all(isinstance(name, str) for name in about.column_names):
        raise ValueError(path)
    return columns, about


def _check_installed(module: str, package: str, extra: str, path: Path) -> None:
    """Raise DataError (C011) where a package is missing."""
    if find_spec(module) is None:
        hint = f"pip install 'policy-engine[{extra}]'."
        raise DataError.of("C011", f"{package} is not installed.", hint, str(path))


def to_column(values: Sequence[Any]) -> "pa.Array":
    """Return cells as a column of one type.

    Whole numbers alone are integers; numbers, dates or truth values beside texts, or beside one
    another, are texts; empty ones are missing.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    cells = [None if one is None or one == "" or one != one else one for one in values]  # noqa: PLR0124 (NaN)
    kinds = {type(one) for one in cells if one is not None}
    if kinds and kinds <= {int, float}:
        are_whole = all(one is None or _is_whole(one) for one in cells)
        numbers = [one if one is None or not are_whole else int(one) for one in cells]
        return pa.array(numbers, pa.int64() if are_whole else pa.float64())
    if kinds in ({date, datetime}, {datetime}):
        times = [datetime.combine(one, time()) if type(one) is date else one for one in cells]
        return pa.array(times, pa.timestamp("us"))
    types = {bool: pa.bool_(), date: pa.date32(), time: pa.time64("us"), str: pa.string()}
    if len(kinds) == 1 and kinds <= {*types}:
        return pa.array(cells, types[kinds.pop()])
    return pa.array([None if one is None else _text(one) for one in cells], pa.string())


def _is_whole(number: float) -> bool:
    return abs(number) < _EXACT and number == int(number)


def _text(cell: Any) -> str:
    is_whole = isinstance(cell, float) and _is_whole(cell)
    return str(int(cell)) if is_whole else str(cell)
