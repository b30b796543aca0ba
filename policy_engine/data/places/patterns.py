"""Patterns of paths, as shells have them: `*`, `?`, `[...]` and, for folders of any depth, `**`."""

import re
from collections.abc import Iterable
from pathlib import Path

from policy_engine.data.storage import (
    Location,
    data_files_among,
    digest,
    is_remote,
    manifest_digest,
)

_MARKS = frozenset("*?[")
_STARS = re.compile(r"\*\*+")


def is_pattern(path: Path) -> bool:
    """Tell whether a path is a pattern: one that is the name of a file or folder means that.

    Raises OSError, ValueError where that cannot be told.
    """
    return not _MARKS.isdisjoint(str(path)) and not path.exists()


def matching_files(pattern: Path) -> tuple[Path, ...]:
    """Return the files that match, sorted by their names below the pattern's folder.

    Left out are the names that a folder's are: those that begin with a dot or an underscore. A file
    with several names, by links, is one file, and `**` does not go into folders that are links.
    """
    folder = pattern_folder(pattern)
    places = folder.glob("/".join(_glob_parts(pattern.parts[len(folder.parts) :])))
    names = (one.relative_to(folder).as_posix() for one in places if one.is_file())
    return tuple(folder / name for name in _once_each(folder, data_files_among(names)))


def _glob_parts(parts: Iterable[str]) -> list[str]:
    """Return the parts of a pattern as pathlib has them, to which `**` is nothing but folders."""
    parts = [one if one == "**" else _STARS.sub("*", one) for one in parts]
    return [*parts, "*"] if parts[-1:] == ["**"] else parts


def _once_each(folder: Path, names: Iterable[str]) -> list[str]:
    """Return one name for each file, where there is a choice one that has no link in it."""
    root = folder.resolve()
    chosen: dict[Path, str] = {}
    for name in names:
        file = (folder / name).resolve()
        if file not in chosen or file == root / name:
            chosen[file] = name
    return sorted(chosen.values())


def pattern_folder(pattern: Path) -> Path:
    """Return the folder that all that matches is in: what is before the first part with a mark."""
    marked = (place for place, part in enumerate(pattern.parts) if not _MARKS.isdisjoint(part))
    return Path(*pattern.parts[: next(marked, len(pattern.parts))])


def files_at(location: Location) -> tuple[Location, ...]:
    """Return the files that a pattern matches; any other location as it is."""
    try:
        if not is_remote(location) and is_pattern(Path(location)):
            return matching_files(Path(location))
    except (OSError, ValueError):  # whoever opens it says why
        pass
    return (location,)


def pattern_digest(pattern: Path) -> str:
    """Return the sha-256 of the manifest of the files that match, by their names below the folder,
    as `storage.digest` has it of a folder. Raises OSError."""
    folder = pattern_folder(pattern)
    files = matching_files(pattern)
    return manifest_digest({one.relative_to(folder).as_posix(): digest(one) for one in files})
