"""Sweeping deletes what has expired, no more of it than it was told, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import Entity, Naming, Scan, Store, Table, key, ttl
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.maintenance import sweep

sessions = Table("sessions", partition="id", ttl="ttl")
tickets = Table("tickets", partition="id", ttl="ttl")
lasting = Table("lasting", partition="id")


class Session(Entity, table=sessions):
    id: str
    expires: datetime | None = ttl()

    row = key("{id}")


class Ticket(Entity, table=tickets):
    id: str
    expires: datetime | None = ttl()

    row = key("{id}")


class Lasting(Entity, table=lasting):
    id: str

    row = key("{id}")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture(params=["file", "memory"])
def embedded(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    path = {"file": tmp_path / "swept.db", "memory": None}[request.param]
    engine = SqliteEngine.open(path, clock=clock)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create((sessions, tickets, lasting))
    yield store
    engine.close()


def _fill(store: Store, clock: ManualClock, kind: type[Session | Ticket], many: int) -> None:
    soon = clock.now() + timedelta(minutes=1)
    store.write_many(kind(id=f"old-{n}", expires=soon).put() for n in range(many))


def _there(store: Store, scan: Scan[Any]) -> int:
    return len(store(scan.with_expired()))


def test_what_has_expired_goes_and_what_has_not_stays(embedded: Store, clock: ManualClock) -> None:
    _fill(embedded, clock, Session, 3)
    later = clock.now() + timedelta(days=1)
    embedded(Session(id="young", expires=later).put())
    embedded(Session(id="eternal", expires=None).put())
    clock.advance(120)

    swept = sweep(embedded, (sessions,), 100)

    assert (swept.deleted, swept.more) == ({"sessions": 3}, False)
    left = embedded(Session.scan().with_expired())
    assert sorted(session.id for session in left) == ["eternal", "young"]


def test_no_more_goes_than_the_limit(embedded: Store, clock: ManualClock) -> None:
    _fill(embedded, clock, Session, 250)
    clock.advance(120)

    first = sweep(embedded, (sessions,), 130)
    second = sweep(embedded, (sessions,), 130)

    assert (first.total, first.more) == (130, True)
    assert (second.total, second.more) == (120, False)
    assert _there(embedded, Session.scan()) == 0


def test_a_large_table_does_not_keep_the_others_waiting(
    embedded: Store, clock: ManualClock
) -> None:
    _fill(embedded, clock, Session, 400)
    _fill(embedded, clock, Ticket, 50)
    clock.advance(120)

    swept = sweep(embedded, (sessions, tickets), 200)

    assert swept.deleted == {"sessions": 150, "tickets": 50}
    assert swept.more


def test_a_table_without_expiry_is_passed_over(embedded: Store) -> None:
    embedded(Lasting(id="a").put())

    swept = sweep(embedded, (lasting,), 100)

    assert (swept.deleted, swept.more) == ({}, False)
    assert len(embedded(Lasting.scan())) == 1


def test_a_missing_table_is_said_to_be_missing(tmp_path: Path, clock: ManualClock) -> None:
    engine = SqliteEngine.open(tmp_path / "empty.db", clock=clock)

    with pytest.raises(TableNotFound):
        sweep(Store(engine, naming=Naming(), clock=clock), (sessions,), 100)

    engine.close()


@pytest.mark.parametrize("engine", ["dynamodb-local"], indirect=True)
def test_where_the_service_sweeps_nothing_is_deleted(
    engine: Engine, naming: Naming, clock: ManualClock
) -> None:
    store = Store(engine, naming=naming, clock=clock)
    store.create((sessions,))
    store(Session(id="a", expires=clock.now() + timedelta(hours=1)).put())
    clock.advance(7200)

    swept = sweep(store, (sessions,), 100)

    assert (swept.total, swept.more) == (0, False)
    assert _there(store, Session.scan()) == 1
