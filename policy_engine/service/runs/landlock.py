"""A process that sees the files it needs and no others, by Landlock of Linux (landlock(7))."""

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of the system calls, the same on all machines."""
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
"""The rights over files that each version knows; later ones add none that are needed here."""
CONFINED = "files of others are out of reach"
UNCONFINED = "files are guarded by their modes alone"


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def confine(read: Iterable[Path], write: Iterable[Path]) -> str:
    """Let this process, and those it starts, see nothing but some files; return whether it does.

    Those to `write` can be read, too. Where the system has no Landlock, nothing is changed.
    """
    library = ctypes.CDLL(None, use_errno=True)
    version = _version(library)
    if version < 1:
        return UNCONFINED
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    attributes = _Ruleset(rights)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    rules = library.syscall(_CREATE, ctypes.byref(attributes), size, 0)
    if rules < 0:
        return UNCONFINED
    for paths, allowed in ((read, _READ), (write, rights)):
        for path in paths:
            _allow(library, rules, path, allowed & rights)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    is_done = library.syscall(_RESTRICT, rules, 0) == 0
    os.close(rules)
    return CONFINED if is_done else UNCONFINED


def _version(library: ctypes.CDLL) -> int:
    if sys.platform != "linux":
        return 0
    return int(library.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG))


def _allow(library: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    with suppress(OSError):  # what is not there need not be seen
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = _Beneath(rights if path.is_dir() else rights & _OF_FILES, place)
            library.syscall(_ADD, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(place)
