"""Kept here: whether there is room to go on recording."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grandstand.apps.gatherer import store
from grandstand.base.errors import LimitReached, NotFound
from grandstand.storage.series.engines.protocol import SeriesEngine

_MIB = 1024**2


class DiskBudgetSpent(LimitReached):
    """Recording stopped before the disk is full, or because it took what it may take."""

    retry = False


@dataclass(frozen=True, slots=True)
class Disk:
    """What is free on the disk of a folder, and what recording takes."""

    free_bytes: int
    taken_bytes: int


def measured(folder: Path, engine: SeriesEngine) -> Disk:
    """Answer what is free and taken; raise SeriesUnavailable when the engine does not answer."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    for series in store.SERIES:
        # A series is made with its first row.
        with suppress(NotFound):
            taken += sum(chunk.size_bytes for chunk in engine.status(series).chunks)
    return Disk(shutil.disk_usage(folder).free, taken)


def check(disk: Disk, least_free_bytes: int, most_bytes: int | None) -> None:
    """Raise DiskBudgetSpent when recording must not go on."""
    if disk.free_bytes < least_free_bytes:
        message = (
            f"Recording stopped: {disk.free_bytes // _MIB} MiB are free, and "
            f"{least_free_bytes // _MIB} MiB are to be left: make room, or lower "
            "gatherer.free_gigabytes"
        )
        raise DiskBudgetSpent(message)
    if most_bytes is not None and disk.taken_bytes >= most_bytes:
        message = (
            f"Recording stopped: it takes {disk.taken_bytes // _MIB} MiB of the "
            f"{most_bytes // _MIB} MiB it may take: raise GRANDSTAND_GATHERER_DISK_GIGABYTES, or "
            "keep less"
        )
        raise DiskBudgetSpent(message)
