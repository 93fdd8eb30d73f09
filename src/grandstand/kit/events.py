"""The activity log: events for everybody or for one user."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from random import Random
from typing import Any, Final, Self

from grandstand.core.clock import Clock
from grandstand.core.ids import new_id
from grandstand.core.logging import redact
from grandstand.kit.auth.caller import Caller
from grandstand.kit.live import Publisher
from grandstand.storage.tables import AsyncStore, Entity, Query, Table, key, ttl
from grandstand.storage.tables.operations.item_ops import WriteMany

TOPIC: Final = "platform/events"
_EVERYBODY: Final = "everybody"
_USER: Final = "user#"

events: Final = Table(
    "grandstand-events",
    partition="audience",
    sort="eventId",
    ttl="ttl",
    purpose="Recent events by audience.",
)

EVENT_TABLES: Final = (events,)


class Event(Entity, table=events, names="camel", times="epoch_ms"):
    """An event; `href` links to details."""

    audience: str
    event_id: str
    at: datetime
    app: str
    kind: str
    text: str
    href: str | None = None
    gone_at: datetime | None = ttl(after=timedelta(days=30), of="at")

    row = key("{audience}", "{event_id}")

    @classmethod
    def of_audience(cls, audience: str) -> Query[Self]:
        """Return an audience's events, newest first."""
        return cls.row(audience=audience).newest()

    @classmethod
    def forget(cls, audience: str, event_ids: tuple[str, ...]) -> WriteMany:
        """Delete events of one audience."""
        return WriteMany(tuple(cls.delete(audience=audience, event_id=each) for each in event_ids))


class Events:
    """Records events, publishes them to open pages, and lists recent ones.

    The events in `more_stores` are listed, exported and erased too.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        publisher: Publisher,
        more_stores: Sequence[AsyncStore] = (),
    ) -> None:
        self._store = store
        self._stores = (store, *more_stores)
        self._clock = clock
        self._random = random
        self._publisher = publisher

    async def record(
        self,
        app: str,
        kind: str,
        text: str,
        href: str | None = None,
        *,
        user_id: str | None = None,
    ) -> Event:
        """Store and publish an event; with a user id, for that user only."""
        event = self.create(app, kind, text, href, user_id=user_id)
        await self._store(event.put())
        self.publish(event)
        return event

    def create(
        self,
        app: str,
        kind: str,
        text: str,
        href: str | None = None,
        *,
        user_id: str | None = None,
    ) -> Event:
        """Return an event, to be stored in the transaction that causes it."""
        return Event(
            audience=_audience(user_id),
            event_id=new_id(self._clock, self._random),
            at=self._clock.now(),
            app=app,
            kind=kind,
            text=redact(text)[:1000],
            href=href,
        )

    def publish(self, event: Event) -> None:
        """Publish a stored event to open pages."""
        everybody = event.audience == _EVERYBODY
        person = event.audience.removeprefix(_USER)
        self._publisher.publish(
            TOPIC if everybody else f"{TOPIC}/user/{person}", _to_message(event)
        )

    async def recent(self, limit: int, caller: Caller) -> tuple[Event, ...]:
        """Return the latest events the caller may see, newest first."""
        pages = [
            (await store.page(Event.of_audience(audience), limit)).items
            for store in self._stores
            for audience in (_EVERYBODY, _audience(caller.user_id))
        ]
        newest = merge(*pages, key=lambda event: event.event_id, reverse=True)
        return tuple(islice(newest, limit))

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield the events that only this user may see."""
        for store in self._stores:
            async for event in store.each(Event.of_audience(_audience(user_id))):
                yield "event", _to_message(event)

    async def erase(self, user_id: str) -> int:
        """Delete the events that only this user may see, and return how many."""
        audience, erased = _audience(user_id), 0
        for store in self._stores:
            ids = [event.event_id async for event in store.each(Event.of_audience(audience))]
            await store(Event.forget(audience, tuple(ids)))
            erased += len(ids)
        return erased


def _audience(user_id: str | None) -> str:
    return _EVERYBODY if user_id is None else f"{_USER}{user_id}"


def _to_message(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "at": event.at.isoformat(),
        "app": event.app,
        "kind": event.kind,
        "text": event.text,
        "href": event.href,
    }
