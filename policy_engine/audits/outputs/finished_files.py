"""Finished tables as they lie in files: CSV, Parquet and Excel, cell by cell as text."""

import re
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

from policy_engine.data.table_files import missing_file, unreadable_file
from policy_engine.engines.tables import plain_texts, read_table
from policy_engine.errors import DataError, join_names

SHEETS = (".xlsx", ".xlsm")
"""The endings of Excel's files that are read."""
_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")

_MARKS = re.compile(r"[\s'\u2019*\u2020\u2021#^~<>=\u2264\u2265()\[\]%$\u20ac\u00a3]|[a-z]$")


class FileCells(NamedTuple):
    """The header of a table, and its rows as texts, empty where there is nothing."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_cells(path: Path) -> FileCells:
    """Return the cells of a table.

    Raises DataError where there is no such file (C002), it cannot be read (C003), is of another
    format (C004) or not a table (C010), or openpyxl is missing (C011).
    """
    if path.suffix.lower() in SHEETS:
        return _sheet(path)
    table = plain_texts(read_table(path))
    columns = [[_text(one) for one in column.to_pylist()] for column in table.columns]
    rows = tuple(zip(*columns, strict=True))
    return _checked(path, FileCells(tuple(table.column_names), rows))


def _sheet(path: Path) -> FileCells:
    """Return the first sheet of a workbook: values, not formulas."""
    if find_spec("openpyxl") is None:
        hint = "pip install 'policy-engine[outputs]'."
        raise DataError.of("C011", "openpyxl is not installed.", hint, str(path))
    import openpyxl  # noqa: PLC0415 (slow to import)
    from openpyxl.utils.exceptions import InvalidFileException  # noqa: PLC0415

    if not path.is_file():
        raise missing_file(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        lines = [list(map(_text, row)) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except OSError as error:
        raise unreadable_file(path, error) from None
    except (BadZipFile, InvalidFileException, KeyError, ValueError):
        raise DataError.of("C010", "The file is not an Excel workbook.", source=str(path)) from None
    lines = [line for line in lines if any(line)]
    width = max((len(line) for line in lines), default=0)
    padded = [tuple(line + [""] * (width - len(line))) for line in lines]
    return _checked(path, FileCells(padded[0] if padded else (), tuple(padded[1:])))


def _checked(path: Path, cells: FileCells) -> FileCells:
    if len(cells.head) > 1 and cells.rows:
        return cells
    message = "A table of results has a column of labels, one of figures, and rows. It has "
    message += (
        f"{join_names(cells.head) if cells.head else 'no columns'} and {len(cells.rows)} rows."
    )
    raise DataError.of("C010", message, source=str(path))


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
