"""Kept here: from key conditions and start keys to the stretch of rows they mean."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.storage.tables.engines.sqlite.ordered.keys import (
    MISMATCH,
    Part,
    bucket_start,
)
from grandstand.storage.tables.engines.sqlite.ordered.order import after_prefix
from grandstand.storage.tables.engines.sqlite.ordered.ways import Way
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.keys import key_condition
from grandstand.storage.tables.expressions.nodes import KeyCondition, Range
from grandstand.storage.tables.requests import Query, Scan
from grandstand.storage.tables.schema import TableSchema
from grandstand.storage.tables.values import Key, Value, number_text, type_code

# A statement and the values bound to it, but for the limit.
Span: TypeAlias = tuple[str, list[bytes]]

_BAD_START: Final = "The provided starting key is invalid"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """How far the first column after the fixed ones reaches; "" for no bound."""

    above: str = ""
    low: bytes = b""
    below: str = ""
    high: bytes = b""

    def hold(self, value: bytes) -> bool:
        """Tell whether a value lies within."""
        if self.above and (value < self.low or (self.above == ">" and value == self.low)):
            return False
        return not self.below or value < self.high or (self.below == "<=" and value == self.high)


_OPEN: Final = _Bounds()


def query_span(schema: TableSchema, way: Way, request: Query) -> Span | None:
    """Turn a query into its statement; None when nothing can follow its start key.

    Raises InvalidRequest when the condition or the start key does not fit.
    """
    fixed, bounds = _condition(schema, way, request.where)
    if request.start is None:
        started: list[bytes] = []
    else:
        values = _start_values(way, request.start, scanning=False)
        _check_inside(values, fixed, bounds, request)
        started = values[len(fixed) :]
        if not started:
            return None
    forward = request.forward
    shape = (len(fixed), bounds.above, bounds.below, bool(started), forward)
    bound = list(fixed)
    if bounds.above and not (started and forward):
        bound.append(bounds.low)
    if bounds.below and not (started and not forward):
        bound.append(bounds.high)
    return way.query(shape), bound + started


def scan_start(way: Way, request: Scan, buckets: tuple[int, int]) -> list[bytes] | None:
    """Turn a scan's start key into the values of its row; raise InvalidRequest."""
    if request.start is None:
        return None
    values = _start_values(way, request.start, scanning=True)
    place = values[[part.column for part in way.parts].index("pk")]
    low, high = buckets
    below = place[:2] < bucket_start(low)
    if below or (request.segment + 1 < request.segments and place[:2] >= bucket_start(high)):
        raise InvalidRequest(
            f"{_BAD_START}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
            f"Segment. TotalSegments: {request.segments} Segment: {request.segment}"
        )
    return values


def _condition(schema: TableSchema, way: Way, where: KeyCondition) -> tuple[list[bytes], _Bounds]:
    given = dict(where.equals)
    fixed: list[bytes] = []
    for part in way.parts[: way.keyed]:
        if part.attribute not in given:
            break
        value = part.encode(given.pop(part.attribute))
        if value is None:
            raise _refused(schema, way, where)
        fixed.append(value)
    if given or len(fixed) < way.partition:
        raise _refused(schema, way, where)
    if where.range is None:
        return fixed, _OPEN
    at = len(fixed)
    if at >= way.keyed or way.parts[at].attribute != where.range.attribute:
        raise _refused(schema, way, where)
    bounds = _range(way.parts[at], where.range)
    if bounds is None:
        raise _refused(schema, way, where)
    if where.range.op == "=":
        return [*fixed, bounds.low], _OPEN
    return fixed, bounds


def _range(part: Part, given: Range) -> _Bounds | None:
    low = part.encode(given.low)
    if low is None:
        return None
    match given.op:
        case "=":
            return _Bounds(low=low)
        case "<" | "<=":
            return _Bounds(below=given.op, high=low)
        case ">" | ">=":
            return _Bounds(above=given.op, low=low)
        case "between":
            high = part.encode(given.high)
            if high is None:
                return None
            _check_between(given, low, high)
            return _Bounds(">=", low, "<=", high)
        case "begins_with":
            if part.kind == "N":
                raise InvalidRequest(
                    "Invalid KeyConditionExpression: Incorrect operand type for operator or "
                    "function; operator or function: begins_with, operand type: N"
                )
            end = after_prefix(low)
            return _Bounds(">=", low) if end is None else _Bounds(">=", low, "<", end)


def _check_between(given: Range, low: bytes, high: bytes) -> None:
    if low > high:
        raise InvalidRequest(
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be "
            "greater than or equal to lower bound; lower bound operand: AttributeValue: "
            f"{_shown(given.low)}, upper bound operand: AttributeValue: {_shown(given.high)}"
        )


def _shown(value: Value) -> str:
    text = number_text(value) if isinstance(value, int | Decimal) else str(value)
    return f"{{{type_code(value)}:{text}}}"


def _refused(schema: TableSchema, way: Way, where: KeyCondition) -> InvalidRequest:
    """Say why a condition does not fit the key, in the words the parser of conditions has."""
    terms = [Range(name, "=", value) for name, value in where.equals]
    if where.range is not None:
        terms.append(where.range)
    try:
        key_condition(terms, schema, way.index)
    except InvalidRequest as fault:
        return fault
    return InvalidRequest("Query key condition not supported")


def _start_values(way: Way, start: Key, *, scanning: bool) -> list[bytes]:
    long = f"{_BAD_START}: {MISMATCH}"
    if start.keys() != way.key_names:
        raise InvalidRequest(long if scanning and way.index is None else _BAD_START)
    values: list[bytes] = []
    for at, part in enumerate(way.parts):
        try:
            value = part.encode(start[part.attribute])
        except InvalidRequest as fault:
            raise InvalidRequest(f"{_BAD_START}: {fault}") from fault
        if value is None:
            of_key = at < way.keyed and not (scanning and way.index is None)
            raise InvalidRequest(MISMATCH if of_key else long)
        values.append(value)
    return values


def _check_inside(values: list[bytes], fixed: list[bytes], bounds: _Bounds, request: Query) -> None:
    ranged = request.where.range
    partition = len(fixed) - (ranged is not None and ranged.op == "=")
    if ranged is None:
        if values[: len(fixed)] != fixed:
            raise InvalidRequest(
                f"{_BAD_START.removesuffix('invalid')}outside query boundaries based on provided "
                "conditions"
            )
        return
    if values[partition : len(fixed)] != fixed[partition:] or (
        bounds is not _OPEN and not bounds.hold(values[len(fixed)])
    ):
        raise InvalidRequest("The provided starting key does not match the range key predicate")
    if values[:partition] != fixed[:partition]:
        raise InvalidRequest("The query can return at most one row and cannot be restarted")
