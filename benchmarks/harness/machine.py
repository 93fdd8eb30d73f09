"""The machine a result was measured on."""

import os
import platform
import re
import sqlite3
from pathlib import Path


def machine() -> dict[str, str | int]:
    """What a reader needs to judge the figures."""
    return {
        "cpu": _first(r"^model name\s*:\s*(.+)$", "/proc/cpuinfo") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": int(_first(r"^MemTotal:\s*(\d+)", "/proc/meminfo") or 0) // 1024,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "kernel": platform.release(),
    }


def resident_mb() -> float:
    """What this process holds in memory, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _first(pattern: str, path: str) -> str | None:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip() if found else None
