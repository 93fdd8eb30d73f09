"""The store: runs operations on an engine, synchronously or from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, Self, TypeVar, cast

from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.storage.tables.attribute_values import Key as ItemKey
from grandstand.storage.tables.declaration.table import Naming, Table
from grandstand.storage.tables.engines.protocol import Engine, GroupingEngine
from grandstand.storage.tables.errors import ConditionFailed, TableInUse
from grandstand.storage.tables.group_commit import GroupWriter
from grandstand.storage.tables.operations import item_ops
from grandstand.storage.tables.operations.item_ops import MAX_SHORT_READ
from grandstand.storage.tables.operations.queries import Query, ReadQuery, read_cursor, write_cursor

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.compiled import EntityPlan
    from grandstand.storage.tables.declaration.entity import Entity

E = TypeVar("E", bound="Entity")

_WRITE_PORTION: Final = 20 * item_ops.MAX_WRITE


class _PhysicalNames(dict[Table, str]):
    """Physical names of tables, computed on first use."""

    def __init__(self, naming: Naming) -> None:
        super().__init__()
        self._naming = naming

    def __missing__(self, table: Table) -> str:
        name = self[table] = self._naming.physical(table.name)
        return name


class Session:
    """An engine, the physical names of its tables, and a clock."""

    def __init__(self, engine: Engine, naming: Naming, clock: Clock) -> None:
        self.engine = engine
        self.naming = naming
        self.clock = clock
        self.names = _PhysicalNames(naming)

    def name(self, table: Table) -> str:
        """Return the physical name of a table."""
        return self.names[table]

    def raise_failed(self, entity: EntityPlan[Any], error: ConditionFailed) -> NoReturn:
        """Raise a failed condition again, with the stored item decoded as `found`."""
        if error.item is not None and entity.matches(error.item, None):
            error.found = entity.decode(error.item)
        raise error


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Page(Generic[E]):
    """A page of results and the cursor of the next page, None at the end."""

    items: tuple[E, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ReadPage(Generic[E]):
    """Read up to `limit` items of a query, from a cursor on."""

    query: ReadQuery[E]
    limit: int
    after: str | None = None

    def run(self, session: Session) -> Page[E]:
        """Read the page. Raises CursorInvalid if the cursor belongs to another query."""
        query, key = self.query, self.start()
        entities: list[E] = []
        for items, last in query.read(session, self.limit, key):
            entities += map(query.entity.decode, items)
            key = last
        return self.result(entities, key)

    def start(self) -> ItemKey | None:
        """Return the key in the cursor. Raises CursorInvalid if it belongs to another query."""
        return None if self.after is None else read_cursor(self._scope, self.after)

    def result(self, entities: Iterable[E], last: ItemKey | None) -> Page[E]:
        """Return the page of the entities read, and the cursor after the last one."""
        return Page(tuple(entities), None if last is None else write_cursor(self._scope, last))

    @property
    def _scope(self) -> tuple[object, ...]:
        query = self.query
        scope: tuple[object, ...] = (query.entity.table.name, query.entity.name, query.filter)
        if isinstance(query, Query):
            scope += (query.plan.name, query.partition, query.range, query.forward)
        return scope


class Store:
    """Runs operations on one engine.

    Example:
        store = Store(engine, naming=Naming(), clock=SystemClock())
        store.create([games])
        store(Game(league="nba", game_id="1").put())
        page = store.page(Game.row(league="nba"), 20)
        store.all(first.put(), Other.update(id="2").add(count=1))
    """

    def __init__(self, engine: Engine, *, naming: Naming, clock: Clock) -> None:
        self.session = Session(engine, naming, clock)
        wait = engine.write_wait_seconds if isinstance(engine, GroupingEngine) else None
        self._writer = (
            GroupWriter(engine, wait)
            if isinstance(engine, GroupingEngine) and wait is not None
            else None
        )
        self._reader = ThreadPoolExecutor(1, "tables-reader")

    async def run_write(self, operation: item_ops.Operation[R]) -> R:
        """Run an operation that writes, without blocking the event loop."""
        session = self.session
        if self._writer is not None:
            return await self._writer.run(lambda: operation.run(session))
        if session.engine.remote:
            return await asyncio.to_thread(operation.run, session)
        return operation.run(session)

    async def run_read(self, read: Callable[[], R]) -> R:
        """Run a long read, without blocking the event loop."""
        if self.session.engine.remote:
            return await asyncio.to_thread(read)
        return await asyncio.get_running_loop().run_in_executor(self._reader, read)

    def __call__(self, operation: item_ops.Operation[R]) -> R:
        """Run an operation and return its result."""
        return operation.run(self.session)

    def read(self, get: item_ops.Get[E]) -> E:
        """Read one item. Raises NotFound."""
        return _require_found(get, get.run(self.session))

    def each(self, query: ReadQuery[E]) -> Iterator[E]:
        """Yield the items of a query in bounded memory."""
        for page in query.pages(self.session):
            yield from page

    def page(self, query: ReadQuery[E], limit: int, *, after: str | None = None) -> Page[E]:
        """Read up to `limit` items, from a cursor on."""
        return ReadPage(query, limit, after).run(self.session)

    def get_many(self, gets: Iterable[item_ops.Get[E]]) -> list[E | None]:
        """Read many items; the results are in the order of the gets."""
        return item_ops.GetMany(tuple(gets)).run(self.session)

    def write_many(self, writes: Iterable[item_ops.Put[Any] | item_ops.Delete[Any]]) -> None:
        """Put and delete many items independently."""
        item_ops.WriteMany(tuple(writes)).run(self.session)

    def all(self, *writes: item_ops.Write, token: str | None = None) -> None:
        """Write all or nothing. Raises TransactionCancelled."""
        item_ops.TransactWrite(writes, token).run(self.session)

    def create(self, tables: Iterable[Table]) -> tuple[str, ...]:
        """Create the tables that do not exist; return their names."""
        return create_tables(self.session, tables)

    def close(self) -> None:
        """Execute the writes that event loops wait for, then close the engine."""
        if self._writer is not None:
            self._writer.close()
        self._reader.shutdown()
        self.session.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncStore:
    """Runs operations from an event loop.

    An embedded engine answers a short read faster than a thread could be woken, so it is called
    directly. Reads of more than 500 rows run in a reader thread. Writes may have to wait for other
    processes, so they run in a writer thread, which commits those waiting together. Calls over a
    network run in threads.

    Example:
        game = await store.read(Game.get(league="nba", game_id="1"))
        async for game in store.each(Game.row(league="nba")): ...
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    async def __call__(self, operation: item_ops.Operation[R]) -> R:
        store, session = self.store, self.store.session
        if session.engine.remote:
            return await asyncio.to_thread(operation.run, session)
        reading: object = operation
        if isinstance(reading, item_ops.Get):
            return operation.run(session)
        if isinstance(reading, ReadQuery):
            entities = [entity async for entity in AsyncStore.each(self, reading)]
            return cast("R", entities)
        is_short: bool | None = getattr(operation, "is_short_read", None)
        if is_short is None:
            return await store.run_write(operation)
        if is_short:
            return operation.run(session)
        return await store.run_read(lambda: operation.run(session))

    async def read(self, get: item_ops.Get[E]) -> E:
        """Read one item. Raises NotFound."""
        return _require_found(get, await self(get))

    async def each(self, query: ReadQuery[E]) -> AsyncIterator[E]:
        """Yield the items of a query in bounded memory."""
        async for entities, _ in self._pages(query, query.max_items, None):
            for entity in entities:
                yield entity

    async def page(self, query: ReadQuery[E], limit: int, *, after: str | None = None) -> Page[E]:
        """Read up to `limit` items, from a cursor on."""
        page, entities = ReadPage(query, limit, after), list[E]()
        last = page.start()
        async for read, key in self._pages(query, limit, last):
            entities += read
            last = key
        return page.result(entities, last)

    async def _pages(
        self, query: ReadQuery[E], limit: int | None, start: ItemKey | None
    ) -> AsyncIterator[tuple[list[E], ItemKey | None]]:
        """Yield entities and the key to continue after; only the first 500 rows are read here."""
        session, decode = self.store.session, query.entity.decode
        short = not session.engine.remote and (limit is None or limit <= MAX_SHORT_READ)
        pages = query.read(session, limit, start, first_rows=MAX_SHORT_READ if short else None)

        def read_next() -> tuple[list[E], ItemKey | None] | None:
            page = next(pages, None)
            return None if page is None else ([decode(item) for item in page[0]], page[1])

        while True:
            page = read_next() if short else await self.store.run_read(read_next)
            if page is None:
                return
            yield page
            short = False
            if limit is not None:
                limit -= len(page[0])
            if page[1] is None or (limit is not None and limit <= 0):
                return

    async def get_many(self, gets: Iterable[item_ops.Get[E]]) -> list[E | None]:
        return await self(item_ops.GetMany(tuple(gets)))

    async def write_many(self, writes: Iterable[item_ops.Put[Any] | item_ops.Delete[Any]]) -> None:
        # In portions, because other processes cannot write during a commit.
        many = item_ops.WriteMany(tuple(writes))
        many.check()
        for portion in item_ops.split_batches(many.writes, _WRITE_PORTION):
            await self(item_ops.WriteMany(portion))

    async def all(self, *writes: item_ops.Write, token: str | None = None) -> None:
        """Write all or nothing. Raises TransactionCancelled."""
        await self(item_ops.TransactWrite(writes, token))


def create_tables(session: Session, tables: Iterable[Table]) -> tuple[str, ...]:
    """Create the tables that do not exist; return their physical names."""
    created = []
    existing = set(session.engine.list_tables())
    for table in tables:
        schema = table.schema(session.naming)
        if schema.name in existing:
            continue
        try:
            session.engine.create_table(schema)
        except TableInUse:
            continue
        created.append(schema.name)
    return tuple(created)


def _require_found(get: item_ops.Get[E], entity: E | None) -> E:
    if entity is None:
        key = ", ".join(f"{name}={value!r}" for name, value in get.key.items())
        raise NotFound(f"There is no {get.entity.name} with {key}.")
    return entity
