"""A generator in files: a description (JSON), and what it has learnt (npz); neither holds code.

`generator.json` has the `format`, the `synthesiser` with its settings, the name and the type of
each of the `columns` in the order in which they are drawn, and the `sha256` of the other file.
`generator.npz` has these arrays and no others, of at most 64 MiB or 100 times its own size. For
each column, `values_0`, `values_1`... are the bytes of a list in JSON of its values as texts, in
their order, null for missing cells; a time of day is how many of its units have passed since
midnight. What else it has is of the synthesiser:

- `independent-marginals`: `counts_0`..., how many rows have each value;
- `gaussian-copula`: `counts_0`..., and `root`, whose product with its transpose has the
  correlations of ranks as normal numbers;
- `sequential-trees`: `counts_0` of the first column, and of each other one a tree, by
  `left_1`, `right_1`, `feature_1`, `threshold_1` (of nodes), and `leaf_1`, `code_1` and `count_1`:
  how many rows of a leaf have a value. Trees split by what each column before gives, in order: of
  numbers and times the rank, of 3 to 32 categories whether it is each one, of others the place.
"""

import hashlib
import json
import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine import terms
from policy_engine.engines.arrays import value_type
from policy_engine.engines.synthesising.coding import AnyColumn, ColumnValues, LearntTable
from policy_engine.engines.synthesising.counted import Arrays
from policy_engine.engines.synthesising.packed_arrays import packed_arrays, unpacked_arrays
from policy_engine.engines.synthesising.released_generator import (
    ReleasedGenerator,
    array_names,
    stored,
)
from policy_engine.errors import DataError, OutputError, Problem
from policy_engine.methods.synthesiser import Synthesiser, synthesiser_class

DESCRIPTION, ARRAYS = "generator.json", "generator.npz"
FORMAT = "policy-engine generator 1"
_PLAIN = (
    *("bool", "string", "large_string", "halffloat", "float", "double"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("date32[day]", "date64[ms]", "time32[s]", "time32[ms]", "time64[us]", "time64[ns]"),
    *(f"timestamp[{unit}]" for unit in ("s", "ms", "us", "ns")),
)
_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), tz=([A-Za-z0-9_+:/-]{1,40})\]")
_DECIMAL = re.compile(r"decimal(128|256)\(([0-9]{1,2}), (-?[0-9]{1,2})\)")


class Learnt(Protocol):
    """A generator that has learnt a table, as far as files hold it."""

    def arrays(self) -> Arrays:
        """Return what a file holds of it, by name."""
        ...


def write_generator(
    folder: Path, table: LearntTable, synthesiser: Synthesiser, learnt: Learnt
) -> None:
    """Write a generator that has learnt a table into a folder, the same byte by byte for the same.

    Raises DataError (C009) with all columns whose values texts do not tell, OutputError (O002).
    """
    texts = [*_all_texts(table.columns)]
    values = {f"values_{place}": _as_bytes(one) for place, one in enumerate(texts)}
    packed = packed_arrays({**values, **learnt.arrays()})
    columns = [
        {"name": one.field.name, "type": str(value_type(one.field.type))} for one in table.columns
    ]
    description = {
        "format": FORMAT,
        "synthesiser": synthesiser.model_dump(mode="json"),
        "columns": columns,
        "sha256": hashlib.sha256(packed).hexdigest(),
    }
    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    try:
        (folder / ARRAYS).write_bytes(packed)
        (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"The generator cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(folder)) from None


def read_generator(folder: Path) -> ReleasedGenerator:
    """Return the generator in a folder. Nothing in it is run, whoever made it.

    Raises DataError where a file is not there (C002) or cannot be read (C003), and where they are
    not those of one generator (C017).
    """
    text, packed = (_bytes_of(folder / name) for name in (DESCRIPTION, ARRAYS))
    try:
        return _generator(text, packed)
    except _MALFORMED as error:
        message = f"The files are not those of a generator ({type(error).__name__})."
        hint = "Get them anew from whoever released them."
        raise DataError(
            Problem("C017", message, hint, values=(str(error),)), source=str(folder)
        ) from None


_MALFORMED = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError),
    *(OSError, EOFError, struct.error, zipfile.BadZipFile, zlib.error, pa.ArrowException),
)
"""All that reading files raises that others made: what is in them decides what fails."""


def _generator(text: bytes, packed: bytes) -> ReleasedGenerator:
    description = json.loads(text)
    if description["format"] != FORMAT:
        raise ValueError("the format is another one")
    if description["sha256"] != hashlib.sha256(packed).hexdigest():
        raise ValueError("the digest of the arrays is another one than is described")
    synthesiser = _synthesiser(description["synthesiser"])
    places = range(len(description["columns"]))
    names = [f"values_{place}" for place in places] + array_names(synthesiser, len(places))
    arrays = unpacked_arrays(packed, names)
    columns = tuple(
        _column(one, arrays[f"values_{place}"]) for place, one in enumerate(description["columns"])
    )
    names = [one.field.name for one in columns]
    if not columns or len({*names}) < len(names):
        raise ValueError("no columns, or two of one name")
    return ReleasedGenerator(synthesiser, columns, stored(synthesiser, columns, arrays))


def _synthesiser(facts: Mapping[str, Any]) -> Synthesiser:
    notation = facts["synthesiser"]
    if notation not in terms.synthesisers():
        raise ValueError("a synthesiser that there is not")
    return synthesiser_class(notation)(**facts)


def _column(facts: Mapping[str, Any], packed: NDArray[Any]) -> ColumnValues:
    kind = _type_of(facts["type"])
    if packed.dtype != np.uint8:
        raise ValueError("values are bytes")
    texts = json.loads(packed.tobytes())
    if not texts or not all(one is None or isinstance(one, str) for one in texts):
        raise ValueError("values are texts")
    if len({*texts}) < len(texts) or None in texts[:-1]:
        raise ValueError("a value is there twice, or the missing one is not the last")
    values = _values(pa.array(texts, pa.string()), kind)
    return ColumnValues.of(pa.field(_name_of(facts["name"]), kind), values)


def _name_of(name: object) -> str:
    """Return the name of a column. Raises ValueError where it is none, or steers a terminal."""
    if not isinstance(name, str) or any(unicodedata.category(one) in _CONTROLS for one in name):
        raise ValueError("a name of a column that is not a text, or has control characters")
    return name


_CONTROLS = ("Cc", "Cs")


def _type_of(text: str) -> pa.DataType:
    """Return a type of Arrow by its text. Raises ValueError for those that no file has."""
    if text in _PLAIN:
        return pa.type_for_alias(text)
    if zoned := _ZONED.fullmatch(text):
        return pa.timestamp(*zoned.groups())
    if decimal := _DECIMAL.fullmatch(text):
        bits, *sizes = map(int, decimal.groups())
        return pa.decimal128(*sizes) if bits == 128 else pa.decimal256(*sizes)
    raise ValueError("a type that no file has")


def _bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise DataError.of("C002", f"There is no file {str(path)!r}.", source=str(path))
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        raise DataError.of("C003", message, source=str(path)) from None


def _all_texts(columns: tuple[AnyColumn, ...]) -> Iterator[list[str | None]]:
    """Yield the values of each column as texts. Raises DataError (C009) with all columns whose
    values cannot be got back from texts."""
    problems = []
    for one in columns:
        texts = _texts(one)
        if texts is None:
            kind = value_type(one.field.type)
            message = f"No file holds the values of {one.field.name!r}: its type is {kind}."
            hint = "Leave the column out, or give it as numbers, times or texts."
            problems.append(Problem("C009", message, hint))
        else:
            yield texts
    if problems:
        raise DataError(*problems)


def _texts(column: AnyColumn) -> list[str | None] | None:
    kind = value_type(column.field.type)
    try:
        texts = _as_texts(column.values)
        again = _as_texts(_values(texts, _type_of(str(kind))))
    except (ValueError, pa.ArrowException):
        return None
    values: list[str | None] = texts.to_pylist()
    return values if again.equals(texts) and len({*values}) == len(values) else None


def _as_texts(values: pa.Array) -> pa.Array:
    return values.cast(_counted(values.type) or pa.string()).cast(pa.string())


def _values(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    counted = _counted(kind)
    return texts.cast(counted).cast(kind) if counted else texts.cast(kind)


def _counted(kind: pa.DataType) -> pa.DataType | None:
    """Return the integers that times of day are, which Arrow does not read from texts."""
    if pa.types.is_time(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    return None


def _as_bytes(texts: list[str | None]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts, ensure_ascii=False).encode(), np.uint8)
