"""Every check, as continuous integration runs it: style, types, import contracts, tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import PIPE, STDOUT
from subprocess import Popen as Process
from threading import Thread
from typing import Any

from environment import ROOT, Environment, say

Command = Sequence[str | Path]


def main(arguments: list[str]) -> int:
    """Run every check, up to the first that fails; return its status. Arguments go to pytest."""
    environment = Environment()
    # Tests start hundreds of processes, each of which would compile the whole package for itself.
    variables = {name: text for name, text in os.environ.items() if name != _NOT_COMPILED}
    # Threads of libraries that wait by spinning would take each other's cores.
    variables["OMP_NUM_THREADS"] = "1"
    python, ruff = environment.python, environment.program("ruff")
    for words in (("check", "."), ("format", "--check", ".")):
        done = subprocess.run([ruff, *words], cwd=ROOT, env=variables, check=False)
        if done.returncode:
            return done.returncode
    types = Types(
        [[environment.program("mypy")], [environment.program("lint-imports"), "--no-cache"]],
        variables,
    )
    # While the types are checked, the kernels are compiled, with the libraries that they need: else
    # every process of the tests, and of Spark's, would do it for itself. The tests begin as soon as
    # that is done, whatever is still to be checked: no core waits for another.
    kernels = [python, "tests/compiling.py"]
    # In three processes: one for the tests on Spark, which wait a lot, and two for all others. Of
    # one that ends before its tests do, no other one takes the place: it would end as well.
    # The share of files that were begun is no share of tests, and is not printed.
    shared = ["-n", "3", "--max-worker-restart=0", "--override-ini=console_output_style=classic"]
    tests = [python, "-m", "pytest", *shared, *arguments]
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    types.start()
    try:
        return types.run_beside(kernels) or types.run_beside(tests, _GENTLY) or types.outcome()
    except KeyboardInterrupt:
        return 130
    finally:
        types.stop()


class Types(Thread):
    """Types and import contracts, checked beside other commands, which end if one of them fails.

    What a check says is printed as a whole, once it is over.
    """

    def __init__(self, checks: Sequence[Command], variables: Mapping[str, str]) -> None:
        super().__init__()
        self._checks = checks
        self._options: dict[str, Any] = {"cwd": ROOT, "env": variables}
        self._processes: list[tuple[Process, int]] = []
        self._is_over = False
        self._status = 0

    def run(self) -> None:
        """Run one check after the other, up to the first that fails."""
        for check in self._checks:
            process = self._start(check, stdout=PIPE, stderr=STDOUT)
            said, _ = process.communicate()
            if self._is_over:
                return
            say(f"\n{said.decode(errors='replace')}")
            if process.returncode:
                self._status = process.returncode
                self.stop()

    def run_beside(self, command: Command, end: int = signal.SIGTERM) -> int:
        """Run a command; return its status, or that of a check that failed meanwhile.

        `end` is the signal by which it is ended then.
        """
        process = self._start(command, end)
        try:
            status = process.wait()
        except KeyboardInterrupt:
            process.wait()  # It was interrupted, too, and says how far it came.
            raise
        return self._status or status

    def outcome(self) -> int:
        """Wait for all checks; return 0, or the status of the one that failed."""
        self.join()
        return self._status

    def stop(self) -> None:
        """End all that still runs."""
        self._is_over = True
        for process, end in self._processes:
            process.send_signal(end)

    def _start(self, command: Command, end: int = signal.SIGTERM, **options: Any) -> Process:
        process = Process(command, **self._options, **options)
        self._processes.append((process, end))
        if self._is_over:
            self.stop()  # Whatever ended all others did not know of it yet.
        return process


# Tests that are interrupted end the servers that they started.
_GENTLY = signal.SIGTERM if os.name == "nt" else signal.SIGINT
_NOT_COMPILED = "PYTHONDONTWRITEBYTECODE"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
