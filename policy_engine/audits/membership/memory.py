"""How much memory an audit may use, and whether it suffices."""

import os
from contextlib import suppress
from pathlib import Path

from policy_engine.errors import AuditError

_GROUPS = Path("/sys/fs/cgroup")
_MEMORY = Path("/proc/meminfo")
_SPARED = 0.9
"""The share of the available memory that an audit may plan to use."""


def available_memory() -> int:
    """Return the bytes that this process can still have: of the machine, or of its container."""
    limits = [_machine_memory(), _cgroup_memory(_GROUPS), _cgroup1_memory(_GROUPS / "memory")]
    return min(one for one in limits if one is not None)


def check_memory(needed: int, available: int, lower: str) -> None:
    """Raise AuditError (A008) where an estimate is above what there is; `lower` says the way."""
    if needed > available * _SPARED:
        message = (
            f"The audit would need about {_format_size(needed)} of memory. "
            f"There are {_format_size(available)}, of which it may use {_SPARED:.0%}."
        )
        raise AuditError.of("A008", message, lower)


def models_at_once(one_model: int, two_models: int, available: int, most: int) -> int:
    """Return how many models fit in memory together, from the estimates for one and for two."""
    each = max(two_models - one_model, 1)
    fitting = 1 + int(max(available * _SPARED - one_model, 0)) // each
    return max(1, min(fitting, most))


def _format_size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{max(count / 2**20, 0.1):.1f} MiB"


def _machine_memory() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMORY.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _cgroup_memory(folder: Path) -> int | None:
    """Return what a container of cgroup version 2 leaves; what is cached of files is free."""
    with suppress(OSError, ValueError):
        most = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        return max(most - used + _read_count(folder / "memory.stat", "inactive_file"), 0)
    return None


def _cgroup1_memory(folder: Path) -> int | None:
    """Return what a container of cgroup version 1 leaves."""
    with suppress(OSError, ValueError):
        most = int((folder / "memory.limit_in_bytes").read_text())
        used = int((folder / "memory.usage_in_bytes").read_text())
        return max(most - used + _read_count(folder / "memory.stat", "total_inactive_file"), 0)
    return None


def _read_count(path: Path, name: str) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in path.read_text().splitlines():
            if line.split()[0] == name:
                return int(line.split()[1])
    return 0
