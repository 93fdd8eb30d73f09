"""Kept here: what a series was declared as, written down beside its chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from grandstand.storage.series.engines.chunks.files import Home
from grandstand.storage.series.engines.chunks.layout import Layout
from grandstand.storage.series.errors import SeriesDamaged
from grandstand.storage.series.growing import lacking, refuse

DECLARED: Final = "declared.json"
_PATIENCE_S: Final = 30.0


class Declared(msgspec.Struct, frozen=True):
    """What files depend on; of each column its kind and whether it may be empty."""

    time: str
    key: str
    identity: tuple[str, ...]
    chunk_us: int
    columns: dict[str, tuple[str, bool]]


def declare(home: Home, layout: Layout[Any]) -> None:
    """Write down what a series is declared as; raise SeriesChanged where chunks are otherwise.

    Columns may be added that may be empty. That waits for an upkeep under way, which would bake
    new rows without them; raises SeriesUnavailable when it takes long.
    """
    if check(home, layout):
        return
    if not _path(home).exists():
        with home.writing():
            _write(home, layout)
        return
    with home.without_upkeep(_PATIENCE_S), home.writing():
        _write(home, layout)


def check(home: Home, layout: Layout[Any]) -> bool:
    """Tell whether a series is written down as it is declared; raise SeriesChanged.

    False means that it was never written down, or that columns are to be added.
    """
    try:
        found = _path(home).read_bytes()
    except FileNotFoundError:
        return False
    try:
        known = msgspec.json.decode(found, type=Declared)
    except msgspec.DecodeError as fault:
        message = f"{_path(home)} is damaged ({fault}); restore it from a copy"
        raise SeriesDamaged(message) from fault
    wanted, series = _of(layout), layout.series
    if (known.time, known.key, known.chunk_us) != (wanted.time, wanted.key, wanted.chunk_us):
        refuse(
            series,
            f"its chunks are of {known.chunk_us} µs by {known.time}, and found by {known.key}",
        )
    return not lacking(series, known.columns, known.identity)


def _write(home: Home, layout: Layout[Any]) -> None:
    if check(home, layout):
        return
    unfinished = home.folder / f"{DECLARED}.unfinished"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(_of(layout))))
    unfinished.replace(_path(home))
    home.settle()


def _of(layout: Layout[Any]) -> Declared:
    series = layout.series
    return Declared(
        time=series.time,
        key=series.key,
        identity=series.identity,
        chunk_us=series.chunk_us,
        columns={column.name: (column.kind, column.nullable) for column in layout.columns},
    )


def _path(home: Home) -> Path:
    return home.folder / DECLARED
