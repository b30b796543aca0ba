"""Releases in tables of DuckDB's and SQLite's files, each with its certificate in the same file."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from policy_engine.certificate.certificate import Certificate, readable_text
from policy_engine.data.places.database_outputs import (
    CERTIFICATES,
    OutputDatabase,
    output_place,
    output_transaction,
)
from policy_engine.data.places.spelling import scheme
from policy_engine.data.storage import Location
from policy_engine.engines.database_tables import rows_digest
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.tables import plain_texts
from policy_engine.errors import InternalError, OutputError, PolicyEngineError

_PAUSE = 0.5


class DatabasePublication:
    """A place for one output in the file of a database, staged in a private file until it is
    proven.

    No row that was not verified ever reaches the database, not even the free space of its file. It
    gets the table, once this is read back and has the certified digest, and the certificate in one
    transaction: readers see both or neither. An earlier release is replaced in it, if it may be.
    """

    def __init__(
        self, place: str, *, overwrite: bool, wait: bool = False, progress: Progress = silent
    ) -> None:
        self.file, self._overwrite, self._wait = place, overwrite, wait
        self._path, self._name = output_place(place)
        self._progress = progress
        self._folder = TemporaryDirectory()
        self.is_published = False

    @property
    def staged(self) -> str:
        """The table that the output is written to."""
        file = Path(self._folder.name) / "staged"
        return f"{scheme(self.file)}:{file}#{self._name}"

    def staged_file(self, _file: Location) -> Location:
        """Return the table that the only output is written to."""
        return self.staged

    def __enter__(self) -> "DatabasePublication":
        try:
            self._check_place()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def hide(self, *_files: Location) -> None:
        """Do nothing: the staged file is in a folder that only its owner can read."""

    def refuse(self, certificate: Certificate) -> None:
        """Write nothing: a certificate is beside its table, which was not created."""

    def publish(self, *certificates: Certificate) -> None:
        """Make the table visible with its certificate. Raises OutputError if its name is taken, or
        the database cannot be written."""
        [certificate] = certificates
        text = readable_text(certificate)
        with output_transaction(self.staged, writes=False) as staged:
            rows = staged.rows(self._name)
        with self._transaction() as database:
            if self._check_free(database):
                database.drop(self._name)
            database.create(self._name, rows)
            if rows_digest(plain_texts(database.rows(self._name))) != certificate.output_digest:
                raise InternalError.of("X001", "The table is not the one that was certified.")
            database.certify(self._name, text)
        self.is_published = True

    def _check_place(self) -> None:
        if not self._path.parent.is_dir():
            message = f"There is no folder {str(self._path.parent)!r} for the database."
            raise OutputError.of("O002", message)
        if self._path.exists():
            with self._transaction() as database:
                self._check_free(database)

    def _check_free(self, database: OutputDatabase) -> bool:
        """Return whether an earlier release has the name. Raises OutputError (O001) where it is
        taken by anything else, or may not be replaced."""
        names = database.names()
        taken = {one for one in names if one.lower() == self._name.lower()}
        if not taken:
            return False
        message = f"The output exists: {self.file!r}."
        if not self._overwrite:
            raise OutputError.of("O001", message, "Give another name, or overwrite=True.")
        if taken != {self._name} or CERTIFICATES not in names:
            raise self._not_a_release()
        if database.certificate(self._name) is None:
            raise self._not_a_release()
        return True

    def _not_a_release(self) -> PolicyEngineError:
        message = f"{self.file!r} is not a release: the database has no certificate for it."
        return OutputError.of("O001", message, "Only a release can be overwritten; drop the table.")

    @contextmanager
    def _transaction(self) -> Iterator[OutputDatabase]:
        """Give the database; wait for another process that writes to it, if asked to."""
        with ExitStack() as stack:
            database, is_told = None, False
            while database is None:
                try:
                    database = stack.enter_context(output_transaction(self.file))
                except OutputError as error:
                    if not self._wait or error.code != "O001":
                        raise
                    if not is_told:
                        self._progress("waiting for another run", 0, 0)
                    is_told = True
                    time.sleep(_PAUSE)
            yield database
