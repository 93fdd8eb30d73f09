"""Batches and transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

import msgspec

from grandstand.storage.tables import errors, requests
from grandstand.storage.tables.attribute_values import Item, number_text
from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite import writes
from grandstand.storage.tables.engines.sqlite.access_paths import (
    MISMATCH,
    ItemRejected,
    KeyMismatch,
    RowKey,
)
from grandstand.storage.tables.engines.sqlite.catalog import layout_of
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext
from grandstand.storage.tables.engines.sqlite.layout import Layout, Row
from grandstand.storage.tables.expressions.evaluate import project
from grandstand.storage.tables.expressions.key_conditions import check_key_paths

_MAX_BATCH_BYTES: Final = 16 * 1024 * 1024


def batch_get(context: ConnectionContext, gets: Sequence[requests.GetItem]) -> requests.BatchRead:
    """Read up to 100 items and 16 MB; the rest is returned as unprocessed."""
    _check_count(len(gets), 100, "BatchGetItem")
    lookups = [_resolve_read(context, get) for get in gets]
    _check_distinct(lookups, "Provided list of item keys contains duplicates")
    found: list[tuple[str, Item]] = []
    found_bytes: list[int] = []
    left: list[requests.GetItem] = []
    sizes: dict[str, list[int]] = {}
    read = 0
    with context.read_transaction:
        for get, (layout, row_key) in zip(gets, lookups, strict=True):
            if read > _MAX_BATCH_BYTES:
                left.append(get)
                continue
            row = context.execute(layout.select_sql, row_key).fetchone()
            sizes.setdefault(get.table, []).append(row[1] if row else 0)
            if row is None:
                continue
            read += row[1]
            if read > _MAX_BATCH_BYTES:
                sizes[get.table].pop()
                left.append(get)
                continue
            item = unpack(row[0])
            if get.projection:
                item = project(get.projection, item)
            found.append((get.table, item))
            found_bytes.append(row[1])
    read_bytes = {table: tuple(table_sizes) for table, table_sizes in sizes.items()}
    return requests.BatchRead(tuple(found), tuple(left), read_bytes, tuple(found_bytes))


def _resolve_read(context: ConnectionContext, request: requests.GetItem) -> tuple[Layout, RowKey]:
    layout = layout_of(context, request.table)
    if request.projection:
        check_key_paths(request.projection, layout.schema)
    return layout, layout.lookup_key(request.key)


def batch_write(
    context: ConnectionContext, actions: Sequence[requests.PutItem | requests.DeleteItem]
) -> requests.BatchWritten:
    """Put and delete up to 25 items in one commit, after checking all of them."""
    _check_count(len(actions), 25, "BatchWriteItem")
    resolved = [_resolve_batch_write(context, action) for action in actions]
    _check_distinct(
        [(write.layout, write.row_key) for write in resolved],
        "Provided list of item keys contains duplicates",
    )
    if sum(write.size for write in resolved) > _MAX_BATCH_BYTES:
        raise errors.InvalidRequest(
            f"The batch exceeds {_MAX_BATCH_BYTES} bytes; send several requests"
        )
    return requests.BatchWritten((), _write(context, resolved))


def _resolve_batch_write(
    context: ConnectionContext, request: requests.PutItem | requests.DeleteItem
) -> writes.ResolvedWrite:
    if request.condition is not None or request.returning != "NONE":
        raise errors.InvalidRequest("Batch writes have no conditions and return no values")
    try:
        return writes.resolve_write(context, request)
    except KeyMismatch as error:
        # In a batch DynamoDB has one message for every invalid key.
        raise errors.InvalidRequest(MISMATCH) from error


def _write(
    context: ConnectionContext, resolved: list[writes.ResolvedWrite]
) -> tuple[tuple[str, requests.Written], ...]:
    tables = [write.action.table for write in resolved]
    if not all(write.layout.writes_blind for write in resolved):
        with context.write_transaction:
            plans = []
            for write in resolved:
                plans.append(writes.plan_write(context, write))
                writes.execute_write(context, plans[-1])
        results = [writes.build_result(context, planned) for planned in plans]
        return tuple(zip(tables, results, strict=True))
    rows: dict[str, list[Row]] = {}
    for write in resolved:
        if write.row is None:
            rows.setdefault(write.layout.delete_sql, []).append(write.row_key)
        else:
            rows.setdefault(write.layout.upsert_sql, []).append(write.row)
    with context.write_transaction:
        for statement, values in rows.items():
            context.connection.executemany(statement, values)
    return tuple((table, writes.EMPTY_RESULT) for table in tables)


def _check_count(count: int, limit: int, operation: str) -> None:
    if not count:
        raise errors.InvalidRequest(f"The requestItems parameter is required for {operation}")
    if count > limit:
        raise errors.InvalidRequest(f"Too many items requested for the {operation} call")


def _check_distinct(rows: Sequence[tuple[Layout, RowKey]], message: str) -> None:
    if len({(layout.schema.name, row_key) for layout, row_key in rows}) != len(rows):
        raise errors.InvalidRequest(message)


TOKEN_SECONDS: Final = 600

_MAX_TRANSACTION_BYTES: Final = 4 * 1024 * 1024
_NO_REASON: Final = errors.CancellationReason()
_SAME_ITEM: Final = "Transaction request cannot include multiple operations on one item"


def transact_write(
    context: ConnectionContext, request: requests.Transaction
) -> tuple[requests.Written, ...]:
    """Execute all actions or none. Raises TransactionCancelled, TokenReused or InvalidRequest."""
    actions = request.actions
    _check_action_count(len(actions))
    resolved, reasons = _resolve_all(context, actions)
    _check_distinct([(write.layout, write.row_key) for write in resolved], _SAME_ITEM)
    _check_transaction_bytes(sum(write.size for write in resolved))
    if len(resolved) < len(actions):
        raise errors.TransactionCancelled(reasons)
    with context.write_transaction:
        if request.token is not None and _is_repeated(context, request, request.token):
            return tuple(requests.Written() for _ in actions)
        plans = _plan_all(context, resolved)
        for planned in plans:
            writes.execute_write(context, planned)
    return tuple(writes.build_result(context, planned) for planned in plans)


def _resolve_all(
    context: ConnectionContext, actions: Sequence[requests.WriteAction]
) -> tuple[list[writes.ResolvedWrite], tuple[errors.CancellationReason, ...]]:
    """Return the actions that fit their tables, and a reason for every action."""
    resolved: list[writes.ResolvedWrite] = []
    reasons: list[errors.CancellationReason] = []
    for action in actions:
        try:
            resolved.append(writes.resolve_write(context, action))
            reasons.append(_NO_REASON)
        except ItemRejected as error:
            reasons.append(errors.CancellationReason("ValidationError", str(error)))
    return resolved, tuple(reasons)


def _plan_all(
    context: ConnectionContext, resolved: Sequence[writes.ResolvedWrite]
) -> list[writes.PlannedWrite]:
    plans: list[writes.PlannedWrite] = []
    reasons: list[errors.CancellationReason] = []
    for write in resolved:
        try:
            plans.append(writes.plan_write(context, write, single=False))
            reasons.append(_NO_REASON)
        except errors.ConditionFailed as error:
            reasons.append(
                errors.CancellationReason("ConditionalCheckFailed", str(error), error.item)
            )
        except errors.InvalidRequest as error:
            reasons.append(errors.CancellationReason("ValidationError", str(error)))
    if len(plans) < len(resolved):
        raise errors.TransactionCancelled(tuple(reasons))
    _check_transaction_bytes(sum(writes.row_size(plan.row) for plan in plans if plan.row))
    return plans


def _is_repeated(context: ConnectionContext, request: requests.Transaction, token: str) -> bool:
    """Return whether the transaction was executed before; if not, record its token."""
    execute, now = context.execute, context.shared.clock.epoch()
    execute("DELETE FROM _tokens WHERE at <= ?", (now - TOKEN_SECONDS,))
    body = sha256(msgspec.msgpack.encode(_comparable(request.actions))).digest()
    found = execute("SELECT body FROM _tokens WHERE token = ?", (token,)).fetchone()
    if found is None:
        execute("INSERT INTO _tokens(token, body, at) VALUES(?, ?, ?)", (token, body, now))
        return False
    if found[0] != body:
        raise errors.TokenReused(
            "Request was sent before with this token and other parameters; use a new token"
        )
    return True


def _comparable(value: Any) -> Any:  # noqa: ANN401 - requests of every kind, made comparable
    """Convert a request so that equal requests are equal bytes in every process."""
    if isinstance(value, str | bytes | bool) or value is None:
        return value
    if isinstance(value, int | Decimal):
        return ["N", number_text(value)]
    if isinstance(value, dict):
        return ["M", [[name, _comparable(value[name])] for name in sorted(value)]]
    if isinstance(value, frozenset):
        return ["S", sorted(msgspec.msgpack.encode(_comparable(element)) for element in value)]
    if is_dataclass(value):
        return [type(value).__name__, [_comparable(getattr(value, f.name)) for f in fields(value)]]
    return ["L", [_comparable(element) for element in value]]


def transact_get(
    context: ConnectionContext, gets: Sequence[requests.GetItem]
) -> tuple[requests.Found, ...]:
    """Read items as of one moment. Raises TransactionCancelled or InvalidRequest."""
    _check_action_count(len(gets))
    lookups: list[tuple[Layout, RowKey]] = []
    reasons: list[errors.CancellationReason] = []
    for get in gets:
        try:
            lookups.append(_resolve_read(context, get))
            reasons.append(_NO_REASON)
        except ItemRejected as error:
            reasons.append(errors.CancellationReason("ValidationError", str(error)))
    if len(lookups) < len(gets):
        raise errors.TransactionCancelled(tuple(reasons))
    _check_distinct(lookups, _SAME_ITEM)
    with context.read_transaction:
        rows = [
            context.execute(layout.select_sql, row_key).fetchone() for layout, row_key in lookups
        ]
    _check_transaction_bytes(sum(row[1] for row in rows if row is not None))
    return tuple(map(_decode_found, gets, rows))


def _decode_found(get: requests.GetItem, row: tuple[bytes, int] | None) -> requests.Found:
    if row is None:
        return requests.Found(None)
    item = unpack(row[0])
    return requests.Found(project(get.projection, item) if get.projection else item, row[1])


def _check_action_count(count: int) -> None:
    if not 1 <= count <= 100:
        bound = "greater than or equal to 1" if count < 1 else "less than or equal to 100"
        raise errors.InvalidRequest(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length {bound}"
        )


def _check_transaction_bytes(size: int) -> None:
    if size > _MAX_TRANSACTION_BYTES:
        raise errors.InvalidRequest(
            f"Transaction payload size cannot exceed 4MB. Payload Size: {size}"
        )
