"""Kept here: a table's changes as a consumer reads them: typed, in order, from where it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from grandstand.base.errors import Conflict
from grandstand.storage.tables.errors import (
    ConditionFailed,
    DeclarationFault,
    StoredItemInvalid,
)
from grandstand.storage.tables.house import Consumer
from grandstand.storage.tables.requests import Change, ChangeBatch, ChangeKind
from grandstand.storage.tables.values import Key

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.declaration.plan import EntityPlan
    from grandstand.storage.tables.declaration.table import Table
    from grandstand.storage.tables.session import Session
    from grandstand.storage.tables.store import AsyncStore, Store

E = TypeVar("E", bound="Entity")
T = TypeVar("T")

Start = Literal["oldest", "latest"]
Invalid = Callable[[Change, StoredItemInvalid], None]

_LIMIT: Final = 100


class PositionStale(Conflict):
    """The consumer's position was moved by a later reader of its name, or is further on already."""


@dataclass(frozen=True, slots=True)
class Changed(Generic[E]):
    """One change of one item; an image the table's stream does not carry is None.

    `key` is the item's key as stored. `expired` tells a deletion by expiry from one by a writer.
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
    """Some changes in order, and where they end; hand it to `done` when they are worked through."""

    changes: tuple[Changed[E], ...]
    position: str
    number: int


class ChangeFeed(Generic[E]):
    """The changes of one table to some of its entities, for one consumer by name.

    Each change is delivered at least once, those of one item in their order. What was not
    acknowledged with `done` is delivered again when reading is taken up anew. Taking it up under
    the same name elsewhere overtakes this feed: its `done` then raises PositionStale.
    """

    def __init__(
        self,
        session: Session,
        plans: tuple[EntityPlan[E], ...],
        *,
        name: str,
        start: Start,
        invalid: Invalid | None,
    ) -> None:
        self.session = session
        self.name = name
        self._plans = plans
        self._start = start
        self._invalid = invalid
        self._source = session.name(plans[0].table)
        self._kept: Consumer | None = None
        self._yielded = 0
        self._done = 0

    def batches(self, limit: int = _LIMIT) -> Iterator[Batch[E]]:
        """Answer what happened after the kept position, a batch at a time, until nothing waits.

        Raises ChangesLost when changes after the position are gone (see `restart`), and
        StoredItemInvalid for an item that is not its entity, unless the feed was told what to do.
        """
        position = self._claimed().position
        self._done = self._yielded
        while True:
            read = self.session.engine.changes(self._source, position, limit)
            position = read.position
            changes = tuple(self._typed(read))
            if changes:
                self._yielded += 1
                yield Batch(changes, position, self._yielded)
            elif self._done == self._yielded and position != self._claimed().position:
                self._keep(position)
            if read.caught_up:
                return

    def done(self, batch: Batch[E]) -> None:
        """Keep the position after a batch, and with it all before; raise PositionStale."""
        if batch.number <= self._done:
            message = f"This batch is not waiting for {self.name} any more: take the next one"
            raise PositionStale(message)
        self._keep(batch.position)
        self._done = batch.number

    def restart(self, rebuild: Callable[[], object] | None = None) -> None:
        """Go on from the latest change, after `rebuild` has read from the table what was missed.

        Changes made while it runs are delivered afterwards. When it fails, the position stays.
        """
        position = self._begin_restart()
        if rebuild is not None:
            rebuild()
        self._end_restart(position)

    def forget(self) -> None:
        """Give up the kept position, so that nothing is held for this consumer any more."""
        Consumer.delete(name=self.name, source=self._source).run(self.session)
        self.session.engine.hold_changes(self._source, self.name, None)
        self._kept = None

    def _begin_restart(self) -> str:
        position = self.session.engine.latest_position(self._source)
        self.session.engine.hold_changes(self._source, self._interim, position)
        return position

    def _end_restart(self, position: str) -> None:
        if self._kept is None:
            self._kept = self._claim(position)
        self._keep(position)
        self._done = self._yielded
        self.session.engine.hold_changes(self._source, self._interim, None)

    @property
    def _interim(self) -> str:
        return f"{self.name} (restarting)"

    def _claimed(self) -> Consumer:
        if self._kept is None:
            kept = Consumer.one(self.name, self._source).run(self.session)
            self._kept = self._claim(self._first() if kept is None else kept.position)
        return self._kept

    def _first(self) -> str:
        engine = self.session.engine
        if self._start == "latest":
            return engine.latest_position(self._source)
        return engine.changes(self._source, None, 0).position

    def _claim(self, position: str) -> Consumer:
        """Take reading up under this name; the position given counts only for a new consumer."""
        claim = (
            Consumer.update(name=self.name, source=self._source)
            .upsert()
            .set_if_absent(position=position)
            .add(epoch=1)
        )
        kept = claim.run(self.session)
        self.session.engine.hold_changes(self._source, self.name, kept.position)
        return kept

    def _keep(self, position: str) -> None:
        kept = self._claimed()
        move = (
            Consumer.update(name=self.name, source=self._source)
            .set(position=position, moved_at=self.session.clock.now())
            .when(Consumer.epoch == kept.epoch)
        )
        try:
            self._kept = move.run(self.session)
        except ConditionFailed as refused:
            message = (
                f"Reading as {self.name} was taken up elsewhere: stop, or give this consumer "
                "another name"
            )
            raise PositionStale(message) from refused
        self.session.engine.hold_changes(self._source, self.name, position)

    def _typed(self, read: ChangeBatch) -> Iterator[Changed[E]]:
        for change in read.changes:
            plan = next((plan for plan in self._plans if plan.keeps(change.keys, None)), None)
            if plan is None:
                continue
            try:
                yield _typed(plan, change)
            except StoredItemInvalid as fault:
                if self._invalid is None:
                    raise
                self._invalid(change, fault)


def _typed(plan: EntityPlan[E], change: Change) -> Changed[E]:
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
    invalid: Invalid | None = None,
) -> ChangeFeed[E]:
    """Read the changes to entities of one table, as the consumer of that name.

    A new consumer starts with the oldest change still kept, or with the next one to come. An item
    that does not have the form of its entity goes to `invalid` and is left out. Raises
    DeclarationFault when the entities share no table or the table has no stream.
    """
    tables: list[Table] = list({entity.__plan__.table: None for entity in entities})
    if len(tables) != 1:
        message = f"A feed reads one table: name entities of one, not of {len(tables)}"
        raise DeclarationFault(message)
    if tables[0].stream is None:
        message = f"{tables[0].name} keeps no changes: declare it with a stream"
        raise DeclarationFault(message)
    plans: tuple[EntityPlan[Any], ...] = tuple(entity.__plan__ for entity in entities)
    return ChangeFeed(store.session, plans, name=name, start=start, invalid=invalid)


class AsyncChangeFeed(Generic[E]):
    """The same feed for an event loop: calls that cross a network run in threads."""

    def __init__(self, feed: ChangeFeed[E]) -> None:
        self.feed = feed

    async def batches(self, limit: int = _LIMIT) -> AsyncIterator[Batch[E]]:
        """Answer what happened after the kept position, as `ChangeFeed.batches` does."""
        batches = self.feed.batches(limit)
        while (batch := await self._call(lambda: next(batches, None))) is not None:
            yield batch

    async def done(self, batch: Batch[E]) -> None:
        """Keep the position after a batch, and with it all before; raise PositionStale."""
        await self._call(lambda: self.feed.done(batch))

    async def restart(self, rebuild: Callable[[], Awaitable[object]] | None = None) -> None:
        """Go on from the latest change after `rebuild`, as `ChangeFeed.restart` does."""
        position = await self._call(self.feed._begin_restart)  # noqa: SLF001 - two halves of one
        if rebuild is not None:
            await rebuild()
        await self._call(lambda: self.feed._end_restart(position))  # noqa: SLF001 - as above

    async def forget(self) -> None:
        """Give up the kept position."""
        await self._call(self.feed.forget)

    async def _call(self, act: Callable[[], T]) -> T:
        if not self.feed.session.engine.remote:
            return act()
        return await asyncio.to_thread(act)


def follow_async(
    store: AsyncStore,
    *entities: type[E],
    name: str,
    start: Start = "oldest",
    invalid: Invalid | None = None,
) -> AsyncChangeFeed[E]:
    """Read the changes to entities of one table, as `follow` does, from an event loop."""
    return AsyncChangeFeed(follow(store.store, *entities, name=name, start=start, invalid=invalid))
