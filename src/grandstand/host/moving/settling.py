"""Kept here: having a file, or what a folder lists, on disk before going on."""

from __future__ import annotations

import os
from pathlib import Path


def settle(path: Path) -> None:
    """Return when the disk has what was written at a path; of a folder, the names in it."""
    held = os.open(path, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
