"""Sessions of Spark: started, looked over, used and stopped."""

import importlib
import json
import logging
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from policy_engine.engines.spark.failures import cause, explained
from policy_engine.errors import EngineError, join_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_SPARK, OLDEST_JAVA = (4, 1), 17

PACKAGES = ("numpy", "numba", "pyarrow", "policy_engine")
"""What the tasks import."""

_NO_CONF: Mapping[str, str] = MappingProxyType({})

_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_UTC = {"spark.sql.session.timeZone": "UTC"}
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Measured: a tenth less than by the collector for short pauses, which nobody waits for here,
    # and by hundreds of parts of a shuffle for a few cores.
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
}

PANDAS_WARNING = "PySpark does not yet fully support pandas"
"""How the warning starts that PySpark gives beside pandas 3, of which nothing here is used."""


def start(
    master: str = "", conf: Mapping[str, str] = _NO_CONF, seconds: float = 20
) -> "SparkSession":
    """Start a session of our own, on a master (`local[*]`, `spark://`, `yarn`, `k8s://`, `sc://`).

    No master: the one that Spark's environment names, else this machine. `conf` wins over all
    that is set here: no web page, nothing on the terminal, times in UTC. The master has
    `seconds` to answer. Raises EngineError where PySpark (S001), Java (S001, S002) or the master
    (S003) is missing, and where Spark refuses a setting (M003).
    """
    check_pyspark()
    warnings.filterwarnings("ignore", PANDAS_WARNING, FutureWarning)
    _silence_loggers()
    remote = master or os.getenv("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        check_answers(remote, seconds)
        return _connected(remote, conf, seconds)
    if master.startswith("spark://"):
        check_answers(master, seconds)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        check_java()
    python = conf.get("spark.pyspark.python") or os.getenv("PYSPARK_PYTHON") or sys.executable
    with _environment("PYSPARK_PYTHON", python):
        return _launched(master, conf)


def stop(session: "SparkSession") -> None:
    """Stop a session that `start` gave, and the processes it runs on this machine."""
    session.stop()
    _end_driver()


@contextmanager
def running(session: "SparkSession", what: str) -> Iterator[str]:
    """Run actions that end with the block: no job outlives an error or Ctrl-C.

    Gives the tag of its jobs; `what` says what they do, as in "counting". Raises the errors of
    `explained`.
    """
    tag = f"policy-engine {what.replace(',', '')} {uuid.uuid4()}"
    with _without_py4j_tracebacks():
        try:
            _tagging(session).add(tag)
            yield tag
        except Exception as error:  # noqa: BLE001 (Spark's have no common base)
            _interrupt(session, tag)
            raise explained(error, what=what) from None
        except BaseException:
            _interrupt(session, tag)
            raise
        finally:
            with suppress(Exception):
                _tagging(session).remove(tag)


def runs_here(session: "SparkSession", conf: Mapping[str, str]) -> bool:
    """Tell whether the tasks of a session that `start` gave run on this Python: there is nothing
    to check then."""
    given = conf.get("spark.pyspark.python") or os.getenv("PYSPARK_PYTHON") or sys.executable
    return _master(session).startswith("local") and given == sys.executable


def check_workers(
    session: "SparkSession", packages: Iterable[str] = PACKAGES, seconds: float = 60
) -> None:
    """Check, in one small job, that the executors have what tasks import.

    Raises EngineError where one lacks a package, or has another version of Python or of
    policy_engine than the driver (S004), and where none has run a task within `seconds` (S003).
    """
    wanted = tuple(packages)
    tasks = session.range(10_000).union(session.range(10_000))  # two for every slot
    probe = tasks.mapInArrow(_probe(wanted), "found string")
    is_over = threading.Event()
    what = "the check of the executors"
    try:
        with running(session, what) as tag, _time_limit(session, tag, seconds, is_over):
            found = {row.found for row in probe.collect()}
    except EngineError:
        if not is_over.is_set():
            raise
        raise EngineError.of(
            "S003",
            f"No executor of the master {_master(session)!r} has run a task within {seconds:g} s.",
            "Are its workers running, and do they have the cores and the memory asked for?",
        ) from None
    driver = Worker.parsed(next(iter(_probe(wanted)(iter([]))))[0][0].as_py())
    for worker in map(Worker.parsed, sorted(found)):
        check_worker(worker, driver)


@dataclass(frozen=True)
class Worker:
    """What one machine's Python has: the versions of the packages asked for, "" for missing."""

    host: str
    program: str
    python: str
    versions: Mapping[str, str]

    @classmethod
    def parsed(cls, text: str) -> "Worker":
        """Return what a task wrote as JSON."""
        return cls(**json.loads(text))


def check_worker(worker: Worker, driver: Worker) -> None:
    """Raise EngineError (S004) where a worker lacks packages or differs from the driver."""
    where = f"on {worker.host!r} ({worker.program})"
    if missing := [name for name, version in worker.versions.items() if not version]:
        hint = "Install 'policy-engine[spark]' there, or set PYSPARK_PYTHON to a Python with it."
        raise EngineError.of(
            "S004", f"The Python {where} cannot import {join_names(missing)}.", hint
        )
    ours, theirs = (one.versions.get("policy_engine") for one in (driver, worker))
    if ours != theirs:
        message = f"The executor {where} has policy_engine {theirs}, and the driver {ours}."
        raise EngineError.of("S004", message, "Install the same version on both.")
    if worker.python != driver.python:
        message = f"The executor {where} has Python {worker.python}, the driver {driver.python}."
        raise EngineError.of("S004", message, "Set PYSPARK_PYTHON to the same minor version.")


def check_pyspark() -> None:
    """Raise EngineError (S001) where PySpark is missing or too old."""
    hint = "Install it: pip install 'policy-engine[spark]'"
    oldest = ".".join(map(str, OLDEST_SPARK))
    try:
        found = str(importlib.import_module("pyspark").__version__)
    except ImportError:
        raise EngineError.of("S001", "PySpark is not installed.", hint) from None
    if tuple(int(part) for part in re.findall(r"\d+", found)[:2]) < OLDEST_SPARK:
        message = f"PySpark is too old. Found: {found}. Needed: {oldest} or later."
        raise EngineError.of("S001", message, hint)


def check_java() -> None:
    """Raise EngineError where there is no Java (S001), or one before 17 (S002)."""
    hint = "Install it (Debian: default-jre-headless) or set JAVA_HOME."
    home = os.getenv("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"
    try:
        ran = subprocess.run(  # noqa: S603
            [program, "-version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        where = f"JAVA_HOME is {home!r}, without a working bin/java" if home else "There is none"
        message = f"Java {OLDEST_JAVA} or later is needed. {where}."
        raise EngineError.of("S001", message, hint) from None
    found = java_version(ran.stderr + ran.stdout)
    if found < OLDEST_JAVA:
        message = f"Java {OLDEST_JAVA} or later is needed. Found: Java {found}, {program!r}."
        raise EngineError.of("S002", message, hint)


def java_version(text: str) -> int:
    """Return the major version in what `java -version` prints, 0 where it says none."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else 0


def check_answers(master: str, seconds: float) -> None:
    """Raise EngineError (S003) where no address of a `spark://` or `sc://` master answers."""
    said = ""
    for address in master.partition("://")[2].partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname or "localhost", parts.port or _PORTS[master[:2]]
            socket.create_connection((host, port), seconds).close()
        except TimeoutError:
            said = f"within {seconds:g} s"
        except (OSError, ValueError) as error:
            said = f"({getattr(error, 'strerror', None) or error})"
        else:
            return
    raise EngineError.of("S003", f"The master {master!r} does not answer {said}.")


_PORTS = {"sp": 7077, "sc": 15002}


def _connected(url: str, conf: Mapping[str, str], seconds: float) -> "SparkSession":
    """Return a session of Spark Connect, once the server has answered as one."""
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

    grpc: Any = importlib.import_module("grpc")
    with _refusals():
        channel = DefaultChannelBuilder(url).toChannel()
        try:
            # Spark itself would go on trying for ten minutes.
            grpc.channel_ready_future(channel).result(seconds)
        except grpc.FutureTimeoutError:
            message = f"The master {url!r} does not answer as Spark Connect within {seconds:g} s."
            raise EngineError.of("S003", message) from None
        finally:
            channel.close()
        session = SparkSession.builder.remote(url).create()
        for key, value in {**_UTC, **conf}.items():
            session.conf.set(key, value)
        return session


def _launched(master: str, conf: Mapping[str, str]) -> "SparkSession":
    """Return a session whose driver runs on this machine."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    # Not by its active session, which is one thread's own.
    if SparkContext._active_spark_context is not None:  # noqa: SLF001
        message = "There is a Spark session in this process already. Given: a master."
        raise EngineError.of("M003", message, "Give that session, or stop it first.")
    settings = {"spark.app.name": "policy-engine", **_UTC, **conf}
    with _refusals(master):
        builder = SparkSession.builder.config(map=dict(settings))
        builder = builder.master(master) if master else builder
        if "SPARK_REMOTE" in os.environ:  # a Connect server in this process
            return builder.getOrCreate()
        own = {**_QUIET, **(_LOCAL if master.startswith("local") else {})}
        settings = {**own, **settings}
        settings |= {"spark.master": master} if master else {}
        asked = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with _own_handler():
            context = SparkContext(conf=asked, gateway=_gateway(asked))
        try:
            return builder.getOrCreate()
        except Exception:
            context.stop()
            raise


@contextmanager
def _own_handler() -> Iterator[None]:
    """Keep what this process does on Ctrl-C: Spark's own handler ends the jobs of everybody."""
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if is_main and handler is not None:
            signal.signal(signal.SIGINT, handler)


def _end_driver() -> None:
    """End the JVM of a driver that runs no session, where this process started it."""
    from pyspark import SparkContext  # noqa: PLC0415

    gateway = SparkContext._gateway  # noqa: SLF001 (PySpark itself never ends the JVM)
    process = getattr(gateway, "proc", None)
    # Under spark-submit the JVM is the parent of this process, and not ours to end.
    if gateway is None or process is None or SparkContext._active_spark_context:  # noqa: SLF001
        return
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _gateway(asked: Any) -> Any:
    """Return the JVM of a driver, whose own output goes to a file that nobody sees.

    Raises EngineError (M003) with its last line where it does not come up.
    """
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    if SparkContext._gateway is not None:  # noqa: SLF001 (left by a session stopped before)
        return SparkContext._gateway  # noqa: SLF001
    launch: Callable[..., Any] = launch_gateway
    with tempfile.TemporaryFile() as log:
        try:
            return launch(asked, {"stdout": log, "stderr": log})
        except PySparkRuntimeError:
            raise EngineError.of("M003", f"Spark cannot be started. {_last_words(log)}") from None


def _last_words(log: IO[bytes]) -> str:
    """Return what a JVM said when it gave up: the first line that names an error, or the last."""
    log.seek(0)
    lines = [line.strip() for line in log.read()[-20_000:].decode(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "WARNING"))]
    named = [line for line in lines if re.search(r"\b(Exception|Error|Invalid)", line)]
    said = (named or lines[-1:] or ["It said nothing."])[0]
    return cause(re.sub(r'^Exception in thread "\w+" ', "", said))


@contextmanager
def _refusals(master: str = "") -> Iterator[None]:
    """Turn what Spark says of its settings into an EngineError."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 (Spark's, Py4J's and gRPC's have no common base)
        text = str(error)  # before the JVM ends, which Py4J asks for it
        _end_driver()
        if re.search(_UNANSWERED, text):
            message = f"The master {master!r} does not take the session."
            raise EngineError.of("S003", message, "Is it a master of this version?") from None
        raise EngineError.of("M003", f"Spark refuses the session. {cause(text)}") from None


_UNANSWERED = "masters are unresponsive|stopped while waiting|stopped SparkContext|Master removed"


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable while Spark starts."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _interrupt(session: "SparkSession", tag: str) -> None:
    with suppress(Exception):
        _tagging(session).interrupt(tag)


@dataclass(frozen=True)
class _Tagging:
    """How jobs are tagged, and those with a tag ended."""

    add: Callable[[str], object]
    remove: Callable[[str], object]
    interrupt: Callable[[str], object]


def _tagging(session: "SparkSession") -> _Tagging:
    if type(session).__module__.startswith("pyspark.sql.connect."):
        return _Tagging(session.addTag, session.removeTag, session.interruptTag)
    # The tags of a classic session belong to one thread of the JVM: after Ctrl-C, and from a
    # timer, it is another. Those of its context do not.
    context = session.sparkContext
    return _Tagging(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


@contextmanager
def _time_limit(
    session: "SparkSession", tag: str, seconds: float, is_over: threading.Event
) -> Iterator[None]:
    """Cancel the jobs of a tag after some time, and say so."""

    def give_up() -> None:
        is_over.set()
        _interrupt(session, tag)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _master(session: "SparkSession") -> str:
    with suppress(Exception):
        return str(session.conf.get("spark.master"))
    return "sc://"


def _probe(packages: tuple[str, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a task that says what its Python has.

    It is nested, and so travels as code: a function of this module would travel as its name,
    which a worker without policy_engine cannot look up.
    """

    def probe(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415

        versions = {}
        for name in packages:
            try:
                versions[name] = getattr(importlib.import_module(name), "__version__", "?")
            except Exception:  # noqa: BLE001 (a broken package may raise anything)
                versions[name] = ""
        for _ in batches:
            pass
        found = {"host": platform.node(), "program": sys.executable, "versions": versions}
        found["python"] = ".".join(map(str, sys.version_info[:2]))
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return probe


def _silence_loggers() -> None:
    """Keep PySpark from writing its errors to the terminal as JSON before it raises them."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _without_py4j_tracebacks() -> Iterator[None]:
    """Keep Py4J from writing tracebacks to the terminal, which it does by the root logger."""
    root = logging.getLogger()
    # With no handler at all, logging would set up one of its own.
    handler = logging.NullHandler()
    root.addHandler(handler)
    root.addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        root.removeFilter(_is_not_of_py4j)
        root.removeHandler(handler)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return not str(record.msg).endswith("while sending command.")
