"""Typed change feeds: the changes of a table, in order, from where a consumer stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeVar

from grandstand.core.errors import Conflict
from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.engines.protocol import GroupingEngine
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault, StoredItemInvalid
from grandstand.storage.tables.platform_tables import Consumer
from grandstand.storage.tables.requests import Change, ChangeBatch, ChangeKind

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.table import Table
    from grandstand.storage.tables.store import AsyncStore, Session, Store

E = TypeVar("E", bound="Entity")
T = TypeVar("T")

Start = Literal["oldest", "latest"]
InvalidHandler = Callable[[Change, StoredItemInvalid], None]

_BATCH_SIZE: Final = 100


class PositionStale(Conflict):
    """The consumer's position was moved by a later reader, or is already further on."""

    code: ClassVar[str] = "stale-position"


@dataclass(frozen=True, slots=True)
class Changed(Generic[E]):
    """One change of one item; images that the stream does not carry are None.

    `key` is the item's key as stored. `expired` marks a deletion by expiry.
    """

    kind: ChangeKind
    entity: type[E]
    key: Key
    old: E | None
    new: E | None
    at: datetime
    expired: bool
    sequence: str


@dataclass(frozen=True, slots=True)
class Batch(Generic[E]):
    """Changes in order; pass it to `done` when they have been processed."""

    changes: tuple[Changed[E], ...]
    position: str
    number: int


class ChangeFeed(Generic[E]):
    """The changes of a table to some of its entities, for a named consumer.

    Each change is delivered at least once, changes of one item in order. Changes not acknowledged
    with `done` are delivered again. A later reader of the same name takes over: `done` then raises
    PositionStale.

    Example:
        feed = follow(store, Game, name="scoreboard")
        for batch in feed.batches():
            for change in batch.changes:
                update_scoreboard(change.new)
            feed.done(batch)
    """

    def __init__(
        self,
        session: Session,
        plans: tuple[EntityPlan[E], ...],
        *,
        name: str,
        start: Start,
        invalid: InvalidHandler | None,
    ) -> None:
        self.session = session
        self.name = name
        self._plans = plans
        self._start = start
        self._invalid = invalid
        self._source = session.name(plans[0].table)
        self._consumer: Consumer | None = None
        self._yielded = 0
        self._acknowledged = 0

    def batches(self, limit: int = _BATCH_SIZE) -> Iterator[Batch[E]]:
        """Yield batches of changes after the stored position, until there are no more.

        Raises ChangesLost if changes were trimmed (see `restart`), and StoredItemInvalid for an
        item that does not match its entity, unless the feed has a handler for these.
        """
        position = self._claimed_consumer().position
        self._acknowledged = self._yielded
        while True:
            batch = self.session.engine.changes(self._source, position, limit)
            position = batch.position
            changes = tuple(self._decode(batch))
            if changes:
                self._yielded += 1
                yield Batch(changes, position, self._yielded)
            elif (
                self._acknowledged == self._yielded
                and position != self._claimed_consumer().position
            ):
                self._store_position(position)
            if batch.caught_up:
                return

    def done(self, batch: Batch[E]) -> None:
        """Store the position after a batch. Raises PositionStale."""
        if batch.number <= self._acknowledged:
            raise PositionStale(
                f"This batch was already acknowledged for {self.name}. Take the next one."
            )
        self._store_position(batch.position)
        self._acknowledged = batch.number

    def restart(self, rebuild: Callable[[], object] | None = None) -> None:
        """Continue from the latest change, after `rebuild` has read the table.

        Changes made meanwhile are delivered afterwards. If `rebuild` fails, the position stays.
        """
        position = self._begin_restart()
        if rebuild is not None:
            rebuild()
        self._end_restart(position)

    def forget(self) -> None:
        """Delete the position, so that no changes are kept for this consumer."""
        Consumer.delete(name=self.name, source=self._source).run(self.session)
        self.session.engine.hold_changes(self._source, self.name, None)
        self._consumer = None

    def _begin_restart(self) -> str:
        position = self.session.engine.latest_position(self._source)
        self.session.engine.hold_changes(self._source, self._restart_name, position)
        return position

    def _end_restart(self, position: str) -> None:
        if self._consumer is None:
            self._consumer = self._claim(position)
        self._store_position(position)
        self._acknowledged = self._yielded
        self.session.engine.hold_changes(self._source, self._restart_name, None)

    @property
    def _restart_name(self) -> str:
        return f"{self.name} (restarting)"

    def _claimed_consumer(self) -> Consumer:
        if self._consumer is None:
            engine = self.session.engine
            consumer = Consumer.one(self.name, self._source).run(self.session)
            if consumer is not None:
                position = consumer.position
            elif self._start == "latest":
                position = engine.latest_position(self._source)
            else:
                position = engine.changes(self._source, None, 0).position
            self._consumer = self._claim(position)
        return self._consumer

    def _claim(self, position: str) -> Consumer:
        """Start reading under this name; the position only applies to a new consumer."""
        claim = (
            Consumer.update(name=self.name, source=self._source)
            .upsert()
            .set_if_absent(position=position)
            .add(epoch=1)
        )
        consumer = claim.run(self.session)
        self.session.engine.hold_changes(self._source, self.name, consumer.position)
        return consumer

    def _store_position(self, position: str) -> None:
        consumer = self._claimed_consumer()
        update = (
            Consumer.update(name=self.name, source=self._source)
            .set(position=position, moved_at=self.session.clock.now())
            .when(Consumer.epoch == consumer.epoch)
        )
        try:
            self._consumer = update.run(self.session)
        except ConditionFailed as error:
            raise PositionStale(
                f"Another reader took over the consumer {self.name}. Stop, or use another consumer "
                "name."
            ) from error
        self.session.engine.hold_changes(self._source, self.name, position)

    def _decode(self, batch: ChangeBatch) -> Iterator[Changed[E]]:
        for change in batch.changes:
            plan = next((plan for plan in self._plans if plan.matches(change.keys, None)), None)
            if plan is None:
                continue
            try:
                yield _decode_change(plan, change)
            except StoredItemInvalid as error:
                if self._invalid is None:
                    raise
                self._invalid(change, error)


def _decode_change(plan: EntityPlan[E], change: Change) -> Changed[E]:
    return Changed(
        kind=change.kind,
        entity=plan.entity,
        key=change.keys,
        old=None if change.old is None else plan.decode(change.old),
        new=None if change.new is None else plan.decode(change.new),
        at=change.at,
        expired=change.expired,
        sequence=change.sequence,
    )


def follow(
    store: Store,
    *entities: type[E],
    name: str,
    start: Start = "oldest",
    invalid: InvalidHandler | None = None,
) -> ChangeFeed[E]:
    """Return the feed of a consumer.

    Args:
        store: The store.
        entities: Entities of one table.
        name: The name of the consumer.
        start: Where a new consumer starts.
        invalid: Called for items that do not match their entity; they are skipped.

    Raises:
        DeclarationFault: The entities are of several tables, or the table has no stream.
    """
    tables: list[Table] = list({entity.__plan__.table: None for entity in entities})
    if len(tables) != 1:
        raise DeclarationFault(
            f"A feed reads one table, not {len(tables)}. Name entities of one table."
        )
    if tables[0].stream is None:
        raise DeclarationFault(f"{tables[0].name} has no stream. Declare one.")
    plans: tuple[EntityPlan[Any], ...] = tuple(entity.__plan__ for entity in entities)
    return ChangeFeed(store.session, plans, name=name, start=start, invalid=invalid)


class AsyncChangeFeed(Generic[E]):
    """The same feed for an event loop."""

    def __init__(self, feed: ChangeFeed[E]) -> None:
        self.feed = feed

    async def batches(self, limit: int = _BATCH_SIZE) -> AsyncIterator[Batch[E]]:
        """Yield batches as `ChangeFeed.batches` does."""
        batches = self.feed.batches(limit)
        while (batch := await self._call(lambda: next(batches, None))) is not None:
            yield batch

    async def done(self, batch: Batch[E]) -> None:
        """Store the position after a batch. Raises PositionStale."""
        await self._call(lambda: self.feed.done(batch))

    async def restart(self, rebuild: Callable[[], Awaitable[object]] | None = None) -> None:
        """Continue from the latest change, as `ChangeFeed.restart` does."""
        position = await self._call(self.feed._begin_restart)  # noqa: SLF001 - the two halves of restart
        if rebuild is not None:
            await rebuild()
        await self._call(lambda: self.feed._end_restart(position))  # noqa: SLF001 - as above

    async def forget(self) -> None:
        """Delete the position."""
        await self._call(self.feed.forget)

    async def _call(self, call: Callable[[], T]) -> T:
        engine = self.feed.session.engine
        waits = isinstance(engine, GroupingEngine) and engine.write_wait_seconds is not None
        if engine.remote or waits:
            return await asyncio.to_thread(call)
        return call()


def follow_async(
    store: AsyncStore,
    *entities: type[E],
    name: str,
    start: Start = "oldest",
    invalid: InvalidHandler | None = None,
) -> AsyncChangeFeed[E]:
    """Return the feed of a consumer for an event loop; see `follow`."""
    return AsyncChangeFeed(follow(store.store, *entities, name=name, start=start, invalid=invalid))
