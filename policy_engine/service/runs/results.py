"""What a run leaves: written to the disk, moved into view as a whole, and swept if it is not."""

import hashlib
import mimetypes
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from errno import EFBIG
from pathlib import Path
from typing import Any

from policy_engine.service.runs.jobs import SHOWN
from policy_engine.trust.canonical_json import MOST_BYTES

_CHUNK = 2**20
OCTETS = "application/octet-stream"
_TYPES = {".jsonld": "application/ld+json", ".csv": "text/csv", ".md": "text/markdown"}


def seal(folder: Path) -> list[dict[str, Any]]:
    """Return the artefacts among the files of a folder, once all of them are on the disk."""
    for path in _tree(folder):
        _flush(path)
    place = folder / SHOWN
    files = sorted(path for path in _tree(place) if path.is_file()) if place.is_dir() else []
    return [_artefact(place, path) for path in files]


def reveal(folder: Path, place: Path) -> None:
    """Move a folder to the place where results are, in one step.

    What is there is of an attempt that ended before anybody could see it. Raises OSError.
    """
    sweep(place)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.rename(place)
    _flush(place.parent)


def sweep(folder: Path) -> None:
    """Remove a folder, if it is there, even from the sight of who looks meanwhile."""
    if folder.exists():
        aside = folder.with_name(f".{folder.name}.removed")
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def checked_artefacts(folder: Path, artefacts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the artefacts that a run tells of, if they are files of its folder.

    Raises ValueError for one that is not: a link, or a name that leads elsewhere.
    """
    for one in artefacts:
        path = artefact_path(folder, str(one["name"]))
        if not stat.S_ISREG(path.lstat().st_mode) or path.lstat().st_size != one["size"]:
            raise ValueError(one["name"])
    keys = ("name", "digest", "size", "media_type")
    return [{key: one[key] for key in keys} for one in artefacts]


def bounded_contents(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Return what is in files that a run left, which are read whole by who looks after all runs.

    Raises OSError for what is not a file, and where there are more bytes in all of them together
    than are read of one certificate.
    """
    kinds = {path: path.lstat() for path in paths}
    for path, kind in kinds.items():
        if not stat.S_ISREG(kind.st_mode):
            raise OSError(f"{path.name!r} is not a file")
    if sum(one.st_size for one in kinds.values()) > MOST_BYTES:
        raise OSError(EFBIG, os.strerror(EFBIG))
    return {path: path.read_bytes() for path in kinds}


def artefact_path(folder: Path, name: str) -> Path:
    """Return where the artefact of a name is. Raises ValueError for a name that leads elsewhere."""
    path = folder / SHOWN / name
    if not path.resolve().is_relative_to((folder / SHOWN).resolve()):
        raise ValueError(name)
    return path


def _artefact(folder: Path, path: Path) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or OCTETS
    name = path.relative_to(folder).as_posix()
    return {"name": name, "digest": digest.hexdigest(), "size": size, "media_type": kind}


def _tree(folder: Path) -> Iterator[Path]:
    """Yield the files and folders in a folder, and itself at last; no link is followed."""
    for path in folder.iterdir():
        kind = path.lstat().st_mode
        if stat.S_ISDIR(kind):
            yield from _tree(path)
        elif stat.S_ISREG(kind):
            yield path
    yield folder


def _flush(path: Path) -> None:
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
