"""Tables that Python has at hand and has not computed or read yet: queries, datasets, readers.

Which library made one is told by its module, so that none has to be imported.
"""

from collections.abc import Callable
from typing import Any

from policy_engine.errors import DataError


def computed(source: Any) -> Any:
    """Return what pyarrow takes as a table: lazy frames collected, datasets and scanners read.

    Whatever is not one of these is returned as it is. Raises DataError (C010) where a query fails;
    what its library says is not passed on, since it may quote values.
    """
    compute = _COMPUTED.get((_library(source), type(source).__name__))
    if compute is None:
        return source
    try:
        return computed(compute(source))
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 (a query runs what its user wrote)
        message = f"A {type(source).__name__} could not be computed ({type(error).__name__})."
        hint = "Compute it before, to see what its library says: give the table that comes of it."
        raise DataError.of("C010", message, hint) from None


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _collect(source: Any) -> Any:
    return source.collect()


def _to_table(source: Any) -> Any:
    return source.to_table()


def _read_all(source: Any) -> Any:
    return source.read_all()


def _to_arrow(source: Any) -> Any:
    return source.to_arrow_table()


def _to_native(source: Any) -> Any:
    return source.to_native()


_COMPUTED: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("polars", "LazyFrame"): _collect,
    **{
        ("pyarrow", name): _to_table
        for name in ("Dataset", "FileSystemDataset", "InMemoryDataset", "UnionDataset", "Scanner")
    },
    ("pyarrow", "RecordBatchReader"): _read_all,
    ("duckdb", "DuckDBPyRelation"): _to_arrow,
    ("narwhals", "DataFrame"): _to_native,
    ("narwhals", "LazyFrame"): _to_native,
}
