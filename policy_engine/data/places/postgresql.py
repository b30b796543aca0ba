"""Tables of a PostgreSQL server: `postgresql://USER@HOST/DATABASE#TABLE`."""

import re
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from policy_engine.data.places.spelling import redacted, scheme
from policy_engine.data.places.stored_rows import TableName, chosen_table, ordered, quoted
from policy_engine.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = re.compile(r"-?[0-9]{1,9}")
_SECONDS = 30  # for a connection, where the place does not say
_TABLES = """
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND has_table_privilege(c.oid, 'SELECT')
AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
"""


def read_postgresql(place: str) -> "pa.Table":
    """Return a table or view of a server, its rows in order.

    One transaction reads it, and cannot write. Numbers, truth values, texts, bytes, dates and
    times keep their types; whatever else there is becomes the text that the server has for it.
    Raises DataError where psycopg is missing (C011), the server does not let one in or has no such
    table (C019), or a value has no type here, such as an infinite date (C009).
    """
    public_place = redacted(place)
    url, _, wanted = f"{scheme(place)}:{place.partition(':')[2]}".partition("#")
    if not url.partition("://")[2] or not wanted:
        message = "A table of PostgreSQL is given as postgresql://USER@HOST/DATABASE#TABLE."
        raise DataError.of("C019", f"{message} {public_place!r} was given.")
    if find_spec("psycopg") is None:
        hint = "pip install 'policy-engine[postgresql]'."
        raise DataError.of("C011", "psycopg is not installed.", hint, public_place)
    import psycopg  # noqa: PLC0415 (as used)

    try:
        with _connected(url, public_place) as connection:
            names = [TableName(*one) for one in connection.execute(_TABLES)]
            return _read(
                connection, chosen_table(unquote(wanted), names, public_place), public_place
            )
    except psycopg.Error as error:
        message = f"PostgreSQL does not answer: {_reason(error)}."
        hint = "A password is best in ~/.pgpass, or in PGPASSWORD."
        raise DataError.of("C019", message, hint, public_place) from None


def _connected(url: str, public_place: str) -> Any:
    """Return a connection whose only transaction sees one state, and writes nothing.

    Raises DataError (C019) for a time that is no number.
    """
    import psycopg  # noqa: PLC0415 (as used)

    settings = psycopg.conninfo.conninfo_to_dict(url)
    seconds = str(settings.get("connect_timeout") or _SECONDS)
    if not _WHOLE.fullmatch(seconds):
        message = "The connect_timeout of the place is not a whole number of seconds."
        raise DataError.of("C019", message, source=public_place)
    connection = psycopg.connect(url, connect_timeout=int(seconds))
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.execute("SET TIME ZONE 'UTC'")
    return connection


def _read(connection: Any, table: TableName, place: str) -> "pa.Table":
    import psycopg  # noqa: PLC0415 (as used)
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    types = _types()
    empty = connection.execute(f"SELECT * FROM {table.quoted} LIMIT 0")  # noqa: S608 (quoted)
    columns = [(one.name, types.get(one.type_code)) for one in empty.description]
    chosen = ", ".join(quoted(name) + ("" if kind else "::text") for name, kind in columns)
    try:
        rows = connection.execute(f"SELECT {chosen} FROM {table.quoted}").fetchall()  # noqa: S608
    except psycopg.DataError:
        message = "The table has a date or a time that is infinite, or before the year 1."
        raise DataError.of("C009", message, "Give a view of it.", place) from None
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [
        _array(name, kind or pa.string(), values, place)
        for (name, kind), values in zip(columns, cells, strict=True)
    ]
    return ordered(pa.Table.from_arrays(arrays, names=[name for name, _ in columns]))


def _types() -> dict[int, "pa.DataType"]:
    """Return the types of columns by the numbers that PostgreSQL has for its own."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    return {
        16: pa.bool_(),
        17: pa.binary(),
        19: pa.string(),
        20: pa.int64(),
        21: pa.int16(),
        23: pa.int32(),
        25: pa.string(),
        700: pa.float32(),
        701: pa.float64(),
        1042: pa.string(),
        1043: pa.string(),
        1082: pa.date32(),
        1083: pa.time64("us"),
        1114: pa.timestamp("us"),
        1184: pa.timestamp("us", "UTC"),
        _NUMERIC: pa.decimal128(38, 0),
    }


_NUMERIC = 1700


def _array(name: str, kind: "pa.DataType", values: Sequence[Any], place: str) -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    try:
        if pa.types.is_decimal(kind):
            return _decimals(values)
        return pa.array(values, kind)
    except (pa.ArrowException, ValueError, OverflowError):
        message = f"The column {name!r} has numbers that are not finite, or of too many digits."
        raise DataError.of("C009", message, "Give a view of it.", place) from None


def _decimals(values: Sequence[Decimal | None]) -> "pa.Array":
    """Return numbers as decimals, with as many digits as the values take."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    if all(one is None for one in values):
        return pa.array(values, pa.decimal128(38, 0))
    return pa.array(values)


def _reason(error: Exception) -> str:
    """Return what the server says without what might be a secret: the name of the error's kind,
    and the code that SQL has for it."""
    code = getattr(error, "sqlstate", None)
    words = str(error).lower()
    reasons = {
        "password": "it does not accept the password, or was given none",
        "does not exist": "it has no such database or user",
        "could not translate": "no machine has that name",
        "refused": "nothing listens there",
        "timeout": "it took too long",
        "no such file": "nothing listens there",
    }
    reason = next((text for mark, text in reasons.items() if mark in words), type(error).__name__)
    return f"{reason} (SQLSTATE {code})" if code else reason
