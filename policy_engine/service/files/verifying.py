"""Whether files are what their names say, without reading them whole each time."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

_CHUNK = 1 << 20


@dataclass(frozen=True)
class VerifiedFiles:
    """Files that this process has compared with their digests, as they were then.

    One is read again once its size, its time of change or its place on the disk is another one.
    """

    _seen: dict[Path, tuple[int, ...]] = field(default_factory=dict, repr=False)

    def has(self, path: Path) -> bool:
        """Tell whether the content of a file has the digest that it is named by. Raises OSError."""
        state = _state(path)
        if self._seen.get(path) == state:
            return True
        if digest_of_file(path) != path.name.partition(".")[0]:
            return False
        self._seen[path] = state
        return True


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, read in parts."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    times = status.st_mtime_ns, status.st_ctime_ns  # the latter nobody sets back
    return status.st_size, *times, status.st_dev, status.st_ino
