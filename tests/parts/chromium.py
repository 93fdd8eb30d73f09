"""Chromium: the installed one, or the headless shell from npm."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.parts import node
from tests.parts.part_cache import PartCache, install_npm, npm_pins

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_UNPACK = """
const fs = require("fs"), zlib = require("zlib");
fs.writeFileSync(process.argv[2], zlib.brotliDecompressSync(fs.readFileSync(process.argv[1])));
"""

_START = """#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/headless-shell" "$@"
"""


def find(cache: PartCache) -> Path:
    """Return the path of the browser. Raises MissingPartError."""
    for path in _installed():
        if _is_browser(path):
            return path

    def make(folder: Path) -> None:
        _unpack(folder, node.find(cache))

    return cache.folder("chromium", npm_pins("chromium"), make) / "chromium"


def _installed() -> Iterator[Path]:
    named = os.environ.get("TEST_CHROMIUM")
    if named:
        yield Path(named)
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            yield Path(found)


def _is_browser(path: Path) -> bool:
    """Return whether a program prints Chromium's version.

    Without snap, Ubuntu's chromium is a script that only prints a message and exits with 0.
    """
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return re.search(r"Chrom\w+ \d+\.", done.stdout) is not None


def _unpack(folder: Path, found: node.Node) -> None:
    install_npm("chromium", folder, found.npm)
    packed = folder / "node_modules" / "@sparticuz" / "chromium" / "bin"
    for name in ("chromium", "al2023.tar", "swiftshader.tar"):
        source, target = packed / f"{name}.br", folder / name
        subprocess.run([found.program, "-e", _UNPACK, source, target], check=True)
    for name in ("al2023.tar", "swiftshader.tar"):
        with tarfile.open(folder / name) as archive:
            archive.extractall(folder)  # noqa: S202 - its hash is pinned
        (folder / name).unlink()
    shutil.rmtree(folder / "node_modules")
    (folder / "chromium").rename(folder / "headless-shell")
    (folder / "headless-shell").chmod(0o755)
    (folder / "chromium").write_text(_START, encoding="utf-8")
    (folder / "chromium").chmod(0o755)
