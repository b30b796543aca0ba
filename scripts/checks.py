"""Every check, as continuous integration runs it: style, types, import contracts, tests."""

import os
import subprocess
import sys

from environment import ROOT, Environment, hand_over


def main(arguments: list[str]) -> int:
    """Run every check, up to the first that fails; return its status. Arguments go to pytest."""
    environment = Environment()
    # Tests start hundreds of processes, each of which would compile the whole package for itself.
    variables = {name: text for name, text in os.environ.items() if name != _NOT_COMPILED}
    # Threads of libraries that wait by spinning would take each other's cores.
    variables["OMP_NUM_THREADS"] = "1"
    python = [environment.python]
    # While the types are checked, the kernels are compiled, with the libraries that they need: else
    # every process of the tests, and of Spark's, would do it for itself.
    kernels = subprocess.Popen([*python, "tests/compiling.py"], cwd=ROOT, env=variables)
    try:
        for name, *words in (
            ("ruff", "check", "."),
            ("ruff", "format", "--check", "."),
            ("mypy",),
            ("lint-imports", "--no-cache"),
        ):
            command = [environment.program(name), *words]
            status = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
            if status:
                return status
        if status := kernels.wait():
            return status
    finally:
        kernels.kill()
    # In three processes: one for the tests on Spark, which wait a lot, and two for all others. Of
    # one that ends before its tests do, no other one takes the place: it would end as well.
    # The share of files that were begun is no share of tests, and is not printed.
    shared = ["-n", "3", "--max-worker-restart=0", "--override-ini=console_output_style=classic"]
    command = [*python, "-m", "pytest", *shared, *arguments]
    return hand_over(command, ROOT, variables)


_NOT_COMPILED = "PYTHONDONTWRITEBYTECODE"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
