"""Kept here: writing all or nothing, and reading several items as of one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

import msgspec

from grandstand.storage.tables.encoding.packing import unpack
from grandstand.storage.tables.engines.sqlite.file.connections import Lane
from grandstand.storage.tables.engines.sqlite.items.steps import (
    Aim,
    Step,
    aim,
    answer,
    carry_out,
    row_size,
    weigh,
)
from grandstand.storage.tables.engines.sqlite.ordered.keys import Spot, Unfit
from grandstand.storage.tables.engines.sqlite.tables.catalogue import layout_of
from grandstand.storage.tables.engines.sqlite.tables.layout import Layout
from grandstand.storage.tables.errors import (
    CancellationReason,
    ConditionFailed,
    InvalidRequest,
    TokenReused,
    TransactionCancelled,
)
from grandstand.storage.tables.expressions.keys import check_key_paths
from grandstand.storage.tables.expressions.project import project
from grandstand.storage.tables.requests import Found, GetItem, Transaction, WriteAction, Written
from grandstand.storage.tables.values import number_text

TOKEN_SECONDS: Final = 600

_MOST_ACTIONS: Final = 100
_MOST_BYTES: Final = 4 * 1024 * 1024
_NONE: Final = CancellationReason()


def transact_write(lane: Lane, request: Transaction) -> tuple[Written, ...]:
    """Carry out every action or none; raise TransactionCancelled, TokenReused, InvalidRequest."""
    actions = request.actions
    _check_number(len(actions))
    aims, reasons = _aim_all(lane, actions)
    _check_distinct([(each.layout.schema.name, each.spot) for each in aims if each is not None])
    _check_bytes(sum(each.size for each in aims if each is not None))
    if any(reason is not _NONE for reason in reasons):
        raise TransactionCancelled(tuple(reasons))
    with lane.writing:
        if request.token is not None and _carried_out(lane, request, request.token):
            return tuple(Written() for _ in actions)
        steps = _weigh_all(lane, [each for each in aims if each is not None])
        for step in steps:
            carry_out(lane, step)
    return tuple(answer(lane, step) for step in steps)


def _aim_all(
    lane: Lane, actions: Sequence[WriteAction]
) -> tuple[list[Aim | None], list[CancellationReason]]:
    aims: list[Aim | None] = []
    reasons: list[CancellationReason] = []
    for action in actions:
        try:
            aims.append(aim(lane, action))
            reasons.append(_NONE)
        except Unfit as fault:
            aims.append(None)
            reasons.append(_invalid(fault))
    return aims, reasons


def _weigh_all(lane: Lane, aims: Sequence[Aim]) -> list[Step]:
    steps: list[Step] = []
    reasons: list[CancellationReason] = []
    for each in aims:
        try:
            steps.append(weigh(lane, each, alone=False))
            reasons.append(_NONE)
        except ConditionFailed as fault:
            reasons.append(CancellationReason("ConditionalCheckFailed", str(fault), fault.item))
        except InvalidRequest as fault:
            reasons.append(_invalid(fault))
    if len(steps) < len(aims):
        raise TransactionCancelled(tuple(reasons))
    _check_bytes(sum(row_size(step.row) for step in steps if step.row is not None))
    return steps


def _invalid(fault: InvalidRequest) -> CancellationReason:
    return CancellationReason("ValidationError", str(fault))


def _carried_out(lane: Lane, request: Transaction, token: str) -> bool:
    """Tell whether the same transaction has been done; note that it is done now, if not."""
    execute, now = lane.execute, lane.shared.clock.epoch()
    execute("DELETE FROM _tokens WHERE at <= ?", (now - TOKEN_SECONDS,))
    body = sha256(msgspec.msgpack.encode(_plain(request.actions))).digest()
    found = execute("SELECT body FROM _tokens WHERE token = ?", (token,)).fetchone()
    if found is None:
        execute("INSERT INTO _tokens(token, body, at) VALUES(?, ?, ?)", (token, body, now))
        return False
    if found[0] != body:
        raise TokenReused(
            "Request was sent before with this token and other parameters; use a new token"
        )
    return True


def _plain(value: Any) -> Any:  # noqa: ANN401 - requests of every kind, made comparable
    """Lay a request out so that equal ones are equal bytes, in every process."""
    if isinstance(value, str | bytes | bool) or value is None:
        return value
    if isinstance(value, int | Decimal):
        return ["N", number_text(value)]
    if isinstance(value, dict):
        return ["M", [[name, _plain(value[name])] for name in sorted(value)]]
    if isinstance(value, frozenset):
        return ["S", sorted(msgspec.msgpack.encode(_plain(one)) for one in value)]
    if is_dataclass(value):
        return [type(value).__name__, [_plain(getattr(value, f.name)) for f in fields(value)]]
    return ["L", [_plain(one) for one in value]]


def transact_get(lane: Lane, requests: Sequence[GetItem]) -> tuple[Found, ...]:
    """Read several items as of one moment; raise TransactionCancelled or InvalidRequest."""
    _check_number(len(requests))
    aims: list[tuple[Layout, Spot]] = []
    reasons: list[CancellationReason] = []
    for request in requests:
        layout = layout_of(lane, request.table)
        check_key_paths(request.projection, layout.schema)
        try:
            aims.append((layout, layout.locate(request.key)))
            reasons.append(_NONE)
        except Unfit as fault:
            reasons.append(_invalid(fault))
    if len(aims) < len(requests):
        raise TransactionCancelled(tuple(reasons))
    _check_distinct([(layout.schema.name, spot) for layout, spot in aims])
    with lane.reading:
        rows = [lane.execute(layout.select, spot).fetchone() for layout, spot in aims]
    _check_bytes(sum(row[1] for row in rows if row is not None))
    return tuple(map(_found, requests, rows))


def _found(request: GetItem, row: tuple[bytes, int] | None) -> Found:
    if row is None:
        return Found(None)
    item = unpack(row[0])
    return Found(project(request.projection, item) if request.projection else item, row[1])


def _check_number(given: int) -> None:
    if not 1 <= given <= _MOST_ACTIONS:
        bound = "greater than or equal to 1" if given < 1 else "less than or equal to 100"
        raise InvalidRequest(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length {bound}"
        )


def _check_distinct(places: Sequence[tuple[str, Spot]]) -> None:
    if len(set(places)) != len(places):
        raise InvalidRequest("Transaction request cannot include multiple operations on one item")


def _check_bytes(size: int) -> None:
    if size > _MOST_BYTES:
        raise InvalidRequest(f"Transaction payload size cannot exceed 4MB. Payload Size: {size}")
