"""Kept here: the places gatherers keep their series in, opened by what people call them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from grandstand.apps.gatherer.service.merging.values import Source
from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.storage.series.engines.protocol import SeriesEngine

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")


class PlaceNotUnderstood(InvalidInput):
    """A gatherer's place is neither a folder with series nor a connection string."""


def is_server(place: str) -> bool:
    """Tell whether a place is a PostgreSQL connection string, and no folder."""
    return place.startswith(("postgresql://", "postgres://")) or "=" in place


def open_place(place: str, clock: Clock) -> SeriesEngine:
    """Open a folder of series, or a PostgreSQL connection string.

    Raises PlaceNotUnderstood, and Unavailable when a server does not answer.
    """
    if is_server(place):
        from grandstand.storage.series.engines.postgres import PostgresEngine

        return PostgresEngine.open(place, clock=clock)
    folder = Path(place).expanduser()
    if not folder.is_dir():
        raise PlaceNotUnderstood(f"{place} is no folder, and no PostgreSQL connection string")
    from grandstand.storage.series.engines.chunks import ChunkEngine

    return ChunkEngine.open(folder, clock=clock)


def parse_source(text: str, clock: Clock) -> Source:
    """Open `NAME:PLACE`, the name of a gatherer and where it keeps its series.

    Raises PlaceNotUnderstood, and Unavailable when a server does not answer.
    """
    name, colon, place = text.partition(":")
    if not colon or not _NAME.fullmatch(name):
        message = f"{text!r} names no gatherer: write NAME:PLACE, as in east:/data/series"
        raise PlaceNotUnderstood(message)
    return Source(name, open_place(place, clock))
