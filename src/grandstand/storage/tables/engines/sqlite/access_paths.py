"""Keys as sortable bytes, and the SQL for queries and scans in the order of a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from struct import Struct
from typing import ClassVar, Final, TypeAlias
from zlib import crc32

from grandstand.storage.tables.attribute_values import (
    Item,
    Key,
    Number,
    Value,
    normalize_number,
    number_text,
    type_code,
)
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.key_conditions import key_condition
from grandstand.storage.tables.expressions.nodes import KeyCondition, Range
from grandstand.storage.tables.requests import QueryRequest, ScanRequest
from grandstand.storage.tables.schema import IndexSchema, KeyType, TableSchema

_NEGATIVE: Final = b"\x40"
_ZERO: Final = b"\x80"
_POSITIVE: Final = b"\xc0"
_END: Final = b"\xff"
# The power of ten of the first digit, -130 to 125, fits in one byte.
_LOWEST_POWER: Final = -130
# Two digits per byte, each raised by one, so that no complemented pair equals the end mark.
_RAISED_DIGITS: Final = str.maketrans("0123456789", "123456789a")
_COMPLEMENT: Final = bytes(255 - byte for byte in range(256))


def encode_number(value: Number) -> bytes:
    """Encode a number in at most 22 bytes that sort like the number.

    Raises InvalidRequest outside DynamoDB's range.
    """
    number = normalize_number(value)
    if not number:
        return _ZERO
    if isinstance(number, int):
        digits = str(abs(number))
        power = len(digits) - 1
    else:
        mantissa, _, exponent = format(number.copy_abs(), "E").partition("E")
        digits, power = mantissa.replace(".", ""), int(exponent)
    digits = digits.rstrip("0")
    pairs = bytes.fromhex((digits + "0" if len(digits) % 2 else digits).translate(_RAISED_DIGITS))
    body = (power - _LOWEST_POWER).to_bytes(1) + pairs
    return _POSITIVE + body if number > 0 else _NEGATIVE + body.translate(_COMPLEMENT) + _END


def after_prefix(prefix: bytes) -> bytes | None:
    """Return the first bytes that sort after everything with the prefix, or None."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + (stem[-1] + 1).to_bytes(1) if stem else None


PARTITION_BYTES: Final = 2048
SORT_BYTES: Final = 1024
BUCKETS: Final = 1 << 16
MISMATCH: Final = "The provided key element does not match the schema"

_INVALID: Final = "One or more parameter values were invalid: "
_NOT_VALID: Final = "One or more parameter values are not valid. "
_EMPTY: Final = "The AttributeValue for a key attribute cannot contain an empty {} value."

Encode: TypeAlias = Callable[[Value], bytes | None]
RowKey: TypeAlias = tuple[bytes, bytes]


class ItemRejected(InvalidRequest):
    """An action does not fit its table; in a transaction it cancels the transaction."""

    code: ClassVar[str] = "item-rejected"


class KeyMismatch(ItemRejected):
    """An item's key is missing or of another type."""

    code: ClassVar[str] = "key-mismatch"


def _text(value: Value) -> bytes | None:
    return value.encode() if isinstance(value, str) else None


def _number(value: Value) -> bytes | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return encode_number(value)


def _binary(value: Value) -> bytes | None:
    return value if isinstance(value, bytes) else None


ENCODERS: Final[Mapping[KeyType, Encode]] = {"S": _text, "N": _number, "B": _binary}


def add_bucket(partition: bytes) -> bytes:
    """Prefix a partition key with its bucket; scans go through buckets, which segments share."""
    return bucket_start(crc32(partition) & 0xFFFF) + partition


bucket_start: Final = Struct(">H").pack


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One attribute of a key: its column, type and maximum length."""

    attribute: str
    column: str
    kind: KeyType
    limit: int
    has_bucket: bool = False

    def encode(self, value: Value) -> bytes | None:
        """Return the stored bytes, or None if the value is of another type.

        Raises InvalidRequest if it is empty or too long.
        """
        data = ENCODERS[self.kind](value)
        if data is None:
            return None
        if not data:
            raise empty_key_error(self.attribute, value)
        if len(data) > self.limit:
            raise long_key_error(self.limit)
        return add_bucket(data) if self.has_bucket else data


def lookup_error(schema: TableSchema, key: Key) -> InvalidRequest:
    """Return what is wrong with the key of a lookup."""
    if key.keys() == set(schema.key_names):
        for name in schema.key_names:
            error = _key_value_error(schema, name, key[name])
            if error is not None:
                return error
    return KeyMismatch(MISMATCH)


def item_key_error(schema: TableSchema, item: Item) -> InvalidRequest:
    """Return what is wrong with the key of an item to write."""
    for name in schema.key_names:
        if name not in item:
            return KeyMismatch(f"{_INVALID}Missing the key {name} in the item")
        expected, found = schema.types[name], type_code(item[name])
        if expected != found:
            return KeyMismatch(
                f"{_INVALID}Type mismatch for key {name} expected: {expected} actual: {found}"
            )
        error = _key_value_error(schema, name, item[name])
        if error is not None:
            return error
    return KeyMismatch(MISMATCH)


def _key_value_error(schema: TableSchema, name: str, value: Value) -> InvalidRequest | None:
    data = ENCODERS[schema.types[name]](value)
    if data is None:
        return KeyMismatch(MISMATCH)
    if not data:
        return empty_key_error(name, value)
    limit = PARTITION_BYTES if name == schema.partition else SORT_BYTES
    return long_key_error(limit) if len(data) > limit else None


def empty_key_error(name: str, value: Value) -> InvalidRequest:
    return InvalidRequest(f"{_NOT_VALID}{_EMPTY.format(_type_name(value))} Key: {name}")


def long_key_error(limit: int) -> InvalidRequest:
    if limit == PARTITION_BYTES:
        # DynamoDB leaves out the space before the number.
        return InvalidRequest(
            f"{_INVALID}Size of hashkey has exceeded the maximum size limit of{limit} bytes"
        )
    return InvalidRequest(
        f"{_INVALID}Aggregated size of all range keys has exceeded the size limit of {limit} bytes"
    )


def index_key_error(
    key_column: KeyColumn, index: str, value: Value, *, updating: bool
) -> InvalidRequest:
    """Return what is wrong with an attribute as the key of an index, in other words for updates."""
    data = ENCODERS[key_column.kind](value)
    if data is None:
        return ItemRejected(
            f"{_INVALID}Type mismatch for Index Key {key_column.attribute} Expected: "
            f"{key_column.kind} Actual: {type_code(value)} IndexName: {index}"
        )
    if data:
        return long_index_key_error(key_column.limit, updating=updating)
    empty = _EMPTY.format(_type_name(value))
    if updating:
        return InvalidRequest(
            f"{_NOT_VALID}The update expression attempted to update a secondary index key to a "
            f"value that is not supported. {empty}"
        )
    return InvalidRequest(
        f"{_NOT_VALID}A value specified for a secondary index key is not supported. {empty} "
        f"IndexName: {index}, IndexKey: {key_column.attribute}"
    )


def long_index_key_error(limit: int, *, updating: bool) -> InvalidRequest:
    if not updating:
        return long_key_error(limit)
    return ItemRejected(
        "The update expression attempted to update the secondary index key beyond allowed size "
        "limits"
    )


def _type_name(value: Value) -> str:
    return "string" if isinstance(value, str) else "binary"


# Number of fixed leading columns, comparison operators of the lower and the upper bound of the next
# column, whether there is a start key, and whether the order is ascending.
Shape: TypeAlias = tuple[int, str, str, bool, bool]


@dataclass(frozen=True, slots=True)
class AccessPath:
    """An order in which rows can be read: that of the primary key, or of an index.

    `columns` are the attributes of its key, then the rest of the table's key, so that the order
    is total. `statements` caches the SQL by shape.
    """

    source: str
    partition_count: int
    key_count: int
    columns: tuple[KeyColumn, ...]
    key_names: frozenset[str]
    nullable_columns: tuple[str, ...] = ()
    index: IndexSchema | None = None
    projected: frozenset[str] | None = None
    statements: dict[Shape, str] = field(default_factory=dict)

    @property
    def is_global(self) -> bool:
        return self.index is not None and not self.index.local

    def query_sql(self, shape: Shape) -> str:
        sql = self.statements.get(shape)
        if sql is None:
            sql = self.statements[shape] = self._build_query(shape)
        return sql

    def scan_sql(self, *, has_start: bool, low: bool, high: bool) -> str:
        """Return the statement for a scan; `low` and `high` limit it to some buckets."""
        shape: Shape = (-1, "low" * low, "high" * high, has_start, True)
        sql = self.statements.get(shape)
        if sql is None:
            terms = [f"{column} IS NOT NULL" for column in self.nullable_columns]
            if has_start:
                terms.append(_after_start(self.columns, ">"))
            terms += ["pk >= ?"] * low + ["pk < ?"] * high
            sql = self.statements[shape] = self._build_select(terms, self.columns, forward=True)
        return sql

    def _build_query(self, shape: Shape) -> str:
        fixed, low, high, has_start, forward = shape
        order = self.columns[fixed:]
        terms = [f"{key_column.column} = ?" for key_column in self.columns[:fixed]]
        terms += [f"{column} IS NOT NULL" for column in self.nullable_columns]
        # With a bound on the side of the start key the planner would begin at the bound.
        if low and not (has_start and forward):
            terms.append(f"{order[0].column} {low} ?")
        if high and not (has_start and not forward):
            terms.append(f"{order[0].column} {high} ?")
        if has_start:
            terms.append(_after_start(order, ">" if forward else "<"))
        return self._build_select(terms, order, forward=forward)

    def _build_select(
        self, terms: list[str], order: tuple[KeyColumn, ...], *, forward: bool
    ) -> str:
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        direction = "" if forward else " DESC"
        columns = ", ".join(f"{key_column.column}{direction}" for key_column in order)
        order_by = f" ORDER BY {columns}" if columns else ""
        return f"SELECT item, size FROM {self.source}{where}{order_by} LIMIT ?"


def _after_start(order: tuple[KeyColumn, ...], comparison: str) -> str:
    columns = ", ".join(key_column.column for key_column in order)
    return f"({columns}) {comparison} ({', '.join('?' * len(order))})"


# SQL and its parameters except the limit.
Statement: TypeAlias = tuple[str, list[bytes]]

_INVALID_START: Final = "The provided starting key is invalid"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The range of the first column that is not fixed; operators are "" without a bound."""

    low_op: str = ""
    low: bytes = b""
    high_op: str = ""
    high: bytes = b""

    def contains(self, value: bytes) -> bool:
        if self.low_op and (value < self.low or (self.low_op == ">" and value == self.low)):
            return False
        return (
            not self.high_op or value < self.high or (self.high_op == "<=" and value == self.high)
        )


_UNBOUNDED: Final = _Bounds()


def query_statement(
    schema: TableSchema, access: AccessPath, request: QueryRequest
) -> Statement | None:
    """Return the SQL for a query, or None if nothing can follow its start key.

    Raises InvalidRequest if the condition or the start key does not match the key.
    """
    fixed, bounds = _condition(schema, access, request.where)
    if request.start is None:
        start_values: list[bytes] = []
    else:
        values = _start_values(access, request.start, scanning=False)
        _check_inside(values, fixed, bounds, request)
        start_values = values[len(fixed) :]
        if not start_values:
            return None
    forward = request.forward
    shape = (len(fixed), bounds.low_op, bounds.high_op, bool(start_values), forward)
    parameters = list(fixed)
    if bounds.low_op and not (start_values and forward):
        parameters.append(bounds.low)
    if bounds.high_op and not (start_values and not forward):
        parameters.append(bounds.high)
    return access.query_sql(shape), parameters + start_values


def scan_start_values(
    access: AccessPath, request: ScanRequest, buckets: tuple[int, int]
) -> list[bytes] | None:
    """Return the column values of a scan's start key. Raises InvalidRequest."""
    if request.start is None:
        return None
    values = _start_values(access, request.start, scanning=True)
    row_pk = values[[key_column.column for key_column in access.columns].index("pk")]
    low, high = buckets
    below = row_pk[:2] < bucket_start(low)
    if below or (request.segment + 1 < request.segments and row_pk[:2] >= bucket_start(high)):
        raise InvalidRequest(
            f"{_INVALID_START}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
            f"correct Segment. TotalSegments: {request.segments} Segment: {request.segment}"
        )
    return values


def _condition(
    schema: TableSchema, access: AccessPath, where: KeyCondition
) -> tuple[list[bytes], _Bounds]:
    remaining = dict(where.equals)
    fixed: list[bytes] = []
    for key_column in access.columns[: access.key_count]:
        if key_column.attribute not in remaining:
            break
        value = key_column.encode(remaining.pop(key_column.attribute))
        if value is None:
            raise _condition_error(schema, access, where)
        fixed.append(value)
    if remaining or len(fixed) < access.partition_count:
        raise _condition_error(schema, access, where)
    if where.range is None:
        return fixed, _UNBOUNDED
    position = len(fixed)
    if position >= access.key_count or access.columns[position].attribute != where.range.attribute:
        raise _condition_error(schema, access, where)
    bounds = _range(access.columns[position], where.range)
    if bounds is None:
        raise _condition_error(schema, access, where)
    if where.range.op == "=":
        return [*fixed, bounds.low], _UNBOUNDED
    return fixed, bounds


def _range(key_column: KeyColumn, key_range: Range) -> _Bounds | None:
    low = key_column.encode(key_range.low)
    if low is None:
        return None
    match key_range.op:
        case "=":
            return _Bounds(low=low)
        case "<" | "<=":
            return _Bounds(high_op=key_range.op, high=low)
        case ">" | ">=":
            return _Bounds(low_op=key_range.op, low=low)
        case "between":
            high = key_column.encode(key_range.high)
            if high is None:
                return None
            _check_between(key_range, low, high)
            return _Bounds(">=", low, "<=", high)
        case "begins_with":
            if key_column.kind == "N":
                raise InvalidRequest(
                    "Invalid KeyConditionExpression: Incorrect operand type for operator or "
                    "function; operator or function: begins_with, operand type: N"
                )
            end = after_prefix(low)
            return _Bounds(">=", low) if end is None else _Bounds(">=", low, "<", end)


def _check_between(key_range: Range, low: bytes, high: bytes) -> None:
    if low > high:
        raise InvalidRequest(
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be "
            "greater than or equal to lower bound; lower bound operand: AttributeValue: "
            f"{_format_value(key_range.low)}, upper bound operand: AttributeValue: "
            f"{_format_value(key_range.high)}"
        )


def _format_value(value: Value) -> str:
    text = number_text(value) if isinstance(value, int | Decimal) else str(value)
    return f"{{{type_code(value)}:{text}}}"


def _condition_error(
    schema: TableSchema, access: AccessPath, where: KeyCondition
) -> InvalidRequest:
    """Return why a condition does not match the key, as the expression parser says it."""
    terms = [Range(name, "=", value) for name, value in where.equals]
    if where.range is not None:
        terms.append(where.range)
    try:
        key_condition(terms, schema, access.index)
    except InvalidRequest as error:
        return error
    return InvalidRequest("Query key condition not supported")


def _start_values(access: AccessPath, start: Key, *, scanning: bool) -> list[bytes]:
    mismatch = f"{_INVALID_START}: {MISMATCH}"
    if start.keys() != access.key_names:
        raise InvalidRequest(mismatch if scanning and access.index is None else _INVALID_START)
    values: list[bytes] = []
    for position, key_column in enumerate(access.columns):
        try:
            value = key_column.encode(start[key_column.attribute])
        except InvalidRequest as error:
            raise InvalidRequest(f"{_INVALID_START}: {error}") from error
        if value is None:
            in_key = position < access.key_count and not (scanning and access.index is None)
            raise InvalidRequest(MISMATCH if in_key else mismatch)
        values.append(value)
    return values


def _check_inside(
    values: list[bytes], fixed: list[bytes], bounds: _Bounds, request: QueryRequest
) -> None:
    key_range = request.where.range
    partition = len(fixed) - (key_range is not None and key_range.op == "=")
    if key_range is None:
        if values[: len(fixed)] != fixed:
            raise InvalidRequest(
                "The provided starting key is outside query boundaries based on provided conditions"
            )
        return
    if values[partition : len(fixed)] != fixed[partition:] or (
        bounds is not _UNBOUNDED and not bounds.contains(values[len(fixed)])
    ):
        raise InvalidRequest("The provided starting key does not match the range key predicate")
    if values[:partition] != fixed[:partition]:
        raise InvalidRequest("The query can return at most one row and cannot be restarted")
