"""Whoever holds a lease for a block has it for the whole block, or learns that it is lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any, cast

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import LeaseLost, StoreUnavailable
from grandstand.storage.tables.leases import (
    PLATFORM_LEASES,
    AsyncLeaseContext,
    Leases,
    LeaseTaken,
    Sleep,
)
from grandstand.storage.tables.platform_tables import LeaseRecord, leases
from grandstand.storage.tables.requests import UpdateItem, Written

ADA = Leases(PLATFORM_LEASES, "ada", seconds=10)
BOB = Leases(PLATFORM_LEASES, "bob", seconds=10)
QUICK = Leases(PLATFORM_LEASES, "ada", seconds=0.4, grace_seconds=0.2)
STEADY = Leases(PLATFORM_LEASES, "ada", seconds=1.5, grace_seconds=0.2)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def store(engine: Engine, naming: Naming, clock: ManualClock) -> Store:
    made = Store(engine, naming=naming, clock=clock)
    made.create((leases,))
    return made


@pytest.fixture
def ticking(store: Store) -> AsyncStore:
    """The same tables by the machine's own clock, for an event loop."""
    session = store.session
    return AsyncStore(Store(session.engine, naming=session.naming, clock=SystemClock()))


@dataclass
class RefusesUpdates:
    """A store that stops answering updates."""

    engine: Engine

    def update(self, request: UpdateItem) -> Written:
        raise StoreUnavailable(f"{request.table} does not answer")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


def moving(clock: ManualClock) -> Sleep:
    """Return a sleep that moves the clock, and the loop on."""

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)
        await asyncio.sleep(0)

    return sleep


def test_a_lease_is_not_had_outside_its_block(ticking: AsyncStore) -> None:
    holding = AsyncLeaseContext(ticking, ADA, "nightly", random=Random(1))

    with pytest.raises(LeaseLost, match="not held outside the block"):
        _ = holding.token


@pytest.mark.anyio
async def test_a_block_that_fails_gives_the_lease_back_and_its_error_on(
    ticking: AsyncStore,
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with AsyncLeaseContext(ticking, ADA, "nightly", random=Random(1)):
            _ = 1 / 0

    assert await ticking(BOB.acquire("nightly")) is not None


@pytest.mark.anyio
async def test_a_taken_lease_is_refused_when_the_wait_is_over(
    store: Store, clock: ManualClock
) -> None:
    store(BOB.acquire("nightly"))
    waiting = AsyncLeaseContext(
        AsyncStore(store), ADA, "nightly", random=Random(1), wait_seconds=3, sleep=moving(clock)
    )

    with pytest.raises(LeaseTaken, match="Another owner holds"):
        async with waiting:
            pytest.fail("the lease was had twice")

    assert 2.5 < clock.elapsed <= 3


@pytest.mark.anyio
async def test_waiting_long_enough_takes_over_from_a_holder_that_died(
    store: Store, clock: ManualClock
) -> None:
    store(BOB.acquire("nightly"))
    waiting = AsyncLeaseContext(
        AsyncStore(store), ADA, "nightly", random=Random(1), wait_seconds=20, sleep=moving(clock)
    )

    async with waiting as holding:
        token = holding.token

    assert token == 2


@pytest.mark.anyio
async def test_a_task_renews_for_as_long_as_the_block_runs(ticking: AsyncStore) -> None:
    async with AsyncLeaseContext(ticking, STEADY, "nightly", random=Random(1)) as holding:
        await asyncio.sleep(2.0)
        holding.check()
        contender = await ticking(BOB.acquire("nightly"))

    assert contender is None
    assert await ticking(BOB.acquire("nightly")) is not None


@pytest.mark.anyio
async def test_a_lost_lease_stops_the_block(ticking: AsyncStore) -> None:
    reached = []

    async def work() -> None:
        async with AsyncLeaseContext(ticking, STEADY, "nightly", random=Random(1)):
            await ticking(LeaseRecord.update(name="nightly").set(owner="bob", nonce="other"))
            await asyncio.sleep(60)
            reached.append("the end of the block")

    with pytest.raises(LeaseLost, match="ada no longer holds"):
        await work()

    assert reached == []
    assert (await ticking.read(LeaseRecord.one("nightly"))).owner == "bob"


@pytest.mark.anyio
async def test_a_store_that_does_not_answer_ends_the_block_when_the_lease_lapses(
    store: Store,
) -> None:
    session = store.session
    deaf = cast("Engine", RefusesUpdates(session.engine))
    ticking = AsyncStore(Store(deaf, naming=session.naming, clock=SystemClock()))
    reached = []

    async def work() -> None:
        async with AsyncLeaseContext(ticking, QUICK, "nightly", random=Random(1)):
            await asyncio.sleep(60)
            reached.append("the end of the block")

    with pytest.raises(LeaseLost, match="did not respond"):
        await work()

    assert reached == []


@pytest.mark.anyio
async def test_a_cancelled_block_stays_cancelled_and_gives_the_lease_back(
    ticking: AsyncStore,
) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with AsyncLeaseContext(ticking, ADA, "nightly", random=Random(1)):
            inside.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await ticking(BOB.acquire("nightly")) is not None
