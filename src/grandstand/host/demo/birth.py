"""Kept here: when the simulated world was made, kept so that it goes on where it was."""

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

from grandstand.base.errors import Conflict
from grandstand.host.demo.sources import simulated_folder
from grandstand.host.settings import Settings

# A world has games for so long; after that it is made anew.
LASTS: Final = timedelta(days=21)
_FILE: Final = "world.json"


class DemoInUse(Conflict):
    """Simulated data cannot be wiped while a process uses it."""


class Birth(msgspec.Struct, frozen=True):
    """When a world was made, to the day, and the seed of all its chance."""

    born_at: datetime
    seed: int = 7

    def is_over(self, now: datetime) -> bool:
        """Tell whether the world has come to its end, or begins later than now."""
        return not self.born_at <= now <= self.born_at + LASTS


@contextlib.contextmanager
def inhabited(settings: Settings, now: datetime) -> Iterator[Birth]:
    """Use the simulated data for the length of a block, and answer when their world was made.

    A world that has come to its end is wiped and made anew, unless another process uses it.
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
    """Remove everything simulated; False when there is nothing. Raises DemoInUse."""
    folder = simulated_folder(settings)
    if not folder.exists():
        return False
    with _lock(settings) as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            message = "Grandstand is running with simulated data: stop it first, then wipe"
            raise DemoInUse(message) from fault
        shutil.rmtree(folder)
    return True


@contextlib.contextmanager
def _lock(settings: Settings) -> Iterator[int]:
    held = os.open(settings.home / "simulated.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield held
    finally:
        os.close(held)


def _find(folder: Path) -> Birth | None:
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=Birth)
    except (OSError, msgspec.MsgspecError):
        return None


def _made(folder: Path, now: datetime) -> Birth:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    birth = Birth(now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
    (folder / _FILE).write_bytes(msgspec.json.encode(birth))
    return birth
