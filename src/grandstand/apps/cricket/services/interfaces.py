"""What the services need from outside: the store, the score feed and the push services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from grandstand.apps.cricket.domain.live_activities import (
    BrowserSubscription,
    PushResult,
    PushTarget,
)
from grandstand.apps.cricket.domain.matches import LeagueRecord, StandingRecord, TeamRecord
from grandstand.apps.cricket.sources.apns import ApnsPayload
from grandstand.apps.cricket.sources.sportmonks import FeedMatch, Parsed
from grandstand.core.clock import Clock
from grandstand.kit.transactions import Sleep, iterate_yielding, truncate_to_ms, try_transaction
from grandstand.net.client import SourceStatus
from grandstand.storage.tables import AsyncStore, Entity, Put, Update
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.item_ops import Operation, Write
from grandstand.storage.tables.operations.queries import ReadQuery

if TYPE_CHECKING:
    from grandstand.apps.cricket.sources.webpush import Urgency

E = TypeVar("E", bound=Entity)
R = TypeVar("R")


def copy_fields(kind: type[R], source: object, **values: object) -> R:
    """Return a dataclass with the values given, and otherwise the fields of the same name."""
    record: Any = kind
    names = (field.name for field in fields(record))
    return kind(**{name: getattr(source, name) for name in names if name not in values}, **values)


class Database(AsyncStore):
    """A store with a clock: timestamps, yielding iteration and retried transactions."""

    def __init__(
        self, store: AsyncStore, *, clock: Clock, random: Random, sleep: Sleep = asyncio.sleep
    ) -> None:
        super().__init__(store.store)
        self.clock = clock
        self.sleep = sleep
        self._inner = store
        self._random = random

    async def __call__(self, operation: Operation[R]) -> R:
        return await self._inner(operation)

    def now(self) -> datetime:
        """Return the time in milliseconds, as tables store it."""
        return truncate_to_ms(self.clock.now())

    async def each(self, query: ReadQuery[E]) -> AsyncIterator[E]:
        """Iterate over all items without blocking other tasks."""
        async for item in iterate_yielding(self._inner, query, self.sleep):
            yield item

    async def attempt(self, write: Put[Any] | Update[Any]) -> bool:
        """Write an item on a condition; False if the condition failed."""
        try:
            await self(write)
        except ConditionFailed:
            return False
        return True

    async def transact(self, *writes: Write) -> bool:
        """Write all or nothing; False if a condition failed.

        Raises TransactionCancelled if conflicts with other transactions persist.
        """
        return await try_transaction(self, *writes, random=self._random, sleep=self.sleep)


class ScoreFeed(Protocol):
    """The score feed; see `SportMonksClient`."""

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]: ...

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[FeedMatch]: ...

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]: ...

    async def leagues(self) -> Parsed[tuple[LeagueRecord, ...]]: ...

    async def teams(self) -> Parsed[tuple[TeamRecord, ...]]: ...

    async def standings(self, season_id: str) -> Parsed[tuple[StandingRecord, ...]]: ...

    async def status(self) -> tuple[SourceStatus, ...]: ...

    async def next_poll_seconds(self, interval_seconds: float) -> float: ...


class PushGateway(Protocol):
    """The push service of phones; see `ApnsClient`."""

    async def push(
        self, payload: ApnsPayload, targets: Sequence[PushTarget]
    ) -> Sequence[PushResult]: ...

    async def broadcast(
        self, payload: ApnsPayload, channel_id: str, request_id: str
    ) -> PushResult: ...

    async def create_channel(self) -> str: ...

    async def delete_channel(self, channel_id: str) -> None: ...

    async def close(self) -> None: ...


class BrowserGateway(Protocol):
    """The push services of browsers; see `WebPushClient`."""

    @property
    def public_key(self) -> str: ...

    def check(self, subscription: BrowserSubscription) -> None: ...

    async def send(
        self,
        subscription: BrowserSubscription,
        message: bytes,
        *,
        urgency: Urgency = "normal",
        topic: str | None = None,
    ) -> PushResult: ...

    async def close(self) -> None: ...


class WebhookPoster(Protocol):
    """The webhook for key events; see `WebhookClient`."""

    async def post(self, body: bytes, idempotency_key: str) -> None: ...
