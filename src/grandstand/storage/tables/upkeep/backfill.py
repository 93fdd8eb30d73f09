"""Kept here: bringing every stored item of an entity to its present form, while others write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.declaration.plan import SCHEMA_VERSION, EntityPlan, expired
from grandstand.storage.tables.errors import (
    ConditionFailed,
    CursorInvalid,
    DeclarationFault,
    StoredItemInvalid,
)
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Condition,
    Exists,
    Missing,
    Path,
    Update,
)
from grandstand.storage.tables.expressions.nodes import Literal as Given
from grandstand.storage.tables.operations.checks import all_of
from grandstand.storage.tables.operations.cursor import read_cursor, write_cursor
from grandstand.storage.tables.requests import GetItem, Scan, UpdateItem
from grandstand.storage.tables.values import Item, Key, same

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.session import Session
    from grandstand.storage.tables.store import Store

Outcome: TypeAlias = Literal["upgraded", "current", "newer", "others", "expired", "gone", "failed"]

_PAGE: Final = 100
_TRIES: Final = 8
_SHOWN: Final = 20
# A condition may have 300 operators, of which each attribute takes two.
_COMPARED: Final = 140
_DONE: Final = "*"


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that could not be brought to the present form, and why; it is as it was."""

    key: Key
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backfill has come.

    Items were `upgraded` (or would have been), were `current` already, were `newer` than this
    declaration, were of `others` entities, had `expired`, were `gone` when their turn came, or
    `failed`. `estimated` is how many items the table is thought to hold. `resume` takes the work
    up from here; it is None at the end.
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
    """What a backfill did, and the first items it could not do."""

    progress: Progress
    failures: tuple[Failure, ...]
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
    """Bring every item of an older schema version to the present one.

    Each is written only if it is still as it was read; one that changed meanwhile is read again,
    so no write of another is lost. `progress` is told after each page. Segments of a table in the
    cloud are worked through side by side. Running it again, or from a `resume` of the same
    number of segments, is harmless. Raises DeclarationFault for an entity without a schema version,
    CursorInvalid for a `resume` of something else.
    """
    plan: EntityPlan[Any] = entity.__plan__
    if plan.schema_version is None:
        message = f"{plan.name} has no schema_version: declare one, and upgrade() to reach it"
        raise DeclarationFault(message)
    work = _Backfill(store.session, plan, dry_run, segments, progress)
    work.take_up(resume)
    if store.session.engine.remote and segments > 1:
        with ThreadPoolExecutor(segments) as threads:
            for done in [threads.submit(work.segment, number) for number in range(segments)]:
                done.result()
    else:
        for number in range(segments):
            work.segment(number)
    return work.report()


class _Backfill:
    """One run: what it has counted so far, and where each segment stands."""

    def __init__(
        self,
        session: Session,
        plan: EntityPlan[Any],
        dry_run: bool,  # noqa: FBT001 - handed on from a keyword
        segments: int,
        progress: Callable[[Progress], None],
    ) -> None:
        self._session = session
        self._plan = plan
        self._dry_run = dry_run
        self._segments = segments
        self._progress = progress
        self._table = session.name(plan.table)
        self._estimated = session.engine.describe_table(self._table).items
        self._lock = Lock()
        self._counted: Counter[Outcome] = Counter()
        self._failures: list[Failure] = []
        self._places = [""] * segments
        self._stopped = False

    def take_up(self, resume: str | None) -> None:
        """Start every segment where an earlier run left it."""
        if resume is None:
            return
        places = resume.split(".")
        if len(places) != self._segments:
            message = f"This place is one of {len(places)} segments: go on with as many"
            raise CursorInvalid(message)
        for number, place in enumerate(places):
            if place not in ("", _DONE):
                read_cursor(self._question(number), place)
        self._places = places

    def segment(self, number: int) -> None:
        """Work one segment through, page by page; stop when another segment has failed."""
        try:
            while self._places[number] != _DONE and not self._stopped:
                self._page(number)
        except BaseException:
            self._stopped = True
            raise

    def _page(self, number: int) -> None:
        place = self._places[number]
        start = read_cursor(self._question(number), place) if place else None
        page = self._session.engine.scan(
            Scan(
                self._table,
                limit=_PAGE,
                start=start,
                segment=number,
                segments=self._segments,
                consistent=True,
            )
        )
        outcomes = [self._bring(item) for item in page.items]
        last = page.last_key
        reached = _DONE if last is None else write_cursor(self._question(number), last)
        self._tell(number, reached, outcomes)

    def report(self) -> Report:
        """Answer what was done."""
        return Report(self._state(), tuple(self._failures), self._dry_run)

    def _question(self, number: int) -> tuple[object, ...]:
        plan = self._plan
        return ("backfill", plan.table.name, plan.name, plan.schema_version, number, self._segments)

    def _tell(self, number: int, reached: str, outcomes: list[Outcome]) -> None:
        with self._lock:
            self._counted.update(outcomes)
            self._places[number] = reached
            self._progress(self._state())

    def _state(self) -> Progress:
        counted = self._counted
        done = all(place == _DONE for place in self._places)
        return Progress(
            scanned=counted.total(),
            upgraded=counted["upgraded"],
            current=counted["current"],
            newer=counted["newer"],
            others=counted["others"],
            expired=counted["expired"],
            gone=counted["gone"],
            failed=counted["failed"],
            estimated=self._estimated,
            resume=None if done else ".".join(self._places),
        )

    def _bring(self, item: Item) -> Outcome:
        plan, found = self._plan, item
        key = {name: item[name] for name in plan.table.key_names}
        for _ in range(_TRIES):
            standing = self._standing(found)
            if standing is not None:
                return standing
            try:
                update = upgrading(plan, found)
                condition = unchanged(plan, found, update)
            except (GrandstandError, ValueError, TypeError, LookupError, ArithmeticError) as fault:
                return self._fail(key, f"{type(fault).__name__}: {fault}")
            if self._dry_run:
                return "upgraded"
            written = self._write(key, update, condition)
            if isinstance(written, str):
                return written
            found = written
        return self._fail(key, f"It changed each of {_TRIES} times it was to be written")

    def _standing(self, item: Item) -> Outcome | None:
        """Tell what an item is; None for one that is to be brought to the present form."""
        plan = self._plan
        if not plan.keeps(item, None):
            return "others"
        if expired(plan.table, item, self._session.clock.epoch()):
            return "expired"
        stored = item.get(SCHEMA_VERSION)
        if stored == plan.schema_version:
            return "current"
        ours, theirs = _order(plan.schema_version), _order(stored)
        return "newer" if ours and theirs and theirs > ours else None

    def _write(self, key: Key, update: Update, condition: Condition | None) -> Outcome | Item:
        """Write the difference; answer what became of the item, or the item as it is instead."""
        engine = self._session.engine
        request = UpdateItem(self._table, key, update, condition, show_conflict=True)
        try:
            engine.update(request)
        except ConditionFailed:
            found = engine.get(GetItem(self._table, key, consistent=True)).item
            return "gone" if found is None else found
        return "upgraded"

    def _fail(self, key: Key, reason: str) -> Outcome:
        with self._lock:
            if len(self._failures) < _SHOWN:
                self._failures.append(Failure(key, reason))
        return "failed"


def upgrading(plan: EntityPlan[Any], item: Item) -> Update:
    """Work out what has to change in an item; attributes the entity does not know stay.

    Raises StoredItemInvalid when the item would have to move to another key.
    """
    upgraded = plan.entity.upgrade(dict(item))
    record = plan.decode(item)
    own = {target.attribute for target in plan.fields.values()}
    own |= {side.attribute for index in plan.indexes for side in index.sides}
    wanted = {name: value for name, value in upgraded.items() if name not in own}
    wanted |= plan.encode(record)
    if any(not same(wanted[name], item[name]) for name in plan.table.key_names):
        message = f"The upgraded {plan.name} has another key: put it there and delete this one"
        raise StoredItemInvalid(message)
    sets = tuple(
        (Path((name,)), Given(value))
        for name, value in wanted.items()
        if name not in item or not same(value, item[name])
    )
    removes = tuple(Path((name,)) for name in item if name not in wanted)
    return Update(sets, removes)


def unchanged(plan: EntityPlan[Any], item: Item, update: Update) -> Condition | None:
    """Demand that every attribute is as it was read, and that none to be set has come.

    Raises StoredItemInvalid when there are too many to compare.
    """
    keys = plan.table.key_names
    parts: list[Condition] = [Exists(Path((plan.table.partition,)))]
    parts += [
        Compare("=", Path((name,)), Given(value))
        for name, value in item.items()
        if name not in keys
    ]
    parts += [Missing(path) for path, _ in update.sets if path.root not in item]
    if len(parts) > _COMPARED:
        message = f"It has more than {_COMPARED} attributes, too many to compare in one condition"
        raise StoredItemInvalid(message)
    return all_of(*parts)


def _order(version: object) -> tuple[int, ...] | None:
    """Read a version as numbers between points; None when it is none."""
    parts = str(version).split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None
