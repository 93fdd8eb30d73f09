"""Writing single items: resolve the row, plan the change, execute it, build the result."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias, cast

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import MAX_ITEM_BYTES, Item, item_size, same
from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite.access_paths import AccessPath, ItemRejected, RowKey
from grandstand.storage.tables.engines.sqlite.catalog import layout_of
from grandstand.storage.tables.engines.sqlite.changes import record_change
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext
from grandstand.storage.tables.engines.sqlite.layout import TOO_LARGE, Layout, Row
from grandstand.storage.tables.errors import ConditionFailed, InvalidRequest
from grandstand.storage.tables.expressions.evaluate import apply, evaluate, makes_item, touched
from grandstand.storage.tables.expressions.key_conditions import (
    check_key_paths,
    check_key_update,
    condition_paths,
    update_paths,
)
from grandstand.storage.tables.expressions.nodes import Condition, Missing, UpdateNode


def index_writes(
    layout: Layout, old: Item | None, new: Item | None
) -> tuple[requests.IndexWrite, ...]:
    """Return what a write did to each index; indexes it did not change are left out."""
    writes = []
    for name, access in layout.index_paths.items():
        before, after = _project(access, old), _project(access, new)
        if before is None and after is None:
            continue
        if before is not None and after is not None and same(before, after):
            continue
        writes.append(
            requests.IndexWrite(
                index=name,
                old_bytes=0 if before is None else item_size(before),
                new_bytes=0 if after is None else item_size(after),
                key_changed=before is not None
                and after is not None
                and any(not same(before[name], after[name]) for name in access.key_names),
            )
        )
    return tuple(writes)


def _project(access: AccessPath, item: Item | None) -> Item | None:
    if item is None or not all(name in item for name in access.key_names):
        return None
    if access.projected is None:
        return item
    return {name: value for name, value in item.items() if name in access.projected}


EMPTY_RESULT: Final = requests.Written()

# In addition to the resulting item, DynamoDB limits what an update writes, with a cost for each
# action; measured against the service by the public conformance suite.
_UPDATE_BYTES: Final = 3
_SET_BYTES: Final = 19

# The stored item before a write: its bytes, its size, and the item itself if it was needed.
_Before: TypeAlias = tuple[bytes | None, int, Item | None]


class ResolvedWrite(NamedTuple):
    """An action with the row it goes to and, for a put, the new row."""

    action: requests.WriteAction
    layout: Layout
    row_key: RowKey
    row: Row | None = None

    @property
    def size(self) -> int:
        """The bytes in the request."""
        return 0 if self.row is None else row_size(self.row)


class PlannedWrite(NamedTuple):
    """A write whose condition holds: the old item and the new one."""

    write: ResolvedWrite
    old_blob: bytes | None
    old_size: int
    old: Item | None
    row: Row | None
    new: Item | None
    changes: bool


def row_size(row: Row) -> int:
    """Return the size of the item in a row."""
    return cast("int", row[-2])


def resolve_write(context: ConnectionContext, action: requests.WriteAction) -> ResolvedWrite:
    """Find the row of an action, and check everything that does not depend on its content.

    Raises InvalidRequest, as ItemRejected if it cancels a transaction, or TableNotFound.
    """
    layout = layout_of(context, action.table)
    if action.condition is not None:
        check_key_paths(tuple(condition_paths(action.condition)), layout.schema)
    if isinstance(action, requests.PutItem):
        row = layout.row(action.item)
        return ResolvedWrite(action, layout, cast("RowKey", row[:2]), row)
    row_key = layout.lookup_key(action.key)
    if isinstance(action, requests.UpdateItem):
        try:
            check_key_update(action.update, layout.schema)
        except InvalidRequest as error:
            raise ItemRejected(str(error)) from error
        check_key_paths(tuple(update_paths(action.update)), layout.schema)
    return ResolvedWrite(action, layout, row_key)


def plan_write(
    context: ConnectionContext, write: ResolvedWrite, *, single: bool = True
) -> PlannedWrite:
    """Read the item and compute the new one, within a transaction.

    `single` is false for one action of a transaction. Raises ConditionFailed or InvalidRequest.
    """
    action, layout = write.action, write.layout
    row = context.execute(layout.select_sql, write.row_key).fetchone()
    blob, size = row or (None, 0)
    condition = action.condition
    needs_old = (
        condition is not None
        or isinstance(action, requests.UpdateItem | requests.CheckItem)
        or context.shared.metered
        or action.returning != "NONE"
    )
    old: Item | None = unpack(blob) if needs_old and blob is not None else None
    if condition is not None and not evaluate(condition, old):
        raise ConditionFailed(item=old if action.show_conflict else None)
    if isinstance(action, requests.CheckItem):
        return PlannedWrite(write, blob, size, old, None, None, changes=False)
    if isinstance(action, requests.PutItem):
        changes = not _is_unchanged(write, (blob, size, old), write.row, action.item)
        return PlannedWrite(write, blob, size, old, write.row, action.item, changes=changes)
    if isinstance(action, requests.UpdateItem):
        return _plan_update(write, action, (blob, size, old), single=single)
    return PlannedWrite(write, blob, size, old, None, None, changes=blob is not None)


def _plan_update(
    write: ResolvedWrite, action: requests.UpdateItem, before: _Before, *, single: bool
) -> PlannedWrite:
    blob, size, old = before
    if old is None and not makes_item(action.update):
        return PlannedWrite(write, None, 0, None, None, None, changes=False)
    base = action.key if old is None else old
    new = apply(action.update, base, exists=old is not None)
    row = write.layout.updated_row(write.row_key, new)
    if single:
        _check_update_size(action.update, new, row_size(row))
    changes = not _is_unchanged(write, before, row, new)
    return PlannedWrite(write, blob, size, old, row, new, changes=changes)


def _check_update_size(update: UpdateNode, new: Item, size: int) -> None:
    paths = update.paths
    if size + _UPDATE_BYTES + (_SET_BYTES + 1) * len(paths) <= MAX_ITEM_BYTES:
        return
    written = {path.root: new[path.root] for path in paths if path.root in new}
    cost = _UPDATE_BYTES + 2 * (len(update.removes) + len(update.deletes))
    for path, _ in (*update.sets, *update.adds):
        cost += _SET_BYTES + any(isinstance(step, int) for step in path.steps)
    if item_size(written) + cost > MAX_ITEM_BYTES:
        raise InvalidRequest(TOO_LARGE)


def _is_unchanged(write: ResolvedWrite, before: _Before, row: Row | None, new: Item) -> bool:
    """Return whether a write leaves the item as it is.

    Equal items have equal sizes, but may have different bytes if attributes are in another order;
    that is checked only if there is a stream.
    """
    blob, size, old = before
    if blob is None or row is None or size != row_size(row):
        return False
    if blob == row[-1]:
        return True
    return write.layout.stream_view is not None and same(unpack(blob) if old is None else old, new)


def execute_write(context: ConnectionContext, planned: PlannedWrite) -> None:
    """Execute a planned write, within the same transaction."""
    if not planned.changes:
        return
    layout, row, row_key = planned.write.layout, planned.row, planned.write.row_key
    if row is None:
        context.execute(layout.delete_sql, row_key)
    else:
        context.execute(layout.upsert_sql, row)
    if layout.stream_view is not None:
        action = planned.write.action
        keys = action.item if isinstance(action, requests.PutItem) else action.key
        new_blob = None if row is None else cast("bytes", row[-1])
        record_change(context, layout, (planned.old_blob, new_blob), keys)


def build_result(context: ConnectionContext, planned: PlannedWrite) -> requests.Written:
    """Return the requested attributes and, if writes are metered, sizes and index writes."""
    action = planned.write.action
    if not context.shared.metered:
        if isinstance(action, requests.CheckItem) or action.returning == "NONE":
            return EMPTY_RESULT
        return requests.Written(_returned_attributes(action, planned) or None)
    if isinstance(action, requests.CheckItem):
        return requests.Written(None, planned.old_size, planned.old_size)
    new_size = 0 if planned.row is None else row_size(planned.row)
    indexes = index_writes(planned.write.layout, planned.old, planned.new)
    return requests.Written(
        _returned_attributes(action, planned) or None, planned.old_size, new_size, indexes
    )


def _returned_attributes(action: requests.WriteAction, planned: PlannedWrite) -> Item | None:
    if isinstance(action, requests.CheckItem):
        return None
    match action.returning:
        case "ALL_OLD":
            return planned.old
        case "ALL_NEW":
            return planned.new
        case "UPDATED_OLD" if isinstance(action, requests.UpdateItem) and planned.old is not None:
            return touched(action.update, planned.old)
        case "UPDATED_NEW" if isinstance(action, requests.UpdateItem) and planned.new is not None:
            return touched(action.update, planned.new)
    return None


def put(context: ConnectionContext, request: requests.PutItem) -> requests.Written:
    """Write one item. Raises ConditionFailed.

    Without a stream, an unconditional put, or one that requires absence, is a single statement.
    """
    layout = layout_of(context, request.table)
    if layout.writes_blind and request.returning == "NONE":
        if request.condition is None:
            context.write(layout.upsert_sql, layout.row(request.item))
            return EMPTY_RESULT
        if not request.show_conflict and _requires_absence(request.condition, layout):
            if context.write(layout.insert_sql, layout.row(request.item)) == 1:
                return EMPTY_RESULT
            raise ConditionFailed
    return _run_write(context, request)


def update(context: ConnectionContext, request: requests.UpdateItem) -> requests.Written:
    return _run_write(context, request)


def delete(context: ConnectionContext, request: requests.DeleteItem) -> requests.Written:
    layout = layout_of(context, request.table)
    if layout.writes_blind and request.condition is None and request.returning == "NONE":
        context.write(layout.delete_sql, layout.lookup_key(request.key))
        return EMPTY_RESULT
    return _run_write(context, request)


def _requires_absence(condition: Condition, layout: Layout) -> bool:
    """Return whether a condition only requires that the item does not exist."""
    return (
        isinstance(condition, Missing)
        and len(condition.path.steps) == 1
        and condition.path.steps[0] in layout.schema.key_names
    )


def _run_write(
    context: ConnectionContext,
    request: requests.PutItem | requests.UpdateItem | requests.DeleteItem,
) -> requests.Written:
    write = resolve_write(context, request)
    with context.write_transaction:
        planned = plan_write(context, write)
        execute_write(context, planned)
    return build_result(context, planned)
