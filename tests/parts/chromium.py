"""A Chromium that can be driven: the machine's own, else the headless shell that npm carries."""

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


def find(keeper: PartCache) -> Path:
    """The program to start; raises MissingPartError when there is none."""
    for path in _on_this_machine():
        if _is_a_browser(path):
            return path

    def make(folder: Path) -> None:
        _unpack(folder, node.find(keeper))

    return keeper.kept("chromium", npm_pins("chromium"), make) / "chromium"


def _on_this_machine() -> Iterator[Path]:
    named = os.environ.get("TEST_CHROMIUM")
    if named:
        yield Path(named)
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            yield Path(found)


def _is_a_browser(path: Path) -> bool:
    """Ubuntu's chromium package without snaps is a script that says sorry and exits with 0."""
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
