"""Stores for tests of the kit: embedded in a file, and on Amazon's emulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from grandstand.core.clock import Clock, SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.dynamodb.client import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine

_numbers = itertools.count(1)

OpenStore = Callable[..., AsyncStore]


def open_engine(place: str, clock: Clock | None = None) -> Engine:
    """Open the engine at a path or an address."""
    clock = clock or SystemClock()
    if "://" not in place:
        return SqliteEngine.open(Path(place), clock=clock)
    return DynamoEngine.open(
        region="eu-west-1",
        endpoint=place,
        credentials=Credentials("testing", "testing"),
        clock=clock,
        random=Random(1),
    )


def place_of(request: pytest.FixtureRequest, folder: Path) -> str:
    """Return where the kind of store a fixture's parameter names is kept."""
    places: dict[str, Callable[[], str]] = {
        "sqlite": lambda: str(folder / "tables.db"),
        "dynamodb-local": lambda: str(request.getfixturevalue("dynamodb_local")),
    }
    return places[request.param]()


def fresh_prefix() -> str:
    """Return a prefix for the names of tables that no other test uses."""
    return f"kit{next(_numbers)}-"


def open_at(place: str, prefix: str, clock: Clock | None = None) -> AsyncStore:
    """Open a store of its own on tables that may be shared with others."""
    clock = clock or SystemClock()
    return AsyncStore(Store(open_engine(place, clock), naming=Naming(prefix=prefix), clock=clock))


class Listener:
    """Whoever is told the news, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        """Remember news."""
        self.heard.append((topic, news))
