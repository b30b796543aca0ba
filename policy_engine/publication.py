"""Make an output visible: beside its certificate, whole or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from policy_engine import storage
from policy_engine.catalog import FORMATS, SPARK_FORMATS, TABLE, format_of, with_ending
from policy_engine.certificate import FILE_NAME, Certificate, read_certificate
from policy_engine.errors import CertificateError, OutputError, PolicyEngineError, listed
from policy_engine.storage import Place, writing
from policy_engine.terms import local_name

_STAGE = ".policy-engine."


class Publication:
    """A place for an output, a file or a folder of files, staged until it is published.

    Used as a context: on leaving it without `publish`, nothing of the output remains. The
    staging folder lies beside the destination, in the same storage, so that renames publish.
    An object store (s3a:, gs:) has none: there the files are copied, and the certificate,
    without which nobody may read the output, comes last and goes first.
    """

    def __init__(self, file: Place, *, overwrite: bool) -> None:
        self.file = file
        self.certificate = storage.join(storage.parent(self.file), FILE_NAME)
        self._overwrite = overwrite
        self._made: list[Place] = []
        self._stage: Place
        with writing(self.file):
            self._check_free()

    @property
    def staged(self) -> Place:
        """The place to which the output is to be written."""
        return storage.join(self._stage, storage.name(self.file))

    def __enter__(self) -> "Publication":
        parent = storage.parent(self.file)
        with writing(self.file):
            self._made = list(_missing(parent))
            try:
                storage.make_folder(parent)
                _sweep(parent)
                self._stage = storage.join(parent, f"{_mark(parent)}{uuid.uuid4().hex[:8]}")
                storage.make_folder(self._stage)
            except BaseException:
                self._remove_made()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            storage.remove(self._stage)
        self._remove_made()

    def publish(self, certificate: Certificate) -> None:
        """Make the output and its certificate visible.

        The certificate goes first: between the two renames there is at most a certificate
        without the output that it speaks of, never an output without its certificate, or
        beside that of another one; an earlier release is moved out of sight before. Raises
        OutputError where the destination has been taken meanwhile, or cannot be written.
        """
        with writing(self.file):
            self._check_free()
            staged = storage.join(self._stage, FILE_NAME)
            storage.write_bytes(staged, certificate.to_jsonld().encode())
            pairs = [(staged, self.certificate), (self.staged, self.file)]
            _replace(pairs if storage.can_rename(self.file) else pairs[::-1])
            storage.sync(storage.parent(self.file))

    def refuse(self, certificate: Certificate) -> None:
        """Leave a certificate that says why there is no output; an earlier release stays."""
        with writing(self.file):
            if not storage.exists(self.file) and not storage.exists(self.certificate):
                staged = storage.join(self._stage, FILE_NAME)
                storage.write_bytes(staged, certificate.to_jsonld().encode())
                storage.move(staged, self.certificate)

    def _check_free(self) -> None:
        is_taken = storage.exists(self.file)
        is_certified = storage.exists(self.certificate)
        if (is_taken or is_certified) and not self._overwrite:
            both = ((self.file, is_taken), (self.certificate, is_certified))
            taken = listed(str(place) for place, is_there in both if is_there)
            message = f"The output exists: {taken}."
            raise OutputError.of("O001", message, "Give another path, or overwrite=True.")
        certified = _certified_file(self.certificate) if is_certified else None
        if certified is not None and certified != storage.name(self.file):
            message = f"{str(self.certificate)!r} certifies another file, or is no certificate."
            raise OutputError.of("O001", message, "Give each release a folder of its own.")
        if certified is None and is_taken:
            message = f"{str(self.file)!r} is no release: no certificate lies beside it."
            raise OutputError.of("O001", message, "Only a release is overwritten; move it away.")

    def _remove_made(self) -> None:
        """Remove the folders made for an output that did not come to be."""
        with suppress(OSError):
            for folder in self._made:
                storage.remove_empty(folder)


class TablePublication:
    """A place for an output in the catalog of a Spark session, staged until it is published.

    The staged table has another name until it is renamed, its certificate then being among its
    properties, as `policy_engine.certificate`. An earlier release is dropped right before.
    """

    def __init__(self, session: Any, location: str, *, overwrite: bool) -> None:
        self.file = location
        self._session, self._overwrite = session, overwrite
        self._name = location.removeprefix(TABLE)
        self._stage = f"{self._name}__policy_engine_{uuid.uuid4().hex[:8]}"
        self._check_free()

    @property
    def staged(self) -> Place:
        """The table to which the output is to be written."""
        return f"{TABLE}{self._stage}"

    def __enter__(self) -> "TablePublication":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(PolicyEngineError):
            self._run(f"DROP TABLE IF EXISTS {self._stage}")

    def publish(self, certificate: Certificate) -> None:
        """Make the table visible under its name. Raises OutputError where that is taken."""
        text = certificate.to_jsonld().replace("\\", "\\\\").replace("'", "\\'")
        self._check_free()
        self._run(f"ALTER TABLE {self._stage} SET TBLPROPERTIES ('{_PROPERTY}' = '{text}')")
        self._run(f"DROP TABLE IF EXISTS {self._name}")
        self._run(f"ALTER TABLE {self._stage} RENAME TO {self._name}")

    def refuse(self, certificate: Certificate) -> None:
        """Leave nothing: a certificate is a property of its table, and there is none."""

    def _check_free(self) -> None:
        with self._running():
            is_taken = self._session.catalog.tableExists(self._name)
        if is_taken and not self._overwrite:
            message = f"The output exists: {self.file!r}."
            raise OutputError.of("O001", message, "Give another name, or overwrite=True.")
        if is_taken:
            properties = self._run(f"SHOW TBLPROPERTIES {self._name}")
            if _PROPERTY not in {row.key for row in properties}:
                message = f"{self.file!r} is no release: it has no certificate as a property."
                raise OutputError.of("O001", message, "Only a release is overwritten; drop it.")

    def _run(self, statement: str) -> list[Any]:
        with self._running():
            rows: list[Any] = self._session.sql(statement).collect()
            return rows

    def _running(self) -> AbstractContextManager[str]:
        from policy_engine.engines.spark.session import running  # noqa: PLC0415 (for Spark alone)

        return running(self._session, "publishing")


_PROPERTY = "policy_engine.certificate"


def publication(place: Place, session: Any, *, overwrite: bool) -> Publication | TablePublication:
    """Return the publication for a place; tables are published in the catalog of a session."""
    if str(place).startswith(TABLE):
        return TablePublication(session, str(place), overwrite=overwrite)
    return Publication(place, overwrite=overwrite)


def destination(output: Place, asset: str, like: str, *, as_folder: bool = False) -> Place:
    """Return the place for an output: the path itself, or one in it where it is a folder.

    A path that ends like data is one; any other without a suffix is a folder, in which the
    output is named after the asset and has the format of the input (`like`; CSV for tables in
    memory). With `as_folder` the output is itself to be a folder of files, as Spark writes
    them: its name ends like one of its formats (`like`; Parquet for frames and tables). Raises
    DataError (C004) for a suffix that is not known, OutputError (O002) for a table's name.
    """
    if str(output).startswith(TABLE):
        if as_folder:
            return output
        message = f"The output {str(output)!r} is a table, which only the Spark engine writes."
        raise OutputError.of("O002", message, 'Give engine="spark", or a file.')
    with writing(output):
        is_folder = storage.is_folder(output)
    formats = SPARK_FORMATS if as_folder else FORMATS
    name = storage.name(output)
    if with_ending(name, formats) and (as_folder or not is_folder):
        return output
    if not is_folder and Path(name).suffix:
        format_of(Path(name), formats)
    kind = like if like in formats else ("parquet" if as_folder else "csv")
    return storage.join(output, f"{local_name(asset)}.{kind}")


def model_destination(output: Place, asset: str) -> Place:
    """Return the folder for a model: in the one given, named after the asset.

    Raises OutputError (O002) for what is no place for a folder.
    """
    name = storage.name(output)
    if str(output).startswith(TABLE) or storage.is_remote(output) or Path(name).suffix:
        message = f"A model is released into a folder of this machine. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "Give the path of a folder.")
    return storage.join(output, local_name(asset))


def _replace(pairs: list[tuple[Place, Place]]) -> None:
    """Move each staged part to its place, in order, and what was there into the stage before.

    The earlier parts leave in the other order. Where a step fails, those before it are undone.
    """
    done: list[tuple[Place, Place]] = []
    try:
        for staged, place in reversed(pairs):
            if storage.exists(place):
                old = storage.join(storage.parent(staged), f".old.{storage.name(place)}")
                _move(place, old, done)
        for staged, place in pairs:
            _move(staged, place, done)
    except BaseException:
        for source, target in reversed(done):
            with suppress(OSError):
                storage.move(target, source)
        raise


def _move(source: Place, target: Place, done: list[tuple[Place, Place]]) -> None:
    storage.move(source, target)
    done.append((source, target))


def _missing(folder: Place) -> Iterator[Place]:
    """Yield the folder and those above it that there are not, the deepest first."""
    while not storage.exists(folder) and storage.parent(folder) != folder:
        yield folder
        folder = storage.parent(folder)


def _mark(folder: Place) -> str:
    """Return what the staging folders of this process begin with.

    A process is told by its number alone on this machine, by the machine's too elsewhere.
    """
    machine = f"{uuid.getnode():x}." if storage.is_remote(folder) else ""
    return f"{_STAGE}{os.getpid()}.{machine}"


def _certified_file(place: Place) -> str:
    try:
        return read_certificate(storage.read_bytes(place)).file
    except (CertificateError, OSError):
        return ""


def _sweep(folder: Place) -> None:
    """Remove what earlier runs staged here and were killed before they could remove."""
    own = _mark(folder).removeprefix(f"{_STAGE}{os.getpid()}")
    for left in storage.names(folder):
        process, _, rest = left.removeprefix(_STAGE).partition(".")
        is_ours = left.startswith(_STAGE) and f".{rest}".startswith(own) and process.isdigit()
        if is_ours and not _is_running(int(process)):
            with suppress(OSError):
                storage.remove(storage.join(folder, left))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
