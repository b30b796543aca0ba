"""Which process holds a reservation, and whether it is known to have ended."""

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from policy_engine.release.budget.entries import Owner

LEASE = timedelta(days=1)
"""After how long a reservation is given up whose process cannot be looked for."""

_ENDED = ("Z", "X")


def current_owner() -> Owner:
    """Return this process as the owner of a reservation."""
    number = os.getpid()
    return Owner(process=number, started=_status_of(number)[1], machine=_machine())


def is_gone(owner: Owner, logged: str) -> bool:
    """Return whether the process that reserved at a time has ended, or may be taken to have.

    A process on another machine, or in a container of its own, cannot be looked for. Nothing
    depends on the answer but how long others wait: whose reservation was given up cannot commit it,
    or keep its answer, any more.
    """
    if not _can_look_for(owner):
        return datetime.now(UTC) - datetime.fromisoformat(logged) > LEASE
    return has_ended(owner)


def has_ended(owner: Owner) -> bool:
    """Return whether a process is known to have ended: never one that cannot be looked for."""
    if not _can_look_for(owner):
        return False
    try:
        os.kill(owner.process, 0)
    except ProcessLookupError:
        return True
    except OSError:  # that of another user
        pass
    state, started = _status_of(owner.process)
    return state in _ENDED or bool(owner.started and started and owner.started != started)


def _can_look_for(owner: Owner) -> bool:
    return owner.machine == _machine() and os.name != "nt"


def _status_of(number: int) -> tuple[str, str]:
    """Return the state of a process and when it was started, where the system says so."""
    with suppress(OSError, IndexError):
        # The name of the program, in brackets, may itself have blanks and brackets.
        text = Path(f"/proc/{number}/stat").read_text("utf-8", "replace")
        fields = text.rpartition(")")[2].split()
        return fields[0], fields[19]
    return "", ""


def _machine() -> str:
    """Return the name of the machine since it was booted, and of the processes seen together."""
    names = [socket.gethostname()]
    with suppress(OSError):
        names.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip())
    with suppress(OSError):
        names.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(names)
