"""Kept here: tables copied from one engine to another, gone on with after a stop, and compared."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import astuple, dataclass, replace
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput, NotFound
from grandstand.host.moving.progress import Reached, Tell
from grandstand.host.moving.state import CopyState, Stood
from grandstand.host.opening import open_store, sqlite_file
from grandstand.host.settings import Settings
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.encoding.digest import ItemSum
from grandstand.storage.tables.house import consumers
from grandstand.storage.tables.operations.cursor import read_cursor, write_cursor
from grandstand.storage.tables.session import Session
from grandstand.storage.tables.store import Store
from grandstand.storage.tables.upkeep.consumers import MovedConsumer, move_consumers
from grandstand.storage.tables.upkeep.copying import (
    Copied,
    Way,
    check_table,
    copy_items,
    is_there,
    remove_others,
    sum_of,
)
from grandstand.storage.tables.values import Key

_QUESTION: Final = "copy"


@dataclass(frozen=True, slots=True)
class TableMoved:
    """One table: what was done, and what both sides hold now."""

    name: str
    copied: Copied
    source: ItemSum
    target: ItemSum

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same items."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class TablesMoved:
    """Every table that was copied, those the source does not have, and consumers of changes."""

    tables: tuple[TableMoved, ...]
    absent: tuple[str, ...]
    consumers: tuple[MovedConsumer, ...]
    resumed_from: str | None


@dataclass(frozen=True, slots=True)
class TableOrder:
    """What is to be copied from where to where.

    `mirror` replaces what differs and removes what the source lacks, else items are only added;
    `create` makes missing tables; `check` compares and copies nothing.
    """

    source: str
    target: str
    tables: tuple[Table, ...]
    mirror: bool = False
    create: bool = False
    check: bool = False


def copy_tables(settings: Settings, order: TableOrder, clock: Clock, tell: Tell) -> TablesMoved:
    """Copy tables, then read both sides and compare; again, it changes nothing.

    A copy that was stopped goes on where it stood. Raises InvalidInput or NotFound for a source or
    target that cannot be, saying what to do, and what the engines raise.
    """
    if order.source == order.target:
        message = (
            f"Both sides are {order.source}: say where to with --to, or where from with --from"
        )
        raise InvalidInput(message)
    with ExitStack() as opened:
        source = opened.enter_context(_open_source(settings, order.source, clock))
        target = opened.enter_context(open_store(_at(settings, order.target), clock))
        present = tuple(table for table in order.tables if is_there(source.session, table))
        _check_target(order, target, present)
        work = _Copy(settings, order, (source, target), tell)
        moved = tuple([work.table(table) for table in present if table is not consumers])
        heard = work.move_consumers([each.name for each in moved if each.equal])
        if not order.check:
            work.state.forget()
    absent = tuple(source.session.name(each) for each in order.tables if each not in present)
    return TablesMoved(moved, absent, heard, work.state.begun_at if work.state.resumed else None)


class _Copy:
    """One run."""

    def __init__(
        self, settings: Settings, order: TableOrder, stores: tuple[Store, Store], tell: Tell
    ) -> None:
        self._order = order
        self._source, self._target = stores
        self._tell = tell
        self._clock = self._source.session.clock
        naming = self._source.session.naming
        question = ("tables", order.source, order.target, order.mirror, naming)
        self.state = CopyState.open(settings.home, question, self._clock)

    def table(self, table: Table) -> TableMoved:
        """Copy one table, and compare both sides."""
        source, target = self._source.session, self._target.session
        way = Way(source, target, table, self._clock.epoch(), mirror=self._order.mirror)
        copied = Copied() if self._order.check else self._copied(way)
        sums = [self._sum(way, way.source, "source"), self._sum(way, way.target, "target")]
        return TableMoved(way.name, copied, *sums)

    def move_consumers(self, names: list[str]) -> tuple[MovedConsumer, ...]:
        """Give the consumers of tables that are equal now a position at the target."""
        both = all(is_there(each.session, consumers) for each in (self._source, self._target))
        streams = self._target.session.engine.capabilities.streams
        if self._order.check or not streams or not both:
            return ()
        return move_consumers(self._source, self._target, names, again=self._order.mirror)

    def _copied(self, way: Way) -> Copied:
        stood = self.state.stood(way.name)
        done = Copied(*stood.counts)
        if stood.done:
            return done
        what = f"copy of {way.name}"
        total = way.source.engine.describe_table(way.name).items
        question = (_QUESTION, way.name)
        start = None if stood.place is None else read_cursor(question, stood.place)

        def tell(reached: Copied, place: Key | None) -> None:
            cursor = None if place is None else write_cursor(question, place)
            self.state.keep(way.name, Stood(place=cursor, counts=astuple(reached)))
            self._tell(Reached(what, reached.read, max(total, reached.read), "items"))

        self._tell(Reached(what, done.read, max(total, done.read), "items"))
        done = copy_items(way, start, done, tell)
        if self._order.mirror:
            done = remove_others(
                way,
                replace(done, removed=0),
                lambda far: self._tell(Reached(f"cleaning {way.name}", far.removed, None, "items")),
            )
        self.state.keep(way.name, Stood(done=True, counts=astuple(done)))
        self._tell(Reached(what, done.read, done.read, "items"))
        return done

    def _sum(self, way: Way, session: Session, side: str) -> ItemSum:
        what = f"checking {way.name} at the {side}"
        found = sum_of(session, way, lambda read: self._tell(Reached(what, read, None, "items")))
        self._tell(Reached(what, found.items, found.items, "items"))
        return found


def _open_source(settings: Settings, place: str, clock: Clock) -> Store:
    file = sqlite_file(_at(settings, place))
    if place.startswith("sqlite") and (file is None or not file.is_file()):
        raise NotFound(f"There are no tables at {file or place}: name another place with --from")
    return open_store(_at(settings, place), clock)


def _at(settings: Settings, place: str) -> Settings:
    return settings.model_copy(update={"tables": place})


def _check_target(order: TableOrder, target: Store, tables: tuple[Table, ...]) -> None:
    if order.create:
        target.create(tables)
    missing = [each for each in tables if not is_there(target.session, each)]
    if missing:
        names = ", ".join(target.session.name(each) for each in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""  # noqa: PLR2004 - as shown
        message = (
            f"{order.target} does not have {names}{more}: make them with "
            f"`GRANDSTAND_TABLES={order.target} grandstand tables create`, or add --create"
        )
        raise NotFound(message)
    for each in tables:
        check_table(target.session, each)
