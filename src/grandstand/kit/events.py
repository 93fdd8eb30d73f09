"""The activity log: events for everybody or for one user."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import ttl
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.operations.item_ops import Put, WriteMany
from grandstand.storage.tables.operations.queries import Query, key
from grandstand.storage.tables.store import AsyncStore

TOPIC: Final = "platform/events"
_EVERYBODY: Final = "everybody"
_USER: Final = "user#"
_LONGEST_TEXT: Final = 1000

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

    def keep(self) -> Put[Self]:
        """Store the event."""
        return self.put()

    @classmethod
    def forget(cls, audience: str, event_ids: tuple[str, ...]) -> WriteMany:
        """Delete events of one audience."""
        return WriteMany(tuple(cls.delete(audience=audience, event_id=one) for one in event_ids))


class Events:
    """Records events, publishes them to open pages, and lists recent ones."""

    def __init__(
        self, store: AsyncStore, *, clock: Clock, random: Random, publisher: Publisher
    ) -> None:
        self._store = store
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
        event = self.made(app, kind, text, href, user_id=user_id)
        await self._store(event.keep())
        self.tell(event)
        return event

    def made(
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
            text=redact(text)[:_LONGEST_TEXT],
            href=href,
        )

    def tell(self, event: Event) -> None:
        """Publish a stored event to open pages."""
        everybody = event.audience == _EVERYBODY
        person = event.audience.removeprefix(_USER)
        self._publisher.publish(TOPIC if everybody else f"{TOPIC}/user/{person}", _plain(event))

    async def recent(self, limit: int, caller: Caller) -> tuple[Event, ...]:
        """Return the latest events the caller may see, newest first."""
        seen = [
            (await self._store.page(Event.of_audience(audience), limit)).items
            for audience in (_EVERYBODY, _audience(caller.user_id))
        ]
        newest = merge(*seen, key=lambda event: event.event_id, reverse=True)
        return tuple(islice(newest, limit))

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield the events that only this user may see."""
        async for event in self._store.each(Event.of_audience(_audience(user_id))):
            yield "event", _plain(event)

    async def erase(self, user_id: str) -> int:
        """Delete the events that only this user may see, and return how many."""
        audience = _audience(user_id)
        found = [each.event_id async for each in self._store.each(Event.of_audience(audience))]
        await self._store(Event.forget(audience, tuple(found)))
        return len(found)


def _audience(user_id: str | None) -> str:
    return _EVERYBODY if user_id is None else f"{_USER}{user_id}"


def _plain(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "at": event.at.isoformat(),
        "app": event.app,
        "kind": event.kind,
        "text": event.text,
        "href": event.href,
    }
