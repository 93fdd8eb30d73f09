"""Kept here: where a query or scan may be taken up again: what ExclusiveStartKey must hold."""

from __future__ import annotations

from grandstand.storage.tables.attributes import item_from_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.evaluate import evaluate
from grandstand.storage.tables.expressions.nodes import (
    BeginsWith,
    Between,
    Compare,
    KeyCondition,
    Literal,
    Path,
    Range,
)
from grandstand.storage.tables.front.keying import MISMATCH, check_piece
from grandstand.storage.tables.front.service import Request
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from grandstand.storage.tables.values import Key, same

INVALID = "The provided starting key is invalid"
# Faults of the values themselves are told without that introduction.
_BARE = ("duplicates", "number set", "numeric value", "significant digits", "with magnitude")


def read_start(request: Request) -> Key | None:
    """Read where to start after; raise InvalidRequest."""
    wire = request.get("ExclusiveStartKey")
    if wire is None:
        return None
    try:
        return item_from_wire(wire, text_binary=True)
    except InvalidRequest as fault:
        if any(words in str(fault) for words in _BARE):
            raise
        raise InvalidRequest(f"{INVALID}: {fault}") from fault


def check_query_start(
    start: Key, schema: TableSchema, index: IndexSchema | None, where: KeyCondition
) -> None:
    """Raise InvalidRequest unless a query with that condition could have ended there."""
    names = _names(schema, index)
    if len(start) != len(names) or not start.keys() <= set(names):
        raise InvalidRequest(INVALID)
    for name in schema.key_names if index is None else index.key_names:
        check_piece(schema, start, name)
    _check_table_part(schema, start)
    if where.range is not None and not _within(start, where.range):
        raise InvalidRequest("The provided starting key does not match the range key predicate")
    if not all(same(start[name], value) for name, value in where.equals):
        raise InvalidRequest(
            "The provided starting key is outside query boundaries based on provided conditions"
        )


def check_scan_start(start: Key, schema: TableSchema, index: IndexSchema | None) -> None:
    """Raise InvalidRequest unless a scan could have ended there."""
    names = _names(schema, index)
    if index is not None:
        if len(start) != len(names) or not start.keys() <= set(names):
            raise InvalidRequest(INVALID)
        for name in index.key_names:
            check_piece(schema, start, name)
    elif len(start) != len(names):
        raise InvalidRequest(f"{INVALID}: {MISMATCH}")
    _check_table_part(schema, start)


def _names(schema: TableSchema, index: IndexSchema | None) -> tuple[str, ...]:
    own = () if index is None else index.key_names
    return tuple(dict.fromkeys((*schema.key_names, *own)))


def _check_table_part(schema: TableSchema, start: Key) -> None:
    for name in schema.key_names:
        try:
            check_piece(schema, start, name)
        except InvalidRequest as fault:
            raise InvalidRequest(f"{INVALID}: {fault}") from fault


def _within(start: Key, bounds: Range) -> bool:
    path, low = Path((bounds.attribute,)), Literal(bounds.low)
    if bounds.op == "between":
        return evaluate(Between(path, low, Literal(bounds.high)), start)
    if bounds.op == "begins_with":
        return evaluate(BeginsWith(path, low), start)
    return evaluate(Compare(bounds.op, path, low), start)
