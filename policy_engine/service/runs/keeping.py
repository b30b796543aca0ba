"""Keeps processes running beside the service: where one ends, another one is started."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import policy_engine
from policy_engine.service.settings import ServiceSettings

FAULTS = logging.getLogger("policy_engine.service.faults")
PROGRAM = (sys.executable, "-P", "-m", "policy_engine.service.runs")
_PAUSE = 1.0
_PATIENCE = 15.0


@dataclass
class ProcessKeeper:
    """A thread that starts a process, again and again, until it is told to stop.

    The process learns that the service has ended by the end of its standard input. `handed` are
    the descriptors that it is given.
    """

    settings: ServiceSettings
    program: Sequence[str]
    what: str = "a process"
    handed: Sequence[int] = ()
    process: "subprocess.Popen[bytes] | None" = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the process."""
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def let_go(self) -> None:
        """Have the process end."""
        self._stop.set()
        process = self.process
        if process is not None and process.stdin:
            process.stdin.close()

    def close(self) -> None:
        """Have the process end, and wait until it has."""
        self.let_go()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
            self._thread = None

    def _keep(self) -> None:
        while not self._stop.is_set():
            self.process = process = self._launch()
            if self._stop.is_set() and process.stdin:
                process.stdin.close()
            status = process.wait()
            if process.stdin:
                process.stdin.close()
            if not self._stop.wait(_PAUSE):
                FAULTS.warning("%s ended with the status %d", self.what, status)

    def _launch(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(  # noqa: S603 (a program of ours)
            self.program, stdin=subprocess.PIPE, env=own_environment(), pass_fds=self.handed
        )
        assert process.stdin  # noqa: S101 (it is a pipe)
        process.stdin.write(self.settings.model_dump_json().encode() + b"\n")
        process.stdin.flush()
        return process


@dataclass
class SupervisorKeeper(ProcessKeeper):
    """Keeps the supervisor of runs, which ends its runs before itself."""

    program: Sequence[str] = PROGRAM
    what: str = "the supervisor of runs"

    def start(self) -> None:
        """Start the supervisor, unless no runs are to be carried out here."""
        if self.settings.runs_at_once:
            super().start()


def own_environment() -> dict[str, str]:
    """Return the environment of this process, in which our own code is found from any folder."""
    root = str(Path(policy_engine.__file__).parent.parent)
    places = [root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(one for one in dict.fromkeys(places) if one),
    }
