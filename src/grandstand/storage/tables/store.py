"""Kept here: the two ways to carry out operations: waiting for them, and awaiting them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from grandstand.base.clock import Clock
from grandstand.base.errors import NotFound
from grandstand.storage.tables.declaration.table import Naming, Table
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import TableInUse
from grandstand.storage.tables.operations.batches import AllOrNothing, GetMany, Write, WriteMany
from grandstand.storage.tables.operations.cursor import read_cursor, write_cursor
from grandstand.storage.tables.operations.queries import Query, Reading
from grandstand.storage.tables.operations.single import Delete, Get, Operation, Put
from grandstand.storage.tables.session import Session
from grandstand.storage.tables.values import Item

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity

E = TypeVar("E", bound="Entity")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PageOf(Generic[E]):
    """One page of an answer, and the cursor that leads to the next, None at the end."""

    items: tuple[E, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ReadPage(Generic[E]):
    """Read up to so many items of a question, from a cursor on."""

    reading: Reading[E]
    most: int
    after: str | None = None

    def run(self, session: Session) -> PageOf[E]:
        """Read the page; raise CursorInvalid when the cursor is not this question's."""
        reading, mark = self.reading, _mark(self.reading)
        start = None if self.after is None else read_cursor(mark, self.after)
        kept: list[Item] = []
        while True:
            wanted = self.most - len(kept)
            page = reading.page(session, wanted if reading.filter is None else None, start)
            now = session.clock.epoch()
            kept.extend(item for item in page.items if reading.keeps(item, now))
            start = page.last_key
            if start is None or len(kept) >= self.most:
                break
        if len(kept) > self.most:
            kept = kept[: self.most]
            start = reading.key_of(kept[-1])
        cursor = None if start is None else write_cursor(mark, start)
        return PageOf(tuple(reading.entity.decode(item) for item in kept), cursor)


def _mark(reading: Reading[Any]) -> tuple[object, ...]:
    asked: tuple[object, ...] = (reading.entity.table.name, reading.entity.name, reading.filter)
    if isinstance(reading, Query):
        return (*asked, reading.plan.name, reading.partition, reading.range, reading.forward)
    return asked


class Store:
    """Carries operations out, one after another, on one engine."""

    def __init__(self, engine: Engine, *, naming: Naming, clock: Clock) -> None:
        self.session = Session(engine, naming, clock)

    def __call__(self, operation: Operation[R]) -> R:
        """Carry an operation out and answer."""
        return operation.run(self.session)

    def read(self, get: Get[E]) -> E:
        """Read one item; raise NotFound when there is none."""
        return _demanded(get, get.run(self.session))

    def each(self, reading: Reading[E]) -> Iterator[E]:
        """Answer the items of a question one by one, in bounded memory."""
        return self.session.each(reading)

    def page(self, reading: Reading[E], most: int, *, after: str | None = None) -> PageOf[E]:
        """Read up to `most` items, from a cursor on."""
        return ReadPage(reading, most, after).run(self.session)

    def get_many(self, gets: Iterable[Get[E]]) -> list[E | None]:
        """Read many items; the answers stand in the order of the questions."""
        return GetMany(tuple(gets)).run(self.session)

    def write_many(self, writes: Iterable[Put[Any] | Delete[Any]]) -> None:
        """Put and delete many items, each on its own."""
        WriteMany(tuple(writes)).run(self.session)

    def all(self, *writes: Write, token: str | None = None) -> None:
        """Write all or nothing; raise TransactionCancelled."""
        AllOrNothing(writes, token).run(self.session)

    def create(self, tables: Iterable[Table]) -> tuple[str, ...]:
        """Make the tables that are not there yet; answer their names."""
        return create_tables(self.session, tables)

    def close(self) -> None:
        """Let go of the engine."""
        self.session.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncStore:
    """Carries the same operations out for an event loop.

    An embedded engine answers sooner than a thread could be woken, so it is called in line; calls
    that cross a network run in threads.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    async def __call__(self, operation: Operation[R]) -> R:
        """Carry an operation out and answer."""
        session = self.store.session
        if not session.engine.remote:
            return operation.run(session)
        return await asyncio.to_thread(operation.run, session)

    async def read(self, get: Get[E]) -> E:
        """Read one item; raise NotFound when there is none."""
        return _demanded(get, await self(get))

    async def each(self, reading: Reading[E]) -> AsyncIterator[E]:
        """Answer the items of a question one by one, a page in memory at a time."""
        session = self.store.session
        if not session.engine.remote:
            for item in session.each(reading):
                yield item
            return
        pages = session.pages(reading)
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            for item in page:
                yield item

    async def page(self, reading: Reading[E], most: int, *, after: str | None = None) -> PageOf[E]:
        """Read up to `most` items, from a cursor on."""
        return await self(ReadPage(reading, most, after))

    async def get_many(self, gets: Iterable[Get[E]]) -> list[E | None]:
        """Read many items; the answers stand in the order of the questions."""
        return await self(GetMany(tuple(gets)))

    async def write_many(self, writes: Iterable[Put[Any] | Delete[Any]]) -> None:
        """Put and delete many items, each on its own."""
        await self(WriteMany(tuple(writes)))

    async def all(self, *writes: Write, token: str | None = None) -> None:
        """Write all or nothing; raise TransactionCancelled."""
        await self(AllOrNothing(writes, token))


def create_tables(session: Session, tables: Iterable[Table]) -> tuple[str, ...]:
    """Make the tables that are not there yet; answer the names of those made."""
    made = []
    present = set(session.engine.list_tables())
    for table in tables:
        schema = table.schema(session.naming)
        if schema.name in present:
            continue
        try:
            session.engine.create_table(schema)
        except TableInUse:
            continue
        made.append(schema.name)
    return tuple(made)


def _demanded(get: Get[E], found: E | None) -> E:
    if found is None:
        key = ", ".join(f"{name}={value!r}" for name, value in get.key.items())
        message = f"There is no {get.entity.name} with {key}"
        raise NotFound(message)
    return found
