"""Finished tables that are frames in memory: written as they would be handed in, and read again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policy_engine.errors import RequestError

_NAME = "table"


@contextmanager
def result_files(tables: Any) -> Iterator[list[Path]]:
    """Yield the paths of tables: those that were given, and of frames CSV files that are there
    meanwhile.

    A frame is one of pandas, polars or whatever else gives Arrow a stream. The index of pandas
    becomes columns of labels, unless it only numbers the rows; so does that of a series.

    Raises RequestError (K025) for no table at all, and for what is neither a path nor a frame, or
    has columns of several levels, which no file has.
    """
    is_one = isinstance(tables, str) or not isinstance(tables, Sequence)
    sources = [tables] if is_one else [*tables]
    if not sources:
        raise RequestError.of("K025", "No table is given.", "Give the path of one, or of several.")
    with TemporaryDirectory(prefix="policy-engine-") as folder:
        yield [
            Path(one) if isinstance(one, str | Path) else _written(one, Path(folder), number)
            for number, one in enumerate(sources, 1)
        ]


def _written(frame: Any, folder: Path, number: int) -> Path:
    """Return a file with what a frame shows."""
    path = folder / (f"{_NAME}.csv" if number == 1 else f"{_NAME} {number}.csv")
    try:
        _write(frame, path)
    except RequestError:
        raise
    except Exception:  # noqa: BLE001 (each library has its own errors, and may quote cells)
        message = f"A {type(frame).__name__} cannot be written as a table of texts and figures."
        hint = "Give columns of different names, without lists or structures in their cells."
        raise RequestError.of("K025", message, hint) from None
    return path


def _write(frame: Any, path: Path) -> None:
    """Write what a frame shows to a file of CSV. Raises RequestError, and what libraries raise."""
    if hasattr(frame, "to_csv"):
        _labelled(frame).to_csv(path, index=False)
    elif hasattr(frame, "write_csv"):
        frame.write_csv(path)
    elif hasattr(frame, "__arrow_c_stream__"):
        import pyarrow as pa  # noqa: PLC0415 (slow to import)
        from pyarrow import csv  # noqa: PLC0415 (slow to import)

        csv.write_csv(pa.table(frame), path)
    else:
        message = f"A table is a path or a frame. Given: {type(frame).__name__}."
        raise RequestError.of("K025", message, "Give a frame, or a file of CSV, Parquet or Excel.")


def _labelled(frame: Any) -> Any:
    """Return a frame of pandas whose index is columns of labels."""
    is_series = not hasattr(frame, "columns")
    plain = frame.to_frame("value" if frame.name is None else frame.name) if is_series else frame
    if plain.columns.nlevels > 1:
        message = f"A table has a line of names on top. This one has {plain.columns.nlevels}."
        hint = "Give each measure in a frame of its own, or name columns by one level."
        raise RequestError.of("K025", message, hint)
    named = plain.set_axis([str(one) for one in plain.columns], axis=1)
    index = named.index
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return named
    labels = [f"key {n}" if one is None else str(one) for n, one in enumerate(index.names, 1)]
    return named.reset_index(names=labels)
