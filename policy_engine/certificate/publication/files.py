"""Releases in files: staged beside their destination, verified there, and moved into place."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from policy_engine.certificate.beside import certificate_location
from policy_engine.certificate.certificate import Certificate, read_certificate, readable_text
from policy_engine.certificate.publication.journal import (
    CertifiedPair,
    Journal,
    discard,
    find_journal,
    sweep,
)
from policy_engine.certificate.publication.modes import hide, show
from policy_engine.certificate.publication.sharing import check_shared
from policy_engine.data import storage
from policy_engine.data.storage import Location, write_errors
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import CertificateError, OutputError, join_names
from policy_engine.release.locking import Hold, hold
from policy_engine.release.staging import JOURNAL, STAGING, check_name

_ATTEMPTS = 100


class Publication:
    """A place for outputs, files or folders of files, staged until all of them are published.

    Used as a context: leaving it without `publish` leaves nothing of the outputs. Inside, no other
    run makes a release in that folder; on entering, what killed runs left there is finished or
    removed. The staging folder, which nobody else may read, is beside the destination in the same
    storage, so that outputs are published by renaming. An object store (s3a:, gs:) has no renames:
    there the files are copied, and the certificate, without which nobody may read the output, comes
    last and is removed first. Outputs that share a folder each have a certificate named after them;
    `assets` are their IRIs, in order. Raises OutputError (O002) for a name that no output can have.
    """

    def __init__(
        self,
        *files: Location,
        overwrite: bool,
        wait: bool = False,
        progress: Progress = silent,
        assets: Sequence[str] = (),
    ) -> None:
        for file in files:
            check_name(storage.name(file), "An output")
        self.files, self.file = files, files[0]
        self.folder = storage.parent(self.file)
        self._assets = dict(zip(files, assets, strict=True)) if assets else {}
        self._certificates: dict[Location, Location] = {}
        self._overwrite, self._wait, self._progress = overwrite, wait, progress
        self._made_folders: list[Location] = []
        self._hold: Hold
        self._has_begun = False
        self._staging_folder = storage.join(self.folder, f"{STAGING}{secrets.token_hex(16)}")

    @property
    def staged(self) -> Location:
        """The location where the only output, or the first, is written."""
        return self.staged_file(self.file)

    def staged_file(self, file: Location) -> Location:
        """Return the location where an output is written."""
        return storage.join(self._staging_folder, storage.name(file))

    def certificate_location(self, file: Location) -> Location:
        """Return where the certificate of an output is once it is published."""
        return self._certificates[file]

    def __enter__(self) -> "Publication":
        with write_errors(self.file):
            try:
                self._hold = self._hold_folder()
            except BaseException:
                self._remove_made()
                raise
            try:
                storage.make_private_folder(self._staging_folder)
                self._settle()
                self._name_certificates()
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

    def hide(self, *files: Location) -> None:
        """Let only the owner read staged outputs, or the whole stage."""
        with write_errors(self.file):
            for file in files or self.files:
                hide(self.staged_file(file))

    def publish(self, *certificates: Certificate) -> None:
        """Make the outputs and their certificates, in the same order, visible.

        At no moment is an output there without its own certificate, or beside another one's; an
        earlier release is moved away before. If a run is killed meanwhile, the next run into the
        folder publishes the rest. Raises OutputError if a destination has been taken meanwhile, or
        cannot be written.
        """
        self._publish(dict(zip(self.files, certificates, strict=True)), with_outputs=True)

    def refuse(self, certificate: Certificate) -> None:
        """Leave a certificate that says why there is no output; an earlier release stays."""
        file = next(one for one in self.files if storage.name(one) == certificate.file)
        if not storage.is_taken(file) and not storage.is_taken(self.certificate_location(file)):
            self._publish({file: certificate}, with_outputs=False)

    def _publish(self, certified: Mapping[Location, Certificate], *, with_outputs: bool) -> None:
        with write_errors(self.file):
            self._check_free()
            self._check_hold()
            for file, certificate in certified.items():
                name = storage.name(self.certificate_location(file))
                staged = storage.join(self._staging_folder, name)
                storage.write_bytes(staged, readable_text(certificate).encode())
                for location in (staged, *([self.staged_file(file)] if with_outputs else [])):
                    show(location, self._staging_folder)
            storage.sync(self._staging_folder)
            journal = self._journal(certified, with_outputs=with_outputs)
            self._has_begun = True
            journal.carry_out()

    def _journal(self, files: Iterable[Location], *, with_outputs: bool) -> Journal:
        pairs = tuple(
            CertifiedPair(
                storage.name(self.certificate_location(file)),
                storage.name(file) if with_outputs else "",
            )
            for file in files
        )
        names = [name for pair in pairs for name in (pair.certificate, pair.file) if name]
        replaced = [one for one in names if storage.is_taken(storage.join(self.folder, one))]
        return Journal(self.folder, storage.name(self._staging_folder), pairs, replaced)

    def _hold_folder(self) -> Hold:
        """Return the lock on the destination's folder, which is created if it does not exist."""
        waiting = (lambda: self._progress("waiting for another run", 0, 0)) if self._wait else None
        for _ in range(_ATTEMPTS):
            self._made_folders += [
                one for one in _missing_folders(self.folder) if one not in self._made_folders
            ]
            storage.make_folder(self.folder)
            # Another run that created the folder may be removing it.
            with suppress(FileNotFoundError):
                return hold(self.folder, waiting)
        raise OSError(f"{self.folder} does not stay")

    def _settle(self) -> None:
        """Finish what a killed run was publishing, and remove what others staged."""
        journal = find_journal(self.folder, self._staging_folder)
        if journal:
            journal.finish()
        sweep(self.folder, storage.name(self._staging_folder))

    def _check_hold(self) -> None:
        if not self._hold.is_kept():
            message = f"The lock of {str(self.folder)!r} was removed during the run."
            raise OutputError.of("O001", message, "Another run may be making a release there.")

    def _name_certificates(self) -> None:
        """Find the locations of the certificates, and check that the folder may be shared."""
        shares = len(self.files) > 1
        for file in self.files:
            self._certificates[file] = certificate_location(file, shares=shares)
        check_shared(self.folder, [*self._certificates.values()], [*self._assets.values()])

    def _check_free(self) -> None:
        for file, certificate in self._certificates.items():
            self._check_overwrite(file, certificate)

    def _check_overwrite(self, file: Location, certificate: Location) -> None:
        """Raise OutputError (O001) if an output or its certificate may not be put there."""
        is_taken = storage.is_taken(file)
        is_certified = storage.is_taken(certificate)
        if (is_taken or is_certified) and not self._overwrite:
            locations = ((file, is_taken), (certificate, is_certified))
            existing = join_names(str(location) for location, is_there in locations if is_there)
            message = f"The output exists: {existing}."
            raise OutputError.of("O001", message, "Give another path, or overwrite=True.")
        certified = _certified_file(certificate) if is_certified else None
        if certified is not None and certified != storage.name(file):
            message = f"{str(certificate)!r} certifies another file, or is not a certificate."
            raise OutputError.of("O001", message, "Give each release a folder of its own.")
        if certified is None and is_taken:
            message = f"{str(file)!r} is not a release: there is no certificate beside it."
            raise OutputError.of(
                "O001", message, "Only a release can be overwritten; move it away."
            )

    def _clean_up(self) -> None:
        """Remove staged files, unless they are needed to finish; release the folder."""
        try:
            with suppress(OSError):
                if not (self._has_begun and storage.is_taken(storage.join(self.folder, JOURNAL))):
                    discard(self._staging_folder)
        finally:
            self._hold.release()
        self._remove_made()

    def _remove_made(self) -> None:
        """Remove the folders created for an output that was not published."""
        for folder in sorted(self._made_folders, key=lambda one: -len(str(one))):
            with suppress(OSError):
                storage.remove_empty(folder)


def _missing_folders(folder: Location) -> Iterator[Location]:
    """Yield the folder and its parents that do not exist, deepest first."""
    while not storage.exists(folder) and storage.parent(folder) != folder:
        yield folder
        folder = storage.parent(folder)


def _certified_file(certificate: Location) -> str:
    try:
        return read_certificate(storage.read_bytes(certificate)).file
    except (CertificateError, OSError):
        return ""
