"""Outputs as they were when they were hashed, and whether they still are.

What decides many requests reads a certificate once, and the output may be exchanged in its place
afterwards. To hash it for each request would take too long, so its state is looked at: size, place
on the disk, and times of its files, of which nobody can set that of the last change (`st_ctime`).
"""

import os
import stat
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from policy_engine.certificate.attestation import Attestation, check_attested
from policy_engine.certificate.beside import stored_output
from policy_engine.certificate.certificate import check_digest
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.data import storage
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location
from policy_engine.errors import PolicyEngineError

SETTLED = 2.0
"""Seconds for which a file has to be as it is before its state tells: clocks of file systems tick,
and what is changed twice within a tick has one time."""
FRESH = 5.0
"""Seconds for which it need not be said when an output was hashed that is not looked at again."""
_HAS_CHANGE_TIMES = os.name == "posix"
"""Elsewhere, `st_ctime` is when a file was made."""
_State = tuple[tuple[object, ...], ...]


@dataclass
class Sighting:
    """The output that a proof names, beside it, since it was hashed.

    It was from the moment `began` on, by the clock. Where a file of it is another one since, or was
    changed just then, it is hashed again when it is asked for. What lies on another machine or in a
    database is not looked at again.
    """

    proof: Proof
    output: Location
    began: float
    _state: _State | None = field(default=None, repr=False)

    @classmethod
    def of(cls, proof: Proof, output: Location, began: float) -> "Sighting":
        """Return the sighting of an output that was hashed since the moment `began`."""
        sighting = cls(proof, output, began)
        sighting._state = _settled(sighting._now(), began)
        return sighting

    @property
    def is_watched(self) -> bool:
        """Whether the output is looked at again when it is asked for."""
        return not (is_database(self.output) or storage.is_remote(self.output))

    def is_same(self) -> bool:
        """Tell whether the output is known to be as it was, without hashing it."""
        return not self.is_watched or (self._state is not None and self._now() == self._state)

    def refusal(self) -> str:
        """Return why the output is not the one that its proof is of any more, empty if it is."""
        return "" if self.is_same() else self._hash_again()

    def note(self) -> str:
        """Return what is not known of the output, empty where it was looked at just now."""
        if self.is_watched or time.time() - self.began < FRESH:
            return ""
        moment = datetime.fromtimestamp(self.began, UTC).isoformat(timespec="seconds")
        return f"{proof_asset(self.proof)} was hashed at {moment}, and not looked at since."

    def _hash_again(self) -> str:
        began, state = time.time(), self._now()
        if state is None:
            kind = "attestation" if isinstance(self.proof, Attestation) else "certificate"
            return f"Y012 The output {self.proof.file!r} that its {kind} names is not beside it."
        try:
            if isinstance(self.proof, Attestation):
                check_attested([self.proof], storage.digest(self.output), str(self.output))
            else:
                check_digest(self.proof, stored_output(self.proof, self.output))
        except OSError as error:
            return f"C003 The output cannot be read: {error.strerror}."
        except PolicyEngineError as error:
            return f"{error.problems[0].code} {error.problems[0].message}"
        self.began, self._state = began, _settled(state, began)
        return ""

    def _now(self) -> _State | None:
        """Return what changes when the output is written, None where it is not there."""
        if not self.is_watched:
            return None
        try:
            return _state_of(storage.local_path(self.output))
        except OSError:
            return None


def _state_of(path: Path) -> _State:
    """Return the state of a file, or of a folder with all that is in it. Raises OSError."""
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        return (("", *_parts(status)),)
    entries: list[tuple[object, ...]] = [("", *_parts(status))]
    folders = [path]
    while folders:
        for one in os.scandir(folders.pop()):
            state = one.stat(follow_symlinks=False)
            entries.append((one.path, *_parts(state)))
            if stat.S_ISDIR(state.st_mode):
                folders.append(Path(one.path))
    return tuple(sorted(entries, key=lambda one: str(one[0])))


def _parts(status: os.stat_result) -> tuple[int, ...]:
    times = status.st_ctime_ns, status.st_mtime_ns
    return *times, status.st_size, status.st_dev, status.st_ino, status.st_mode


def _settled(state: _State | None, began: float) -> _State | None:
    """Return a state that was there well before something was hashed; None for another one, by
    which nobody can tell that it is still what was hashed.
    """
    if state is None or not _HAS_CHANGE_TIMES:
        return None
    last = max(int(str(one[1])) for one in state)
    return state if last < (began - SETTLED) * 1e9 else None
