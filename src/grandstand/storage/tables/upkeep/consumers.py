"""Kept here: what becomes of consumers of changes when tables move to another engine."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Final

from grandstand.storage.tables.errors import ChangesLost, InvalidRequest
from grandstand.storage.tables.house import Consumer
from grandstand.storage.tables.store import Store

# No engine's stream has this position, so whoever goes on from there hears ChangesLost.
_NOWHERE: Final = "0"
_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class MovedConsumer:
    """A consumer at the target: it goes on with what changes there, or has to rebuild first."""

    name: str
    source: str
    rebuilds: bool


def move_consumers(
    source: Store, target: Store, tables: Container[str], *, again: bool = False
) -> tuple[MovedConsumer, ...]:
    """Give the consumers of copied tables a position at the target, and answer them.

    Positions mean nothing to another engine. A consumer that has worked through every change goes
    on after the last change at the target, so that it does not hear of the copy itself. One that
    has not would miss some: it is given a position that is lost, and rebuilds from the table.
    Consumers the target knows stay as they are there, unless it is done `again`.
    """
    moved = []
    for kept in source.each(Consumer.scan()):
        there = target(Consumer.one(kept.name, kept.source))
        if kept.source not in tables or (there is not None and not again):
            continue
        behind = _is_behind(source, kept)
        position = _NOWHERE if behind else _end(target, kept.source)
        target(replace(kept, position=position, moved_at=target.session.clock.now()).put())
        if not behind:
            target.session.engine.hold_changes(kept.source, kept.name, position)
        moved.append(MovedConsumer(kept.name, kept.source, behind))
    return tuple(moved)


def _is_behind(store: Store, kept: Consumer) -> bool:
    try:
        return bool(store.session.engine.changes(kept.source, kept.position, 1).changes)
    except (ChangesLost, InvalidRequest):
        return True


def _end(store: Store, table: str) -> str:
    engine = store.session.engine
    if not engine.remote:
        return engine.latest_position(table)
    # The latest position of a service is a moment, and changes of the minutes before it may be
    # heard again; whoever has read to the end has a place in every shard.
    position: str | None = None
    while True:
        batch = engine.changes(table, position, _AT_ONCE)
        if batch.caught_up:
            return batch.position
        position = batch.position
