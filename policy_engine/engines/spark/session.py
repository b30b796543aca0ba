"""Start and stop Spark sessions, and check what they need."""

import importlib
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from policy_engine.engines.spark.failures import cause
from policy_engine.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
OLDEST_SPARK, OLDEST_JAVA = (4, 1), 17
_NO_CONF: Mapping[str, str] = MappingProxyType({})
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Measured: an eighth of the driver's time goes to a description of each query for that page,
    # and to where in Python each expression was made, which no error of ours quotes.
    "spark.sql.ui.explainMode": "simple",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
_UTC = {"spark.sql.session.timeZone": "UTC"}
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Measured: a tenth faster than with the collector for short pauses, which do not matter here,
    # and than with hundreds of shuffle partitions for a few cores.
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
}
PANDAS_WARNING = "PySpark does not yet fully support pandas"
"""The start of PySpark's warning about pandas 3, which is not used here."""


def start(
    master: str = "", conf: Mapping[str, str] = _NO_CONF, seconds: float = 20
) -> "SparkSession":
    """Start a session on a master (`local[*]`, `spark://`, `yarn`, `k8s://`, `sc://`).

    Without a master, on the one in Spark's environment, or else on this machine. `conf` overrides
    the defaults: no web page, no output on the terminal, times in UTC. The master has `seconds` to
    answer. Raises EngineError where PySpark (S001), Java (S001, S002) or the master (S003) is
    missing, and where Spark refuses a setting (M003).
    """
    check_pyspark()
    warnings.filterwarnings("ignore", PANDAS_WARNING, FutureWarning)
    _silence_loggers()
    remote = master or os.getenv("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        check_master_answers(remote, seconds)
        return _connect(remote, conf, seconds)
    if master.startswith("spark://"):
        check_master_answers(master, seconds)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        check_java()
    python = conf.get("spark.pyspark.python") or os.getenv("PYSPARK_PYTHON") or sys.executable
    with _environment("PYSPARK_PYTHON", python):
        return _launch(master, conf)


def stop(session: "SparkSession") -> None:
    """Stop a session that `start` returned, and its processes on this machine."""
    session.stop()
    _end_driver()


def runs_here(session: "SparkSession", conf: Mapping[str, str]) -> bool:
    """Tell whether the tasks of a session that `start` returned run on this Python.

    Then the executors need no check.
    """
    python = conf.get("spark.pyspark.python") or os.getenv("PYSPARK_PYTHON") or sys.executable
    return session_master(session).startswith("local") and python == sys.executable


def check_pyspark() -> None:
    """Raise EngineError (S001) where PySpark is missing or too old."""
    hint = "Install it: pip install 'policy-engine[spark]'"
    oldest = ".".join(map(str, OLDEST_SPARK))
    try:
        version = str(importlib.import_module("pyspark").__version__)
    except ImportError:
        raise EngineError.of("S001", "PySpark is not installed.", hint) from None
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_SPARK:
        message = f"PySpark is too old. Found: {version}. Needed: {oldest} or later."
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
    version = java_version(ran.stderr + ran.stdout)
    if version < OLDEST_JAVA:
        message = f"Java {OLDEST_JAVA} or later is needed. Found: Java {version}, {program!r}."
        raise EngineError.of("S002", message, hint)


def java_version(text: str) -> int:
    """Return the major version in the output of `java -version`, 0 if it has none."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else 0


def check_master_answers(master: str, seconds: float) -> None:
    """Raise EngineError (S003) where no address of a `spark://` or `sc://` master answers."""
    reason = ""
    for address in master.partition("://")[2].partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname or "localhost", parts.port or _PORTS[master[:2]]
            socket.create_connection((host, port), seconds).close()
        except TimeoutError:
            reason = f"within {seconds:g} s"
        except (OSError, ValueError) as error:
            reason = f"({getattr(error, 'strerror', None) or error})"
        else:
            return
    raise EngineError.of("S003", f"The master {master!r} does not answer {reason}.")


_PORTS = {"sp": 7077, "sc": 15002}


def _connect(url: str, conf: Mapping[str, str], seconds: float) -> "SparkSession":
    """Return a session of Spark Connect, once the server answers as one."""
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

    grpc: Any = importlib.import_module("grpc")
    with _explain_refusals():
        channel = DefaultChannelBuilder(url).toChannel()
        try:
            # Spark itself would retry for ten minutes.
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


def _launch(master: str, conf: Mapping[str, str]) -> "SparkSession":
    """Return a session whose driver runs on this machine."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    # The active session would not do: it belongs to one thread.
    if SparkContext._active_spark_context is not None:  # noqa: SLF001
        message = "There is a Spark session in this process already. Given: a master."
        raise EngineError.of("M003", message, "Give that session, or stop it first.")
    settings = {"spark.app.name": "policy-engine", **_UTC, **conf}
    with _explain_refusals(master):
        builder = SparkSession.builder.config(map=dict(settings))
        builder = builder.master(master) if master else builder
        if "SPARK_REMOTE" in os.environ:  # a Connect server in this process
            return builder.getOrCreate()
        own = {**_QUIET, **(_LOCAL if master.startswith("local") else {})}
        settings = {**own, **settings}
        settings |= {"spark.master": master} if master else {}
        spark_conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with _keep_sigint_handler():
            context = SparkContext(conf=spark_conf, gateway=_gateway(spark_conf))
        try:
            return builder.getOrCreate()
        except Exception:
            context.stop()
            raise


@contextmanager
def _keep_sigint_handler() -> Iterator[None]:
    """Keep this process's handler of Ctrl-C: Spark's own cancels the jobs of all sessions."""
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if is_main and handler is not None:
            signal.signal(signal.SIGINT, handler)


def _end_driver() -> None:
    """End the JVM of a driver without a session, if this process started it."""
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


def _gateway(spark_conf: Any) -> Any:
    """Return the JVM of a driver, whose output goes to a temporary file.

    Raises EngineError (M003) with its error message where it does not start.
    """
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    if SparkContext._gateway is not None:  # noqa: SLF001 (left by a session stopped before)
        return SparkContext._gateway  # noqa: SLF001
    launch: Callable[..., Any] = launch_gateway
    with tempfile.TemporaryFile() as log:
        try:
            return launch(spark_conf, {"stdout": log, "stderr": log})
        except PySparkRuntimeError:
            raise EngineError.of("M003", f"Spark cannot be started. {_error_line(log)}") from None


def _error_line(log: IO[bytes]) -> str:
    """Return the first line of a JVM's output that names an error, else the last line."""
    log.seek(0)
    lines = [line.strip() for line in log.read()[-20_000:].decode(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "WARNING"))]
    errors = [line for line in lines if re.search(r"\b(Exception|Error|Invalid)", line)]
    line = (errors or lines[-1:] or ["It wrote nothing."])[0]
    return cause(re.sub(r'^Exception in thread "\w+" ', "", line))


@contextmanager
def _explain_refusals(master: str = "") -> Iterator[None]:
    """Raise Spark's errors about its settings as EngineError."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 (Spark's, Py4J's and gRPC's have no common base)
        text = str(error)  # before the JVM ends: Py4J asks it for the text
        _end_driver()
        if re.search(_MASTER_LOST, text):
            message = f"The master {master!r} does not accept the session."
            raise EngineError.of("S003", message, "Is it a master of this version?") from None
        raise EngineError.of("M003", f"Spark refuses the session. {cause(text)}") from None


_MASTER_LOST = "masters are unresponsive|stopped while waiting|stopped SparkContext|Master removed"


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


def session_master(session: "SparkSession") -> str:
    """Return the master of a session, `sc://` for one of Spark Connect."""
    with suppress(Exception):
        return str(session.conf.get("spark.master"))
    return "sc://"


def _silence_loggers() -> None:
    """Keep PySpark from writing its errors to the terminal as JSON before it raises them."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
