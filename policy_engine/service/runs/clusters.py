"""The cluster that carries out runs where operators chose Spark, and what runs then reach."""

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine

_MASTERS = re.compile(
    r"local(\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\])?"
    r"|spark://[\w.-]+:[0-9]+(,[\w.-]+:[0-9]+)*"
    r"|yarn"
    r"|k8s://[\w.:/\[\]-]+"
)
MASTERS = "local[N], spark://HOST:PORT, yarn and k8s://URL"
LEAST_MEMORY = 2 * 2**30
"""Bytes below which the processes of a driver do not live, with half of them for the heap."""
_PASSED = ("JAVA_HOME", "PATH")
_CONNECT = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE")
"""What would have Spark choose another master than the operator's."""
_FOLDERS = ("JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR")
_LOOPBACK = "127.0.0.1"


def is_master(text: str) -> bool:
    """Tell whether a text names a master that runs can be carried out on."""
    return _MASTERS.fullmatch(text) is not None


class Cluster(BaseModel):
    """A master of Spark, and the bytes of the heap of the driver that each run has."""

    model_config = ConfigDict(frozen=True)

    master: str
    heap: int

    @classmethod
    def of(cls, master: str, memory: int) -> "Cluster":
        """Return the cluster of a master, for runs whose processes have so many bytes each: half
        are for the heap, for the JVM needs others beside it."""
        return cls(master=master, heap=memory // 2)

    @property
    def is_here(self) -> bool:
        """Whether all of it runs on this machine, as part of the run."""
        return self.master.startswith("local")

    @property
    def reach(self) -> str:
        """What runs reach, in a sentence for operators."""
        what = "Runs that sanitise or assess are carried out by Spark"
        if self.is_here:
            return f"{what} on this machine ({self.master}), with no network but a loopback."
        return f"{what} at {self.master}. To reach it, they have the network of this machine."

    def engine(self, scratch: Path) -> "SparkEngine":
        """Return the engine of a run, whose temporary files are in its own folder.

        Raises EngineError (S001) where PySpark is missing.
        """
        from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415 (few need it)

        check_pyspark()
        from policy_engine.engines.spark.engine import SparkEngine  # noqa: PLC0415 (pyspark)

        conf = {
            "spark.driver.memory": f"{self.heap // 2**20}m",
            "spark.driver.extraJavaOptions": f'-XX:+UseParallelGC "-Djava.io.tmpdir={scratch}"',
        }
        return SparkEngine(master=self.master, conf=conf)

    def environment(self, scratch: Path) -> dict[str, str]:
        """Return what a driver needs of the environment: where Java is, and what operators set for
        Spark. Spark's temporary files are in the run's own folder, whatever was set."""
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED or (name.startswith("SPARK_") and name not in _CONNECT)
        }
        own = {"SPARK_LOCAL_IP": _LOOPBACK} if self.is_here else {}
        return {**passed, **own, "SPARK_LOCAL_DIRS": str(scratch)}

    def libraries(self) -> list[Path]:
        """Return the folders of Java and Spark that a driver reads, by its environment."""
        java = shutil.which("java")
        beside = [Path(java).resolve().parent.parent] if java else []
        return [*beside, *(Path(os.environ[one]) for one in _FOLDERS if os.environ.get(one))]


def check_installed() -> None:
    """Raise EngineError where PySpark (S001) or Java (S001, S002) is missing or too old."""
    from policy_engine.engines.spark import session  # noqa: PLC0415 (few services need it)

    session.check_pyspark()
    session.check_java()
