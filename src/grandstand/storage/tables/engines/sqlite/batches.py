"""Batches and transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

import msgspec

from grandstand.storage.tables.attribute_values import Item, number_text
from grandstand.storage.tables.encoding import unpack
from grandstand.storage.tables.engines.sqlite.access_paths import (
    MISMATCH,
    ItemRejected,
    KeyMismatch,
    RowKey,
)
from grandstand.storage.tables.engines.sqlite.catalog import layout_of
from grandstand.storage.tables.engines.sqlite.connections import ConnectionContext
from grandstand.storage.tables.engines.sqlite.layout import Layout, Row
from grandstand.storage.tables.engines.sqlite.writes import (
    EMPTY_RESULT,
    PlannedWrite,
    ResolvedWrite,
    build_result,
    execute_write,
    plan_write,
    resolve_write,
    row_size,
)
from grandstand.storage.tables.errors import (
    CancellationReason,
    ConditionFailed,
    InvalidRequest,
    TokenReused,
    TransactionCancelled,
)
from grandstand.storage.tables.expressions.evaluate import project
from grandstand.storage.tables.expressions.key_conditions import check_key_paths
from grandstand.storage.tables.requests import (
    BatchRead,
    BatchWritten,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    Transaction,
    WriteAction,
    Written,
)

_MAX_READ: Final = 100
_MAX_WRITTEN: Final = 25
_MAX_BATCH_BYTES: Final = 16 * 1024 * 1024


def batch_get(context: ConnectionContext, requests: Sequence[GetItem]) -> BatchRead:
    """Read up to 100 items and 16 MB; the rest is returned as unprocessed."""
    _check_count(len(requests), _MAX_READ, "BatchGetItem")
    lookups = [_resolve_read(context, request) for request in requests]
    _check_distinct(
        [(request.table, row_key) for request, (_, row_key) in zip(requests, lookups, strict=True)]
    )
    found: list[tuple[str, Item]] = []
    found_bytes: list[int] = []
    left: list[GetItem] = []
    sizes: dict[str, list[int]] = {}
    read = 0
    with context.read_transaction:
        for request, (layout, row_key) in zip(requests, lookups, strict=True):
            if read > _MAX_BATCH_BYTES:
                left.append(request)
                continue
            row = context.execute(layout.select_sql, row_key).fetchone()
            sizes.setdefault(request.table, []).append(row[1] if row else 0)
            if row is None:
                continue
            read += row[1]
            if read > _MAX_BATCH_BYTES:
                sizes[request.table].pop()
                left.append(request)
                continue
            item = unpack(row[0])
            if request.projection:
                item = project(request.projection, item)
            found.append((request.table, item))
            found_bytes.append(row[1])
    read_bytes = {table: tuple(table_sizes) for table, table_sizes in sizes.items()}
    return BatchRead(tuple(found), tuple(left), read_bytes, tuple(found_bytes))


def _resolve_read(context: ConnectionContext, request: GetItem) -> tuple[Layout, RowKey]:
    layout = layout_of(context, request.table)
    if request.projection:
        check_key_paths(request.projection, layout.schema)
    return layout, layout.lookup_key(request.key)


def batch_write(
    context: ConnectionContext, requests: Sequence[PutItem | DeleteItem]
) -> BatchWritten:
    """Put and delete up to 25 items in one commit, after checking all of them."""
    _check_count(len(requests), _MAX_WRITTEN, "BatchWriteItem")
    writes = [_resolve_batch_write(context, request) for request in requests]
    _check_distinct([(write.action.table, write.row_key) for write in writes])
    if sum(write.size for write in writes) > _MAX_BATCH_BYTES:
        raise InvalidRequest(f"The batch exceeds {_MAX_BATCH_BYTES} bytes; send several requests")
    return BatchWritten((), _write(context, writes))


def _resolve_batch_write(
    context: ConnectionContext, request: PutItem | DeleteItem
) -> ResolvedWrite:
    if request.condition is not None or request.returning != "NONE":
        raise InvalidRequest("Batch writes have no conditions and return no values")
    try:
        return resolve_write(context, request)
    except KeyMismatch as error:
        # In a batch DynamoDB has one message for every invalid key.
        raise InvalidRequest(MISMATCH) from error


def _write(
    context: ConnectionContext, writes: list[ResolvedWrite]
) -> tuple[tuple[str, Written], ...]:
    if not all(write.layout.writes_blind for write in writes):
        with context.write_transaction:
            plans = []
            for write in writes:
                planned = plan_write(context, write)
                execute_write(context, planned)
                plans.append(planned)
        return tuple(
            (write.action.table, build_result(context, planned))
            for write, planned in zip(writes, plans, strict=True)
        )
    rows: dict[str, list[Row]] = {}
    for write in writes:
        if write.row is None:
            rows.setdefault(write.layout.delete_sql, []).append(write.row_key)
        else:
            rows.setdefault(write.layout.upsert_sql, []).append(write.row)
    with context.write_transaction:
        for statement, values in rows.items():
            context.connection.executemany(statement, values)
    return tuple((write.action.table, EMPTY_RESULT) for write in writes)


def _check_count(count: int, limit: int, operation: str) -> None:
    if not count:
        raise InvalidRequest(f"The requestItems parameter is required for {operation}")
    if count > limit:
        raise InvalidRequest(f"Too many items requested for the {operation} call")


def _check_distinct(row_keys: Sequence[tuple[str, RowKey]]) -> None:
    if len(set(row_keys)) != len(row_keys):
        raise InvalidRequest("Provided list of item keys contains duplicates")


TOKEN_SECONDS: Final = 600

_MAX_ACTIONS: Final = 100
_MAX_TRANSACTION_BYTES: Final = 4 * 1024 * 1024
_NO_REASON: Final = CancellationReason()


def transact_write(context: ConnectionContext, request: Transaction) -> tuple[Written, ...]:
    """Execute all actions or none. Raises TransactionCancelled, TokenReused or InvalidRequest."""
    actions = request.actions
    _check_action_count(len(actions))
    writes, reasons = _resolve_all(context, actions)
    _check_distinct_actions(
        [(write.layout.schema.name, write.row_key) for write in writes if write is not None]
    )
    _check_transaction_bytes(sum(write.size for write in writes if write is not None))
    if any(reason is not _NO_REASON for reason in reasons):
        raise TransactionCancelled(tuple(reasons))
    with context.write_transaction:
        if request.token is not None and _is_repeated(context, request, request.token):
            return tuple(Written() for _ in actions)
        plans = _plan_all(context, [write for write in writes if write is not None])
        for planned in plans:
            execute_write(context, planned)
    return tuple(build_result(context, planned) for planned in plans)


def _resolve_all(
    context: ConnectionContext, actions: Sequence[WriteAction]
) -> tuple[list[ResolvedWrite | None], list[CancellationReason]]:
    writes: list[ResolvedWrite | None] = []
    reasons: list[CancellationReason] = []
    for action in actions:
        try:
            writes.append(resolve_write(context, action))
            reasons.append(_NO_REASON)
        except ItemRejected as error:
            writes.append(None)
            reasons.append(_validation_reason(error))
    return writes, reasons


def _plan_all(context: ConnectionContext, writes: Sequence[ResolvedWrite]) -> list[PlannedWrite]:
    plans: list[PlannedWrite] = []
    reasons: list[CancellationReason] = []
    for write in writes:
        try:
            plans.append(plan_write(context, write, single=False))
            reasons.append(_NO_REASON)
        except ConditionFailed as error:
            reasons.append(CancellationReason("ConditionalCheckFailed", str(error), error.item))
        except InvalidRequest as error:
            reasons.append(_validation_reason(error))
    if len(plans) < len(writes):
        raise TransactionCancelled(tuple(reasons))
    _check_transaction_bytes(
        sum(row_size(planned.row) for planned in plans if planned.row is not None)
    )
    return plans


def _validation_reason(error: InvalidRequest) -> CancellationReason:
    return CancellationReason("ValidationError", str(error))


def _is_repeated(context: ConnectionContext, request: Transaction, token: str) -> bool:
    """Return whether the transaction was executed before; if not, record its token."""
    execute, now = context.execute, context.shared.clock.epoch()
    execute("DELETE FROM _tokens WHERE at <= ?", (now - TOKEN_SECONDS,))
    body = sha256(msgspec.msgpack.encode(_comparable(request.actions))).digest()
    found = execute("SELECT body FROM _tokens WHERE token = ?", (token,)).fetchone()
    if found is None:
        execute("INSERT INTO _tokens(token, body, at) VALUES(?, ?, ?)", (token, body, now))
        return False
    if found[0] != body:
        raise TokenReused(
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


def transact_get(context: ConnectionContext, requests: Sequence[GetItem]) -> tuple[Found, ...]:
    """Read items as of one moment. Raises TransactionCancelled or InvalidRequest."""
    _check_action_count(len(requests))
    lookups: list[tuple[Layout, RowKey]] = []
    reasons: list[CancellationReason] = []
    for request in requests:
        layout = layout_of(context, request.table)
        check_key_paths(request.projection, layout.schema)
        try:
            lookups.append((layout, layout.lookup_key(request.key)))
            reasons.append(_NO_REASON)
        except ItemRejected as error:
            reasons.append(_validation_reason(error))
    if len(lookups) < len(requests):
        raise TransactionCancelled(tuple(reasons))
    _check_distinct_actions([(layout.schema.name, row_key) for layout, row_key in lookups])
    with context.read_transaction:
        rows = [
            context.execute(layout.select_sql, row_key).fetchone() for layout, row_key in lookups
        ]
    _check_transaction_bytes(sum(row[1] for row in rows if row is not None))
    return tuple(map(_decode_found, requests, rows))


def _decode_found(request: GetItem, row: tuple[bytes, int] | None) -> Found:
    if row is None:
        return Found(None)
    item = unpack(row[0])
    return Found(project(request.projection, item) if request.projection else item, row[1])


def _check_action_count(count: int) -> None:
    if not 1 <= count <= _MAX_ACTIONS:
        bound = "greater than or equal to 1" if count < 1 else "less than or equal to 100"
        raise InvalidRequest(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length {bound}"
        )


def _check_distinct_actions(row_keys: Sequence[tuple[str, RowKey]]) -> None:
    if len(set(row_keys)) != len(row_keys):
        raise InvalidRequest("Transaction request cannot include multiple operations on one item")


def _check_transaction_bytes(size: int) -> None:
    if size > _MAX_TRANSACTION_BYTES:
        raise InvalidRequest(f"Transaction payload size cannot exceed 4MB. Payload Size: {size}")
