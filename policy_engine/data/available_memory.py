"""How much memory this process can still have, and how sizes are written."""

import os
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_MEMORY = Path("/proc/meminfo")


def available_memory() -> int:
    """Return the bytes that this process can still have: of the machine, or of its container."""
    limits = [_machine_memory(), _cgroup_memory(_GROUPS), _cgroup1_memory(_GROUPS / "memory")]
    return min(one for one in limits if one is not None)


def format_size(count: int) -> str:
    """Return a number of bytes in GiB, or in MiB where it is below one."""
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
