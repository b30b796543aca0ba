"""The scripts of this project, on any system: python scripts/start.py NAME [ARGUMENTS].

demo         the main job on made-up customers; the first run takes two to three minutes
test         install what the checks need, then run every check
check        every check; needs what `test` installs
console      serve the console with demo data: [FOLDER] [--port N]
docs         build the site of the documentation, or `docs serve` it while you write
build-pages  build the pages of the console
nightly      all checks with many more random cases, and what waits on clusters and a browser

Needs Python 3.11 or later and the package index. What it installs is in .venv of the clone, or in
.venv-docs. As root on Debian, `test` installs the Java of the Spark tests and PostgreSQL as well,
and `nightly` Chromium: tests that need what is not there are skipped, and say so.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread

from environment import (
    LEAST,
    ROOT,
    Environment,
    InstallationError,
    hand_over,
    install_chromium,
    install_java,
    install_node,
    install_postgres,
    say,
)


def demo(arguments: list[str]) -> int:
    """Install the engine and run the main job."""
    cost = "numba, pyarrow, DuckDB and others: 170 MB to fetch, 600 MB of disk, a minute or two."
    Environment().install(".", cost)
    return _run_script("demo.py", arguments)


def test(arguments: list[str]) -> int:
    """Install what the checks need, and run them."""
    beside = Thread(target=lambda: (install_java(), install_postgres()))
    beside.start()
    cost = "numba, pyarrow, Spark, TensorFlow and others: 1.2 GB to fetch, 3.2 GB of disk, one to "
    Environment().install(".[dev]", f"{cost}five minutes.")
    beside.join()
    say("the checks take about ten minutes on two cores.")
    return check(arguments)


def check(arguments: list[str]) -> int:
    """Run every check."""
    return _run_script("checks.py", arguments)


def console(arguments: list[str]) -> int:
    """Serve the console with demo data, in the folder where this was called."""
    cost = "FastAPI, numba, pyarrow, DuckDB and others: 190 MB to fetch, 650 MB of disk, a minute "
    Environment().install(".[service]", f"{cost}or two.")
    return _run_script("console_demo.py", arguments)


def docs(arguments: list[str]) -> int:
    """Build the site of the documentation, or serve it."""
    environment = Environment(ROOT / ".venv-docs")
    cost = "60 MB to fetch, 190 MB of disk, half a minute."
    environment.install_requirements(ROOT / "docs" / "requirements.txt", cost)
    # The theme's own hint at its successor, on every build, is no warning about the pages.
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": "docs/generate"}
    what, *more = arguments or ["build"]
    command = [environment.program("mkdocs"), what, "--strict", *more]
    return hand_over(command, ROOT, variables)


def build_pages(_: list[str]) -> int:
    """Build the pages of the console from console/ into policy_engine/service/pages."""
    environment = Environment()
    node = install_node(environment)
    search = f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    options = {"env": {**os.environ, "PATH": search}}
    program, folder = (
        (node / "node.exe" if os.name == "nt" else node / "bin" / "node"),
        ROOT / "console",
    )
    lock, installed = folder / "package-lock.json", folder / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime <= lock.stat().st_mtime:
        cost = "95 MB to fetch, 170 MB of disk, half a minute."
        say(f"installing what the pages are built with into console/node_modules: {cost}")
        npm = next(node.glob("**/node_modules/npm/bin/npm-cli.js"))
        installing = ["ci", "--prefix", "console", "--no-audit", "--no-fund"]
        environment.fetch([program, npm, *installing], **options)
    tools = folder / "node_modules"
    for tool, *words in (
        ("openapi-typescript/bin/cli.js", "openapi.json", "--output", "src/api/schema.ts"),
        ("typescript/bin/tsc", "--noEmit"),
        ("vite/bin/vite.js", "build", "--logLevel", "warn"),
    ):
        output = subprocess.DEVNULL if "openapi.json" in words else None
        done = subprocess.run(
            [program, tools / tool, *words], cwd=folder, stdout=output, check=False, **options
        )
        if done.returncode:
            return done.returncode
    say("the pages are in policy_engine/service/pages")
    return 0


def nightly(arguments: list[str]) -> int:
    """Run what takes too long for every change: hours on two cores."""
    install_chromium()
    pipelines = Environment(ROOT / ".venv-pipelines")
    cost = "200 MB to fetch, 900 MB of disk, a minute."
    pipelines.install_requirements(ROOT / "pipelines" / "requirements.txt", cost, "--editable", ".")
    return build_pages([]) or test(["--hypothesis-profile=nightly", *arguments])


SCRIPTS: Mapping[str, Callable[[list[str]], int]] = {
    "demo": demo,
    "test": test,
    "check": check,
    "console": console,
    "docs": docs,
    "build-pages": build_pages,
    "nightly": nightly,
}


def _run_script(name: str, arguments: list[str]) -> int:
    """Run a script beside this one by the environment's Python."""
    command = [Environment().python, Path(__file__).with_name(name), *arguments]
    return hand_over(command, Path.cwd(), os.environ)


def main(arguments: list[str]) -> int:
    """Run the script that is named; return its status."""
    if sys.version_info < LEAST:
        say("policy_engine needs Python 3.11 or later.")
        return 2
    name, *more = arguments or [""]
    if name not in SCRIPTS:
        say(__doc__ or "")
        return 0 if name in ("-h", "--help") else 2
    try:
        return SCRIPTS[name](more)
    except InstallationError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
