"""Releases in the catalog of a Spark session."""

import os
import random
import re
import secrets
import socket
import time
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any

from policy_engine.certificate.certificate import Certificate, readable_text
from policy_engine.data.catalog import TABLE
from policy_engine.data.storage import Location
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.spark.catalog_tables import (
    PROPERTY,
    REDACTED,
    REDACTION_HINT,
    certificate_text,
    name_parts,
    quote_parts,
    shown_text,
    sql_name,
)
from policy_engine.engines.spark.jobs import running
from policy_engine.errors import OutputError, PolicyEngineError

_PREFIX = "__policy_engine_"
_STAGE_INFIX = f"{_PREFIX}stage_"
_PAUSE = 1.0


class TablePublication:
    """A place for an output in the catalog of a Spark session, staged until it is published.

    The staged table has another name until it is renamed; by then its certificate is one of its
    properties, `policy_engine.certificate`. An earlier release is renamed before that, and dropped
    afterwards; if a run is killed in between, the next one puts it back. A view beside the table
    serves as a lock; the lock of a killed run must be dropped by a person.
    """

    def __init__(
        self,
        session: Any,
        location: str,
        *,
        overwrite: bool,
        wait: bool = False,
        progress: Progress = silent,
    ) -> None:
        _check_name(location)
        self.file = location
        self._session, self._overwrite = session, overwrite
        self._wait, self._progress = wait, progress
        self._name = sql_name(location)
        self._token = secrets.token_hex(8)
        self._staged_name = sql_name(location, f"{_STAGE_INFIX}{self._token}")
        self._old = sql_name(location, f"{_PREFIX}old")
        self._lock, self._kind = sql_name(location, f"{_PREFIX}lock"), ""

    @property
    def staged(self) -> Location:
        """The table that the output is written to."""
        return f"{TABLE}{self._staged_name}"

    def staged_file(self, _file: Location) -> Location:
        """Return the table that the only output is written to."""
        return self.staged

    def __enter__(self) -> "TablePublication":
        self._exists(self._name)  # reports an invalid name before anything is made
        self._take_lock()
        try:
            self._settle()
            self._check_free()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clean_up()

    def hide(self, *_files: Location) -> None:
        """Do nothing: the catalog decides who may read tables."""

    def publish(self, *certificates: Certificate) -> None:
        """Make the table visible under its name. Raises OutputError if that is taken."""
        [certificate] = certificates
        text = shown_text(readable_text(certificate))
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        self._check_free()
        self._run(f"ALTER TABLE {self._staged_name} SET TBLPROPERTIES ('{PROPERTY}' = '{quoted}')")
        with self._running():
            is_hidden = certificate_text(self._session, str(self.staged)) == REDACTED
        if is_hidden:
            message = f"The session hides the certificate of {self.file!r}, a property of it."
            raise OutputError.of("O002", message, REDACTION_HINT)
        self._replace()

    def refuse(self, certificate: Certificate) -> None:
        """Write nothing: a certificate is a property of its table, which was not created."""

    def _replace(self) -> None:
        exists = self._exists(self._name)
        if exists:
            self._rename(self._name, self._old)
        try:
            self._rename(self._staged_name, self._name)
        except BaseException:
            if exists:
                with suppress(PolicyEngineError):
                    self._rename(self._old, self._name)
            raise
        with suppress(PolicyEngineError):
            self._drop(self._old)

    def _settle(self) -> None:
        """Put back what a killed run renamed, and drop tables staged by others."""
        if self._exists(self._old):
            if not self._exists(self._name):
                self._rename(self._old, self._name)
            elif self._is_release():
                self._drop(self._old)
        *above, name = name_parts(self.file)
        with self._running():
            tables = self._session.catalog.listTables(quote_parts(*above) or None)
        for table in tables:
            if _is_staged_table(table.name, name):
                self._drop(quote_parts(*above, table.name))

    def _take_lock(self) -> None:
        """Create the view that serves as a lock; wait for another run's or raise OutputError."""
        is_told = False
        while not self._try_lock():
            if not self._wait:
                message = f"Another run is making a release in {self.file!r}."
                hint = f"If it has ended, drop {self._lock!r}; otherwise use wait=True."
                raise OutputError.of("O001", message, hint)
            if not is_told:
                self._progress("waiting for another run", 0, 0)
                is_told = True
            time.sleep(_PAUSE * (1 + random.random()))  # noqa: S311 (no secret)

    def _try_lock(self) -> bool:
        holder = f"process {os.getpid()} of {socket.gethostname()}".replace("'", "")
        statements = {
            "VIEW": f"CREATE VIEW {self._lock} COMMENT '{holder}' AS SELECT 1 AS run",
            "TABLE": f"CREATE TABLE {self._lock} (run INT) COMMENT '{holder}'",  # without views
        }
        for kind, statement in statements.items():
            try:
                self._run(statement)
            except PolicyEngineError:
                if self._exists(self._lock):
                    return False
                if kind == "TABLE":
                    raise
            else:
                self._kind = kind
                return True
        return False

    def _clean_up(self) -> None:
        with suppress(PolicyEngineError):
            self._drop(self._staged_name)
        with suppress(PolicyEngineError):
            self._run(f"DROP {self._kind} IF EXISTS {self._lock}")

    def _check_free(self) -> None:
        is_taken = self._exists(self._name)
        if is_taken and not self._overwrite:
            message = f"The output exists: {self.file!r}."
            raise OutputError.of("O001", message, "Give another name, or overwrite=True.")
        if is_taken and not self._is_release():
            message = f"{self.file!r} is not a release: it has no certificate as a property."
            raise OutputError.of(
                "O001", message, "Only a release can be overwritten; drop the table."
            )

    def _is_release(self) -> bool:
        with self._running():
            return certificate_text(self._session, self.file) is not None

    def _exists(self, name: str) -> bool:
        with self._running():
            return bool(self._session.catalog.tableExists(name))

    def _rename(self, old: str, new: str) -> None:
        # Spark's own catalog, whose name a new name may not include.
        short = new.removeprefix(f"{quote_parts('spark_catalog')}.")
        self._run(f"ALTER TABLE {old} RENAME TO {short}")

    def _drop(self, name: str) -> None:
        self._run(f"DROP TABLE IF EXISTS {name}")

    def _run(self, statement: str) -> list[Any]:
        with self._running():
            rows: list[Any] = self._session.sql(statement).collect()
            return rows

    def _running(self) -> AbstractContextManager[str]:
        return running(self._session, "publishing")


def _check_name(location: str) -> None:
    """Refuse names that runs use beside a table, since others would take the output for theirs."""
    if _PREFIX in location.lower():
        message = (
            f"{location!r} has {_PREFIX!r} in its name, which is reserved for the tables of runs."
        )
        raise OutputError.of("O002", message, "Give another name.")


def _is_staged_table(other: str, name: str) -> bool:
    staged_name = f"{re.escape(name)}{_STAGE_INFIX}[0-9a-f]{{16}}"
    return re.fullmatch(staged_name, other, re.IGNORECASE) is not None
