"""Copying tables and series to another engine, resumable and verified."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, closing
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from pydantic import SecretStr

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, NotFound
from grandstand.host.backup.archive import COPYING, SERIES, Progress, ReportProgress
from grandstand.host.infrastructure import open_series, open_store, sqlite_file
from grandstand.host.settings import Settings
from grandstand.storage.series.copying import RowSum, copy_chunk, row_sum
from grandstand.storage.series.declaration import Series
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import ChunkStatus, Window
from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.encoding import ItemSum
from grandstand.storage.tables.maintenance import (
    CopyPlan,
    CopyProgress,
    MovedConsumer,
    check_table,
    checksum,
    copy_items,
    move_consumers,
    remove_extra,
    table_exists,
)
from grandstand.storage.tables.operations.queries import read_cursor, write_cursor
from grandstand.storage.tables.platform_tables import consumers
from grandstand.storage.tables.store import Session, Store


class Checkpoint(msgspec.Struct, frozen=True):
    """How far the copy of a table or series is: done, or at a position, with its counts."""

    done: bool = False
    place: str | None = None
    counts: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()


class _Checkpoints(msgspec.Struct):
    begun_at: str
    parts: dict[str, Checkpoint]


class CopyCheckpoints:
    """The checkpoints of a copy; locations are stored only as hashes."""

    def __init__(self, path: Path, stored: _Checkpoints, clock: Clock, *, resumed: bool) -> None:
        self._path = path
        self._stored = stored
        self._clock = clock
        self._written_at = clock.monotonic()
        self.resumed = resumed

    @classmethod
    def open(cls, home: Path, identity: tuple[object, ...], clock: Clock) -> CopyCheckpoints:
        """Load the checkpoints of an earlier run of the same copy, or start."""
        name = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
        path = home / COPYING / f"{name}.json"
        try:
            stored = msgspec.json.decode(path.read_bytes(), type=_Checkpoints)
        except (FileNotFoundError, msgspec.DecodeError):
            return cls(path, _Checkpoints(clock.now().isoformat(), {}), clock, resumed=False)
        return cls(path, stored, clock, resumed=True)

    @property
    def begun_at(self) -> str:
        """When the copy was started."""
        return self._stored.begun_at

    def checkpoint(self, name: str) -> Checkpoint:
        """Return the checkpoint of a table or series."""
        return self._stored.parts.get(name, Checkpoint())

    def keep(self, name: str, checkpoint: Checkpoint) -> None:
        """Store a checkpoint, at most twice a second and when a part is done."""
        self._stored.parts[name] = checkpoint
        now = self._clock.monotonic()
        if checkpoint.done or now - self._written_at >= 0.5:
            self._written_at = now
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(".unfinished")
            unfinished.write_bytes(msgspec.json.encode(self._stored))
            unfinished.replace(self._path)

    def forget(self) -> None:
        """Delete the checkpoints: the copy is complete."""
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class TableCopyResult:
    """What was copied of one table, and what both sides hold now."""

    name: str
    copied: CopyProgress
    source: ItemSum
    target: ItemSum

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same items."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class TableCopyReport:
    """All copied tables, those the source lacks, and moved stream consumers."""

    parts: tuple[TableCopyResult, ...]
    absent: tuple[str, ...]
    consumers: tuple[MovedConsumer, ...]
    resumed_from: str | None


@dataclass(frozen=True, slots=True)
class TableCopyRequest:
    """What to copy from where to where.

    `mirror` replaces what differs and removes what the source lacks; otherwise items are only
    added. `create` creates missing tables. `check` only compares.
    """

    source: str
    target: str
    tables: tuple[Table, ...]
    mirror: bool = False
    create: bool = False
    check: bool = False


def copy_tables(
    settings: Settings, order: TableCopyRequest, clock: Clock, report: ReportProgress
) -> TableCopyReport:
    """Copy tables, then compare both sides; repeating it changes nothing.

    An interrupted copy continues. Raises InvalidInput or NotFound for an unusable source or target,
    and the engines' errors.
    """
    if order.source == order.target:
        raise InvalidInput(
            f"Both sides are {order.source}. Set the target with --to or the source with --from."
        )
    with ExitStack() as opened:
        source = opened.enter_context(_open_source(settings, order.source, clock))
        target = opened.enter_context(open_store(_at(settings, order.target), clock, new=True))
        present = tuple(table for table in order.tables if table_exists(source.session, table))
        _check_target(order, target, present)
        work = _TableCopy(settings, order, (source, target), report)
        results = tuple([work.table(table) for table in present if table is not consumers])
        moved = work.move_consumers([each.name for each in results if each.equal])
        if not order.check:
            work.state.forget()
    absent = tuple(source.session.name(each) for each in order.tables if each not in present)
    return TableCopyReport(
        results, absent, moved, work.state.begun_at if work.state.resumed else None
    )


class _TableCopy:
    """One run."""

    def __init__(
        self,
        settings: Settings,
        order: TableCopyRequest,
        stores: tuple[Store, Store],
        report: ReportProgress,
    ) -> None:
        self._order = order
        self._source, self._target = stores
        self._report = report
        self._clock = self._source.session.clock
        naming = self._source.session.naming
        identity = ("tables", order.source, order.target, order.mirror, naming)
        self.state = CopyCheckpoints.open(settings.home, identity, self._clock)

    def table(self, table: Table) -> TableCopyResult:
        """Copy one table and compare both sides."""
        source, target = self._source.session, self._target.session
        plan = CopyPlan(source, target, table, self._clock.epoch(), mirror=self._order.mirror)
        copied = CopyProgress() if self._order.check else self._copy(plan)
        sums = [self._sum(plan, plan.source, "source"), self._sum(plan, plan.target, "target")]
        return TableCopyResult(plan.name, copied, *sums)

    def move_consumers(self, names: list[str]) -> tuple[MovedConsumer, ...]:
        """Position the stream consumers of equal tables at the target."""
        both = all(table_exists(each.session, consumers) for each in (self._source, self._target))
        streams = self._target.session.engine.capabilities.streams
        if self._order.check or not streams or not both:
            return ()
        return move_consumers(self._source, self._target, names, again=self._order.mirror)

    def _copy(self, plan: CopyPlan) -> CopyProgress:
        checkpoint = self.state.checkpoint(plan.name)
        done = CopyProgress(*checkpoint.counts)
        if checkpoint.done:
            return done
        what = f"copy of {plan.name}"
        total = plan.source.engine.describe_table(plan.name).items
        query = ("copy", plan.name)
        start = None if checkpoint.place is None else read_cursor(query, checkpoint.place)

        def save(reached: CopyProgress, place: Key | None) -> None:
            cursor = None if place is None else write_cursor(query, place)
            self.state.keep(plan.name, Checkpoint(place=cursor, counts=astuple(reached)))
            self._report(Progress(what, reached.read, max(total, reached.read), "items"))

        self._report(Progress(what, done.read, max(total, done.read), "items"))
        done = copy_items(plan, start, done, save)
        if self._order.mirror:
            done = remove_extra(
                plan,
                replace(done, removed=0),
                lambda far: self._report(
                    Progress(f"cleaning {plan.name}", far.removed, None, "items")
                ),
            )
        self.state.keep(plan.name, Checkpoint(done=True, counts=astuple(done)))
        self._report(Progress(what, done.read, done.read, "items"))
        return done

    def _sum(self, plan: CopyPlan, session: Session, side: str) -> ItemSum:
        what = f"checking {plan.name} at the {side}"
        found = checksum(
            session, plan, lambda read: self._report(Progress(what, read, None, "items"))
        )
        self._report(Progress(what, found.items, found.items, "items"))
        return found


def _open_source(settings: Settings, place: str, clock: Clock) -> Store:
    file = sqlite_file(_at(settings, place))
    if place.startswith("sqlite") and (file is None or not file.is_file()):
        raise NotFound(f"No tables at {file or place}. Use another source with --from.")
    return open_store(_at(settings, place), clock)


def _at(settings: Settings, place: str) -> Settings:
    return settings.model_copy(update={"tables": place})


def _check_target(order: TableCopyRequest, target: Store, tables: tuple[Table, ...]) -> None:
    if order.create:
        target.create(tables)
    missing = [each for each in tables if not table_exists(target.session, each)]
    if missing:
        names = ", ".join(target.session.name(each) for each in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise NotFound(
            f"{order.target} does not have {names}{more}: make them with "
            f"`GRANDSTAND_TABLES={order.target} grandstand tables create`, or add --create"
        )
    for each in tables:
        check_table(target.session, each)


@dataclass(frozen=True, slots=True)
class SeriesCopyResult:
    """Rows read and added of one series, and what both sides hold now."""

    name: str
    read: int
    added: int
    source: RowSum
    target: RowSum

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same rows."""
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class SeriesCopyReport:
    """All copied series, and when a continued copy had started."""

    parts: tuple[SeriesCopyResult, ...]
    resumed_from: str | None


@dataclass(frozen=True, slots=True)
class SeriesCopyRequest:
    """What to copy from where to where; `check` only compares."""

    source: SecretStr
    target: SecretStr
    series: tuple[Series[Any], ...]
    check: bool = False


def copy_series(
    settings: Settings, order: SeriesCopyRequest, clock: Clock, report: ReportProgress
) -> SeriesCopyReport:
    """Copy series chunk by chunk, then compare both sides; repeating it changes nothing.

    An interrupted copy continues with the next chunk. Raises InvalidInput or NotFound for an
    unusable source or target, and the engines' errors.
    """
    if order.source.get_secret_value() == order.target.get_secret_value():
        raise InvalidInput(
            "Source and target are the same. Set the target with --to or the source with --from."
        )
    embedded = order.source.get_secret_value() == "chunks"
    if embedded and not (settings.home / SERIES).is_dir():
        raise NotFound(f"No series in {settings.home}. Use another source with --from.")
    with ExitStack() as opened:
        source, target = (
            opened.enter_context(closing(open_series(_series_at(settings, place), clock)))
            for place in (order.source, order.target)
        )
        work = _SeriesCopy(settings, order, (source, target), clock, report)
        moved = tuple([work.series(one) for one in order.series])
        if not order.check:
            work.state.forget()
    return SeriesCopyReport(moved, work.state.begun_at if work.state.resumed else None)


class _SeriesCopy:
    """One run."""

    def __init__(
        self,
        settings: Settings,
        order: SeriesCopyRequest,
        engines: tuple[SeriesEngine, SeriesEngine],
        clock: Clock,
        report: ReportProgress,
    ) -> None:
        self._order = order
        self._source, self._target = engines
        self._report = report
        places = [place.get_secret_value() for place in (order.source, order.target)]
        self.state = CopyCheckpoints.open(settings.home, ("series", *places), clock)

    def series(self, one: Series[Any]) -> SeriesCopyResult:
        """Copy one series and compare both sides."""
        self._source.prepare(one)
        self._target.prepare(one)
        chunks = self._source.status(one).chunks
        total = sum(chunk.rows + chunk.late for chunk in chunks)
        read, added = (0, 0) if self._order.check else self._copy(one, chunks, total)
        sums = [
            self._sum(one, engine, side, total)
            for engine, side in ((self._source, "source"), (self._target, "target"))
        ]
        return SeriesCopyResult(one.name, read, added, *sums)

    def _copy(
        self, one: Series[Any], chunks: tuple[ChunkStatus, ...], total: int
    ) -> tuple[int, int]:
        checkpoint = self.state.checkpoint(one.name)
        read, added = checkpoint.counts or (0, 0)
        ended, what = [*checkpoint.chunks], f"copy of {one.name}"
        for chunk in chunks:
            if chunk.start in checkpoint.chunks:
                continue
            before = read
            done = copy_chunk(
                self._source,
                self._target,
                Window(one, chunk.start, chunk.end),
                lambda far, before=before: self._report(  # type: ignore[misc]
                    Progress(what, before + far, max(total, before + far), "rows")
                ),
            )
            read, added = read + done.read, added + done.added
            if chunk.state != "open":
                ended.append(chunk.start)
            self.state.keep(one.name, Checkpoint(counts=(read, added), chunks=tuple(ended)))
        return read, added

    def _sum(self, one: Series[Any], engine: SeriesEngine, side: str, total: int) -> RowSum:
        what = f"checking {one.name} at the {side}"
        return row_sum(
            engine,
            one,
            lambda rows: self._report(Progress(what, rows, max(total, rows), "rows")),
        )


def _series_at(settings: Settings, place: SecretStr) -> Settings:
    return settings.model_copy(update={"series": place})
