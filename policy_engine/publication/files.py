"""Releases in files: staged beside their destination, verified there, and moved into view."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType

from policy_engine import storage
from policy_engine.certificate import FILE_NAME, Certificate, read_certificate
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import CertificateError, OutputError, listed
from policy_engine.publication.holding import Hold, hold
from policy_engine.publication.journal import Journal, discard, find_journal, sweep
from policy_engine.publication.modes import hide, show
from policy_engine.staging import JOURNAL, STAGE, check_name
from policy_engine.storage import Place, writing

_ATTEMPTS = 100


class Publication:
    """A place for an output, a file or a folder of files, staged until it is published.

    Used as a context: on leaving it without `publish`, nothing of the output remains. Within, no
    other run makes a release in that folder; what killed ones left there is finished or removed
    on entering. The staging folder, which nobody else may read, lies beside the destination, in
    the same storage, so that renames publish. An object store (s3a:, gs:) has none: there the
    files are copied, and the certificate, without which nobody may read the output, comes last
    and goes first. Raises OutputError (O002) for a name that no output can have.
    """

    def __init__(
        self,
        file: Place,
        *,
        overwrite: bool,
        wait: bool = False,
        progress: Progress = silent,
    ) -> None:
        check_name(storage.name(file), "An output")
        self.file = file
        self.folder = storage.parent(file)
        self.certificate = storage.join(self.folder, FILE_NAME)
        self._overwrite, self._wait, self._progress = overwrite, wait, progress
        self._made: list[Place] = []
        self._hold: Hold
        self._has_begun = False
        self._stage = storage.join(self.folder, f"{STAGE}{secrets.token_hex(16)}")

    @property
    def staged(self) -> Place:
        """The place to which the output is to be written."""
        return storage.join(self._stage, storage.name(self.file))

    def __enter__(self) -> "Publication":
        with writing(self.file):
            try:
                self._hold = self._held()
            except BaseException:
                self._remove_made()
                raise
            try:
                storage.make_private_folder(self._stage)
                self._settle()
                self._check_free()
            except BaseException:
                self._leave()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def hide(self) -> None:
        """Take from others what rights they have to the output as it was written."""
        with writing(self.file):
            hide(self.staged)

    def publish(self, certificate: Certificate) -> None:
        """Make the output and its certificate visible.

        At no moment does an output lie there without the certificate that speaks of it, or
        beside that of another one; an earlier release is moved out of sight before. Of a run
        that is killed meanwhile, the next run into the folder publishes the rest. Raises
        OutputError where the destination has been taken meanwhile, or cannot be written.
        """
        self._publish(certificate, storage.name(self.file))

    def refuse(self, certificate: Certificate) -> None:
        """Leave a certificate that says why there is no output; an earlier release stays."""
        if not storage.is_taken(self.file) and not storage.is_taken(self.certificate):
            self._publish(certificate, "")

    def _publish(self, certificate: Certificate, name: str) -> None:
        with writing(self.file):
            self._check_free()
            self._check_held()
            staged = storage.join(self._stage, FILE_NAME)
            storage.write_bytes(staged, certificate.to_jsonld().encode())
            for place in (staged, *([self.staged] if name else [])):
                show(place, self._stage)
            storage.sync(self._stage)
            journal = self._journal(name)
            self._has_begun = True
            journal.carry_out()

    def _journal(self, name: str) -> Journal:
        there = {FILE_NAME: self.certificate, name: self.file}
        replaced = [one for one, place in there.items() if one and storage.is_taken(place)]
        return Journal(self.folder, storage.name(self._stage), name, replaced)

    def _held(self) -> Hold:
        """Return the hold of the destination's folder, made first where there is none."""
        waiting = (lambda: self._progress("waiting for another run", 0, 0)) if self._wait else None
        for _ in range(_ATTEMPTS):
            self._made += [one for one in _missing(self.folder) if one not in self._made]
            storage.make_folder(self.folder)
            # Another run that made the folder may be taking it away again.
            with suppress(FileNotFoundError):
                return hold(self.folder, waiting)
        raise OSError(f"{self.folder} does not stay")

    def _settle(self) -> None:
        """Finish what a killed run was publishing, and remove what others staged."""
        journal = find_journal(self.folder, self._stage)
        if journal:
            journal.finish()
        sweep(self.folder, storage.name(self._stage))

    def _check_held(self) -> None:
        if not self._hold.is_kept():
            message = f"What marked {str(self.folder)!r} as in use was removed during the run."
            raise OutputError.of("O001", message, "Another run may be making a release there.")

    def _check_free(self) -> None:
        is_taken = storage.is_taken(self.file)
        is_certified = storage.is_taken(self.certificate)
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

    def _leave(self) -> None:
        """Remove what is staged, unless it is still needed to finish; give the folder back."""
        try:
            with suppress(OSError):
                if not (self._has_begun and storage.is_taken(storage.join(self.folder, JOURNAL))):
                    discard(self._stage)
        finally:
            self._hold.release()
        self._remove_made()

    def _remove_made(self) -> None:
        """Remove the folders made for an output that did not come to be."""
        with suppress(OSError):
            for folder in sorted(self._made, key=lambda one: -len(str(one))):
                storage.remove_empty(folder)


def _missing(folder: Place) -> Iterator[Place]:
    """Yield the folder and those above it that there are not, the deepest first."""
    while not storage.exists(folder) and storage.parent(folder) != folder:
        yield folder
        folder = storage.parent(folder)


def _certified_file(place: Place) -> str:
    try:
        return read_certificate(storage.read_bytes(place)).file
    except (CertificateError, OSError):
        return ""
