"""Kept here: a store opened as the settings say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from grandstand.base.clock import Clock, SystemClock
from grandstand.base.errors import InvalidInput
from grandstand.host.settings import Settings
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.declaration.table import Naming
from grandstand.storage.tables.engines.protocol import Capabilities, Engine
from grandstand.storage.tables.store import Store

_CHUNKS: Final = "chunks"


def open_store(settings: Settings, clock: Clock | None = None, *, sparing: bool = False) -> Store:
    """Open the tables; raise InvalidInput when the setting makes no sense.

    Embedded ones take little memory if `sparing`.
    """
    clock = clock or SystemClock()
    naming = Naming(
        prefix=settings.tables_prefix,
        environment=settings.tables_environment,
        renamed=tuple(settings.tables_names.items()),
    )
    return Store(open_engine(settings, clock, sparing=sparing), naming=naming, clock=clock)


def open_series(settings: Settings, clock: Clock | None = None) -> SeriesEngine:
    """Open the engine of series; raise InvalidInput when the setting makes no sense."""
    clock, place = clock or SystemClock(), settings.series.get_secret_value()
    if place == _CHUNKS:
        from grandstand.storage.series.engines.chunks import ChunkEngine

        folder = _chunks(settings)
        folder.mkdir(parents=True, exist_ok=True)
        return ChunkEngine.open(folder, clock=clock, durability=settings.tables_durability)
    if place.startswith(("postgresql://", "postgres://")) or "=" in place:
        from grandstand.storage.series.engines.postgres import PostgresEngine

        return PostgresEngine.open(place, clock=clock, wide=settings.series_wide)
    message = (
        "series is not understood: use chunks, or a PostgreSQL connection string such as "
        "postgresql://USER:PASSWORD@HOST/DATABASE"
    )
    raise InvalidInput(message)


def has_series(settings: Settings) -> bool:
    """Tell whether opening the series would make nothing new here."""
    return settings.series.get_secret_value() != _CHUNKS or _chunks(settings).is_dir()


def _chunks(settings: Settings) -> Path:
    return settings.home / "series"


def open_engine(settings: Settings, clock: Clock, *, sparing: bool = False) -> Engine:
    """Open the engine `settings.tables` names."""
    kind, _, place = settings.tables.partition(":")
    if kind == "sqlite":
        return _sqlite(settings, clock, place, sparing=sparing)
    if settings.tables == "dynamodb" or (kind == "dynamodb" and place):
        return _dynamodb(settings, clock, place)
    message = (
        f"tables = {settings.tables!r} is not understood: use sqlite, sqlite:PATH, "
        "dynamodb, dynamodb:REGION or dynamodb:http://HOST:PORT"
    )
    raise InvalidInput(message)


def sqlite_file(settings: Settings) -> Path | None:
    """Answer the file embedded tables are kept in; None when they live elsewhere."""
    kind, _, place = settings.tables.partition(":")
    if kind != "sqlite" or place == ":memory:":
        return None
    return Path(place) if place else settings.home / "tables.db"


def _sqlite(settings: Settings, clock: Clock, place: str, *, sparing: bool) -> Engine:
    from grandstand.storage.tables.engines.sqlite import SqliteEngine

    file = sqlite_file(settings)
    if file is not None and not place:
        file.parent.mkdir(parents=True, exist_ok=True)
    return SqliteEngine.open(
        file, clock=clock, durability=settings.tables_durability, sparing=sparing
    )


def _dynamodb(settings: Settings, clock: Clock, place: str) -> Engine:
    from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine

    endpoint = place if "://" in place else None
    return DynamoEngine.open(
        region=None if endpoint else place,
        endpoint=endpoint,
        clock=clock,
        random=random.Random(),  # noqa: S311 - for spreading retries, not for secrets
        capabilities=None if settings.tables_transactions else Capabilities(transactions=False),
    )
