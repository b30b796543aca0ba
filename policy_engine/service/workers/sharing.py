"""What the processes of a service count together: how often each caller called."""

import fcntl
import hashlib
import mmap
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

_BUCKET = struct.Struct("<16sdd")
_WAYS, _SETS = 8, 2048
"""A caller is in one of so many buckets of a set, which their digest says."""
_SET_SIZE = _WAYS * _BUCKET.size
_SIZE = _SETS * _SET_SIZE


@dataclass(frozen=True)
class Shared:
    """A file without a name, of buckets, that processes have by its descriptor.

    Of the callers in a set, who called longest ago is forgotten: their bucket is full again, or
    nearly. Moments are of the monotonic clock, which all processes of a machine share.
    """

    number: int
    _map: mmap.mmap = field(init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        """Map the file."""
        object.__setattr__(self, "_map", mmap.mmap(self.number, _SIZE))

    @classmethod
    def make(cls) -> "Shared":
        """Return a new file, of empty buckets."""
        with tempfile.TemporaryFile() as file:
            file.truncate(_SIZE)
            return cls(os.dup(file.fileno()))

    def close(self) -> None:
        """Close the file here."""
        self._map.close()
        os.close(self.number)

    def take(self, caller: str, most: int, a_second: float, moment: float) -> bool:
        """Return whether a caller has one left, of `most` that come back so many `a_second`."""
        name = hashlib.sha256(caller.encode()).digest()[:16]
        start = int.from_bytes(name[:4], "big") % _SETS * _SET_SIZE
        with self._held(start):
            places = range(start, start + _SET_SIZE, _BUCKET.size)
            buckets = {place: _BUCKET.unpack_from(self._map, place) for place in places}
            own = next((place for place, one in buckets.items() if one[0] == name), None)
            left, since = (float(most), moment) if own is None else buckets[own][1:]
            left = min(most, left + (moment - since) * a_second)
            place = min(places, key=lambda one: buckets[one][2]) if own is None else own
            is_enough = bool(left >= 1)
            _BUCKET.pack_into(self._map, place, name, left - 1 if is_enough else left, moment)
        return is_enough

    @contextmanager
    def _held(self, start: int) -> Iterator[None]:
        """Hold a set, so that neither a thread nor another process changes it."""
        with self._lock:
            fcntl.lockf(self.number, fcntl.LOCK_EX, _SET_SIZE, start)
            try:
                yield
            finally:
                fcntl.lockf(self.number, fcntl.LOCK_UN, _SET_SIZE, start)
