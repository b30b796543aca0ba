"""Runs a query on the readable rows and columns, and on nothing else."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from threading import Timer
from typing import TYPE_CHECKING, Any

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
    "temp_directory": "",  # large data would be written to the working folder
}
_SETTINGS = (
    "GLOBAL TimeZone = 'UTC'",
    "enable_external_access = false",
    "lock_configuration = true",
)
_LONGEST = 600.0  # seconds
_READS_ELSEWHERE = {"TABLE_FUNCTION", "SHOW_REF", "PIVOT", "COLUMN_DATA", "DELIM_GET"}


def run(texts: "Mapping[str, str]", tables: "Mapping[str, pa.Table]") -> "dict[str, pa.Table]":
    """Return the rows of queries in DuckDB's SQL, by name, over tables by name.

    The database is in memory, without files, network or extensions, and its settings are locked;
    its time zone is UTC. Each call has a connection of its own, which alone sees its tables. It
    writes nothing anywhere, and takes at most ten minutes, unless a single function call on a
    single value takes longer. DuckDB's own parser must see no other tables in the queries.

    Raises QueryError (Q005, Q008) for a query that DuckDB does not understand, or that fails on
    the data.
    """
    if not texts:
        return {}
    import duckdb  # noqa: PLC0415 (slow to import)

    with closing(_database(os.getpid()).cursor()) as connection, _time_limit(connection):
        try:
            for name, table in tables.items():
                connection.register(name, table)
            return {name: _run_one(text, connection, set(tables)) for name, text in texts.items()}
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                _database.cache_clear()  # DuckDB answers no more queries after such an error
            raise _query_error(error) from None


@cache
def _database(process: int) -> "duckdb.DuckDBPyConnection":  # noqa: ARG001
    """Return the empty database of a process, of which a forked one has not the threads.

    It takes longer to open than most queries to run.
    """
    import duckdb  # noqa: PLC0415 (slow to import)

    database = duckdb.connect(":memory:", config=dict(_CLOSED))
    for setting in _SETTINGS:
        database.execute(f"SET {setting}")
    return database


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
def _time_limit(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    """Interrupt a connection that takes too long."""
    timer = Timer(_LONGEST, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _query_error(error: Exception) -> PolicyEngineError:
    """Return the error of a failed query, without the values that DuckDB's message quotes."""
    import duckdb  # noqa: PLC0415 (slow to import)

    if isinstance(error, duckdb.InterruptException):
        message = f"The query takes more than {_LONGEST:g} seconds."
        return QueryError.of("Q008", message, "Read fewer rows, or join them on equal values.")
    if isinstance(error, duckdb.DataError | duckdb.InvalidInputException):
        kind = str(error).partition(":")[0].removesuffix(" Error").lower()
        message = f"The query fails on a value: {kind}."
        return QueryError.of("Q008", message, "TRY_CAST gives NULL where CAST fails.")
    first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return QueryError.of("Q008", f"The query fails: {first.rstrip('.')}.")
