"""Whether anything was written to a database since it was read, at next to no cost."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

_OF_FILES = "PRAGMA data_version"
"""Is another number on a connection once any other one, of any process, has written."""
_OF_SERVERS = "SELECT pg_current_snapshot()::text"
"""Says which transactions can be seen: where it is the same, the same data are."""


@dataclass
class DatabaseVersions:
    """Tells versions of a database by a connection of its own, which writes nothing.

    Whoever remembers what was read asks for the version first. Nothing has to note that it wrote:
    the database itself knows of every write, whichever process it is of.
    """

    engine: Engine
    _connection: PoolProxiedConnection | None = None
    _openings: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def current(self) -> object:
        """Return what is equal to what was returned before only if nothing was written since.

        It equals nothing where the database does not answer: whoever then reads it is told.
        """
        with self._lock:
            try:
                row = self._opened().execute(self._statement).fetchone()
            except (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error):
                self._drop()
                return object()
            return self._openings, row[0]

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    @property
    def _is_of_file(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def _statement(self) -> str:
        return _OF_FILES if self._is_of_file else _OF_SERVERS

    def _opened(self) -> Any:
        """Return the connection of the driver. Numbers of different ones cannot be compared."""
        if self._connection is None:
            self._connection = self.engine.raw_connection()
            self._connection.detach()
            self._openings += 1
            if not self._is_of_file:
                self._connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]
        return self._connection.dbapi_connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
