"""Kept here: the folder of one series: what its files are called, and who may change them."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grandstand.base.clock import Clock
from grandstand.storage.series.errors import SeriesUnavailable

_CHUNK: Final = re.compile(r"(-?[0-9]+)\.(db|late\.db|parquet)")
_BESIDE: Final = ("-wal", "-shm")
_PATIENCE_S: Final = 30.0
_FIRST_WAIT_S: Final = 0.0005
_LONGEST_WAIT_S: Final = 0.01
_UPKEEP_WAIT_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one series.

    A chunk is `<start>.db` while it takes rows. Once baked it is `<start>.parquet`, and rows that
    come later wait in `<start>.late.db`. Where a `.db` and a `.parquet` stand side by side, the
    process that baked was killed before it was done, and the `.db` holds every row.
    """

    folder: Path
    clock: Clock

    def live(self, start: int) -> Path:
        """Answer where a chunk takes rows."""
        return self.folder / f"{start}.db"

    def baked(self, start: int) -> Path:
        """Answer where a chunk is once baked."""
        return self.folder / f"{start}.parquet"

    def late(self, start: int) -> Path:
        """Answer where rows that come for a baked chunk wait."""
        return self.folder / f"{start}.late.db"

    def unfinished(self, start: int) -> Path:
        """Answer where a chunk is baked to before it is in place."""
        return self.folder / f"{start}.parquet.unfinished"

    def starts(self) -> list[int]:
        """Answer the starts of all chunks there are, in order."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted({int(found[1]) for name in names if (found := _CHUNK.fullmatch(name))})

    def leftovers(self) -> list[Path]:
        """Answer files that only a stop in the middle leaves: half a bake, a log of no file."""
        found = []
        for path in sorted(self.folder.iterdir()):
            owner = path.with_name(path.name.removesuffix("-wal").removesuffix("-shm"))
            if path.suffix == ".unfinished" or (owner != path and not owner.exists()):
                found.append(path)
        return found

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only one, of all processes, that changes files; raise SeriesUnavailable."""
        with self._locked("writing.lock") as held:
            waited, pause = 0.0, _FIRST_WAIT_S
            while not _taken(held):
                if waited > _PATIENCE_S:
                    message = f"{self.folder} stayed locked by another writer; try again later"
                    raise SeriesUnavailable(message)
                self.clock.sleep(pause)
                waited += pause
                pause = min(2 * pause, _LONGEST_WAIT_S)
            yield

    @contextmanager
    def keeping(self) -> Iterator[bool]:
        """Answer whether we are the only one at upkeep; it stays so while the block runs."""
        with self._locked("upkeep.lock") as held:
            yield _taken(held)

    @contextmanager
    def without_upkeep(self, patience_s: float) -> Iterator[None]:
        """Keep upkeep away while the block runs, after the one under way; raise SeriesUnavailable.

        An upkeep that takes longer than the patience is not waited for.
        """
        waited = 0.0
        while waited < patience_s:
            with self.keeping() as alone:
                if alone:
                    yield
                    return
            self.clock.sleep(_UPKEEP_WAIT_S)
            waited += _UPKEEP_WAIT_S
        raise SeriesUnavailable(f"{self.folder} is being kept in order; try again later")

    @contextmanager
    def _locked(self, name: str) -> Iterator[int]:
        # The lock belongs to this opening of the file: closing it, or being killed, lets it go.
        held = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            yield held
        finally:
            os.close(held)

    def remove(self, path: Path) -> None:
        """Remove a file and, if it is one of SQLite's, its log; no harm when it is gone."""
        path.unlink(missing_ok=True)
        if path.suffix == ".db":
            for suffix in _BESIDE:
                path.with_name(path.name + suffix).unlink(missing_ok=True)

    def settle(self) -> None:
        """Return when the disk has the names of the files as they are now."""
        held = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)


def size_of(path: Path) -> int:
    """Answer how many bytes a file takes with its log; 0 when it is not there."""
    sizes = 0
    for name in (path.name, *(path.name + suffix for suffix in _BESIDE[:1])):
        try:
            sizes += path.with_name(name).stat().st_size
        except FileNotFoundError:
            continue
    return sizes


def _taken(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
