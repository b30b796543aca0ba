"""Write frames with Spark, and compute the digests that show whether they were changed."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.data import storage
from policy_engine.engines.masking.cells import number_texts
from policy_engine.engines.spark.catalog_tables import sql_name
from policy_engine.engines.spark.failures import cause, explain_error
from policy_engine.engines.spark.files import check_there, list_files, uri_path
from policy_engine.engines.spark.hashing import MOST_HASHED
from policy_engine.engines.spark.jobs import is_connected
from policy_engine.engines.spark.reading import column
from policy_engine.engines.spark.session import session_master
from policy_engine.engines.spark.values import Task, map_in_tasks
from policy_engine.engines.tables import check_writable
from policy_engine.errors import OutputError, PolicyEngineError

_LANES = 8
_CSV: dict[str, bool | str] = {
    "header": True,
    "quote": '"',
    "escape": '"',
    "charToEscapeQuoteEscaping": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "nullValue": "",
    "emptyValue": '""',
    "lineSep": "\n",
    "encoding": "UTF-8",
}
_OPTIONS: dict[str, dict[str, bool | str]] = {
    "csv": {**_CSV, "compression": "none"},
    "csv.gz": {**_CSV, "compression": "gzip"},
    "parquet": {"compression": "zstd"},
    "orc": {"compression": "zstd"},
    "json": {"ignoreNullFields": False},
}
_TIMES = "spark.sql.parquet.outputTimestampType"
_SETTING = Lock()

_SIMPLE = (types.StringType, types.IntegralType, types.BooleanType)


def write(frame: DataFrame, location: str, kind: str, masked: tuple[str, ...] = ()) -> None:
    """Write a frame, some columns of which are masked, as a new folder of files in one of
    `SPARK_FORMATS`.

    CSV is that of the local engine: RFC 4180, quotes where needed, missing cells empty; in a table
    of one column, missing cells are `""` and all others are quoted. Raises OutputError where the
    location exists (O001) or cannot be written (O002).
    """
    is_csv = kind.startswith("csv")
    if is_csv:
        arrays = [one for one in frame.schema.fields if isinstance(one.dataType, types.ArrayType)]
        check_writable([one.name for one in arrays])
    try:
        with _standard_times(frame, kind):
            csv_frame = csv_texts(frame, masked) if is_csv else frame
            writer = csv_frame.write.format(kind.removesuffix(".gz")).options(**_OPTIONS[kind])
            # An unquoted cell of blanks would be a blank line.
            writer = writer.option("quoteAll", is_csv and len(frame.columns) == 1)
            writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(
                location
            )
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise _write_error(error, location) from None


def with_empty_texts(frame: DataFrame, names: Sequence[str]) -> list[str]:
    """Return which of some columns of a frame hold empty texts."""
    texts = [name for name, kind in frame.dtypes if name in names and kind == "string"]
    if not texts:
        return []
    [flags] = frame.agg(*(F.max(column(name) == "") for name in texts)).collect()
    return [name for name, is_there in zip(texts, flags, strict=True) if is_there]


def write_table(frame: DataFrame, location: str) -> None:
    """Write a frame as a table of the catalog, `table:NAME`. Raises the errors of `write`."""
    try:
        frame.write.saveAsTable(sql_name(location))
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise _write_error(error, location) from None


def has_large_files(session: SparkSession, location: str) -> bool:
    """Tell whether a location has files that are too large for a task to hash."""
    if _is_small(session, location):
        return False
    try:
        lengths = list_files(session, location).agg(F.max("length")).collect()
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explain_error(error, location, "hashing") from None
    return bool((lengths[0][0] or 0) > MOST_HASHED)


_SMALL = 2**26
"""Files of fewer bytes together are hashed sooner than a job that hashes them starts."""


def _is_small(session: SparkSession, location: str) -> bool:
    """Tell whether all tasks run on this machine, and a location has a few bytes there."""
    is_here = not is_connected(session) and session_master(session).startswith("local")
    if not is_here or storage.is_remote(location):
        return False
    path = storage.local_path(location)
    with suppress(OSError):
        files = [path / file for file in storage.data_files(path)] if path.is_dir() else [path]
        return bool(files) and sum(file.stat().st_size for file in files) < _SMALL
    return False


def manifest_digest(session: SparkSession, location: str) -> str:
    """Return the sha-256 of a file, or of a folder's manifest, like `storage.digest`.

    The executors hash, so no content reaches the driver of a cluster. Files must be smaller than
    2 GiB. Raises DataError where there are no files (C002) or they cannot be read (C003, C010).
    """
    if _is_small(session, location):
        with storage.read_errors(location):
            return storage.digest(storage.local_path(location))
    root = uri_path(location) if storage.is_remote(location) else _absolute(location)
    try:
        check_there(session, location)
        hashed_files = list_files(session, location).select(
            "path", F.sha2("content", 256).alias("digest")
        )
        hashes = {row.path: row.digest for row in hashed_files.collect()}
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explain_error(error, location, "hashing") from None
    digests = {_relative_path(root.rstrip("/"), path): digest for path, digest in hashes.items()}
    return digests[""] if "" in digests else storage.manifest_digest(digests)


def row_digest(frame: DataFrame) -> tuple[str, int]:
    """Return a sha-256 of a frame's rows, whatever their order and partitions, and their number.

    Duplicate rows count, and so do the names of the columns. The eight 32-bit words of the sha-256
    of every row are summed separately.
    """
    # As SQL, since every function that is called by itself asks the JVM several times.
    numbered = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    cells = ", ".join(
        _unambiguous_text(name, field.dataType)
        for name, field in zip(numbered.columns, frame.schema.fields, strict=True)
    )
    hashed = numbered.selectExpr(f"sha2(concat({cells}), 256) AS hash")
    words = hashed.selectExpr(
        *(f"bigint(conv(substring(hash, {1 + 8 * i}, 8), 16, 10)) AS w{i}" for i in range(_LANES))
    )
    # A long may overflow with the words of all rows, but not with the halves of them.
    highs, lows = (
        [f"sum({half.format(f'w{i}')})" for i in range(_LANES)]
        for half in ("shiftright({}, 16)", "{} & 65535")
    )
    try:
        rows, *sums = words.selectExpr("count(*)", *highs, *lows).collect()[0]
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explain_error(error, "", "hashing the rows") from None
    halves = zip(sums[:_LANES], sums[_LANES:], strict=True)
    lanes = [((high or 0) << 16) + (low or 0) for high, low in halves]
    text = repr([frame.columns, rows, lanes])
    return hashlib.sha256(text.encode()).hexdigest(), rows


def _write_error(error: Exception, location: str) -> PolicyEngineError:
    if re.search(_UNWRITABLE, str(error)):
        message = f"The output cannot be written. {cause(str(error))}"
        return OutputError.of("O002", message, source=location)
    return explain_error(error, location, "writing")


_UNWRITABLE = (
    "is not a directory|Permission denied|AccessControl|AccessDenied"
    "|INVALID_SCHEMA_OR_RELATION_NAME|SCHEMA_NOT_FOUND"
)


def _unambiguous_text(cell: str, kind: types.DataType) -> str:
    """Return the SQL of a cell as text that no other cell, and no two cells together, can have."""
    # The text of a point in time would depend on the session's time zone.
    text = f"string({f'unix_micros({cell})' if isinstance(kind, types.TimestampType) else cell})"
    return f"coalesce(concat(octet_length({text}), ':', {text}), '-')"


def csv_texts(frame: DataFrame, masked: tuple[str, ...] = ()) -> DataFrame:
    """Return the cells as the local engine writes them: Spark writes some types differently, and
    masked decimals are written like other numbers."""
    if not all(isinstance(field.dataType, _SIMPLE) for field in frame.schema.fields):
        fields = [types.StructField(name, types.StringType()) for name in frame.columns]
        frame = map_in_tasks(frame, _writing_task(masked), types.StructType(fields))
    texts = [column(name).cast("string") for name in frame.columns]
    if len(texts) == 1:  # Spark would leave out a row with only a missing value
        texts = [F.coalesce(texts[0], F.lit(""))]
    return frame.select(
        *(text.alias(name) for text, name in zip(texts, frame.columns, strict=True))
    )


def _writing_task(masked: tuple[str, ...]) -> Task:
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = batch.schema.names
            texts = [
                _as_text(values, is_masked=name in masked)
                for name, values in zip(names, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(texts, names=names)

    return put


def _as_text(values: pa.Array, *, is_masked: bool) -> pa.Array:
    if is_masked and pa.types.is_decimal(values.type):
        return number_texts(values)
    if pa.types.is_timestamp(values.type) and values.type.tz:
        values = values.cast(pa.timestamp("us", "UTC"))
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # -0.0 + 0 is 0.0
    return values.cast(pa.string())


def _absolute(location: str) -> str:
    return storage.local_path(location).absolute().as_posix()


def _relative_path(root: str, path: str) -> str:
    """Return the path of a file relative to a folder; empty where both are the same."""
    file_path = uri_path(path)
    _, is_below, relative = file_path.partition(f"{root}/")
    return relative if is_below else "" if file_path.endswith(root) else Path(file_path).name


@contextmanager
def _standard_times(frame: DataFrame, kind: str) -> Iterator[None]:
    """Write points in time to Parquet in its standard type, for which writers have no option.

    The setting belongs to the session, which several runs may share: they take turns, and each
    restores the former value.
    """
    if kind != "parquet" or not any(_is_time(field) for field in frame.schema.fields):
        yield
        return
    conf = frame.sparkSession.conf
    with _SETTING:
        before = conf.get(_TIMES, None)
        conf.set(_TIMES, "TIMESTAMP_MICROS")
        try:
            yield
        finally:
            conf.unset(_TIMES) if before is None else conf.set(_TIMES, before)


def _is_time(field: types.StructField) -> bool:
    return isinstance(field.dataType, types.TimestampType)
