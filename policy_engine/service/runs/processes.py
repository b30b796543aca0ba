"""Processes of runs: found again by a mark that only they have, and ended with all they started."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "POLICY_ENGINE_RUN"
"""The variable of the environment that says of which attempt at which run a process is."""
_PROCESSES = Path("/proc")
_START = 19
"""The place of the start among the fields of a process that follow its name (proc(5))."""


def start_of(pid: int) -> int | None:
    """Return when a process began, in ticks since the machine did; None where there is none."""
    try:
        fields = (_PROCESSES / str(pid) / "stat").read_text("utf-8", "replace")
        return int(fields.rpartition(")")[2].split()[_START])
    except (OSError, ValueError, IndexError):
        return None


def is_running(pid: int, start: int | None) -> bool:
    """Tell whether a process still runs: the one that began then, not a later one of that number.

    One that has ended, and whose parent has not asked how, does not run.
    """
    if start is None or start_of(pid) != start:
        return False
    with suppress(OSError):
        fields = (_PROCESSES / str(pid) / "stat").read_text("utf-8", "replace")
        return fields.rpartition(")")[2].split()[0] not in ("Z", "X")
    return False


def mark_of(run_id: str, token: int) -> str:
    """Return the mark of the processes of an attempt at a run."""
    return f"{run_id}.{token}"


def send(pid: int, start: int | None, mark: str, number: signal.Signals) -> None:
    """Send a signal to the process group of a run, and to what left it.

    The group is that of a process with the given start: its number may be another's by now.
    """
    if start is None or start_of(pid) == start:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
    for one in _marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, number)


def kill_marked(mark: str) -> None:
    """Kill all processes of an attempt at a run, whichever they are by now."""
    for one in _marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes whose environment, as they were started, has a mark."""
    variable = f"{MARK}={mark}".encode()
    for folder in _PROCESSES.glob("[0-9]*"):
        with suppress(OSError, ValueError):  # it ended, or is somebody else's
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
