"""Kept here: new data put in the place of old, which is kept aside; a stop in the middle heals."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from grandstand.host.moving.places import PASSING, RESTORING, SET_ASIDE, SETTINGS, SIMULATED, TABLES
from grandstand.host.moving.settling import settle

_MARK: Final = "swap.json"
_STAGED: Final = "new"
_BESIDE: Final = ("", "-wal", "-shm")


class Swap(msgspec.Struct, frozen=True):
    """What is to be moved aside, to which folder, and what is to come from the staged folder.

    Pairs are an absolute path in use and the name it has in the folder.
    """

    staged: str
    aside: str
    old: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]


def staged_folder(home: Path) -> Path:
    """Answer an empty folder in which data is made ready; what an earlier try left is removed."""
    shutil.rmtree(home / RESTORING, ignore_errors=True)
    folder = home / RESTORING / _STAGED
    folder.mkdir(parents=True, mode=0o700)
    return folder


def occupied(home: Path, tables: Path | None, *, simulated: bool) -> tuple[tuple[str, str], ...]:
    """Answer what is in the way: every file and folder of data, and the name it is kept under."""
    left = {SETTINGS, RESTORING} | (set() if simulated else {SIMULATED})
    inside = sorted(home.iterdir()) if home.is_dir() else []
    found = [
        (str(path.absolute()), path.name)
        for path in inside
        if path.name not in left and not _stays(path.name)
    ]
    if tables is not None and tables.absolute().parent != home.absolute():
        paths = [tables.with_name(tables.name + suffix) for suffix in _BESIDE]
        found += [
            (str(path.absolute()), TABLES + suffix)
            for path, suffix in zip(paths, _BESIDE, strict=True)
            if path.exists()
        ]
    return tuple(found)


def _stays(name: str) -> bool:
    """Tell whether a file is no data: put aside before, or there only while a program runs."""
    return name.startswith(SET_ASIDE) or name.endswith(PASSING)


def targets(home: Path, tables: Path | None, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Answer where each staged file or folder goes."""
    return tuple((str(_target(home, tables, name).absolute()), name) for name in names)


def _target(home: Path, tables: Path | None, name: str) -> Path:
    if tables is None or name not in {TABLES + suffix for suffix in _BESIDE}:
        return home / name
    return tables.with_name(tables.name + name.removeprefix(TABLES))


def begin(home: Path, swap: Swap) -> None:
    """Write down what is to be moved, so that a stop in the middle can be healed, and move it."""
    mark = home / RESTORING / _MARK
    mark.parent.mkdir(exist_ok=True)
    unfinished = mark.with_suffix(".unfinished")
    unfinished.write_bytes(msgspec.json.encode(swap))
    settle(unfinished)
    unfinished.replace(mark)
    finish(home)


def finish(home: Path) -> Swap | None:
    """Do what is left of a swap that was begun, and answer it; None when there is none."""
    mark = home / RESTORING / _MARK
    if not mark.is_file():
        return None
    swap = msgspec.json.decode(mark.read_bytes(), type=Swap)
    aside, staged = Path(swap.aside), Path(swap.staged)
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, name in swap.old:
        # What has come in its place already is new.
        if Path(path).exists() and not (aside / name).exists() and _waits(swap, staged, path):
            shutil.move(path, aside / name)
    for path, name in swap.new:
        if (staged / name).exists():
            _clear(Path(path), aside)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(staged / name, path)
    if not any(aside.iterdir()):
        aside.rmdir()
    settle(home)
    shutil.rmtree(home / RESTORING)
    if staged.parent == home and staged.is_dir() and not any(staged.iterdir()):
        staged.rmdir()
    return swap


def _waits(swap: Swap, staged: Path, path: str) -> bool:
    """Tell whether what belongs at a path has not been put there yet."""
    return all((staged / name).exists() for target, name in swap.new if target == path)


def _clear(path: Path, aside: Path) -> None:
    """Keep what somebody made at a path between a stop and its healing."""
    number = 1
    while path.exists():
        other = aside / f"{path.name}.{number}"
        if not other.exists():
            shutil.move(path, other)
        number += 1
