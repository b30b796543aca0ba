"""Make an output visible: beside its certificate, whole or not at all."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from policy_engine.catalog import FORMATS, format_of
from policy_engine.certificate import FILE_NAME, Certificate, read_certificate
from policy_engine.errors import CertificateError, OutputError, PolicyEngineError, listed
from policy_engine.terms import local_name

_STAGE = ".policy-engine."


class Publication:
    """A place for an output, staged out of sight until it is published.

    Used as a context: on leaving it without `publish`, nothing of the output remains. The
    staging folder lies beside the destination, on the same disk, so that a rename publishes.
    """

    def __init__(self, file: Path, *, overwrite: bool) -> None:
        self.file = file
        self.certificate = file.parent / FILE_NAME
        self._overwrite = overwrite
        self._made: list[Path] = []
        try:
            self._check_free()
        except OSError as error:
            raise self._not_writable(error) from None

    @property
    def staged(self) -> Path:
        """The path to which the output is to be written."""
        return self._stage / self.file.name

    def __enter__(self) -> "Publication":
        parent = self.file.parent
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        try:
            parent.mkdir(parents=True, exist_ok=True)
            _sweep(parent)
            prefix = f"{_STAGE}{os.getpid()}."
            self._stage = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        except OSError as error:
            self._remove_made()
            raise self._not_writable(error) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._stage, ignore_errors=True)
        self._remove_made()

    def publish(self, certificate: Certificate) -> None:
        """Make the output and its certificate visible.

        The certificate goes first: between the two renames there is at most a certificate
        without the output that it speaks of, never an output without its certificate. Raises
        OutputError where the destination has been taken meanwhile, or cannot be written.
        """
        staged = self._stage / FILE_NAME
        try:
            self._check_free()
            with staged.open("w", encoding="utf-8") as file:
                file.write(certificate.to_jsonld())
                file.flush()
                os.fsync(file.fileno())
            staged.replace(self.certificate)
            self.staged.replace(self.file)
            _sync(self.file.parent)
        except OSError as error:
            raise self._not_writable(error) from None

    def _not_writable(self, error: OSError) -> PolicyEngineError:
        message = f"The output cannot be written: {error.strerror}."
        return OutputError.of("O002", message, source=str(self.file))

    def _check_free(self) -> None:
        taken = [str(path) for path in (self.file, self.certificate) if path.exists()]
        if taken and not self._overwrite:
            message = f"The output exists: {listed(taken)}."
            raise OutputError.of("O001", message, "Give another path, or --overwrite.")
        certified = _certified_file(self.certificate) if self.certificate.exists() else None
        if certified is not None and certified != self.file.name:
            message = f"{str(self.certificate)!r} certifies another file, or is no certificate."
            raise OutputError.of("O001", message, "Give each release a folder of its own.")
        if certified is None and self.file.exists():
            message = f"{str(self.file)!r} is no release: no certificate lies beside it."
            raise OutputError.of("O001", message, "Only a release is overwritten; move it away.")

    def _remove_made(self) -> None:
        """Remove the folders made for an output that did not come to be."""
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:
                return


def destination(output: Path, asset: str, like: str) -> Path:
    """Return the file for an output: the path itself, or a file in it where it is a folder.

    A path that ends like a data file is one; any other without a suffix is a folder, in which
    the file is named after the asset and has the format of the input (`like`; CSV for tables
    in memory). Raises DataError (C004) for a suffix that is not known.
    """
    try:
        is_folder = output.is_dir()
    except OSError as error:
        message = f"The output cannot be written: {error.strerror}."
        raise OutputError.of("O002", message, source=str(output)) from None
    if not is_folder and any(output.name.lower().endswith(f".{kind}") for kind in FORMATS):
        return output
    if not is_folder and output.suffix:
        format_of(output)
    kind = like if like in FORMATS else "csv"
    return output / f"{local_name(asset)}.{kind}"


def _certified_file(path: Path) -> str:
    try:
        return read_certificate(path.read_bytes()).file
    except (CertificateError, OSError):
        return ""


def _sweep(folder: Path) -> None:
    """Remove what earlier runs staged here and were killed before they could remove."""
    for left in folder.glob(f"{_STAGE}*"):
        process = left.name.removeprefix(_STAGE).split(".")[0]
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _sync(folder: Path) -> None:
    """Flush a folder's entries, where the system lets one."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
