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
    # While the types are checked, what every process of the tests, and of Spark's, would else
    # compile for itself is compiled once: the kernels, and the tests with the libraries that they
    # import. What is wrong with them, the tests will say.
    kernels = subprocess.Popen([*python, "tests/compiling.py"], cwd=ROOT, env=variables)
    collecting = subprocess.Popen(
        [*python, "-m", "pytest", "--collect-only"],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
    )
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
        collecting.wait()
    finally:
        kernels.kill()
        collecting.kill()
    # In three processes: one for the tests on Spark, which wait a lot, and two for all others.
    command = [*python, "-m", "pytest", "-n", "3", *arguments]
    return hand_over(command, ROOT, variables)


_NOT_COMPILED = "PYTHONDONTWRITEBYTECODE"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
