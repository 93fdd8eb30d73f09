"""The creation time and seed of the simulated world, stored so that it continues."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from grandstand.core.errors import Conflict
from grandstand.host.demo.sources import simulated_folder
from grandstand.host.settings import Settings

# A world has games for so long; after that it is made anew.
WORLD_LIFETIME: Final = timedelta(days=21)
_FILE: Final = "world.json"


class DemoInUse(Conflict):
    """Simulated data cannot be wiped while a process uses it."""

    code = "demo-in-use"


class WorldState(msgspec.Struct, frozen=True):
    """The day a world was created, and its random seed."""

    born_at: datetime
    seed: int = 7

    def is_over(self, now: datetime) -> bool:
        """Return whether the world has ended, or starts in the future."""
        return not self.born_at <= now <= self.born_at + WORLD_LIFETIME


@contextlib.contextmanager
def open_world(settings: Settings, now: datetime) -> Iterator[WorldState]:
    """Use the simulated data while the block runs and return its state.

    A world that has ended is wiped and created again, unless another process uses it.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    folder = simulated_folder(settings)
    with _lock(settings) as held:
        found = _find(folder)
        if found is None or found.is_over(now):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found = _find(folder)
                if found is None or found.is_over(now):
                    found = _made(folder, now)
        fcntl.flock(held, fcntl.LOCK_SH)
        yield found or _find(folder) or _made(folder, now)


def wipe(settings: Settings) -> bool:
    """Delete all simulated data; False if there is none. Raises DemoInUse."""
    folder = simulated_folder(settings)
    if not folder.exists():
        return False
    with _lock(settings) as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise DemoInUse("Grandstand is running with simulated data. Stop it first.") from fault
        shutil.rmtree(folder)
    return True


@contextlib.contextmanager
def _lock(settings: Settings) -> Iterator[int]:
    held = os.open(settings.home / "simulated.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield held
    finally:
        os.close(held)


def _find(folder: Path) -> WorldState | None:
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=WorldState)
    except (OSError, msgspec.MsgspecError):
        return None


def _made(folder: Path, now: datetime) -> WorldState:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    birth = WorldState(now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
    (folder / _FILE).write_bytes(msgspec.json.encode(birth))
    return birth
