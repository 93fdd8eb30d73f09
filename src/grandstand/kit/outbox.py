"""The outbox: messages written in the transaction that causes them, and delivered afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any, Final, Literal, Self, TypeAlias

import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, InvalidInput, NotFound
from grandstand.core.logging import get_logger, redact
from grandstand.core.metrics import Metrics
from grandstand.kit.polling import PollingLoop
from grandstand.net.retry import backoff_seconds
from grandstand.storage.tables import (
    AsyncStore,
    Entity,
    Get,
    Index,
    Put,
    Query,
    Table,
    Update,
    field,
    key,
    ttl,
)
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.conditions import ConditionExpr
from grandstand.storage.tables.operations.item_ops import Operation

Stage: TypeAlias = Literal["waiting", "delivered", "dead"]

_DEAD: Final = "dead"
KEPT_DELIVERED: Final = timedelta(days=7)
KEPT_DEAD: Final = timedelta(days=30)

outbox: Final = Table(
    "grandstand-outbox",
    partition="topic",
    sort="idempotencyKey",
    ttl="ttl",
    indexes=(Index("Queues", "queue", "dueAt"),),
    purpose="Messages caused by writes; each is delivered at least once.",
)

OUTBOX_TABLES: Final = (outbox,)


def waiting_queue(topic: str) -> str:
    """Return the index partition of a topic's waiting messages."""
    return f"waiting/{topic}"


class OutboxMessage(Entity, table=outbox, names="camel", times="epoch_ms"):
    """A message to be delivered because something was written.

    While it waits, `due_at` is its next attempt; a deliverer moves it forward first, so that nobody
    else delivers it at the same time. Once delivered or dead, `due_at` is when that happened.
    `queue` is the index partition: the topic while waiting, one shared partition once dead.
    """

    topic: str
    idempotency_key: str
    body: str
    created_at: datetime
    due_at: datetime
    stage: Stage = "waiting"
    queue: str | None
    tries: int = 0
    last_error: str | None = None
    gone_at: datetime | None = ttl()

    row = key("{topic}", "{idempotency_key}")
    by_queue = key("{queue}", "{due_at}", index="Queues")

    @property
    def place(self) -> tuple[str, str]:
        """Topic and key, which identify the message."""
        return self.topic, self.idempotency_key

    @classmethod
    def one(cls, topic: str, idempotency_key: str) -> Get[Self]:
        """Return a message by topic and key."""
        return cls.get(topic=topic, idempotency_key=idempotency_key).consistent()

    @classmethod
    def waiting(cls, topic: str) -> Query[Self]:
        """Return a topic's waiting messages, the earliest due first."""
        return cls.by_queue(queue=waiting_queue(topic)).oldest()

    @classmethod
    def dead(cls) -> Query[Self]:
        """Return dead messages, newest first."""
        return cls.by_queue(queue=_DEAD).newest()

    def claim(self, until: datetime) -> Update[OutboxMessage]:
        """Postpone the message for other deliverers, if nobody has since it was read."""
        mine = OutboxMessage.update(**self.identity()).set(queue=self.queue, due_at=until)
        return mine.add(tries=1).when(self._as_read())

    def delivered(self, now: datetime) -> Update[OutboxMessage]:
        """Mark the message as delivered."""
        return (
            OutboxMessage.update(**self.identity())
            .set(stage="delivered", queue=None, due_at=now)
            .set(last_error=None, gone_at=now + KEPT_DELIVERED)
        )

    def postpone(self, until: datetime, error: str) -> Update[OutboxMessage]:
        """Record the error and the next attempt, unless it was delivered in the meantime."""
        later = OutboxMessage.update(**self.identity())
        return later.set(queue=self.queue, due_at=until, last_error=error).when(self._as_read())

    def give_up(self, now: datetime, error: str) -> Update[OutboxMessage]:
        """Mark the message as dead, unless it was delivered in the meantime."""
        dead = OutboxMessage.update(**self.identity())
        dead = dead.set(stage="dead", queue=_DEAD, due_at=now)
        return dead.set(last_error=error, gone_at=now + KEPT_DEAD).when(self._as_read())

    @classmethod
    def again(cls, topic: str, idempotency_key: str, now: datetime) -> Update[Self]:
        """Make a dead message wait again."""
        revived = cls.update(topic=topic, idempotency_key=idempotency_key)
        revived = revived.set(stage="waiting", queue=waiting_queue(topic), due_at=now)
        return revived.set(tries=0, gone_at=None).when(OutboxMessage.stage == "dead")

    def _as_read(self) -> ConditionExpr:
        return (field(OutboxMessage.stage) == "waiting") & (
            field(OutboxMessage.due_at) == self.due_at
        )


_LONGEST_BODY_BYTES: Final = 200_000


class Outbox:
    """Writes messages that must survive a crash.

    A message is identified by topic and idempotency key: the same key is the same message. A
    process that dies between delivering and recording it delivers again, with the same key for the
    receiver to recognize it by.
    """

    def __init__(self, store: AsyncStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def write(
        self, topic: str, idempotency_key: str, body: object, *, due_at: datetime | None = None
    ) -> Put[OutboxMessage]:
        """Return the write for the transaction that causes the message.

        The transaction is cancelled if the key exists. Raises InvalidInput if the body is too large
        or cannot be encoded.
        """
        try:
            written = msgspec.json.encode(body)
        except (TypeError, ValueError, msgspec.MsgspecError) as fault:
            raise InvalidInput(
                f"The body of {topic} {idempotency_key} cannot be encoded: {fault}"
            ) from fault
        if len(written) > _LONGEST_BODY_BYTES:
            raise InvalidInput(
                f"The body of {topic} {idempotency_key} has {len(written)} bytes; the limit is "
                f"{_LONGEST_BODY_BYTES}. Refer to larger data by key."
            )
        now = self._clock.now()
        return (
            OutboxMessage(
                topic=topic,
                idempotency_key=idempotency_key,
                body=written.decode(),
                created_at=now,
                due_at=due_at or now,
                queue=waiting_queue(topic),
            )
            .put()
            .if_absent()
        )

    async def put(
        self, topic: str, idempotency_key: str, body: object, *, due_at: datetime | None = None
    ) -> bool:
        """Store a message on its own; False if its key exists."""
        try:
            await self._store(self.write(topic, idempotency_key, body, due_at=due_at))
        except ConditionFailed:
            return False
        return True

    async def find(self, topic: str, idempotency_key: str) -> OutboxMessage | None:
        """Return a message; None if it is unknown or has expired."""
        return await self._store(OutboxMessage.one(topic, idempotency_key))

    async def waiting(self, topic: str, limit: int = 100) -> tuple[OutboxMessage, ...]:
        """Return a topic's waiting messages, the earliest due first."""
        return (await self._store.page(OutboxMessage.waiting(topic), limit)).items

    async def dead(self, limit: int = 100) -> tuple[OutboxMessage, ...]:
        """Return dead messages of all topics, newest first."""
        return (await self._store.page(OutboxMessage.dead(), limit)).items

    async def again(self, topic: str, idempotency_key: str) -> None:
        """Retry a dead message; raise NotFound if there is none."""
        try:
            await self._store(OutboxMessage.again(topic, idempotency_key, self._clock.now()))
        except ConditionFailed as refused:
            raise NotFound(f"No dead message of {topic} with key {idempotency_key}") from refused


DeliveryHandler: TypeAlias = Callable[[OutboxMessage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """Timeout, attempts, waits and polling interval of deliveries.

    `at_once` messages per topic are delivered concurrently. With the defaults, a message that never
    succeeds is given up after about five hours.
    """

    try_seconds: float = 30.0
    tries: int = 16
    first_seconds: float = 2.0
    most_seconds: float = 3600.0
    look_seconds: float = 2.0
    stop_seconds: float = 3.0
    at_once: int = 16


class Deliverer(PollingLoop):
    """Delivers waiting messages of the topics it has handlers for.

    Any number of deliverers may handle a topic: each message is claimed by one. Topics do not wait
    for each other. Retryable and unexpected errors are retried; any other GrandstandError is final.
    """

    def __init__(
        self,
        store: AsyncStore,
        handlers: Mapping[str, DeliveryHandler],
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        policy: DeliveryPolicy = DeliveryPolicy(),  # noqa: B008 - a frozen value
    ) -> None:
        super().__init__(policy.look_seconds)
        self._store = store
        self._handlers = dict(handlers)
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._policy = policy
        self._under_way: dict[tuple[str, str], asyncio.Task[None]] = {}

    def _poll_failed(self, error: str, pause_seconds: float) -> None:
        get_logger("outbox").error("outbox_poll_failed", error=error, again_in=pause_seconds)

    async def _poll(self) -> float:
        """Start the due deliveries; return the seconds until the next poll."""
        rest = self._policy.look_seconds
        for topic in self._handlers:
            rest = min(rest, await self._poll_topic(topic))
        return max(rest, 0.01)

    async def _poll_topic(self, topic: str) -> float:
        most, rest = self._policy.at_once, self._policy.look_seconds
        waiting = (await self._store.page(OutboxMessage.waiting(topic), 2 * most)).items
        self._metrics.set("outbox_waiting", len(waiting), topic=topic)
        now, busy = self._clock.now(), sum(place[0] == topic for place in self._under_way)
        for each in waiting:
            if each.due_at > now:
                return min(rest, (each.due_at - now).total_seconds())
            if each.place not in self._under_way and busy < most:
                busy += 1
                task = asyncio.create_task(self._deliver(each), name=f"outbox {topic}")
                self._under_way[each.place] = task
                task.add_done_callback(partial(self._finish, each.place))
        return rest

    def _finish(self, place: tuple[str, str], task: asyncio.Task[None]) -> None:
        del self._under_way[place]
        fault = None if task.cancelled() else task.exception()
        if fault is None:
            self._wake.set()
        else:
            get_logger("outbox").error(
                "delivery_interrupted", about=place[1], error=redact(str(fault))
            )

    async def _wind_down(self) -> None:
        for cancelled in (False, True):
            tasks = list(self._under_way.values())
            for task in tasks if cancelled else ():
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=self._policy.stop_seconds / 2)

    async def _deliver(self, waiting: OutboxMessage) -> None:
        # Twice the timeout: a stuck deliverer has stopped before another may claim the message.
        until = self._clock.now() + timedelta(seconds=2 * self._policy.try_seconds)
        try:
            claimed = await self._store(waiting.claim(until))
        except ConditionFailed:
            # The index may lag behind: polling again at once would find the same.
            await asyncio.sleep(self._policy.look_seconds)
            return
        try:
            outcome = await self._try(claimed)
        except asyncio.CancelledError:
            await self._record(
                claimed, claimed.postpone(self._clock.now(), "this instance stopped")
            )
            raise
        await self._record(claimed, outcome)

    async def _record(self, claimed: OutboxMessage, outcome: Operation[Any]) -> None:
        try:
            await self._store(outcome)
        except ConditionFailed:
            get_logger("outbox").warning("delivery_claimed_elsewhere", **_log_fields(claimed))

    async def _try(self, claimed: OutboxMessage) -> Operation[Any]:
        """Deliver a message and return the write that records the outcome."""
        policy = self._policy
        try:
            async with asyncio.timeout(policy.try_seconds):
                await self._handlers[claimed.topic](claimed)
        except Exception as fault:  # noqa: BLE001 - the message is kept whatever goes wrong
            error = redact(f"{type(fault).__name__}: {fault}")[:1000]
            final = isinstance(fault, GrandstandError) and not fault.retry
            now = self._clock.now()
            if final or claimed.tries >= policy.tries:
                get_logger("outbox").error("delivery_given_up", error=error, **_log_fields(claimed))
                return claimed.give_up(now, error)
            get_logger("outbox").warning("delivery_failed", error=error, **_log_fields(claimed))
            wait = backoff_seconds(claimed.tries, policy.first_seconds, policy.most_seconds)
            wait *= self._random.uniform(0.75, 1.25)
            wait = max(wait, getattr(fault, "retry_after_seconds", None) or 0.0)
            return claimed.postpone(now + timedelta(seconds=wait), error)
        return claimed.delivered(self._clock.now())


def _log_fields(message: OutboxMessage) -> dict[str, str]:
    return {"topic": message.topic, "about": message.idempotency_key}
