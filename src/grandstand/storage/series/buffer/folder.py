"""Kept here: the folder a buffer spills to: whose it is, and what is found in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grandstand.storage.series.buffer.lane import Lane
from grandstand.storage.series.buffer.spill import Spill
from grandstand.storage.series.buffer.terms import Limits, Notice
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.rows import shape_of


def lanes_in(
    folder: Path, series: Iterable[Series[Any]], limits: Limits
) -> tuple[list[Lane[Any]], list[Notice]]:
    """Answer the lanes of series with what was spilled of each, and what is to be told of it."""
    lanes, notices = [], []
    for one in series:
        spill = Spill(folder / one.name, one, file_bytes=limits.file_bytes)
        notices += spill.open()
        lanes.append(Lane(one, one.columns, shape_of(one.columns), spill))
    known = {lane.series.name for lane in lanes}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in known and any(path.glob("*.spill")):
            why = f"{path} was spilled by a buffer that had this series too"
            notices.append(Notice("set aside", path.name, 0, why))
    return lanes, notices


def locked(folder: Path) -> int:
    """Make a folder ours, and answer the open file that holds it; raise OSError if it is not free.

    Closing that file, or being killed, lets it go.
    """
    held = os.open(folder / "buffer.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held
