"""Kept here: one write, from what was asked to what is done: aimed, weighed, carried out."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.items.changes import record_change
from grandstand.storage.tables.engines.sqlite.items.metering import index_writes
from grandstand.storage.tables.engines.sqlite.ordered.keys import Spot, Unfit
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of
from grandstand.storage.tables.engines.sqlite.tables.layout import TOO_LARGE, Layout, Row
from grandstand.storage.tables.engines.sqlite.tables.shadow import note
from grandstand.storage.tables.errors import ConditionFailed, InvalidRequest
from grandstand.storage.tables.expressions.apply import apply, makes_item, touched
from grandstand.storage.tables.expressions.evaluate import evaluate
from grandstand.storage.tables.expressions.keys import (
    check_key_paths,
    check_key_update,
    condition_paths,
    update_paths,
)
from grandstand.storage.tables.expressions.nodes import Update
from grandstand.storage.tables.requests import (
    CheckItem,
    PutItem,
    UpdateItem,
    WriteAction,
    Written,
)
from grandstand.storage.tables.values import MAX_ITEM_BYTES, Item, item_size, same

DONE: Final = Written()

# DynamoDB measures what an update statement writes, with a cost for each of its actions, beside
# the item it leaves; recorded against the service by the public conformance suite.
_UPDATE_BYTES: Final = 3
_SET_BYTES: Final = 19
_REMOVE_BYTES: Final = 2
_MOST_ACTION_BYTES: Final = _SET_BYTES + 1

# What was there before a write: its bytes, its size, and the item where it has been looked at.
_Before: TypeAlias = tuple[bytes | None, int, Item | None]


class Aim(NamedTuple):
    """An action with the place it goes to; for a put, with the row it will leave."""

    action: WriteAction
    layout: Layout
    spot: Spot
    row: Row | None = None

    @property
    def size(self) -> int:
        """The bytes the request brings with it."""
        return 0 if self.row is None else row_size(self.row)


class Step(NamedTuple):
    """A write that may be carried out: what was there, and what will be."""

    aim: Aim
    old_blob: bytes | None
    old_size: int
    old: Item | None
    row: Row | None
    new: Item | None
    changes: bool


def row_size(row: Row) -> int:
    """Answer the size of the item in a row."""
    size = row[-2]
    assert isinstance(size, int)  # noqa: S101 - rows end with ttl, size, item
    return size


def _blob(row: Row) -> bytes:
    blob = row[-1]
    assert isinstance(blob, bytes)  # noqa: S101 - rows end with ttl, size, item
    return blob


def aim(lane: Lane, action: WriteAction) -> Aim:
    """Find where an action goes, and check all that needs no look at what is there.

    Raises InvalidRequest, of which Unfit cancels a transaction, or TableNotFound.
    """
    layout = layout_of(lane, action.table)
    if action.condition is not None:
        check_key_paths(tuple(condition_paths(action.condition)), layout.schema)
    if isinstance(action, PutItem):
        row = layout.row(action.item)
        return Aim(action, layout, (_key(row[0]), _key(row[1])), row)
    spot = layout.locate(action.key)
    if isinstance(action, UpdateItem):
        _check_update(layout, action.update)
    return Aim(action, layout, spot)


def _key(value: bytes | int | None) -> bytes:
    assert isinstance(value, bytes)  # noqa: S101 - rows begin with the two keys
    return value


def _check_update(layout: Layout, update: Update) -> None:
    try:
        check_key_update(update, layout.schema)
    except InvalidRequest as fault:
        raise Unfit(str(fault)) from fault
    check_key_paths(tuple(update_paths(update)), layout.schema)


def weigh(lane: Lane, aimed: Aim, *, alone: bool = True) -> Step:
    """See what is there, and what the action makes of it, within a transaction.

    Raises ConditionFailed or InvalidRequest; `alone` is false for one action of many.
    """
    action, layout = aimed.action, aimed.layout
    found = lane.execute(layout.select, aimed.spot).fetchone()
    blob, size = found or (None, 0)
    condition = action.condition
    old: Item | None = None
    if blob is not None and _wanted(lane, action):
        old = unpack(blob)
    if condition is not None and not evaluate(condition, old):
        raise ConditionFailed(item=old if action.show_conflict else None)
    if isinstance(action, CheckItem):
        return Step(aimed, blob, size, old, None, None, changes=False)
    if isinstance(action, PutItem):
        changes = not _unchanged(aimed, (blob, size, old), aimed.row, action.item)
        return Step(aimed, blob, size, old, aimed.row, action.item, changes=changes)
    if isinstance(action, UpdateItem):
        return _update(aimed, action, (blob, size, old), alone=alone)
    return Step(aimed, blob, size, old, None, None, changes=blob is not None)


def _wanted(lane: Lane, action: WriteAction) -> bool:
    if action.condition is not None or isinstance(action, UpdateItem | CheckItem):
        return True
    return lane.shared.metered or action.returning != "NONE"


def _update(aimed: Aim, action: UpdateItem, before: _Before, *, alone: bool) -> Step:
    blob, size, old = before
    if old is None and not makes_item(action.update):
        return Step(aimed, None, 0, None, None, None, changes=False)
    base = action.key if old is None else old
    new = apply(action.update, base, exists=old is not None)
    row = aimed.layout.updated_row(aimed.spot, new)
    if alone:
        _check_written(action.update, new, row_size(row))
    changes = not _unchanged(aimed, before, row, new)
    return Step(aimed, blob, size, old, row, new, changes=changes)


def _check_written(update: Update, new: Item, size: int) -> None:
    paths = update.paths
    if size + _UPDATE_BYTES + _MOST_ACTION_BYTES * len(paths) <= MAX_ITEM_BYTES:
        return
    written = {path.root: new[path.root] for path in paths if path.root in new}
    cost = _UPDATE_BYTES + _REMOVE_BYTES * (len(update.removes) + len(update.deletes))
    for path, _ in (*update.sets, *update.adds):
        cost += _SET_BYTES + any(isinstance(step, int) for step in path.steps)
    if item_size(written) + cost > MAX_ITEM_BYTES:
        raise InvalidRequest(TOO_LARGE)


def _unchanged(aimed: Aim, before: _Before, row: Row | None, new: Item) -> bool:
    """Tell whether a write leaves what is there; equal items are of equal size.

    The same item can lie in other bytes, its attributes in another order. Where nobody follows
    the changes it is not worth finding out.
    """
    blob, size, old = before
    if blob is None or row is None or size != row_size(row):
        return False
    if blob == row[-1]:
        return True
    return aimed.layout.view is not None and same(unpack(blob) if old is None else old, new)


def carry_out(lane: Lane, step: Step) -> None:
    """Do what was weighed, within the same transaction."""
    if not step.changes:
        return
    layout, row, spot = step.aim.layout, step.row, step.aim.spot
    if row is None:
        lane.execute(layout.remove, spot)
    else:
        lane.execute(layout.upsert, row)
    if layout.view is not None:
        action = step.aim.action
        keys = action.item if isinstance(action, PutItem) else action.key
        record_change(lane, layout, (step.old_blob, None if row is None else _blob(row)), keys)
    if layout.delayed:
        note(lane, layout, spot)


def answer(lane: Lane, step: Step) -> Written:
    """Show what the action asked to see and, where writes are metered, say what was done."""
    action = step.aim.action
    if not lane.shared.metered:
        return Written(_shown(action, step) or None) if _shows(action) else DONE
    if isinstance(action, CheckItem):
        return Written(None, step.old_size, step.old_size)
    new_size = 0 if step.row is None else row_size(step.row)
    indexes = index_writes(step.aim.layout, step.old, step.new)
    return Written(_shown(action, step) or None, step.old_size, new_size, indexes)


def _shows(action: WriteAction) -> bool:
    return not isinstance(action, CheckItem) and action.returning != "NONE"


def _shown(action: WriteAction, step: Step) -> Item | None:
    if isinstance(action, CheckItem):
        return None
    match action.returning:
        case "ALL_OLD":
            return step.old
        case "ALL_NEW":
            return step.new
        case "UPDATED_OLD" if isinstance(action, UpdateItem) and step.old is not None:
            return touched(action.update, step.old)
        case "UPDATED_NEW" if isinstance(action, UpdateItem) and step.new is not None:
            return touched(action.update, step.new)
    return None
