"""What happened is told at once, kept for a while, and shown only to whom it concerns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.storage.tables import AsyncStore
from tests.kit.stores import Listener, fresh_prefix, open_at, place_of

pytestmark = pytest.mark.anyio

ADA = replace(LOCAL_OWNER, user_id="ada", roles=frozenset({"user"}))
BOB = replace(ADA, user_id="bob")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture(params=["sqlite", "dynamodb-local"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> Iterator[AsyncStore]:
    opened = open_at(place_of(request, tmp_path), fresh_prefix(), clock)
    opened.store.create(EVENT_TABLES)
    yield opened
    opened.store.close()


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def events(store: AsyncStore, clock: ManualClock, listener: Listener) -> Events:
    return Events(store, clock=clock, random=Random(1), publisher=listener)


async def test_the_last_events_come_newest_first_each_to_whom_it_concerns(
    events: Events, clock: ManualClock
) -> None:
    for number, user_id in enumerate([None, "ada", "bob", None]):
        await events.record("bets", "model", f"event {number}", user_id=user_id)
        clock.advance(1)

    adas = [event.text for event in await events.recent(10, ADA)]
    bobs = [event.text for event in await events.recent(2, BOB)]
    assert adas == ["event 3", "event 1", "event 0"]
    assert bobs == ["event 3", "event 2"]


async def test_pages_are_told_by_a_topic_of_everybody_or_of_one_person(
    events: Events, listener: Listener
) -> None:
    await events.record("keiba", "race", "The race is on", "/keiba/1")
    await events.record("bets", "alert", "For you", user_id="ada")

    assert [topic for topic, _ in listener.heard] == ["platform/events", "platform/events/user/ada"]
    assert listener.heard[0][1]["href"] == "/keiba/1"


async def test_an_event_is_shown_for_a_month_and_without_secrets(
    events: Events, clock: ManualClock
) -> None:
    await events.record("bets", "source", "https://odds.test/?apiKey=abcdef0123456789 failed")
    [event] = await events.recent(10, ADA)

    clock.advance(timedelta(days=31).total_seconds())

    assert "abcdef0123456789" not in event.text
    assert await events.recent(10, ADA) == ()


async def test_what_concerns_one_person_can_be_taken_along_and_erased(events: Events) -> None:
    for number in range(30):
        await events.record("bets", "model", f"event {number}", user_id="ada")
    await events.record("bets", "model", "for all")
    await events.record("bets", "model", "for bob", user_id="bob")

    exported = [value["text"] async for _, value in events.export("ada")]
    erased = await events.erase("ada")

    assert (len(exported), erased) == (30, 30)
    assert [event.text for event in await events.recent(10, ADA)] == ["for all"]
    assert len(await events.recent(10, BOB)) == 2
