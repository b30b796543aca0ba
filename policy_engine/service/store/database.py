"""The database: opened, brought up to date, read and written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, inspect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.store import migrations
from policy_engine.service.store.versions import DatabaseVersions

_PATIENCE = 15.0
"""Seconds that a call waits for another one to have written."""
_REVISIONS = "alembic_version"
"""The table that says which migration the others are of."""
_WRITES = "writes"
_LOCK = 0x706F6C69
"""The advisory lock under which one transaction at a time writes to PostgreSQL."""
_SLOWEST = 120
"""Seconds after which the server ends a transaction that writes and says nothing."""


@dataclass(frozen=True)
class Database:
    """A database of SQLite or PostgreSQL."""

    engine: Engine
    _writer: Engine = field(repr=False)
    _versions: DatabaseVersions = field(repr=False)

    @classmethod
    def open(cls, url: str) -> "Database":
        """Return the database of a URL, as SQLAlchemy has it, brought up to date.

        Raises ServiceError (N013) if it cannot be reached, or is of a newer version.
        """
        is_file = url.startswith("sqlite")
        options: dict[str, Any] = {"connect_args": {"timeout": _PATIENCE}} if is_file else {}
        engine = create_engine(url, pool_pre_ping=not is_file, pool_size=20, **options)
        if is_file:
            event.listen(engine, "connect", _prepare_file)
            event.listen(engine, "begin", _begin_in_file)
            event.listen(engine, "handle_error", _part_from_frozen)
        else:
            event.listen(engine, "begin", _begin_on_server)
        writer = engine.execution_options(**{_WRITES: True})
        database = cls(engine, writer, DatabaseVersions(engine))
        try:
            database.upgrade()
        except SQLAlchemyError as error:
            database.close()
            raise _unusable_error(error) from error
        except PolicyEngineError:
            database.close()
            raise
        return database

    def upgrade(self) -> None:
        """Bring the tables up to date, from whichever version: in one step, or not at all."""
        if self._revision() == migrations.NEWEST:
            return
        from policy_engine.service.store.upgrading import upgrade  # noqa: PLC0415 (slow to import)

        with self._writer.begin() as connection:
            upgrade(connection)

    def _revision(self) -> str | None:
        """Return which migration the tables are of; None where there are no tables yet."""
        with self.engine.connect() as connection:
            if not inspect(connection).has_table(_REVISIONS):
                return None
            statement = f"SELECT version_num FROM {_REVISIONS}"  # noqa: S608 (a name of ours)
            revision: str | None = connection.exec_driver_sql(statement).scalar()
            return revision

    def version(self) -> object:
        """Return what is equal to what was returned before only if nothing was written since."""
        return self._versions.current()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Return a session that sees one state of the database, and changes nothing."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Return a session whose changes are all made once it ends, or none if it raises.

        One at a time writes, from the first statement on: no state that was read is old when it
        is written. Who waits longer than a quarter of a minute is refused.
        """
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close all connections."""
        self._versions.close()
        self.engine.dispose()


def _prepare_file(connection: Any, _record: Any) -> None:
    """Let readers and a writer work at once, and begin transactions where they begin."""
    connection.isolation_level = None
    for statement in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {statement}")


def _part_from_frozen(context: ExceptionContext) -> None:
    """Open connections anew after one could not write: it would stay so, though the disk does not.

    SQLite opens a file for reading alone while its folder cannot be written.
    """
    if "readonly" in str(context.original_exception):
        context.is_disconnect = True


def _begin_in_file(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _begin_on_server(connection: Connection) -> None:
    """Let one at a time write, as on SQLite, and let nobody wait for who has gone away."""
    if connection.get_execution_options().get(_WRITES, False):
        connection.exec_driver_sql(
            f"SELECT set_config('lock_timeout', '{_PATIENCE:g}s', true), "
            f"set_config('idle_in_transaction_session_timeout', '{_SLOWEST}s', true), "
            f"pg_advisory_xact_lock({_LOCK})"
        )


def _unusable_error(error: SQLAlchemyError) -> PolicyEngineError:
    cause = getattr(error, "orig", None) or error
    return ServiceError.of("N013", f"The database cannot be used: {str(cause).splitlines()[0]}.")
