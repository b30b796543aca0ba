"""Runs a query on the readable rows and columns, and on nothing else."""

import atexit
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from shutil import rmtree
from tempfile import mkdtemp
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from policy_engine.data.available_memory import available_memory
from policy_engine.decision.query.query_limits import (
    QueryLimits,
    current_limits,
    disk_error,
    memory_error,
    stop_error,
    time_error,
)
from policy_engine.errors import InternalError, PolicyEngineError, QueryError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
_SETTINGS = (
    "GLOBAL TimeZone = 'UTC'",
    "enable_external_access = false",
    "lock_configuration = true",
)
_SPARED = 0.5
"""The share of the memory there is that queries may use, where nothing else is said."""
_BEAT = 0.05
"""How often it is looked whether a query has to end, in seconds."""
_READS_ELSEWHERE = {"TABLE_FUNCTION", "SHOW_REF", "PIVOT", "COLUMN_DATA", "DELIM_GET"}


def run(texts: "Mapping[str, str]", tables: "Mapping[str, pa.Table]") -> "dict[str, pa.Table]":
    """Return the rows of queries in DuckDB's SQL, by name, over tables by name.

    The database is in memory, without files, network or extensions, and its settings are locked;
    its time zone is UTC. Each call has a connection of its own, which alone sees its tables. What
    does not fit in memory is written to a private folder for temporary files, which is removed at
    the end of the process. A call takes at most ten minutes, or what `query_limits` says, unless a
    single function call on a single value takes longer; the memory is shared by all queries of the
    process, without their results. DuckDB's own parser must see no other tables in the queries.

    Raises QueryError: Q005 and Q008 for a query that DuckDB does not understand, or that fails on
    the data; Q011 and Q012 for one that needs more memory or time than it may, or is ended.
    """
    if not texts:
        return {}
    import duckdb  # noqa: PLC0415 (slow to import)

    limits = current_limits()
    database = _database(os.getpid(), limits.memory)
    with (
        closing(database.cursor()) as connection,
        limits.stop.watched(connection),
        _ended_in_time(connection, limits),
    ):
        try:
            for name, table in tables.items():
                connection.register(name, table)
            return {name: _run_one(text, connection, set(tables)) for name, text in texts.items()}
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                _database.cache_clear()  # DuckDB answers no more queries after such an error
            raise _query_error(error, is_ended=limits.stop.is_set) from None


@cache
def _database(process: int, memory: int) -> "duckdb.DuckDBPyConnection":
    """Return the empty database of a process, of which a forked one has not the threads, for
    queries that have so many bytes of memory, 0 for a share of what there is.

    It takes longer to open than most queries to run.
    """
    import duckdb  # noqa: PLC0415 (slow to import)

    size = memory or int(available_memory() * _SPARED)
    folder = mkdtemp(prefix="policy-engine-query-")
    atexit.register(_remove, folder, process)
    own = {"memory_limit": f"{size}B", "temp_directory": folder}
    database = duckdb.connect(":memory:", config={**_CLOSED, **own})
    for setting in _SETTINGS:
        database.execute(f"SET {setting}")
    return database


def _remove(folder: str, process: int) -> None:
    """Remove the folder of a process, which a forked one leaves alone."""
    if os.getpid() == process:
        rmtree(folder, ignore_errors=True)


def _run_one(text: str, connection: "duckdb.DuckDBPyConnection", names: set[str]) -> "pa.Table":
    _check(text, connection, names)
    table = connection.sql(text).to_arrow_table()
    return table.rename_columns(unique_names(table.column_names))


def unique_names(names: list[str]) -> list[str]:
    """Return the names of columns, with a number added to repeated ones."""
    times: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        times[name] += 1
        while (candidate := f"{name}_{times[name]}" if times[name] > 1 else name) in unique:
            times[name] += 1
        unique.append(candidate)
    return unique


def _check(text: str, connection: "duckdb.DuckDBPyConnection", names: set[str]) -> None:
    """Refuse a text in which DuckDB sees another statement or table than the ones decided on."""
    [row] = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    tree: dict[str, Any] = json.loads(row[0])
    if tree.get("error"):
        message = f"DuckDB does not understand the query: {tree.get('error_message', '')}"
        raise QueryError.of("Q005", message)
    nodes = list(_nodes(tree))
    known_names = {name.lower() for name in names} | {name.lower() for name in _cte_names(nodes)}
    for node in nodes:
        is_table = node.get("type") == "BASE_TABLE"
        is_other = is_table and (
            str(node.get("table_name")).lower() not in known_names
            or node.get("schema_name")
            or node.get("catalog_name")
        )
        if is_other or node.get("type") in _READS_ELSEWHERE or len(tree["statements"]) != 1:
            raise InternalError.of("X001", "A query reads something that was not decided on.")


def _cte_names(nodes: Iterable[dict[str, Any]]) -> Iterator[str]:
    for node in nodes:
        for entry in (node.get("cte_map") or {}).get("map", ()):
            yield str(entry["key"])
        if node.get("type") in ("RECURSIVE_CTE_NODE", "CTE_NODE"):
            yield str(node.get("cte_name"))


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            yield one
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)


@contextmanager
def _ended_in_time(connection: "duckdb.DuckDBPyConnection", limits: QueryLimits) -> Iterator[None]:
    """Interrupt a connection that takes longer, or whose queries were ended."""
    is_over = Event()
    deadline = time.monotonic() + limits.seconds()
    watcher = Thread(target=_interrupt, args=(connection, limits, deadline, is_over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def _interrupt(
    connection: "duckdb.DuckDBPyConnection", limits: QueryLimits, deadline: float, is_over: Event
) -> None:
    """Interrupt a connection once it has to end, and until it has: what comes between two of its
    statements ends neither of them."""
    while not is_over.wait(max(0.0, min(_BEAT, deadline - time.monotonic())) or _BEAT):
        if limits.stop.is_set or time.monotonic() >= deadline:
            connection.interrupt()


def _query_error(error: Exception, *, is_ended: bool) -> PolicyEngineError:
    """Return the error of a failed query, without the values that DuckDB's message quotes."""
    import duckdb  # noqa: PLC0415 (slow to import)

    if isinstance(error, duckdb.InterruptException):
        return stop_error() if is_ended else time_error()
    if isinstance(error, duckdb.OutOfMemoryException):
        return memory_error()
    if isinstance(error, duckdb.IOException):
        return disk_error()  # a query has no files but those of what does not fit into its memory
    if isinstance(error, duckdb.DataError | duckdb.InvalidInputException):
        kind = str(error).partition(":")[0].removesuffix(" Error").lower()
        message = f"The query fails on a value: {kind}."
        return QueryError.of("Q008", message, "TRY_CAST gives NULL where CAST fails.")
    first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return QueryError.of("Q008", f"The query fails: {first.rstrip('.')}.")
