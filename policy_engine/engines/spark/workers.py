"""Check that the executors of a session have what tasks import."""

import importlib
import json
import platform
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy_engine.engines.spark.jobs import cancel_after, running
from policy_engine.engines.spark.session import session_master
from policy_engine.errors import EngineError, join_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PACKAGES = ("numpy", "numba", "pyarrow", "policy_engine")
"""The packages that tasks import."""


def check_workers(
    session: "SparkSession", packages: Iterable[str] = PACKAGES, seconds: float = 60
) -> None:
    """Check, in one small job, that the executors have what tasks import.

    Raises EngineError where one lacks a package, or has another version of Python or of
    policy_engine than the driver (S004), and where none has run a task within `seconds` (S003).
    """
    names = tuple(packages)
    tasks = session.range(10_000).union(session.range(10_000))  # two for every slot
    probe = tasks.mapInArrow(_probe(names), "worker string")
    is_over = threading.Event()
    what = "the check of the executors"
    try:
        with running(session, what) as tag, cancel_after(session, tag, seconds, is_over):
            texts = {row.worker for row in probe.collect()}
    except EngineError:
        if not is_over.is_set():
            raise
        master = session_master(session)
        raise EngineError.of(
            "S003",
            f"No executor of the master {master!r} has run a task within {seconds:g} s.",
            "Are its workers running, and do they have the requested cores and memory?",
        ) from None
    driver = Worker.from_json(next(iter(_probe(names)(iter([]))))[0][0].as_py())
    for worker in map(Worker.from_json, sorted(texts)):
        check_worker(worker, driver)


@dataclass(frozen=True)
class Worker:
    """A machine's Python, and the versions of its packages, "" for those that are missing."""

    host: str
    program: str
    python: str
    versions: Mapping[str, str]

    @classmethod
    def from_json(cls, text: str) -> "Worker":
        """Return the worker that a task described as JSON."""
        return cls(**json.loads(text))


def check_worker(worker: Worker, driver: Worker) -> None:
    """Raise EngineError (S004) where a worker lacks packages or differs from the driver."""
    where = f"on {worker.host!r} ({worker.program})"
    if missing := [name for name, version in worker.versions.items() if not version]:
        hint = "Install 'policy-engine[spark]' there, or set PYSPARK_PYTHON to a Python with it."
        raise EngineError.of(
            "S004", f"The Python {where} cannot import {join_names(missing)}.", hint
        )
    on_driver, on_worker = (one.versions.get("policy_engine") for one in (driver, worker))
    if on_driver != on_worker:
        message = f"The executor {where} has policy_engine {on_worker}, and the driver {on_driver}."
        raise EngineError.of("S004", message, "Install the same version on both.")
    if worker.python != driver.python:
        message = f"The executor {where} has Python {worker.python}, the driver {driver.python}."
        raise EngineError.of("S004", message, "Set PYSPARK_PYTHON to the same minor version.")


def _probe(packages: tuple[str, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a task that describes its Python."""

    # It is nested, and so travels as code: a function of this module would travel as its name,
    # which a worker without policy_engine cannot look up.
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
        worker = {"host": platform.node(), "program": sys.executable, "versions": versions}
        worker["python"] = ".".join(map(str, sys.version_info[:2]))
        yield pa.RecordBatch.from_pydict({"worker": [json.dumps(worker)]})

    return probe
