"""What a run may use of the machine, and which parts of it."""

import resource
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from policy_engine.service.runs import landlock, namespaces
from policy_engine.service.runs.clusters import Cluster

OPEN = "it has the network, as it reaches Spark by it"
_MOST_FILES = 4096
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/opt", "/dev")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/shm")  # noqa: S108 (semaphores of other processes)


class RunLimits(BaseModel):
    """The most that a run uses: bytes of memory and of one file, seconds of a processor."""

    model_config = ConfigDict(frozen=True)

    memory: int
    file: int
    seconds: float


def limit_process(limits: RunLimits) -> None:
    """Limit this process, and those that it starts, each for itself.

    Memory is what it can write to: what libraries reserve and do not use is not counted.
    """
    _limit(resource.RLIMIT_DATA, limits.memory)
    _limit(resource.RLIMIT_FSIZE, limits.file)
    _limit(resource.RLIMIT_NOFILE, _MOST_FILES)
    _limit(resource.RLIMIT_CORE, 0)


def isolate(
    read: Iterable[Path], write: Iterable[Path], cluster: Cluster | None = None
) -> list[str]:
    """Cut this process off from the network and from the files of others; return how, in words.

    Libraries of Python and of the system can be read; with a cluster, those of Java and Spark, too,
    and it can be reached. Raises OSError where a loopback is needed and cannot be had.
    """
    network = _leave_network(cluster)
    drivers = cluster.libraries() if cluster else []
    libraries = [
        *drivers,
        *map(Path, {sys.prefix, sys.base_prefix, sys.exec_prefix}),
        *_import_places(),
    ]
    readable = [*read, *libraries, *map(Path, _SYSTEM)]
    files = landlock.confine(readable, [*write, *map(Path, _DEVICES)])
    return [network, files]


def _leave_network(cluster: Cluster | None) -> str:
    if cluster is None:
        return namespaces.leave_network()
    return namespaces.leave_for_loopback() if cluster.is_here else OPEN


def _import_places() -> list[Path]:
    return [Path(one) for one in sys.path if one]


def _limit(kind: int, most: int) -> None:
    """Set a limit, which may be lower already and is then kept."""
    _, hard = resource.getrlimit(kind)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))
