"""A release that goes to standard output, once it is proven, and its certificate to a file."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

import typer

from policy_engine.cli.options import EngineChoice
from policy_engine.cli.parsing import usage_error

if TYPE_CHECKING:
    from policy_engine.api.verified_release import VerifiedRelease

STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Stream:
    """Where a release is made before it is sent to the `sink`: `file`, which only the caller can
    read; and where its `certificate` is written once it was sent."""

    sink: BinaryIO
    file: Path
    certificate: Path
    overwrite: bool

    def send(self, release: "VerifiedRelease") -> "VerifiedRelease":
        """Send a release, and write its certificate; return it as one of standard output.

        Raises OutputError (O002) for what is not one file, or where standard output is closed
        before everything was sent: then there is no certificate.
        """
        from policy_engine.data.atomic_file import write_file  # noqa: PLC0415 (as used)
        from policy_engine.data.storage import digest  # noqa: PLC0415
        from policy_engine.errors import InternalError, OutputError  # noqa: PLC0415

        if not self.file.is_file():
            message = "Only a release that is one table is sent to standard output."
            raise OutputError.of("O002", message, "Give a folder: --output DIR.")
        if digest(self.file) != release.certificate.output_digest:
            raise InternalError.of("X001", "A release is not what was certified.")
        try:
            with self.file.open("rb") as file:
                shutil.copyfileobj(file, self.sink)
            self.sink.flush()
        except (OSError, ValueError):
            _drop(self.sink)
            message = "Standard output was closed before all of the release was sent."
            hint = "No certificate was written, so nobody may read what was sent."
            raise OutputError.of("O002", message, hint) from None
        write_file(self.certificate, self._certificate(), overwrite=self.overwrite)
        return replace(release, path=STANDARD_OUTPUT)

    def keep_refusal(self) -> None:
        """Write the certificate that says why a release was refused, if there is one."""
        from policy_engine.data.atomic_file import write_file  # noqa: PLC0415 (as used)

        if self._certified.is_file() and not self.file.exists():
            write_file(self.certificate, self._certificate(), overwrite=self.overwrite)

    @property
    def _certified(self) -> Path:
        from policy_engine.release.staging import CERTIFICATE  # noqa: PLC0415 (as used)

        return self.file.parent / CERTIFICATE

    def _certificate(self) -> bytes:
        return self._certified.read_bytes()


@contextmanager
def streamed(
    output: str, certificate_to: Path | None, engine: EngineChoice, *, overwrite: bool
) -> Iterator[Stream | None]:
    """Give where a release for standard output is made, None where it is for a file or a folder.

    Within the block, whatever else is printed goes to standard error. Raises RequestError (U001)
    where the certificate has no place, or is not named after a file of a known format; OutputError
    where it cannot be written there.
    """
    if (output == STANDARD_OUTPUT) != (certificate_to is not None):
        message = "A release for standard output leaves its certificate in a file: --output - "
        raise usage_error(f"{message}--certificate-to FILE.csv{_ENDING}.")
    if certificate_to is None:
        yield None
        return
    if engine is EngineChoice.SPARK:
        raise usage_error("Only the local engine writes to standard output.")
    if sys.stdout is None:
        raise usage_error("Standard output is closed.")
    from policy_engine.data.atomic_file import check_destination  # noqa: PLC0415 (as used)
    from policy_engine.data.places.copies import called  # noqa: PLC0415
    from policy_engine.data.table_files import file_format  # noqa: PLC0415

    if not certificate_to.name.endswith(_ENDING):
        message = (
            "A certificate is named after the file that standard output goes to, whose ending "
        )
        message += f"is the format: {certificate_to.name!r} is not FILE.csv{_ENDING}."
        raise usage_error(message)
    name = certificate_to.name.removesuffix(_ENDING)
    file_format(Path(name))
    check_destination(certificate_to, overwrite=overwrite)
    sink = typer.get_binary_stream("stdout")
    with TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        stream = Stream(sink, Path(folder) / name, certificate_to, overwrite)
        with called(stream.file, "standard output"):
            try:
                yield stream
            except BaseException:
                stream.keep_refusal()
                raise


def _drop(sink: BinaryIO) -> None:
    """Let what was not sent go nowhere: Python would try again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sink.fileno())


_ENDING = ".certificate.jsonld"
