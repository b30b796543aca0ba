"""File systems that Arrow does not have, and fsspec has: those with a secure connection."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from policy_engine.data.places.spelling import redacted, scheme
from policy_engine.data.storage import data_files_among
from policy_engine.errors import DataError

OTHER_SYSTEMS = ("sftp", "smb", "oss")
"""The beginnings of URLs that fsspec opens, each with a package of its own. Plain FTP and HTTP are
not among them: what comes by these could be changed on the way."""
_EXTRA = "pip install 'policy-engine[remote]', and the package that fsspec names for the system."


def copy_other(place: str, path: Path) -> None:
    """Copy a file, or the data files of a folder, of a file system that fsspec opens.

    Raises DataError: C011 where fsspec or its package for the system is missing, C002 where there
    is no such file, C019 where it cannot be had. What the libraries say is not passed on, since a
    password may be in it.
    """
    if find_spec("fsspec") is None:
        raise DataError.of("C011", "fsspec is not installed.", _EXTRA, redacted(place))
    try:
        is_there = _copied(place, path)
    except ImportError:
        message = f"The package by which fsspec opens {scheme(place)}:// is not installed."
        raise DataError.of("C011", message, _EXTRA, redacted(place)) from None
    except Exception as error:  # noqa: BLE001 (each system has errors of its own)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        message = f"The storage does not give the data ({type(error).__name__})."
        raise DataError.of("C019", message, source=redacted(place)) from None
    if not is_there:
        raise DataError.of("C002", f"There is no file {redacted(place)!r}.")


def _copied(place: str, path: Path) -> bool:
    """Copy what is at a place; tell whether anything is."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 (as used)

    if "::" in place:  # a chain of systems, which could lead anywhere
        raise ValueError(place)
    system, there = url_to_fs(place)
    if not system.exists(there):
        return False
    if system.isfile(there):
        system.get_file(there, str(path))
        return True
    start = len(there.rstrip("/")) + 1
    for name in data_files_among(one[start:] for one in system.find(there)):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        system.get_file(f"{there.rstrip('/')}/{name}", str(path / name))
    return True
