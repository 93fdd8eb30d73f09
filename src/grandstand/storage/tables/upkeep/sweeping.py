"""Kept here: clearing away what has expired, a bounded amount at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.table import Table
    from grandstand.storage.tables.store import Store

# Other writers wait while a stretch is swept, so it is kept short.
_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class Swept:
    """How many items went from each table, by its physical name; `more` when the limit was met."""

    deleted: Mapping[str, int]
    more: bool

    @property
    def total(self) -> int:
        """How many items went altogether."""
        return sum(self.deleted.values())


def sweep(store: Store, tables: Iterable[Table], limit: int) -> Swept:
    """Delete up to `limit` expired items of those tables, and old changes nobody needs.

    The tables take turns, so that a large one does not keep the others waiting. In the cloud the
    service does it by itself and nothing is deleted here. Raises TableNotFound.
    """
    session = store.session
    waiting = [session.name(table) for table in tables if table.ttl or table.stream]
    deleted = dict.fromkeys(waiting, 0)
    left = limit
    while waiting and left > 0:
        still = []
        for name in waiting:
            wanted = min(_AT_ONCE, left)
            gone = session.engine.sweep(name, wanted) if wanted else 0
            deleted[name] += gone
            left -= gone
            if gone == wanted:
                still.append(name)
        waiting = still
    return Swept(deleted, more=bool(waiting))
