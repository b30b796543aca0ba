"""Clusters on the loopback of this machine: a standalone one, and a server of Spark Connect."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_DEADLINE = 60
"""Seconds that a process has to come up."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster: the URL of its master, the processes, and where they log."""

    url: str
    master: subprocess.Popen
    workers: tuple[subprocess.Popen, ...] = field(default=())

    def executors(self, worker: int) -> list[int]:
        """Return the process ids of the executors that a worker runs at the moment."""
        return [
            child
            for child in _children(self.workers[worker].pid)
            if "CoarseGrainedExecutorBackend" in _command(child)
        ]

    def kill_executor(self, worker: int) -> int:
        """Kill an executor of a worker at once, as a machine lost would, and return its id."""
        victim = self.executors(worker)[0]
        os.kill(victim, signal.SIGKILL)
        return victim


@contextmanager
def cluster(workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[Cluster]:
    """Start a master and workers, and end every process that came of them.

    The executors run the Python that runs the tests.
    """
    with _processes() as (directory, started):
        master = _spawn(directory, "master", [*_daemon("master.Master"), "--port", "0"])
        started.append(master)
        url = _awaited(directory / "master.log", r"Starting Spark master at (spark://\S+)", master)
        for number in range(workers):
            sizes = ["--cores", str(cores), "--memory", memory, "--work-dir", f"{directory}/work"]
            command = [*_daemon("worker.Worker"), *sizes, url]
            started.append(_spawn(directory, f"worker-{number}", command))
        for number, worker in enumerate(started[1:]):
            log = directory / f"worker-{number}.log"
            _awaited(log, r"(Successfully registered) with master", worker)
        yield Cluster(url, master, tuple(started[1:]))


@contextmanager
def connect_server(master: str = "local[2]") -> Iterator[str]:
    """Start a server of Spark Connect, give its URL, and end it."""
    with _processes() as (directory, started), socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        conf = {"connect.grpc.binding.port": port, "ui.enabled": "false"}
        settings = [word for key in conf for word in ("--conf", f"spark.{key}={conf[key]}")]
        command = ["spark-submit", "--master", master, "--class", server, *settings]
        process = _spawn(directory, "connect", [*command, "spark-internal"])
        started.append(process)
        _awaited(directory / "connect.log", r"(Spark Connect server started)", process)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def _processes() -> Iterator[tuple[Path, list[subprocess.Popen]]]:
    """Give a directory for logs and a list of processes, and end those put into it."""
    started: list[subprocess.Popen] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        try:
            yield Path(directory), started
        finally:
            _end(started)


def _daemon(kind: str) -> list[str]:
    return ["spark-class", f"org.apache.spark.deploy.{kind}", *_HERE]


_HERE = ("--host", "127.0.0.1", "--webui-port", "0")


def _spawn(directory: Path, name: str, command: list[str]) -> subprocess.Popen:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / command[0]
    with (directory / f"{name}.log").open("w") as log:
        return subprocess.Popen(
            [str(program), *command[1:]],
            env={**os.environ, **_settings(directory)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _settings(directory: Path) -> Mapping[str, str]:
    """Return the environment: all on the loopback, and logs that say who has registered."""
    properties = directory / "log4j2.properties"
    properties.write_text(
        "rootLogger.level = info\n"
        "rootLogger.appenderRef.stderr.ref = console\n"
        "appender.console.type = Console\n"
        "appender.console.name = console\n"
        "appender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\n"
        "appender.console.layout.pattern = %m%n\n"
    )
    return {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "1g",
        "LOG4J_CONFIGURATION_FILE": str(properties),
        "PYSPARK_PYTHON": sys.executable,
    }


def _awaited(log: Path, pattern: str, process: subprocess.Popen) -> str:
    """Return what a pattern finds in a log as soon as it stands there."""
    end = time.monotonic() + _DEADLINE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, log.read_text()):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"no {pattern!r} in {log.name}:\n{log.read_text()[-2000:]}")


def _end(started: list[subprocess.Popen]) -> None:
    """Kill processes and all that came of them: an executor outlives a worker that is killed."""
    found = [child for process in started for child in _descendants(process.pid)]
    for process_id in [*(process.pid for process in started), *found]:
        try:
            os.kill(process_id, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for process in started:
        process.wait()


def _descendants(process_id: int) -> list[int]:
    children = _children(process_id)
    return children + [further for child in children for further in _descendants(child)]


def _children(process_id: int) -> list[int]:
    found = [(_read(path), path.parent.name) for path in Path("/proc").glob("[0-9]*/stat")]
    parents = [(text.rpartition(")")[2].split(), child) for text, child in found]
    return [int(child) for fields, child in parents if fields[1:2] == [str(process_id)]]


def _command(process_id: int) -> str:
    return _read(Path(f"/proc/{process_id}/cmdline")).replace("\0", " ")


def _read(path: Path) -> str:
    """Return what a file of /proc says, nothing where the process has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
