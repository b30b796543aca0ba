"""What a CSV file says of its own format: delimiter, encoding and decimals, where they are sure."""

import codecs
import csv
import gzip
import io
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from policy_engine.data.csv_format import CsvFormat, declared_format, tell_format
from policy_engine.data.text_encodings import (
    UTF_8,
    WESTERN,
    foreign_words,
    is_western,
    marked_encoding,
)
from policy_engine.errors import DataError, PolicyEngineError

_SAMPLE, _ROWS = 1 << 18, 1_000
_BLOCK, _MOST_WORDS = 1 << 23, 1_000_000
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATORS = (";", "\t")
_SEP_LINE = re.compile(r'"?sep=.?"?[\r\n]', re.IGNORECASE)
_NAMES = {"\t": "tabs", WESTERN: "Windows-1252", "utf-16": "UTF-16", UTF_8: "UTF-8"}
ENCODING_HINT = "Name its encoding: CsvFormat(encoding=NAME)."
DELIMITER_HINT = "Say what separates its cells: CsvFormat(delimiter=MARK)."
DECIMAL_HINT = "Say what their decimals are written with: CsvFormat(decimal=MARK)."

COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
POINT_NUMBER = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
GROUPED_NUMBER = re.compile(
    r"[+-]?[1-9][0-9]{0,2}(?:([.\s'\u2019])[0-9]{3})(?:\1[0-9]{3})*(?:,[0-9]+)?"
)
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}")
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]+)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


def open_bytes(path: Path) -> IO[bytes]:
    """Return the bytes of a CSV file, unpacked."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[bytes] = opener(path, "rb")
    return file


def open_text(path: Path, encoding: str, errors: str = "strict") -> IO[str]:
    """Return the text of a CSV file, unpacked, without a mark of its encoding."""
    name = "utf-8-sig" if encoding == UTF_8 else encoding
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[str] = opener(path, "rt", encoding=name, newline="", errors=errors)
    return file


def csv_format(path: Path) -> CsvFormat:
    """Return how a file is written: as was said, else as its beginning shows.

    A file that shows nothing else is UTF-8 with commas; what else was found out is told. A decimal
    that is empty was not seen in its beginning. Raises DataError (C008, C010) where it could be
    read in two ways.
    """
    declared = declared_format(path)
    with open_bytes(path) as file:
        sample = file.read(_SAMPLE)
    encoding = declared.encoding or _encoding(sample, path)
    rest = sample if len(sample) < _SAMPLE else sample[: sample.rfind(b"\n") + 1] or sample
    text = _decoded(rest, encoding)
    _refuse_sep_line(text, path)
    delimiter = declared.delimiter or _delimiter(text, path)
    decimal = declared.decimal or ("." if delimiter == "," else _decimal(text, delimiter, path))
    form = CsvFormat(delimiter, encoding, decimal)
    _tell(path, declared, form)
    return form


def _refuse_sep_line(text: str, path: Path) -> None:
    """Raise DataError (C010) for the line in which Excel is told what separates cells."""
    if _SEP_LINE.match(text):
        message = "The first line says what separates cells, for Excel alone."
        hint = f"Leave the line out. {DELIMITER_HINT}"
        raise DataError.of("C010", message, hint, str(path))


def _tell(path: Path, declared: CsvFormat, form: CsvFormat) -> None:
    """Say once what was taken, where it is not UTF-8 with commas and nobody has said it."""
    is_known = {
        "encoding": bool(declared.encoding) or form.encoding == UTF_8,
        "delimiter": bool(declared.delimiter) or form.delimiter == ",",
        "decimal": bool(declared.decimal) or form.decimal != ",",
    }
    if all(is_known.values()):
        return
    parts = _NAMES.get(form.encoding, form.encoding)
    parts += f" with {_NAMES.get(form.delimiter, form.delimiter)} between cells"
    parts += " and , in decimals" if form.decimal == "," else ""
    tell_format(f"{path.name}: read as {parts}")


def tell_western(path: Path) -> None:
    """Say that a file was found to be Windows-1252 beyond its beginning."""
    if not declared_format(path).encoding:
        tell_format(f"{path.name}: read as {_NAMES[WESTERN]}")


def _encoding(sample: bytes, path: Path) -> str:
    marked = marked_encoding(sample)
    if marked:
        return marked
    if sample.count(0) > len(sample) // 4:
        message = "The file seems to be UTF-16, without the mark by which that is known."
        raise DataError.of("C008", message, ENCODING_HINT, str(path))
    return UTF_8 if _is_utf_8(sample) or not is_western_file(path) else WESTERN


def _is_utf_8(text: bytes) -> bool:
    try:
        codecs.getincrementaldecoder(UTF_8)().decode(text)
    except UnicodeDecodeError:
        return False
    return True


def is_western_file(path: Path) -> bool:
    """Tell whether a file can be nothing but Windows-1252."""
    words: set[bytes] = set()
    with open_bytes(path) as file:
        while block := file.read(_BLOCK):
            words |= foreign_words(block + file.readline(_BLOCK))
            if len(words) > _MOST_WORDS:
                return False
    return is_western(words)


def _decoded(text: bytes, encoding: str) -> str:
    name = "utf-8-sig" if encoding == UTF_8 else encoding
    return codecs.getincrementaldecoder(name)("replace").decode(text)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows of a text, as far as they can be read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _ROWS))
    return [row for row in rows if row]


def _delimiter(text: str, path: Path) -> str:
    """Return what separates cells. Raises DataError (C010) where only some rows have it."""
    header, _, rows = _bare_lines(text)
    marks = [mark for mark in _SEPARATORS if mark in header]
    if not marks or "," in header:
        return ","
    widths = {mark: {len(row) for row in _rows(text, mark)} for mark in marks}
    fitting = [mark for mark, several in widths.items() if len(several) == 1]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and not any(mark in rows for mark in marks):
        return ","  # a name with semicolons in it, of the only column
    names = " or ".join(_NAMES.get(mark, "semicolons") for mark in marks)
    message = f"The header has {names} and no commas, and other rows have not as many of them."
    if fitting:
        message = "The cells could be separated by semicolons or by tabs."
    raise DataError.of("C010", message, DELIMITER_HINT, str(path))


def _bare_lines(text: str) -> tuple[str, str, str]:
    """Return a text without what is in quotes: its first line, a line break, and the others."""
    return _QUOTED.sub("", text).replace("\r", "\n").lstrip("\n").partition("\n")


def _decimal(text: str, delimiter: str, path: Path) -> str:
    """Return what decimals are written with, empty where none is seen.

    Raises DataError (C010) where commas and points are, or they could be those of thousands.
    """
    width, *rows = _rows(text, delimiter) or [[]]
    columns = [
        [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        for place in range(len(width))
    ]
    commas = [one for one in columns if has_comma_numbers(one)]
    points = [one for one in columns if has_point_numbers(one)]
    if commas and points:
        message = "Some columns have decimal commas, others decimal points."
        raise DataError.of("C010", message, DECIMAL_HINT, str(path))
    mark = "," if commas else "." if points else ""
    cells = [cell for one in (commas or points) for cell in one if mark in cell]
    if cells and all(map(_THOUSANDS.fullmatch, cells)):
        name = "commas" if commas else "points"
        message = f"The {name} in numbers could be those of thousands or those of decimals."
        raise DataError.of("C010", message, DECIMAL_HINT, str(path))
    return mark


def has_comma_numbers(cells: Sequence[str]) -> bool:
    """Tell whether the cells of a column are numbers, and some have decimals after commas."""
    return _are_numbers(cells, COMMA_NUMBER, GROUPED_NUMBER) and any("," in one for one in cells)


def has_point_numbers(cells: Sequence[str]) -> bool:
    """Tell whether the cells of a column are numbers, and some have decimals after points."""
    return _are_numbers(cells, POINT_NUMBER) and any("." in one for one in cells)


def _are_numbers(cells: Sequence[str], *kinds: re.Pattern[str]) -> bool:
    kinds = (WHOLE_NUMBER, *kinds)
    figures = [one for one in cells if any(map(str.isdigit, one))]
    return bool(figures) and all(any(kind.fullmatch(one) for kind in kinds) for one in figures)


def check_is_header(names: Sequence[str], path: Path) -> None:
    """Raise DataError (C010) for a first line of numbers and dates, which is a row of data.

    Years, and numbers that count columns, are names.
    """
    cells = [name.strip() for name in names]
    if not cells or not all(_NUMBER.fullmatch(one) or _DATE.fullmatch(one) for one in cells):
        return
    if all(one.isdecimal() and one.isascii() for one in cells):
        numbers = [int(one) for one in cells]
        are_years = all(_FIRST_YEAR <= one <= _LAST_YEAR for one in numbers)
        if are_years or numbers in (
            [*range(len(numbers))],
            [*range(1, len(numbers) + 1)],
        ):
            return
    message = "The first line has only numbers and dates: it looks like data, not like a header."
    raise DataError.of("C010", message, "Write the names of the columns above it.", str(path))


def to_points(texts: Sequence[str], fail: Callable[[str], PolicyEngineError]) -> list[str] | None:
    """Return the distinct cells of a column with points for the commas of decimals, and without
    the marks between thousands; None for a column of other texts.

    Raises the error that `fail` makes of what is wrong where they could be read in two ways.
    """
    cells = [one.strip() for one in texts]
    if has_comma_numbers(cells) or _are_numbers(cells, GROUPED_NUMBER):
        pointed = [one for one in cells if "." in one]
        if pointed and not any(one.count(".") > 1 or "," in one for one in pointed):
            raise fail("points that could be between thousands or before decimals")
        return [_with_point(cell, text) for cell, text in zip(cells, texts, strict=True)]
    if _are_numbers(cells, COMMA_NUMBER, POINT_NUMBER, GROUPED_NUMBER):
        raise fail("decimals with points")
    return None


def _with_point(cell: str, text: str) -> str:
    if COMMA_NUMBER.fullmatch(cell):
        return cell.replace(",", ".")
    match = GROUPED_NUMBER.fullmatch(cell)
    return cell.replace(match[1], "").replace(",", ".") if match else text
