"""Writes the record of a release if its owner asks, together with the release or not at all."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from policy_engine.certificate.beside import certificate_names
from policy_engine.certificate.record import Record, absolute_name, read_record
from policy_engine.data import storage
from policy_engine.data.catalog import TABLE
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location, write_errors
from policy_engine.errors import CertificateError, OutputError, Problem
from policy_engine.release.staging import RECORD, check_name

_PRIVATE = 0o600


class RecordFile:
    """A file for the record of a release, which only its owner may read.

    It overwrites nothing except, if the release may be overwritten, the record of an earlier
    release of the same place. It may not be in a folder that is shared: beside the `output`, below
    the folder that was `given` for it, or beside the certificate of another release. Raises
    OutputError if the place is taken (O001) or invalid (O002).
    """

    def __init__(
        self,
        file: Location,
        output: Location | None = None,
        output_folder: Location | None = None,
        *,
        overwrite: bool,
    ) -> None:
        if str(file).startswith(TABLE) or storage.is_remote(file) or is_database(file):
            message = f"A record must be a local file. Given: {str(file)!r}."
            raise OutputError.of("O002", message, "Give the path of a file.")
        self.file = storage.local_path(file)
        self._output = absolute_name(output)
        self._overwrite = overwrite
        with write_errors(self.file):
            self._check_file()
            if output is not None:
                self._check_apart(output, output_folder)
            self._check_unshared()
            if not self.file.parent.is_dir():
                message = f"There is no folder {str(self.file.parent)!r} for the record."
                raise OutputError.of("O002", message)
            self._existing()

    @contextmanager
    def writing(self, record: Record, is_published: Callable[[], bool]) -> Iterator[None]:
        """Write a record while a release is published inside; remove it if that fails.

        The record is written first: a release whose record was lost could never be opened. The
        previous content of the file stays in it until the release is published, so that a kill
        loses nothing.
        """
        with write_errors(self.file):
            existing = self._existing()
            earlier = tuple(read_record(existing).with_earlier()) if existing else ()
            combined = record.model_copy(update={"earlier": earlier})
            self._write(combined.to_json().encode(), is_new=existing is None)
        try:
            yield
        except BaseException:
            if not is_published():
                with suppress(OSError):
                    self._restore(existing)
            raise
        if existing is not None:
            with suppress(OSError):  # the file then opens both releases
                self._write(record.to_json().encode(), is_new=False)

    def _check_file(self) -> None:
        if self.file.is_dir() or not self.file.name:
            message = f"A record must be a file, but {str(self.file)!r} is a folder."
            raise OutputError.of("O002", message, "Give the path of a file.")
        check_name(self.file.name, "A record")
        name = absolute_name(self.file)
        if self._output and (f"{name}/").startswith(f"{self._output}/"):
            message = f"The record {str(self.file)!r} may not be inside the output."
            raise OutputError.of("O002", message, "Give another path.")

    def _check_apart(self, output: Location, output_folder: Location | None) -> None:
        """Refuse a record in the folder of the release, which is shared as a whole."""
        parent = self.file.parent.resolve()
        is_elsewhere = storage.is_remote(output) or is_database(output)
        if not is_elsewhere and not str(output).startswith(TABLE):
            folder = storage.local_path(storage.parent(output)).resolve()
            is_below = (
                output_folder is not None and output_folder != output and folder in parent.parents
            )
            if parent == folder or is_below:
                raise self._shared("the release", storage.parent(output))

    def _check_unshared(self) -> None:
        """Refuse a record in the folder of another release."""
        if certificate_names(self.file.parent):
            raise self._shared("another release", self.file.parent)

    def _shared(self, release: str, folder: Location) -> OutputError:
        message = (
            f"The record {str(self.file)!r} is only for the owner, but would be in the "
            f"folder of {release}, {str(folder)!r}."
        )
        return OutputError(Problem("O002", message, "Give a path outside that folder."))

    def _existing(self) -> bytes | None:
        """Return the content of the file, None if there is none. Raises OutputError (O001)."""
        if not storage.is_taken(self.file):
            return None
        hint = "Give another path, or overwrite=True for the output of that record."
        if self._overwrite and self._output and not self.file.is_symlink() and self.file.is_file():
            with suppress(CertificateError):
                text = self.file.read_bytes()
                if read_record(text).place == self._output:
                    return text
            hint = "Only the record of the replaced release can be overwritten; move this one away."
        raise OutputError.of("O001", f"The record exists: {str(self.file)!r}.", hint)

    def _restore(self, existing: bytes | None) -> None:
        if existing is None:
            self.file.unlink()
        else:
            self._write(existing, is_new=False)

    def _write(self, text: bytes, *, is_new: bool) -> None:
        """Write the file completely, for its owner alone, in one step."""
        # A separate name: one derived from the record's name might be too long.
        staged = self.file.with_name(f"{RECORD}{uuid.uuid4().hex}")
        handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                self._link(staged)
            else:
                staged.replace(self.file)
            storage.sync(self.file.parent)
        finally:
            staged.unlink(missing_ok=True)

    def _link(self, staged: Path) -> None:
        """Give a file its name unless that was taken meanwhile, which a rename would not detect."""
        try:
            os.link(staged, self.file)
        except FileExistsError:
            raise OutputError.of("O001", f"The record exists: {str(self.file)!r}.") from None
        except OSError:  # a file system without links
            os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE))
            staged.replace(self.file)
