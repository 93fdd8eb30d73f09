"""Kept here: what to make of a write whose answer was lost on the way.

The service may have carried the write out before the answer was lost. Doing it again is harmless
for a put, a delete and an update that says what shall be; not for one that counts. And a write
done again may find its own condition broken by its first try: then the item as it is now tells
whether the first try was carried out, or at least that what it wanted holds.
"""

from __future__ import annotations

from grandstand.storage.tables.expressions.apply import apply, makes_item, touched
from grandstand.storage.tables.expressions.nodes import Assigned, IfMissing, Literal, Path, Update
from grandstand.storage.tables.requests import DeleteItem, PutItem, UpdateItem
from grandstand.storage.tables.values import Item, same


def repeatable(request: PutItem | UpdateItem | DeleteItem) -> bool:
    """Tell whether doing the write twice leaves the same as doing it once."""
    return not isinstance(request, UpdateItem) or _says_what_shall_be(request.update)


def _says_what_shall_be(update: Update) -> bool:
    return (
        all(_constant(assigned) for _, assigned in update.sets)
        and all(isinstance(literal.value, frozenset) for _, literal in update.adds)
        and not any(_positional(path) for path in update.paths)
    )


def _constant(assigned: Assigned) -> bool:
    if isinstance(assigned, IfMissing):
        return _constant(assigned.other)
    return isinstance(assigned, Literal)


def _positional(path: Path) -> bool:
    return any(isinstance(step, int) for step in path.steps)


def holds(request: PutItem | UpdateItem | DeleteItem, found: Item | None) -> bool:
    """Tell whether what the write wanted is what was found; the write is a repeatable one."""
    match request:
        case PutItem():
            return found is not None and same(request.item, found)
        case DeleteItem():
            return found is None
        case UpdateItem():
            if found is None:
                return not makes_item(request.update)
            return same(apply(request.update, found), found)


def new_attributes(request: PutItem | UpdateItem | DeleteItem, found: Item | None) -> Item:
    """Answer what the write was to return of the item it left; what it replaced is not known."""
    if found is None or not isinstance(request, UpdateItem):
        return {}
    if request.returning == "UPDATED_NEW":
        return touched(request.update, found)
    return found if request.returning == "ALL_NEW" else {}
