"""One file of all that decisions follow from: policies, and what they are read and decided with."""

import hashlib
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args

from policy_engine.errors import DataError, PolicyEngineError

Kind = Literal[
    "policy",
    "parent",
    "vocabulary",
    "context",
    "hierarchy",
    "owners",
    "certificate",
    "attestation",
    "taxonomy",
]
MANIFEST = "bundle.json"
"""The name of the list of what a bundle holds, with the sha-256 of every file."""
_FORMAT = 1
MOST_BYTES = 512 * 2**20
"""A bundle whose files are larger, taken together, is neither written nor read."""
_MOST_FILES = 100_000
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_HINT = "Pack it again."
_NOT_ARCHIVES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)
"""What is raised for bytes that are no archive, or one that is encrypted or damaged."""


class Member(NamedTuple):
    """What a bundle was packed with: the path in it, and a name where paths have none: the URL of a
    context, the name of a taxonomy."""

    kind: Kind
    path: str
    name: str = ""


@dataclass(frozen=True)
class Bundle:
    """What decisions follow from, as it was packed.

    `members` are in the order in which they were given; `files` hold their bytes by path, more than
    one where a member is a folder or a registry of policies.
    """

    members: tuple[Member, ...]
    files: Mapping[str, bytes] = field(repr=False)

    @cached_property
    def manifest(self) -> bytes:
        """The list of members and files, the same for the same content."""
        sums = {path: hashlib.sha256(self.files[path]).hexdigest() for path in sorted(self.files)}
        members = [one._asdict() for one in self.members]
        listed = {"bundle": _FORMAT, "members": members, "files": sums}
        return (json.dumps(listed, indent=1, ensure_ascii=False) + "\n").encode()

    @property
    def digest(self) -> str:
        """The sha-256 of the manifest, and so of every file."""
        return hashlib.sha256(self.manifest).hexdigest()

    def of_kind(self, *kinds: Kind) -> Iterator[Member]:
        """Yield the members of some kinds, in their order."""
        return (one for one in self.members if one.kind in kinds)

    def packed(self) -> bytes:
        """Return the bundle as a ZIP archive, the same bytes for the same content.

        Raises DataError (C018) where it would be too large to be read.
        """
        _check_size(sum(map(len, self.files.values())), len(self.files))
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in ((MANIFEST, self.manifest), *sorted(self.files.items())):
                # Times and modes of files would make two bundles of the same content differ.
                archive.writestr(zipfile.ZipInfo(path, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()


def read_bundle(content: bytes, source: str = "", digest: str = "") -> Bundle:
    """Return a bundle once every file in it is the one that its manifest names.

    With a `digest`, the manifest must be the one with that sha-256. Raises DataError (C018) where
    it is not, and where a file is missing, changed, or not in the manifest.
    """
    try:
        files = _files_of(content, source)
    except _NOT_ARCHIVES:
        raise _damaged("The file is not a bundle.", source) from None
    manifest = files.pop(MANIFEST, None)
    if manifest is None:
        raise _damaged(f"The file is not a bundle: {MANIFEST!r} is not in it.", source)
    bundle = Bundle(_listed_members(manifest, source), files)
    if bundle.manifest != manifest:
        raise _damaged(_difference(bundle, manifest), source)
    for one in bundle.of_kind("certificate", "attestation", "context"):
        if one.path not in files:
            raise _damaged(f"The bundle lacks its file {one.path!r:.200}.", source)
    if digest and digest.lower() != bundle.digest:
        message = f"The bundle's sha-256 is {bundle.digest}. Asked for was {digest!r:.80}."
        raise DataError.of("C018", message, source=source)
    return bundle


def _files_of(content: bytes, source: str) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
        _check_size(sum(entry.file_size for entry in entries), len(entries), source)
        names = [entry.filename for entry in entries]
        if len({*names}) < len(names):
            raise _damaged("Two files of the bundle have one name.", source)
        for name in names:
            _check_inside(name, source)
        files = {}
        for entry in entries:
            with archive.open(entry) as file:
                files[entry.filename] = file.read(entry.file_size + 1)
        return files


def _check_inside(name: str, source: str) -> None:
    """Raise DataError (C018) for the path of a file that would be written outside of a folder."""
    path = PurePosixPath(name)
    is_plain = (
        name
        and str(path) == name
        and "\\" not in name
        and ":" not in name.split("/", maxsplit=1)[0]
    )
    if not is_plain or path.is_absolute() or ".." in path.parts:
        raise _damaged(f"The bundle has a file of the name {name!r:.80}.", source)


def _check_size(size: int, count: int, source: str = "") -> None:
    if size > MOST_BYTES or count > _MOST_FILES:
        message = f"A bundle has up to {_MOST_FILES:,} files of {MOST_BYTES // 2**20} MiB. "
        raise DataError.of("C018", f"{message}Given: {count:,} of {size:,} bytes.", "", source)


def _listed_members(manifest: bytes, source: str) -> tuple[Member, ...]:
    try:
        listed: Any = json.loads(manifest)
        if listed["bundle"] != _FORMAT:
            message = f"The bundle is of format {listed['bundle']!r:.20}. Known is {_FORMAT}."
            raise _damaged(message, source)
        members = tuple(Member(**one) for one in listed["members"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(f"The {MANIFEST} of the bundle cannot be understood.", source) from None
    for one in members:
        if one.kind not in get_args(Kind) or not all(isinstance(part, str) for part in one):
            message = f"A bundle has no member of the kind {one.kind!r:.40}."
            raise _damaged(message, source)
        if not _is_utf_8(one.path + one.name):
            raise _damaged(f"The {MANIFEST} of the bundle has a name that is no text.", source)
        _check_inside(one.path, source)
    return members


def _is_utf_8(text: str) -> bool:
    """Tell whether a text has no half of a pair of UTF-16, which JSON can write alone."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _difference(bundle: Bundle, manifest: bytes) -> str:
    """Return what makes the files of a bundle others than those of its manifest."""
    listed = json.loads(manifest).get("files")
    sums = listed if isinstance(listed, dict) else {}
    own = json.loads(bundle.manifest)["files"]
    for path in sorted({*sums, *own}):
        if path not in own:
            return f"The bundle lacks its file {path!r:.200}."
        if path not in sums:
            return f"{path!r:.200} is in the bundle, and not in its manifest."
        if sums[path] != own[path]:
            return f"{path!r:.200} is not the file that was packed."
    return f"The {MANIFEST} of the bundle is not as it was packed."


def _damaged(message: str, source: str) -> PolicyEngineError:
    return DataError.of("C018", message, _HINT, source)
