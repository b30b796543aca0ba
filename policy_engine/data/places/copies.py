"""Copies of what lies on other machines, in a folder of the caller's own for as long as a block."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from policy_engine.data.places.opening import read_place
from policy_engine.data.places.other_systems import OTHER_SYSTEMS, copy_other
from policy_engine.data.places.spelling import is_database, redacted, scheme
from policy_engine.data.storage import data_files_among
from policy_engine.errors import DataError, PolicyEngineError, join_names

_SYSTEMS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "abfs": "abfs", "abfss": "abfss"}
"""What Arrow calls the storage of a URL."""
_ORIGINS: ContextVar[Mapping[str, str]] = ContextVar("origins", default=MappingProxyType({}))
_REASONS = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "access is denied",
    "INVALID_ACCESS_KEY_ID": "the access key is not known there",
    "SIGNATURE_DOES_NOT_MATCH": "the secret key is not the one of the access key",
    "NETWORK_CONNECTION": "nothing answers there",
}


@contextmanager
def copying() -> Iterator[Callable[..., Path]]:
    """Give what copies a place and returns the path of the copy, which is gone behind the block.

    `copy(place, endings)` gives a file the first ending where its name has none of them. Within the
    block, records call the copy by its place (`origin_of`). Raises DataError where there is no such
    file (C002), or it cannot be had (C003, C019).
    """
    with TemporaryDirectory() as folder:
        origins: dict[str, str] = {}
        token = _ORIGINS.set({**_ORIGINS.get(), **origins})

        def copy(place: str, endings: Sequence[str] = ()) -> Path:
            own = Path(folder) / str(len(origins))
            own.mkdir()
            path = _copy(place, own, endings)
            origins[str(path)] = redacted(place)
            _ORIGINS.set({**_ORIGINS.get(), **origins})
            return path

        try:
            yield copy
        finally:
            _ORIGINS.reset(token)


@contextmanager
def called(path: Path, place: str) -> Iterator[None]:
    """Have records call a file by the place that it is for, within the block."""
    token = _ORIGINS.set({**_ORIGINS.get(), str(path): place})
    try:
        yield
    finally:
        _ORIGINS.reset(token)


def origin_of(location: str) -> str:
    """Return the place of which a location is a copy, as it may be shown; else the location."""
    return _ORIGINS.get().get(location, location)


def _copy(place: str, folder: Path, endings: Sequence[str]) -> Path:
    if is_database(place):
        return _written(place, folder / "table.arrow")
    path = folder / _file_name(place, endings)
    if scheme(place) in _SYSTEMS:
        _copy_stored(place, path)
    elif scheme(place) == "https":
        from policy_engine.data.places.web_files import fetch_web_file  # noqa: PLC0415 (slow to import)

        fetch_web_file(place, path)
    elif scheme(place) in OTHER_SYSTEMS:
        copy_other(place, path)
    else:
        kinds = join_names(f"{one}://" for one in ("https", *_SYSTEMS, *OTHER_SYSTEMS))
        message = f"No table is read from {redacted(place)!r}. Known are {kinds}."
        hint = "What comes by http could be changed on the way." * (scheme(place) == "http")
        raise DataError.of("C019", message, hint)
    return path


def _file_name(place: str, endings: Sequence[str]) -> str:
    """Return a name for the copy: the last part of the place's path, with one of the endings."""
    last = PurePosixPath(unquote(urlsplit(place).path)).name or "data"
    name = re.sub(r"[^\w.=+ -]", "_", last)[-100:].lstrip(".")
    has_ending = name.lower().endswith(tuple(f".{one}" for one in endings))
    return name if has_ending or not endings else f"{name}.{endings[0]}"


def _written(place: str, path: Path) -> Path:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    table = read_place(place)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as stream:
        stream.write_table(table)
    return path


def _copy_stored(place: str, path: Path) -> None:
    """Copy a file, or the data files of a folder, of a storage that Arrow opens."""
    from pyarrow import fs  # noqa: PLC0415 (slow to import)

    kind, _, rest = place.partition(":")
    try:
        system, there = fs.FileSystem.from_uri(f"{_SYSTEMS[kind.lower()]}:{rest}")
        entry = system.get_file_info(there)
        if entry.type == fs.FileType.NotFound:
            raise DataError.of("C002", f"There is no file {redacted(place)!r}.")
        if entry.type == fs.FileType.File:
            _copy_file(system, there, path)
            return
        listed = system.get_file_info(fs.FileSelector(there, recursive=True))
        start = len(there.rstrip("/")) + 1
        for name in data_files_among(one.path[start:] for one in listed if one.is_file):
            _copy_file(system, f"{there.rstrip('/')}/{name}", path / name)
    except (OSError, ValueError, NotImplementedError) as error:
        raise _unreachable(place, error) from None


def _copy_file(system: Any, there: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with system.open_input_stream(there) as stream, path.open("xb") as file:
        shutil.copyfileobj(stream, file)


def _unreachable(place: str, error: Exception) -> PolicyEngineError:
    """Return the error (C019) of a storage, without what its library says: a key may be in it."""
    words = str(error)
    reason = next((text for mark, text in _REASONS.items() if mark in words), type(error).__name__)
    message = f"The storage does not give the data: {reason}."
    return DataError.of("C019", message, source=redacted(place))
