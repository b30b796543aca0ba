"""Finished tables as they lie in files: CSV, Parquet and Excel, cell by cell as text."""

import re
import warnings
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from policy_engine.data.column_names import separator_hint
from policy_engine.data.table_files import missing_file, unreadable_file
from policy_engine.engines.tables import plain_texts, read_table
from policy_engine.errors import DataError, join_names

SHEETS = (".xlsx", ".xlsm")
"""The endings of Excel's files that are read."""
BLANKS = frozenset(
    {"", ".", "..", "...", "x", "*", "-", "\u2013", "c", "s", "na", "nan", "n/a", "null", "none"}
    | {"suppressed", "confidential"}
)
"""What cells say that are withheld, in lower case."""
_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")

_COMMA = re.compile(r"-?([0-9]+,([0-9]{1,2}|[0-9]{4,})|0,[0-9]+|[0-9]{1,3}(\.[0-9]{3})+,[0-9]+)")
_OF_COMMAS = re.compile(r"-?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?")
_POINT = re.compile(r"-?[0-9]*\.[0-9]+")
_MOST_BYTES = 200_000_000
_UNNAMED = re.compile(r"|unnamed: 0", re.IGNORECASE)
_LEAST_COLUMNS = 3

_MARKS = re.compile(r"[\s'\u2019*\u2020\u2021#^~<>=\u2264\u2265()\[\]%$\u20ac\u00a3]|[a-z]$")


class FileCells(NamedTuple):
    """The header of a table, and its rows as texts, empty where there is nothing."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_cells(path: Path) -> dict[str, FileCells]:
    """Return the cells of the tables in a file by their names: of a workbook, one for each sheet
    that has any, which is called by the file and the sheet if there are several.

    Raises DataError where there is no such file (C002), it cannot be read (C003), is of another
    format (C004) or not a table (C010), or openpyxl is missing (C011).
    """
    if path.suffix.lower() in SHEETS:
        sheets = _sheets(path)
        names = [path.stem] if len(sheets) == 1 else [f"{path.stem} {one}" for one in sheets]
        return dict(zip(names, sheets.values(), strict=True))
    table = plain_texts(read_table(path))
    columns = [[_text(one) for one in column.to_pylist()] for column in table.columns]
    rows = tuple(zip(*columns, strict=True))
    return {path.stem: _checked(path, FileCells(tuple(table.column_names), rows))}


def _sheets(path: Path) -> dict[str, FileCells]:
    """Return the sheets of a workbook that are not empty, as they are seen: values, not
    formulas."""
    if find_spec("openpyxl") is None:
        hint = "pip install 'policy-engine[outputs]'."
        raise DataError.of("C011", "openpyxl is not installed.", hint, str(path))
    if not path.is_file():
        raise missing_file(path)
    try:
        with warnings.catch_warnings(action="ignore"):
            values, formulas = (_book(path, is_value=one) for one in (True, False))
            faults = [*_unseen(formulas, values)]
            sheets = {} if faults else {one.title: _lines(one) for one in values.worksheets}
    except OSError as error:
        raise unreadable_file(path, error) from None
    except Exception:  # noqa: BLE001 (openpyxl and what it reads XML with raise many kinds)
        raise DataError.of("C010", "The file is not an Excel workbook.", source=str(path)) from None
    if faults:
        message = f"Not all of the workbook is tables that are seen: it has {faults[0]}."
        hint = "Give a workbook whose sheets have a table alone each, as values, or CSV files."
        raise DataError.of("C010", message, hint, str(path))
    tables = {name: _padded(lines) for name, lines in sheets.items() if lines}
    if not tables:
        tables = {"": FileCells((), ())}
    return {name: _checked(path, cells, name) for name, cells in tables.items()}


def _lines(sheet: Any) -> list[list[str]]:
    rows = sheet.iter_rows(values_only=True)
    return [line for row in rows if any(line := list(map(_text, row)))]


def _padded(lines: list[list[str]]) -> FileCells:
    width = max(len(line) for line in lines)
    padded = [tuple(line + [""] * (width - len(line))) for line in lines]
    return FileCells(padded[0], tuple(padded[1:]))


def _book(path: Path, *, is_value: bool) -> Any:
    import openpyxl  # noqa: PLC0415 (slow to import)

    with ZipFile(path) as parts:
        if sum(one.file_size for one in parts.infolist()) > _MOST_BYTES:
            raise ValueError("The workbook is too large.")
    # All is read: where only what is asked for is, a workbook says itself where its cells end.
    return openpyxl.load_workbook(path, data_only=is_value)


def _unseen(book: Any, values: Any) -> Iterator[str]:
    """Yield what is in a workbook besides the cells that are seen, and where."""
    charts = [one for one in book.sheetnames if one not in {s.title for s in book.worksheets}]
    if charts or not book.worksheets:
        yield f"sheets that are no tables, {join_names(charts or ['none'])}"
        return
    for sheet in book.worksheets:
        where = "" if len(book.worksheets) == 1 else f" in sheet {sheet.title!r}"
        yield from (f"{one}{where}" for one in _unseen_of(sheet, values[sheet.title]))


def _unseen_of(sheet: Any, values: Any) -> Iterator[str]:
    if sheet.sheet_state != "visible":
        yield f"the hidden sheet {sheet.title!r}"
    for noun, dimensions in (("row", sheet.row_dimensions), ("column", sheet.column_dimensions)):
        for name, one in dimensions.items():
            size = one.height if noun == "row" else one.width
            if one.hidden or size == 0:
                yield f"the hidden {noun} {name}"
    for row in sheet.iter_rows():
        for cell in row:
            if cell.comment is not None:
                yield f"a comment at {cell.coordinate}"
            if cell.data_type == "f" and values[cell.coordinate].value is None:
                yield f"a formula without a value at {cell.coordinate}"


def _checked(path: Path, cells: FileCells, sheet: str = "") -> FileCells:
    if len(cells.head) > 1 and cells.rows:
        return cells
    message = "A table of results has a column of labels, one of figures, and rows. It has "
    message += (
        f"{join_names(cells.head) if cells.head else 'no columns'} and {len(cells.rows)} rows."
    )
    source = f"{path}#{sheet}" if sheet else str(path)
    raise DataError.of("C010", message, separator_hint(cells.head), source)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def number_of(text: str) -> float | None:
    """Return the figure that a cell shows, None for one that shows none."""
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    try:
        figure = float(plain)
    except ValueError:
        return None
    return figure if abs(figure) != float("inf") and figure == figure else None  # noqa: PLR0124


def is_marked_number(text: str) -> bool:
    """Tell whether a cell shows a figure with marks or spaces: `2*`, `<5`, `1 030`, `12 %`."""
    return number_of(_MARKS.sub("", text)) is not None and number_of(text) is None


def decimals_of(text: str) -> int:
    """Return how many decimals a cell shows."""
    mantissa, _, exponent = text.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def is_blank(text: str, marks: Collection[str]) -> bool:
    """Tell whether a cell says that a figure is withheld."""
    return text.lower() in marks


def without_row_numbers(cells: FileCells, keys: int) -> tuple[FileCells, int]:
    """Return a table without the column of row numbers that pandas writes first, and how many of
    the columns that are left are labels, of so many `keys` with it."""
    head, rows = cells
    if len(head) < _LEAST_COLUMNS or not _UNNAMED.fullmatch(head[0]) or keys == 1:
        return cells, keys
    numbers = [row[0] for row in rows]
    if all(numbers != [str(first + place) for place in range(len(rows))] for first in (0, 1)):
        return cells, keys
    return FileCells(head[1:], tuple(row[1:] for row in rows)), max(keys - 1, 0)


def with_points(cells: FileCells, path: Path) -> FileCells:
    """Return a table whose figures have decimal points; those of decimal commas are read as such.

    Raises DataError (C010) for a table that has figures of both kinds.
    """
    texts = [text for row in cells.rows for text in row[1:]]
    commas = [one for one in texts if _COMMA.fullmatch(one)]
    if not commas:
        return cells
    points = [one for one in texts if _POINT.fullmatch(one) and not _OF_COMMAS.fullmatch(one)]
    if points:
        message = f"Figures have decimal commas and points: {commas[0]!r} and {points[0]!r}."
        raise DataError.of("C010", message, "Write all of them with points.", str(path))
    rows = tuple((row[0], *map(_with_point, row[1:])) for row in cells.rows)
    return FileCells(cells.head, rows)


def _with_point(text: str) -> str:
    if not _OF_COMMAS.fullmatch(text):
        return text
    return text.replace(".", "").replace(",", ".")
