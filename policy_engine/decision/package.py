"""One file of many, with a list of them by which it is known that none was changed since."""

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
from typing import Any, ClassVar, NamedTuple, Self

from policy_engine.errors import DataError, PolicyEngineError

_FORMAT = 1
MOST_BYTES = 512 * 2**20
"""A package whose files are larger, taken together, is neither written nor read."""
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
    """What a package was made with: its kind, the path in the package, and a name where paths have
    none: the URL of a context, the name of a taxonomy."""

    kind: str
    path: str
    name: str = ""


@dataclass(frozen=True)
class Package:
    """Files, as they were packed, and what each is.

    `members` are in the order in which they were given; `files` hold their bytes by path, more than
    one where a member is a folder or a registry of policies. `signature` is one of the package's
    own list, empty where nobody signed it.
    """

    noun: ClassVar[str]
    """What people call such a package."""
    kinds: ClassVar[frozenset[str]]
    """The kinds of members that it may have."""
    single: ClassVar[frozenset[str]]
    """The kinds whose members are a file each, never a folder."""
    signature_file: ClassVar[str] = ""
    """The name of the signature in the package; without one, it cannot be signed."""

    members: tuple[Member, ...]
    files: Mapping[str, bytes] = field(repr=False)
    signature: bytes = field(default=b"", repr=False)

    @classmethod
    def list_name(cls) -> str:
        """Return the name of the list of what a package holds, with the sha-256 of every file."""
        return f"{cls.noun.replace(' ', '-')}.json"

    @cached_property
    def manifest(self) -> bytes:
        """The list of members and files, the same for the same content."""
        sums = {path: hashlib.sha256(self.files[path]).hexdigest() for path in sorted(self.files)}
        members = [one._asdict() for one in self.members]
        listed = {_key(self): _FORMAT, "members": members, "files": sums}
        return (json.dumps(listed, indent=1, ensure_ascii=False) + "\n").encode()

    @property
    def digest(self) -> str:
        """The sha-256 of the manifest, and so of every file."""
        return hashlib.sha256(self.manifest).hexdigest()

    def of_kind(self, *kinds: str) -> Iterator[Member]:
        """Yield the members of some kinds, in their order."""
        return (one for one in self.members if one.kind in kinds)

    def packed(self) -> bytes:
        """Return the package as a ZIP archive, the same bytes for the same content.

        Raises DataError (C018) where it would be too large to be read.
        """
        _check_size(self, sum(map(len, self.files.values())), len(self.files))
        buffer = BytesIO()
        own = [(self.list_name(), self.manifest)]
        own += [(self.signature_file, self.signature)] if self.signature else []
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in (*own, *sorted(self.files.items())):
                # Times and modes of files would make two packages of the same content differ.
                archive.writestr(zipfile.ZipInfo(path, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()

    @classmethod
    def read(cls, content: bytes, source: str = "", digest: str = "") -> Self:
        """Return a package once every file in it is the one that its list names.

        With a `digest`, the list must be the one with that sha-256. Raises DataError (C018) where
        it is not, and where a file is missing, changed, or not in the list.
        """
        try:
            files = _files_of(cls, content, source)
        except _NOT_ARCHIVES:
            raise _damaged(f"The file is not {_article(cls)}.", source) from None
        manifest = files.pop(cls.list_name(), None)
        if manifest is None:
            message = f"The file is not {_article(cls)}: {cls.list_name()!r} is not in it."
            raise _damaged(message, source)
        signature = files.pop(cls.signature_file, b"") if cls.signature_file else b""
        package = cls(_listed_members(cls, manifest, source), files, signature)
        if package.manifest != manifest:
            raise _damaged(_difference(package, manifest), source)
        for one in package.of_kind(*cls.single):
            if one.path not in files:
                raise _damaged(f"The {cls.noun} lacks its file {one.path!r:.200}.", source)
        if digest and digest.lower() != package.digest:
            message = f"The {cls.noun}'s sha-256 is {package.digest}. Asked for was {digest!r:.80}."
            raise DataError.of("C018", message, source=source)
        return package


def _key(package: Package | type[Package]) -> str:
    """Return the member of a list that says of what it is, and in which format."""
    return package.noun.replace(" ", "-")


def _article(kind: type[Package]) -> str:
    return f"{'an' if kind.noun[0] in 'aeiou' else 'a'} {kind.noun}"


def _files_of(kind: type[Package], content: bytes, source: str) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
        _check_size(kind, sum(entry.file_size for entry in entries), len(entries), source)
        names = [entry.filename for entry in entries]
        if len({*names}) < len(names):
            raise _damaged(f"Two files of the {kind.noun} have one name.", source)
        for name in names:
            _check_inside(kind, name, source)
        files = {}
        for entry in entries:
            with archive.open(entry) as file:
                files[entry.filename] = file.read(entry.file_size + 1)
        return files


def _check_inside(kind: type[Package], name: str, source: str) -> None:
    """Raise DataError (C018) for the path of a file that would be written outside of a folder."""
    path = PurePosixPath(name)
    is_plain = (
        name
        and str(path) == name
        and "\\" not in name
        and ":" not in name.split("/", maxsplit=1)[0]
    )
    if not is_plain or path.is_absolute() or ".." in path.parts:
        raise _damaged(f"The {kind.noun} has a file of the name {name!r:.80}.", source)


def _check_size(kind: Package | type[Package], size: int, count: int, source: str = "") -> None:
    if size > MOST_BYTES or count > _MOST_FILES:
        limits = f"up to {_MOST_FILES:,} files of {MOST_BYTES // 2**20} MiB"
        message = f"A package of this kind, a {kind.noun}, has {limits}. "
        raise DataError.of("C018", f"{message}Given: {count:,} of {size:,} bytes.", "", source)


def _listed_members(kind: type[Package], manifest: bytes, source: str) -> tuple[Member, ...]:
    try:
        listed: Any = json.loads(manifest)
        if listed[_key(kind)] != _FORMAT:
            message = (
                f"The {kind.noun} is of format {listed[_key(kind)]!r:.20}. Known is {_FORMAT}."
            )
            raise _damaged(message, source)
        members = tuple(Member(**one) for one in listed["members"])
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"The {kind.list_name()} of the {kind.noun} cannot be understood."
        raise _damaged(message, source) from None
    for one in members:
        if not all(isinstance(part, str) for part in one) or one.kind not in kind.kinds:
            message = f"{_article(kind).capitalize()} has no member of the kind {one.kind!r:.40}."
            raise _damaged(message, source)
        if not _is_utf_8(one.path + one.name):
            message = f"The {kind.list_name()} of the {kind.noun} has a name that is not text."
            raise _damaged(message, source)
        _check_inside(kind, one.path, source)
    return members


def _is_utf_8(text: str) -> bool:
    """Tell whether a text has no half of a pair of UTF-16, which JSON can write alone."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _difference(package: Package, manifest: bytes) -> str:
    """Return what makes the files of a package others than those of its list."""
    listed = json.loads(manifest).get("files")
    sums = listed if isinstance(listed, dict) else {}
    own, noun = json.loads(package.manifest)["files"], package.noun
    for path in sorted({*sums, *own}):
        if path not in own:
            return f"The {noun} lacks its file {path!r:.200}."
        if path not in sums:
            return f"{path!r:.200} is in the {noun}, and not in its manifest."
        if sums[path] != own[path]:
            return f"{path!r:.200} is not the file that was packed."
    return f"The {package.list_name()} of the {noun} is not as it was packed."


def _damaged(message: str, source: str) -> PolicyEngineError:
    return DataError.of("C018", message, _HINT, source)
