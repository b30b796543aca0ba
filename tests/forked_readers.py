"""Processes that read what was uploaded, forked from one that has imported what they import.

As the service starts them, each takes half a second of CPU for that alone, which is most of what
many tests of its routes take.
"""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from runpy import run_module
from threading import Lock

MODULES = (
    "policy_engine.service.files.inspecting",
    "policy_engine.service.files.inspecting_models",
    "policy_engine.service.files.looking",
)
_LONGEST = 2**18


class ForkedReaders:
    """Stands for the module `subprocess` where files are read apart."""

    TimeoutExpired = subprocess.TimeoutExpired

    def __init__(self):
        self._parent = self._channel = None
        self._lock = Lock()

    def run(self, command, *, input, timeout, env, **_):  # noqa: A002
        """Return what a process printed that is as `python -m MODULE ARGUMENTS`."""
        program, flag, *arguments = command
        assert (program, flag) == (sys.executable, "-m"), command
        given, told = socket.socketpair()
        with given, told:
            request = json.dumps([str(Path.cwd()), arguments, env]).encode()
            with self._lock:
                if self._channel is None:
                    self._start()
                socket.send_fds(self._channel, [request], [given.fileno()])
            given.close()
            told.settimeout(timeout)
            try:
                told.sendall(input)
                told.shutdown(socket.SHUT_WR)
                printed = b"".join(iter(lambda: told.recv(_LONGEST), b""))
            except TimeoutError:
                raise subprocess.TimeoutExpired(command, timeout) from None
        return subprocess.CompletedProcess(command, 0, printed)

    def _start(self):
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = [sys.executable, __file__, str(other.fileno())]
            self._parent = subprocess.Popen(command, pass_fds=[other.fileno()])

    def close(self):
        """End the process that others are forked from."""
        if self._channel is not None:
            self._channel.close()
            self._parent.wait()


def main():
    """Fork a process for each request that comes by a socket, until that is closed."""
    for one in MODULES:
        import_module(one)
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401 (what is imported when the first file is read)

    with socket.socket(fileno=int(sys.argv[1])) as channel:
        while True:
            request, handles, _, _ = socket.recv_fds(channel, _LONGEST, 1)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not request:
                return
            if os.fork() == 0:
                _read(request, *handles)
            os.close(*handles)


def _read(request, handle):
    """Be the process that reads a file, and end."""
    status = 1
    try:
        folder, (module, *arguments), environment = json.loads(request)
        for number in (0, 1):
            os.dup2(handle, number)
        os.close(handle)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[1:] = arguments
        run_module(module, run_name="__main__", alter_sys=True)
        sys.stdout.flush()
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
