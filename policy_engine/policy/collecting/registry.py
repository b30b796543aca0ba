"""Where policies live: folders of their files, and registries of their versions."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from policy_engine import terms
from policy_engine.errors import (
    NOWHERE,
    DataError,
    Place,
    PolicyError,
    Problem,
    did_you_mean,
    join_names,
    place_order,
)
from policy_engine.policy.syntax.json_text import Document, escape, read_json
from policy_engine.policy.xsd.literals import read_moment
from policy_engine.terms import is_absolute

REGISTRY = "registry.json"
"""The name of a registry in a folder of policies."""
Status = Literal["active", "replaced", "withdrawn"]
_ENDINGS = frozenset((".jsonld", ".json", ".ttl", ".nt", ".rdf", ".xml", ".owl"))
_YAML_ENDINGS = frozenset((".yaml", ".yml"))
_TESTS = re.compile(rb"(?m)^tests[ \t]*:")
_KEYS = ("uid", "version", "file", "from", "until", "status", "outputs")
_NEEDED = ("uid", "version", "file")
_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,7}")
_SHAPES: Mapping[str, str] = {
    "uid": "the whole IRI of a policy",
    "version": "a whole number, or a text such as '2' or '2.1'",
    "file": "the path of a file, relative to the registry",
    "from": "a time such as 2026-06-01T12:00:00Z, or a day, which begins in UTC",
    "until": "a time such as 2026-06-01T12:00:00Z, or a day, which begins in UTC",
    "status": join_names(get_args(Status), "or"),
    "outputs": "a list of what was made under it, each the whole IRI of an asset",
}


class RegistryEntry(NamedTuple):
    """A version of a policy: the file of its text, and from when until when it holds.

    `until` is the first moment at which it holds no longer. None: without bound. `outputs` are
    what was made under it; None where its text tells.
    """

    uid: str
    version: tuple[int, ...]
    file: str
    since: datetime | None = None
    until: datetime | None = None
    status: Status = "active"
    outputs: tuple[str, ...] | None = None
    place: Place = NOWHERE

    @property
    def name(self) -> str:
        """The policy with its version, for messages."""
        return f"{self.uid} version {'.'.join(map(str, self.version))}"

    def has_begun(self, time: datetime) -> bool:
        """Tell whether the version holds, or held before, at a moment."""
        return self.since is None or self.since <= time


def is_registry(text: str | bytes) -> bool:
    """Tell whether a text is a registry: an object with a list of `policies`, and no context."""
    raw = text.encode() if isinstance(text, str) else text
    if b'"policies"' not in raw:
        return False
    try:
        value = read_json(text, "").value
    except PolicyError:
        return False
    return isinstance(value, dict) and "policies" in value and "@context" not in value


def read_registry(text: str | bytes, source: str = "") -> tuple[RegistryEntry, ...]:
    """Read a registry. Raises PolicyError (P020) with all that is wrong in it, each with its place.

    It is a JSON object with a list of `policies`, each an object of `uid`, `version` and `file`
    and, where need be, `from`, `until`, a `status`, and `outputs`.
    """
    document = read_json(text, source)
    reader = _Reader(document)
    entries = reader.entries()
    problems = [*document.problems, *reader.problems]
    if problems:
        raise PolicyError(*sorted(problems, key=place_order), source=source)
    return entries


class _Reader:
    """Reads the entries of a registry, and notes what they are not."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def entries(self) -> tuple[RegistryEntry, ...]:
        value = self.document.value
        for key in value if isinstance(value, dict) else ():
            if key != "policies":
                self._add(f"A registry has no key {key!r}. It has 'policies'.", f"/{escape(key)}")
        values = value.get("policies") if isinstance(value, dict) else None
        if not isinstance(values, list):
            self._add("A registry is an object with a list of 'policies'.", "")
            return ()
        read_entries = [self._entry(one, f"/policies/{n}") for n, one in enumerate(values)]
        entries = tuple(one for one in read_entries if one is not None)
        first_entries: dict[tuple[str, tuple[int, ...]], RegistryEntry] = {}
        for one in entries:
            first = first_entries.setdefault((one.uid, one.version), one)
            if first is not one:
                message = f"{one.name} is there twice, first in line {first.place.line}."
                self.problems.append(Problem("P020", message, "", one.place))
        return entries

    def _entry(self, value: Any, pointer: str) -> RegistryEntry | None:
        before = len(self.problems)
        if not isinstance(value, dict):
            self._add(
                f"An entry of a registry is an object with the keys {join_names(_KEYS)}.", pointer
            )
            return None
        for key in value.keys() - set(_KEYS):
            message = f"An entry has no key {key!r}. It has {join_names(_KEYS)}."
            self._add(message, f"{pointer}/{escape(key)}", did_you_mean(key, _KEYS))
        for key in _NEEDED:
            if key not in value:
                self._add(f"The entry has no {key!r}, which is {_SHAPES[key]}.", pointer)
        facts = {key: self._read(key, value[key], pointer) for key in _KEYS if key in value}
        if len(self.problems) > before:
            return None
        since, until = facts.get("from"), facts.get("until")
        if since and until and until <= since:
            self._add("The entry ends before it begins.", f"{pointer}/until")
        place = self.document.place(pointer)
        status = facts.get("status", "active")
        parts = facts["uid"], facts["version"], facts["file"]
        return RegistryEntry(*parts, since, until, status, facts.get("outputs"), place)

    def _read(self, key: str, value: Any, pointer: str) -> Any:
        try:
            return _READERS[key](value)
        except (ValueError, TypeError):
            message = f"{key!r} is {_SHAPES[key]}. Given: {value!r:.80}."
            self._add(message, f"{pointer}/{key}")
            return None

    def _add(self, message: str, pointer: str, hint: str = "") -> None:
        self.problems.append(Problem("P020", message, hint, self.document.place(pointer)))


def _uid(value: Any) -> str:
    if not isinstance(value, str) or not is_absolute(value) or terms.name_problem(value):
        raise ValueError
    return terms.canonical(value)


def _version(value: Any) -> tuple[int, ...]:
    """Return the numbers of a version, without zeros at the end: 2 and 2.0 are one."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _VERSION.fullmatch(text):
        raise ValueError
    numbers = [*map(int, text.split("."))]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _file(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _status(value: Any) -> Status:
    for status in get_args(Status):
        if value == status:
            return status  # type: ignore[no-any-return]
    raise ValueError


def _outputs(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_uid, value))


_READERS: Mapping[str, Any] = {
    "uid": _uid,
    "version": _version,
    "file": _file,
    "from": read_moment,
    "until": read_moment,
    "status": _status,
    "outputs": _outputs,
}


def current_entries(
    entries: Iterable[RegistryEntry], time: datetime
) -> tuple[list[RegistryEntry], list[tuple[RegistryEntry, str]]]:
    """Return the entries that hold at a moment, and the others, each with the reason.

    Of the versions of one policy the newest that has begun holds, unless it has ended, was
    withdrawn or replaced: no older one comes back then.
    """
    begun: dict[str, RegistryEntry] = {}
    all_entries = list(entries)
    for one in all_entries:
        if one.has_begun(time) and (one.uid not in begun or begun[one.uid].version < one.version):
            begun[one.uid] = one
    reasons = [(one, _why_not(one, begun.get(one.uid), time)) for one in all_entries]
    return [one for one, why in reasons if not why], [pair for pair in reasons if pair[1]]


def _why_not(one: RegistryEntry, newest: RegistryEntry | None, time: datetime) -> str:
    """Return why an entry does not hold; nothing where it does."""
    if one.since is not None and not one.has_begun(time):
        return f"it holds from {one.since.isoformat()} on"
    if one.status != "active":
        return f"it was {one.status}"
    if newest is not None and newest is not one:
        return f"version {'.'.join(map(str, newest.version))} replaced it"
    if one.until is not None and one.until <= time:
        return f"it held until {one.until.isoformat()}"
    return ""


def is_folder(path: Path) -> bool:
    """Tell whether a path is that of a folder; one that no disk takes is not."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of policies in a folder and in those within it, in the order of their names.

    Hidden files, and those without an ending of policies, are left out. Raises DataError (C003)
    for a folder that cannot be read: a prohibition in it would be lost.
    """

    def refuse(error: OSError) -> None:
        message = f"The folder cannot be read: {error.strerror or error}."
        raise DataError.of("C003", message, source=str(error.filename or folder))

    real_paths: set[str] = set()
    for parent, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(parent)
        folders[:] = [] if real in real_paths else sorted(one for one in folders if one[0] != ".")
        for name in sorted(names) if real not in real_paths else ():
            if name[0] != "." and _holds_policies(Path(parent) / name):
                yield Path(parent) / name
        real_paths.add(real)


def _holds_policies(path: Path) -> bool:
    """Tell whether a file's name ends as those of policies do; YAML with tests of them has none."""
    ending = path.suffix.lower()
    if ending not in _YAML_ENDINGS:
        return ending in _ENDINGS
    try:
        return not _TESTS.search(path.read_bytes())
    except OSError:
        return True  # who reads it says why it cannot be read


def unlisted(entries: Sequence[RegistryEntry], registry: Path) -> Iterator[Path]:
    """Yield the files of policies beside a registry, and below it, that it does not name."""
    folder = registry.parent
    listed_paths = {os.path.realpath(folder / one.file) for one in entries}
    listed_paths.add(os.path.realpath(registry))
    yield from (path for path in files_of(folder) if os.path.realpath(path) not in listed_paths)
