"""Starts the process of a run, hears what it tells, and ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import policy_engine
from policy_engine.service.runs.jobs import Job
from policy_engine.service.runs.processes import MARK, send, start_of

GRACE = 5.0
"""Seconds from asking a process to end to making it."""
_LONGEST_LINE = 2**20
_CHUNK = 2**16
_KEPT = ("LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "LD_LIBRARY_PATH")


@dataclass
class RunProcess:
    """The process of an attempt at a run, in a group of its own."""

    process: "subprocess.Popen[bytes]"
    start: int | None
    mark: str
    began: float
    started: datetime
    """When it began by the clock on the wall, which certificates tell the time by."""
    asked_to_end: float | None = None
    _line: bytearray = field(default_factory=bytearray)

    @classmethod
    def launch(cls, job: Job, mark: str, output: Path) -> "RunProcess":
        """Return the process of a job, started. Raises OSError where it cannot be."""
        started = datetime.now(UTC)
        with output.open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "policy_engine.service.runs.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=job.scratch,
                env=_environment(job, mark),
                start_new_session=True,
            )
        assert process.stdin is not None  # noqa: S101 (it is a pipe)
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        try:
            process.stdin.write(job.model_dump_json().encode())
            process.stdin.close()
        except BrokenPipeError:  # it has ended already, which is found out like any other end
            pass
        os.set_blocking(process.stdout.fileno(), False)
        return cls(process, start_of(process.pid), mark, time.monotonic(), started)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended. Its number stays its own until it is finished with."""
        if self.process.returncode is not None:
            return True
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, how) is not None

    @property
    def how_it_ended(self) -> str:
        """How the process ended, in words, once it is finished with."""
        code = self.process.returncode
        if code < 0:
            return f"its process was ended by the signal {signal.Signals(-code).name}"
        return f"its process ended with the status {code}"

    def answers(self) -> list[tuple[str, Any]]:
        """Return what the process has told since this was last asked. What is odd is left out."""
        stream = self.process.stdout
        assert stream  # noqa: S101 (it is a pipe)
        while not stream.closed and (chunk := stream.read(_CHUNK)):
            self._line += chunk
            if len(self._line) > 4 * _LONGEST_LINE:
                del self._line[:-_CHUNK]
        *lines, rest = bytes(self._line).split(b"\n")
        self._line[:] = rest
        return [answer for line in lines for answer in _read(line)]

    def ask_to_end(self) -> None:
        """Ask the process group to end, if that was not done; make it once the grace is over."""
        moment = time.monotonic()
        if self.asked_to_end is None:
            self.asked_to_end = moment
            self._send(signal.SIGTERM)
        elif moment - self.asked_to_end > GRACE:
            self._send(signal.SIGKILL)

    def finish(self) -> None:
        """End what a process that has ended left behind, and let go of its number."""
        if self.process.returncode is None:
            self._send(signal.SIGKILL)
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def _send(self, number: signal.Signals) -> None:
        send(self.process.pid, self.start, self.mark, number)


def _environment(job: Job, mark: str) -> Mapping[str, str]:
    """Return what a process needs to find our code, and Java where it needs that, but nothing
    else: no secret of the service is in it."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    root = Path(policy_engine.__file__).parent.parent
    places = [str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    scratch = str(job.scratch)
    return {
        **kept,
        "PATH": os.defpath,
        **(job.cluster.environment(job.scratch) if job.cluster else {}),
        MARK: mark,
        "PYTHONPATH": os.pathsep.join(one for one in dict.fromkeys(places) if one),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "HOME": scratch,
        "TMPDIR": scratch,
        "XDG_STATE_HOME": scratch,
        "MPLCONFIGDIR": scratch,
        "NUMBA_CACHE_DIR": str(job.code),
    }


def _read(line: bytes) -> list[tuple[str, Any]]:
    try:
        answer = json.loads(line)
    except ValueError:
        return []
    return [*answer.items()] if isinstance(answer, dict) else []
