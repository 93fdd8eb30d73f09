"""Node.js 20 or newer with npm: the installed ones, or those in a wheel."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.parts.part_cache import PartCache, install_wheels, wheel_pins

_OLDEST = 20


@dataclass(frozen=True)
class Node:
    """The path of `node` and the command that runs npm."""

    program: Path
    npm: tuple[str, ...]


def find(cache: PartCache) -> Node:
    """Return Node.js and npm. Raises MissingPartError."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= _OLDEST:
        return Node(Path(node), (npm,))
    folder = cache.folder("node", [wheel_pins("node")], partial(install_wheels, "node"))
    program = next(folder.glob("**/bin/node"))
    # The wheel's bin/npm looks for its library in the wrong folder.
    cli = next(folder.glob("**/node_modules/npm/bin/npm-cli.js"))
    return Node(program, (str(program), str(cli)))


@cache
def _version(node: str) -> int:
    try:
        done = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.match(r"v(\d+)", done.stdout)
    return int(match.group(1)) if match else 0
