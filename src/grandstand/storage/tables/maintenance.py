"""Maintenance of whole tables: schema backfill, copying, and removal of expired items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from grandstand.core.errors import Conflict, GrandstandError
from grandstand.storage.tables import errors, requests
from grandstand.storage.tables.attribute_values import Item, Key, same
from grandstand.storage.tables.declaration.compiled import SCHEMA_VERSION, EntityPlan, is_expired
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.encoding import ItemSum, canonical_bytes
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.operations import item_ops
from grandstand.storage.tables.operations.conditions import all_of
from grandstand.storage.tables.operations.queries import read_cursor, write_cursor
from grandstand.storage.tables.platform_tables import Consumer
from grandstand.storage.tables.store import Session, Store

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.schema import TableSchema

Outcome: TypeAlias = Literal["upgraded", "current", "newer", "others", "expired", "gone", "failed"]

_MAX_ATTEMPTS: Final = 8
# A condition may have 300 operators; each attribute takes two.
_MAX_COMPARED: Final = 140
_SEGMENT_DONE: Final = "*"


@dataclass(frozen=True, slots=True)
class BackfillFailure:
    """An item that could not be upgraded, and why; it is unchanged."""

    key: Key
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a backfill.

    Items were `upgraded` (or would have been in a dry run), `current` already, `newer` than this
    declaration, of `others` entities, `expired`, `gone` when they were to be written, or `failed`.
    `estimated` is the estimated size of the table. `resume` continues from here; None at the end.
    """

    scanned: int
    upgraded: int
    current: int
    newer: int
    others: int
    expired: int
    gone: int
    failed: int
    estimated: int
    resume: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a backfill, with the first failures."""

    progress: Progress
    failures: tuple[BackfillFailure, ...]
    dry_run: bool


def backfill(
    store: Store,
    entity: type[Entity],
    *,
    progress: Callable[[Progress], None],
    dry_run: bool = False,
    segments: int = 1,
    resume: str | None = None,
) -> Report:
    """Upgrade every item of an older schema version.

    An item is written only if it has not changed since it was read; otherwise it is read again, so
    no concurrent write is lost. Repeating a backfill is harmless.

    Args:
        store: The store.
        entity: An entity with a schema version.
        progress: Called after each page.
        dry_run: Only count.
        segments: The number of segments, which a remote engine processes in parallel.
        resume: Where an earlier run with the same number of segments stopped.

    Raises:
        DeclarationFault: The entity has no schema version.
        CursorInvalid: `resume` belongs to something else.
    """
    plan: EntityPlan[Any] = entity.__plan__
    if plan.schema_version is None:
        raise errors.DeclarationFault(
            f"{plan.name} has no schema_version. Declare one, and an upgrade() to it."
        )
    work = _Backfill(store.session, plan, dry_run, segments, progress)
    work.resume_from(resume)
    if store.session.engine.remote and segments > 1:
        with ThreadPoolExecutor(segments) as threads:
            for done in [threads.submit(work.segment, number) for number in range(segments)]:
                done.result()
    else:
        for number in range(segments):
            work.segment(number)
    return work.report()


@dataclass
class _Backfill:
    """One run: its counts and the position of each segment."""

    session: Session
    plan: EntityPlan[Any]
    dry_run: bool
    segments: int
    progress: Callable[[Progress], None]

    def __post_init__(self) -> None:
        self._table = self.session.name(self.plan.table)
        self._estimated = self.session.engine.describe_table(self._table).items
        self._lock = Lock()
        self._counts: Counter[Outcome] = Counter()
        self._failures: list[BackfillFailure] = []
        self._cursors = [""] * self.segments
        self._stopped = False

    def resume_from(self, resume: str | None) -> None:
        """Start every segment where an earlier run stopped."""
        if resume is None:
            return
        cursors = resume.split(".")
        if len(cursors) != self.segments:
            raise errors.CursorInvalid(
                f"The resume token is for {len(cursors)} segments. Use the same number."
            )
        for number, cursor in enumerate(cursors):
            if cursor not in ("", _SEGMENT_DONE):
                read_cursor(self._cursor_scope(number), cursor)
        self._cursors = cursors

    def segment(self, number: int) -> None:
        """Process one segment; stops if another segment failed."""
        try:
            while self._cursors[number] != _SEGMENT_DONE and not self._stopped:
                self._page(number)
        except BaseException:
            self._stopped = True
            raise

    def _page(self, number: int) -> None:
        cursor = self._cursors[number]
        start = read_cursor(self._cursor_scope(number), cursor) if cursor else None
        page = self.session.engine.scan(
            requests.ScanRequest(
                self._table,
                limit=100,
                start=start,
                segment=number,
                segments=self.segments,
                consistent=True,
            )
        )
        outcomes = [self._upgrade(item) for item in page.items]
        last = page.last_key
        next_cursor = (
            _SEGMENT_DONE if last is None else write_cursor(self._cursor_scope(number), last)
        )
        with self._lock:
            self._counts.update(outcomes)
            self._cursors[number] = next_cursor
            self.progress(self._current_progress())

    def report(self) -> Report:
        return Report(self._current_progress(), tuple(self._failures), self.dry_run)

    def _cursor_scope(self, number: int) -> tuple[object, ...]:
        plan = self.plan
        return ("backfill", plan.table.name, plan.name, plan.schema_version, number, self.segments)

    def _current_progress(self) -> Progress:
        done = all(cursor == _SEGMENT_DONE for cursor in self._cursors)
        return Progress(
            scanned=self._counts.total(),
            **{outcome: self._counts[outcome] for outcome in get_args(Outcome)},
            estimated=self._estimated,
            resume=None if done else ".".join(self._cursors),
        )

    def _upgrade(self, item: Item) -> Outcome:
        plan, found = self.plan, item
        key = {name: item[name] for name in plan.table.key_names}
        for _ in range(_MAX_ATTEMPTS):
            outcome = self._classify(found)
            if outcome is not None:
                return outcome
            try:
                update = upgrade_changes(plan, found)
                condition = unchanged_condition(plan, found, update)
            except (GrandstandError, ValueError, TypeError, LookupError, ArithmeticError) as error:
                return self._record_failure(key, f"{type(error).__name__}: {error}")
            if self.dry_run:
                return "upgraded"
            written = self._write(key, update, condition)
            if isinstance(written, str):
                return written
            found = written
        return self._record_failure(
            key, f"It changed during each of {_MAX_ATTEMPTS} attempts to write it."
        )

    def _classify(self, item: Item) -> Outcome | None:
        """Return the outcome of an item that is not upgraded, or None."""
        plan = self.plan
        if not plan.matches(item, None):
            return "others"
        if is_expired(plan.table, item, self.session.clock.epoch()):
            return "expired"
        stored = item.get(SCHEMA_VERSION)
        if stored == plan.schema_version:
            return "current"
        ours, theirs = _version_numbers(plan.schema_version), _version_numbers(stored)
        return "newer" if ours and theirs and theirs > ours else None

    def _write(
        self, key: Key, update: nodes.UpdateNode, condition: nodes.Condition | None
    ) -> Outcome | Item:
        """Write the changes; return the outcome, or the item if it has changed."""
        engine = self.session.engine
        request = requests.UpdateItem(self._table, key, update, condition, show_conflict=True)
        try:
            engine.update(request)
        except errors.ConditionFailed:
            found = engine.get(requests.GetItem(self._table, key, consistent=True)).item
            return "gone" if found is None else found
        return "upgraded"

    def _record_failure(self, key: Key, reason: str) -> Outcome:
        with self._lock:
            if len(self._failures) < 20:
                self._failures.append(BackfillFailure(key, reason))
        return "failed"


def upgrade_changes(plan: EntityPlan[Any], item: Item) -> nodes.UpdateNode:
    """Return the update that upgrades an item; unknown attributes stay.

    Raises StoredItemInvalid if the upgraded item has another key.
    """
    upgraded = plan.entity.upgrade(dict(item))
    record = plan.decode(item)
    own = {target.attribute for target in plan.fields.values()}
    own |= {part.attribute for index in plan.indexes for part in index.parts}
    expected = {name: value for name, value in upgraded.items() if name not in own}
    expected |= plan.encode(record)
    if any(not same(expected[name], item[name]) for name in plan.table.key_names):
        raise errors.StoredItemInvalid(
            f"The upgraded {plan.name} has another key. Put a new item and delete this one."
        )
    sets = tuple(
        (nodes.Path((name,)), nodes.Literal(value))
        for name, value in expected.items()
        if name not in item or not same(value, item[name])
    )
    removes = tuple(nodes.Path((name,)) for name in item if name not in expected)
    return nodes.UpdateNode(sets, removes)


def unchanged_condition(
    plan: EntityPlan[Any], item: Item, update: nodes.UpdateNode
) -> nodes.Condition | None:
    """Return the condition that no attribute has changed or appeared.

    Raises StoredItemInvalid if there are too many attributes.
    """
    keys = plan.table.key_names
    parts: list[nodes.Condition] = [nodes.Exists(nodes.Path((plan.table.partition,)))]
    parts += [
        nodes.Compare("=", nodes.Path((name,)), nodes.Literal(value))
        for name, value in item.items()
        if name not in keys
    ]
    parts += [nodes.Missing(path) for path, _ in update.sets if path.root not in item]
    if len(parts) > _MAX_COMPARED:
        raise errors.StoredItemInvalid(
            f"It has more than {_MAX_COMPARED} attributes, too many for one condition."
        )
    return all_of(*parts)


def _version_numbers(version: object) -> tuple[int, ...] | None:
    """Parse a version such as 1.2; None if it is not one."""
    parts = str(version).split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None


Action: TypeAlias = requests.PutItem | requests.DeleteItem

_WRITERS: Final = 4


class TableKeyMismatch(Conflict):
    """The target table has another key than the declared one."""

    code: ClassVar[str] = "table-key-mismatch"


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """Counts of copied items.

    Items were `written`, were the `same` at the target, or were `other`: replaced when mirroring,
    left alone otherwise. `removed` counts items that the source does not have.
    """

    read: int = 0
    written: int = 0
    same: int = 0
    other: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What to copy where; with `mirror` the target becomes equal, otherwise items are added.

    Items that expired at `now`, in epoch seconds, are ignored on both sides.
    """

    source: Session
    target: Session
    table: Table
    now: float
    mirror: bool = False

    @property
    def name(self) -> str:
        """The physical name of the table, the same on both sides."""
        return self.source.names[self.table]


def check_table(session: Session, table: Table) -> None:
    """Raise TableNotFound, or TableKeyMismatch if the target table has another key.

    Indexes may differ.
    """
    expected = table.schema(session.naming)
    found = session.engine.schema_of(expected.name)
    if _key_types(found) != _key_types(expected):
        raise TableKeyMismatch(
            f"The table {expected.name} at the target has the key {_describe_key(found)}, but "
            f"{_describe_key(expected)} is declared. Use another target, or another prefix with "
            "GRANDSTAND_TABLES_PREFIX."
        )


def table_exists(session: Session, table: Table) -> bool:
    try:
        session.engine.schema_of(session.name(table))
    except errors.TableNotFound:
        return False
    return True


def copy_items(
    copy: CopyPlan,
    start: Key | None,
    done: CopyProgress,
    on_progress: Callable[[CopyProgress, Key | None], None],
) -> CopyProgress:
    """Copy the items after `start`, page by page.

    `on_progress` is called after each page with the counts and the key to resume from. Repeating a
    copy changes nothing. Items written at the target meanwhile may be overwritten.
    """
    target_is_empty = False
    if start is None and not done.read:
        page = copy.target.engine.scan(requests.ScanRequest(copy.name, limit=1, consistent=True))
        target_is_empty = not page.items and page.last_key is None
    with ThreadPoolExecutor(_WRITERS) as threads:
        writer = _BatchWriter(copy.target, threads)
        for items, last in _pages(copy.source, copy, start):
            existing = {} if target_is_empty else _read_same_keys(copy.target, copy, items)
            new, other = [], []
            for item in items:
                found = existing.get(canonical_bytes(_key(copy, item)))
                if found is None:
                    new.append(item)
                elif canonical_bytes(found) != canonical_bytes(item):
                    other.append(item)
            writer.run(
                [requests.PutItem(copy.name, item) for item in new + (other if copy.mirror else [])]
            )
            done = replace(
                done,
                read=done.read + len(items),
                written=done.written + len(new),
                other=done.other + len(other),
                same=done.same + len(items) - len(new) - len(other),
            )
            on_progress(done, last)
    return done


def remove_extra(
    copy: CopyPlan, done: CopyProgress, on_progress: Callable[[CopyProgress], None]
) -> CopyProgress:
    """Delete items at the target that the source does not have."""
    with ThreadPoolExecutor(_WRITERS) as threads:
        writer = _BatchWriter(copy.target, threads)
        for items, _ in _pages(copy.target, copy, None):
            existing = _read_same_keys(copy.source, copy, items)
            keys = [_key(copy, item) for item in items]
            gone = [key for key in keys if canonical_bytes(key) not in existing]
            writer.run([requests.DeleteItem(copy.name, key) for key in gone])
            done = replace(done, removed=done.removed + len(gone))
            on_progress(done)
    return done


def checksum(
    session: Session, copy: CopyPlan, on_progress: Callable[[int], None] = lambda _: None
) -> ItemSum:
    """Return the checksum of all items on one side; `on_progress` is called with their number."""
    total = ItemSum()
    for items, _ in _pages(session, copy, None):
        total = total.plus(items)
        on_progress(total.items)
    return total


@dataclass(frozen=True, slots=True)
class _BatchWriter:
    """Writes batches, several in parallel if the engine is remote."""

    session: Session
    threads: ThreadPoolExecutor

    def run(self, actions: Sequence[Action]) -> None:
        """Write all. Raises Unprocessed."""
        batches = item_ops.split_batches(tuple(actions), item_ops.MAX_WRITE)
        if self.session.engine.remote:
            for _ in self.threads.map(partial(item_ops.write_batch, self.session), batches):
                pass
        else:
            for batch in batches:
                item_ops.write_batch(self.session, batch)


def _pages(
    session: Session, copy: CopyPlan, start: Key | None
) -> Iterator[tuple[list[Item], Key | None]]:
    """Yield pages of items that have not expired, with the key to resume from."""
    while True:
        page = session.engine.scan(
            requests.ScanRequest(copy.name, limit=500, start=start, consistent=True)
        )
        start = page.last_key
        yield [item for item in page.items if not is_expired(copy.table, item, copy.now)], start
        if start is None:
            return


def _read_same_keys(session: Session, copy: CopyPlan, items: Sequence[Item]) -> dict[bytes, Item]:
    """Return the items with the same keys on one side, by key."""
    gets = tuple(requests.GetItem(copy.name, _key(copy, item), consistent=True) for item in items)
    return {
        canonical_bytes(_key(copy, item)): item
        for batch in item_ops.read_batches(session, gets)
        for _, item in batch.found
    }


def _key(copy: CopyPlan, item: Item) -> Key:
    return {name: item[name] for name in copy.table.key_names}


def _key_types(schema: TableSchema) -> list[tuple[str, str]]:
    return [(name, schema.types[name]) for name in schema.key_names]


def _describe_key(schema: TableSchema) -> str:
    return " and ".join(f"{name} ({kind})" for name, kind in _key_types(schema))


# No stream has this position, so reading from it raises ChangesLost.
_LOST_POSITION: Final = "0"
_CHANGES_PER_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class MovedConsumer:
    """A consumer at the target: it continues there, or has to rebuild first."""

    name: str
    source: str
    rebuilds: bool


def move_consumers(
    source: Store, target: Store, tables: Container[str], *, again: bool = False
) -> tuple[MovedConsumer, ...]:
    """Create the consumers of copied tables at the target.

    Positions are not valid for another engine. A consumer without pending changes continues after
    the last change at the target, so that it does not see the copy itself. Any other consumer gets
    a lost position and rebuilds from the table. Existing consumers at the target are kept unless
    `again` is set.
    """
    moved = []
    for consumer in source.each(Consumer.scan()):
        existing = target(Consumer.one(consumer.name, consumer.source))
        if consumer.source not in tables or (existing is not None and not again):
            continue
        behind = _is_behind(source, consumer)
        position = _LOST_POSITION if behind else _end_position(target, consumer.source)
        target(replace(consumer, position=position, moved_at=target.session.clock.now()).put())
        if not behind:
            target.session.engine.hold_changes(consumer.source, consumer.name, position)
        moved.append(MovedConsumer(consumer.name, consumer.source, behind))
    return tuple(moved)


def _is_behind(store: Store, consumer: Consumer) -> bool:
    try:
        return bool(store.session.engine.changes(consumer.source, consumer.position, 1).changes)
    except (errors.ChangesLost, errors.InvalidRequest):
        return True


def _end_position(store: Store, table: str) -> str:
    engine = store.session.engine
    if not engine.remote:
        return engine.latest_position(table)
    # The latest position of DynamoDB is a time, and changes of the minutes before may be delivered
    # again. Reading to the end gives a position in every shard.
    position: str | None = None
    while True:
        batch = engine.changes(table, position, _CHANGES_PER_READ)
        if batch.caught_up:
            return batch.position
        position = batch.position


# Other writers wait during a batch, so it is short.
_SWEEP_BATCH: Final = 100


@dataclass(frozen=True, slots=True)
class SweepResult:
    """Deleted items by physical table name; `more` if the limit was reached."""

    deleted: Mapping[str, int]
    more: bool

    @property
    def total(self) -> int:
        return sum(self.deleted.values())


def sweep(store: Store, tables: Iterable[Table], limit: int) -> SweepResult:
    """Delete up to `limit` expired items of these tables, and old changes.

    Tables take turns, so that a large one does not hold up the others. DynamoDB does this by
    itself. Raises TableNotFound.
    """
    session = store.session
    names = [session.name(table) for table in tables if table.ttl or table.stream]
    deleted = dict.fromkeys(names, 0)
    left = limit
    while names and left > 0:
        unfinished = []
        for name in names:
            batch = min(_SWEEP_BATCH, left)
            gone = session.engine.sweep(name, batch) if batch else 0
            deleted[name] += gone
            left -= gone
            if gone == batch:
                unfinished.append(name)
        names = unfinished
    return SweepResult(deleted, more=bool(names))
