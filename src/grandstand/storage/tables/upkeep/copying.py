"""Kept here: the items of a table brought from one engine to another, and compared there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from grandstand.base.errors import Conflict
from grandstand.storage.tables.declaration.plan import expired
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.encoding.digest import ItemSum, exact
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.operations.batches import MAX_READ, MAX_WRITE, chunks, persist
from grandstand.storage.tables.requests import DeleteItem, GetItem, PutItem, Scan
from grandstand.storage.tables.session import Session
from grandstand.storage.tables.values import Item, Key

if TYPE_CHECKING:
    from grandstand.storage.tables.schema import TableSchema

Action: TypeAlias = PutItem | DeleteItem

_PAGE: Final = 500
_WRITERS: Final = 4


class TableElsewhereUnfit(Conflict):
    """The table to be filled is not the table that is declared."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of the items read so far.

    Each was `written`, was there already and the `same`, or was there and `other`: then it was
    replaced if that was asked for, and left alone if not. `removed` are those the source lacks.
    """

    read: int = 0
    written: int = 0
    same: int = 0
    other: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """From where to where a table goes; `mirror` makes the target equal, else items are added.

    Items whose expiry is not after `now`, in seconds since 1970, are left out on both sides.
    """

    source: Session
    target: Session
    table: Table
    now: float
    mirror: bool = False

    @property
    def name(self) -> str:
        """The physical name of the table, the same on both sides."""
        return self.source.name(self.table)


def check_table(session: Session, table: Table) -> None:
    """Raise TableNotFound, or TableElsewhereUnfit when the table there has another key.

    Indexes may differ: they are brought up to date by whoever owns the table.
    """
    wanted = table.schema(session.naming)
    found = session.engine.schema_of(wanted.name)
    if _key_of(found) != _key_of(wanted):
        message = (
            f"The table {wanted.name} has the key {_told(found)} where it is to be copied to, and "
            f"{_told(wanted)} is declared: name another target, or another prefix by "
            "GRANDSTAND_TABLES_PREFIX"
        )
        raise TableElsewhereUnfit(message)


def is_there(session: Session, table: Table) -> bool:
    """Tell whether a table was made."""
    try:
        session.engine.schema_of(session.name(table))
    except TableNotFound:
        return False
    return True


def copy_items(
    way: Way, start: Key | None, done: Copied, tell: Callable[[Copied, Key | None], None]
) -> Copied:
    """Copy every item that follows a place, a page at a time, and answer what became of them.

    `tell` hears after each page what was done, and from where to go on after a stop. Doing it
    again changes nothing. Items that others write at the target meanwhile may be overwritten.
    """
    untouched = start is None and not done.read and _is_empty(way.target, way.name)
    with ThreadPoolExecutor(_WRITERS) as threads:
        writing = _Writing(way.target, threads)
        for items, last in _pages(way.source, way, start):
            there = {} if untouched else _found(way.target, way, items)
            new = [item for item in items if exact(_key(way, item)) not in there]
            other = [item for item in items if _differs(there.get(exact(_key(way, item))), item)]
            writing.run([PutItem(way.name, item) for item in new + (other if way.mirror else [])])
            done = replace(
                done,
                read=done.read + len(items),
                written=done.written + len(new),
                other=done.other + len(other),
                same=done.same + len(items) - len(new) - len(other),
            )
            tell(done, last)
    return done


def remove_others(way: Way, done: Copied, tell: Callable[[Copied], None]) -> Copied:
    """Remove from the target what the source does not have; answer what was done in all."""
    with ThreadPoolExecutor(_WRITERS) as threads:
        writing = _Writing(way.target, threads)
        for items, _ in _pages(way.target, way, None):
            there = _found(way.source, way, items)
            keys = [_key(way, item) for item in items]
            gone = [key for key in keys if exact(key) not in there]
            writing.run([DeleteItem(way.name, key) for key in gone])
            done = replace(done, removed=done.removed + len(gone))
            tell(done)
    return done


def sum_of(session: Session, way: Way, tell: Callable[[int], None] = lambda _: None) -> ItemSum:
    """Read every item on one side and add it up; `tell` hears how many were read."""
    total = ItemSum()
    for items, _ in _pages(session, way, None):
        total = total.plus(items)
        tell(total.items)
    return total


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes a page in batches, a few at once where calls cross a network."""

    session: Session
    threads: ThreadPoolExecutor

    def run(self, actions: Sequence[Action]) -> None:
        """Write them all; raise Unprocessed when some stay undone after every retry."""
        batches = chunks(tuple(actions), MAX_WRITE)
        if self.session.engine.remote:
            for _ in self.threads.map(self._write, batches):
                pass
        else:
            for batch in batches:
                self._write(batch)

    def _write(self, batch: Sequence[Action]) -> None:
        persist(self.session, batch, lambda left: self.session.engine.batch_write(left).left)


def _pages(
    session: Session, way: Way, start: Key | None
) -> Iterator[tuple[list[Item], Key | None]]:
    """Answer the items of a table that have not expired, a page at a time, and where each ended."""
    while True:
        page = session.engine.scan(Scan(way.name, limit=_PAGE, start=start, consistent=True))
        start = page.last_key
        yield [item for item in page.items if not expired(way.table, item, way.now)], start
        if start is None:
            return


def _found(session: Session, way: Way, items: Sequence[Item]) -> dict[bytes, Item]:
    """Answer those of the same keys on one side, each under its key."""
    found: dict[bytes, Item] = {}

    def read(left: Sequence[GetItem]) -> Sequence[GetItem]:
        answer = session.engine.batch_get(left)
        found.update((exact(_key(way, item)), item) for _, item in answer.found)
        return answer.left

    wanted = tuple(GetItem(way.name, _key(way, item), consistent=True) for item in items)
    for batch in chunks(wanted, MAX_READ):
        persist(session, batch, read)
    return found


def _is_empty(session: Session, name: str) -> bool:
    page = session.engine.scan(Scan(name, limit=1, consistent=True))
    return not page.items and page.last_key is None


def _key(way: Way, item: Item) -> Key:
    return {name: item[name] for name in way.table.key_names}


def _differs(there: Item | None, item: Item) -> bool:
    return there is not None and exact(there) != exact(item)


def _key_of(schema: TableSchema) -> list[tuple[str, str]]:
    return [(name, schema.types[name]) for name in schema.key_names]


def _told(schema: TableSchema) -> str:
    return " and ".join(f"{name} ({kind})" for name, kind in _key_of(schema))
