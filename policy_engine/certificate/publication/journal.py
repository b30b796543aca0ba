"""The steps of a publication, written down before the first, so that any run can finish them."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from policy_engine.data import storage
from policy_engine.data.storage import Location
from policy_engine.errors import OutputError, join_names
from policy_engine.release.staging import (
    BACK,
    CERTIFICATE,
    JOURNAL,
    OLD,
    is_certificate,
    is_staging_folder,
    name_problem,
)

_OLD_CERTIFICATE, _OLD_OUTPUT = f"{OLD}certificate", f"{OLD}output"


@dataclass(frozen=True)
class CertifiedPair:
    """The names of a certificate and of its output, the latter empty if there is none."""

    certificate: str
    file: str = ""


@dataclass(frozen=True)
class JournalPart:
    """A file or folder on its way from the staging folder to its destination.

    If it `replaces` something, that is kept until all parts are published. For renames, the files
    present show how far the steps have come, so each step may be repeated.
    """

    staged: Location
    location: Location
    kept: Location
    replaces: bool

    def keep(self) -> None:
        """Copy what is about to be removed; nothing is copied if it is renamed.

        Raises OSError if it cannot be kept under its name there.
        """
        storage.is_taken(self.kept)

    def take_out(self) -> None:
        """Remove the previous file."""
        if self.replaces and storage.is_taken(self.staged) and storage.is_taken(self.location):
            _rename(self.location, self.kept)

    def put_in(self) -> None:
        """Put the new file in its place."""
        if storage.is_taken(self.staged):
            _rename(self.staged, self.location)

    def take_back(self) -> None:
        """Undo `put_in`."""
        if not storage.is_taken(self.staged) and storage.is_taken(self.location):
            _rename(self.location, self.staged)

    def put_back(self) -> None:
        """Undo `take_out`."""
        if _was_kept(self.kept):
            _rename(self.kept, self.location)


class CopiedPart(JournalPart):
    """A part in an object store, where moving takes many steps: it is copied, again if needed."""

    def keep(self) -> None:
        """Copy what is about to be removed."""
        if self.replaces:
            storage.copy(self.location, self.kept)

    def take_out(self) -> None:
        """Remove the previous file, or an incomplete copy."""
        if storage.exists(self.staged):
            storage.remove(self.location)

    def put_in(self) -> None:
        """Put the new file in its place."""
        if storage.exists(self.staged):
            storage.copy(self.staged, self.location)

    def take_back(self) -> None:
        """Undo `put_in`."""
        if not self.replaces or storage.exists(self.kept):
            storage.remove(self.location)

    def put_back(self) -> None:
        """Undo `take_out`."""
        if self.replaces and storage.exists(self.kept):
            storage.copy(self.kept, self.location)


@dataclass(frozen=True)
class Journal:
    """What is published into a folder: from which stage, and under which names.

    Several outputs are published together or not at all. `replaced` are the names of previous
    files. The journal is in the folder from before the first step until after the last, and in the
    staging folder before and after; a mark in the staging folder reverses the publication. From
    every state that a kill leaves, `finish` produces either the complete new release or the
    complete old one.
    """

    folder: Location
    stage: str
    pairs: tuple[CertifiedPair, ...] = ()
    replaced: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Location, text: bytes) -> "Journal":
        """Read a journal. Raises ValueError, TypeError or KeyError if the text is not one."""
        facts: dict[str, Any] = json.loads(text)
        if "file" in facts:  # written by a version with one output per folder
            facts["pairs"] = [{"certificate": CERTIFICATE, "file": facts.pop("file")}]
        pairs = tuple(CertifiedPair(**one) for one in facts.pop("pairs"))
        return cls(folder, pairs=pairs, **facts)

    @property
    def names(self) -> Iterator[tuple[str, str]]:
        """The names of all published files, in order, and the names for what each replaces."""
        for number, pair in enumerate(self.pairs):
            end = f".{number}" if number else ""
            yield pair.certificate, f"{_OLD_CERTIFICATE}{end}"
            if pair.file:
                yield pair.file, f"{_OLD_OUTPUT}{end}"

    @property
    def parts(self) -> list[JournalPart]:
        """The published parts, in order; the parts they replace are removed first, in reverse.

        The certificate comes before the output, so that no output is ever there without its
        certificate. Where folders are copied file by file, the certificate comes last: without it
        nobody may read them.
        """
        staging_folder = storage.join(self.folder, self.stage)
        kind = JournalPart if storage.can_rename(self.folder) else CopiedPart
        parts = [
            kind(
                storage.join(staging_folder, name),
                storage.join(self.folder, name),
                storage.join(staging_folder, old),
                name in self.replaced,
            )
            for name, old in self.names
        ]
        return parts if kind is JournalPart else parts[::-1]

    def carry_out(self) -> None:
        """Publish all parts; if a step raises, undo the steps before it and raise that error.

        If undoing fails too, the journal stays, and the next run finishes. An interruption after
        the journal is gone comes too late: everything is published and stays so.
        """
        facts = {name: value for name, value in asdict(self).items() if name != "folder"}
        storage.write_bytes(self._staged_journal, json.dumps(facts).encode())
        for part in self.parts:
            part.keep()
        try:
            _rename(self._staged_journal, storage.join(self.folder, JOURNAL))
            self.finish()
        except BaseException:
            with suppress(OSError, OutputError):
                self._turn_back()
            raise

    def finish(self) -> None:
        """Complete the publication, forwards or backwards, however far it has come."""
        if storage.exists(self._turn_back_mark):
            self._undo()
            return
        parts = self.parts
        for part in reversed(parts):
            part.take_out()
        for part in parts:
            part.put_in()
        self._end()

    def _turn_back(self) -> None:
        if storage.is_taken(storage.join(self.folder, JOURNAL)):
            with suppress(OSError):
                storage.write_bytes(self._turn_back_mark, b"")
                storage.sync(storage.parent(self._turn_back_mark))
            self._undo()

    def _undo(self) -> None:
        parts = self.parts
        for part in reversed(parts):
            part.take_back()
        for part in parts:
            part.put_back()
        self._end()

    @property
    def _turn_back_mark(self) -> Location:
        return storage.join(storage.join(self.folder, self.stage), BACK)

    @property
    def _staged_journal(self) -> Location:
        """The journal's location in the staging folder: nobody needs the files kept beside it."""
        return storage.join(storage.join(self.folder, self.stage), JOURNAL)

    def _end(self) -> None:
        location = storage.join(self.folder, JOURNAL)
        if storage.is_taken(storage.parent(self._staged_journal)):
            storage.move(location, self._staged_journal)
        else:
            storage.remove(location)
        with suppress(OSError):  # it may reappear after a power loss; finishing twice does no harm
            for folder in (self.folder, storage.parent(self._staged_journal)):
                storage.sync(folder)


def find_journal(folder: Location, like: Location) -> Journal | None:
    """Return the journal of an interrupted publication in a folder, if there is one.

    It must belong to the user who created the folder `like`, since it says what is moved where.
    Raises OutputError (O002) for another user's, or for one that cannot be understood; OSError if
    it cannot be read.
    """
    location = storage.join(folder, JOURNAL)
    if not storage.is_taken(location):
        return None
    if _owner(location) != _owner(like):
        message = f"Another user's run was interrupted while publishing into {str(folder)!r}."
        raise OutputError.of(
            "O002", message, "That user can finish it with any run into that folder."
        )
    try:
        journal = Journal.read(folder, storage.read_bytes(location))
        if _is_sound(journal):
            return journal
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    message = f"{str(location)!r} is not the journal of a publication."
    staging_folders = [name for name in storage.names(folder) if is_staging_folder(name)]
    hint = "Check the release beside it, then remove the journal."
    if staging_folders:
        hint = f"The replaced release may be in {join_names(staging_folders)}, as "
        hint += f"{_OLD_CERTIFICATE!r} and {_OLD_OUTPUT!r}: move it away, then remove the journal."
    raise OutputError.of("O002", message, hint)


def sweep(folder: Location, own: str) -> None:
    """Remove what other runs, none of which is alive, staged in a folder.

    Raises OutputError (O002) if a staging folder has a replaced release without the journal needed
    to continue: only a person can tell where it belongs.
    """
    names = [name for name in storage.names(folder) if is_staging_folder(name) and name != own]
    for staging_folder in (storage.join(folder, name) for name in names):
        if not storage.is_folder(staging_folder) or _is_link(staging_folder):
            continue
        kept_locations = _kept_locations(staging_folder)
        if kept_locations and not storage.is_taken(storage.join(staging_folder, JOURNAL)):
            listed = join_names(str(location) for location in kept_locations)
            message = f"A publication was interrupted and its journal is missing. It kept {listed}."
            staged = str(staging_folder)
            hint = f"That is the release it was replacing. Move it away, then remove {staged!r}."
            raise OutputError.of("O002", message, hint)
        with suppress(OSError):
            discard(staging_folder)


def discard(staging_folder: Location) -> None:
    """Remove a staging folder, first the files it kept.

    Until then, its journal says that they are unneeded. Raises OSError.
    """
    for location in reversed(_kept_locations(staging_folder)):
        storage.remove(location)
    storage.remove(staging_folder)


def _kept_locations(staging_folder: Location) -> list[Location]:
    """Return the replaced files that a staging folder keeps, certificates before outputs."""
    names = storage.names(staging_folder)
    return [storage.join(staging_folder, name) for name in names if name.startswith(OLD)]


def _was_kept(location: Location) -> bool:
    """Return whether a file was kept there; names that no file system allows were not."""
    try:
        return storage.is_taken(location)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def _is_link(location: Location) -> bool:
    return not storage.is_remote(location) and storage.local_path(location).is_symlink()


def _is_sound(journal: Journal) -> bool:
    names = [name for name, _ in journal.names]
    return (
        is_staging_folder(journal.stage)
        and bool(names)
        and len({*names}) == len(names)
        and all(map(_is_sound_pair, journal.pairs))
        and isinstance(journal.replaced, list)
        and {*names}.issuperset(journal.replaced)
    )


def _is_sound_pair(pair: CertifiedPair) -> bool:
    output_name = pair.certificate.removesuffix(CERTIFICATE).removesuffix(".")
    return (
        is_certificate(pair.certificate)
        and (output_name == "" or not name_problem(output_name))
        and (pair.file == "" or not name_problem(pair.file))
    )


def _owner(location: Location) -> int:
    return 0 if storage.is_remote(location) else os.lstat(storage.local_path(location)).st_uid


def _rename(source: Location, target: Location) -> None:
    """Move a file to a free name; after a power loss, the moves that persist are the first ones."""
    if storage.is_taken(target):
        message = f"{str(target)!r} appeared while a release was being published."
        raise OutputError.of("O001", message, "Move it away.")
    storage.move(source, target)
    for folder in dict.fromkeys((storage.parent(target), storage.parent(source))):
        storage.sync(folder)
