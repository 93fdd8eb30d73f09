"""Kept here: what of the home folder a backup holds, and where it goes back to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grandstand.base.errors import InvalidInput
from grandstand.host.opening import sqlite_file
from grandstand.host.settings import Settings

TABLES: Final = "tables.db"
SERIES: Final = "series"
SIMULATED: Final = "simulated"
SET_ASIDE: Final = "before-restore-"
RESTORING: Final = ".restoring"

# Settings are no data, and may say otherwise on another machine.
SETTINGS: Final = "settings.toml"
COPYING: Final = "copying"

_BESIDE: Final = ("-wal", "-shm", "-journal")
PASSING: Final = (".lock", ".unfinished", ".pid", ".sock")


@dataclass(frozen=True, slots=True)
class Part:
    """A folder with tables and series of its own; `prefix` is put before its names."""

    folder: Path
    prefix: str
    tables: Path | None
    series: Path | None

    def loose(self) -> Iterator[tuple[str, Path]]:
        """Answer the other files, and the names they get: the secret, spilled rows, and such."""
        for path in sorted(self.folder.rglob("*")):
            inside = path.relative_to(self.folder)
            if path == self.tables or path.is_symlink() or not path.is_file():
                continue
            if _is_loose(inside):
                yield self.prefix + inside.as_posix(), path


def parts_of(settings: Settings, *, simulated: bool) -> tuple[Part, ...]:
    """Answer what there is to be kept; raise InvalidInput when nothing is embedded."""
    tables = sqlite_file(settings)
    series = settings.home / SERIES if settings.series.get_secret_value() == "chunks" else None
    if tables is None and series is None:
        message = (
            "Neither tables nor series are kept in files here, so there is nothing to back up: use "
            "what your servers offer, or bring them into files with `grandstand copy --to sqlite` "
            "and `grandstand copy --series --to chunks`"
        )
        raise InvalidInput(message)
    found = [Part(settings.home, "", tables, series)]
    apart = settings.home / SIMULATED
    if simulated and apart.is_dir():
        found.append(Part(apart, f"{SIMULATED}/", apart / TABLES, apart / SERIES))
    return tuple(found)


def _is_loose(inside: Path) -> bool:
    first, name = inside.parts[0], inside.name
    if first in {SERIES, SIMULATED, COPYING, SETTINGS} or first.startswith(SET_ASIDE):
        return False
    if name == TABLES and len(inside.parts) == 1:
        return False
    hidden = any(part.startswith(".") for part in inside.parts)
    return not hidden and not name.endswith((*_BESIDE, *PASSING))
