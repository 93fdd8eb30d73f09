"""Server of the DynamoDB protocol: operations, and the way from request to reply."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias
from zlib import crc32

import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import Broken, GrandstandError, Unavailable
from grandstand.core.logging import get_logger
from grandstand.storage.tables import errors
from grandstand.storage.tables.dynamodb_server import item_ops, query_ops, stream_ops, table_ops
from grandstand.storage.tables.dynamodb_server import request_shapes as shapes
from grandstand.storage.tables.dynamodb_server.request_shapes import TABLE_NAME
from grandstand.storage.tables.dynamodb_server.service import (
    NOT_FOUND,
    Request,
    RequestRefused,
    Service,
)
from grandstand.storage.tables.dynamodb_server.signature import (
    check_signature_present,
    verify_signature,
)
from grandstand.storage.tables.dynamodb_server.validation import Location, StructRule
from grandstand.storage.tables.encoding import WireFault, item_to_wire
from grandstand.storage.tables.engines.protocol import Engine

JSON_TYPE: Final = "application/x-amz-json-1.0"

_NAMESPACES: Final = {
    "ValidationException": "com.amazon.coral.validate",
    **dict.fromkeys(
        (
            "SerializationException",
            "UnknownOperationException",
            "RequestEntityTooLargeException",
            "MissingAuthenticationTokenException",
            "IncompleteSignatureException",
            "InvalidSignatureException",
            "UnrecognizedClientException",
            "AccessDeniedException",
        ),
        "com.amazon.coral.service",
    ),
}
# The body of these has "Message" with a capital letter.
_CAPITALIZED: Final = frozenset(("SerializationException", "AccessDeniedException"))

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def error_reply(error: GrandstandError, request_id: str) -> Reply:
    """Return the reply for an error, in the format of DynamoDB."""
    name = str(getattr(error, "aws_name", "InternalServerError"))
    content: dict[str, object] = {
        "__type": f"{_NAMESPACES.get(name, 'com.amazonaws.dynamodb.v20120810')}#{name}"
    }
    if str(error):
        content["Message" if name in _CAPITALIZED else "message"] = str(error)
    if isinstance(error, errors.ConditionFailed) and error.item is not None:
        content["Item"] = item_to_wire(error.item, text_binary=True)
    if isinstance(error, errors.TransactionCancelled):
        content["CancellationReasons"] = [_reason(reason) for reason in error.reasons]
    status = 400
    if name == "RequestEntityTooLargeException":
        status = 413
    elif name == "InternalServerError" or isinstance(error, Unavailable | Broken):
        status = 500
    return _reply(status, _encode(content), request_id)


def _reason(reason: errors.CancellationReason) -> dict[str, object]:
    content: dict[str, object] = {"Code": reason.code}
    if reason.message is not None:
        content["Message"] = reason.message
    if reason.item is not None:
        content["Item"] = item_to_wire(reason.item, text_binary=True)
    return content


def _reply(status: int, body: bytes, request_id: str) -> Reply:
    headers = (
        ("content-type", JSON_TYPE),
        ("content-length", str(len(body))),
        ("x-amzn-requestid", request_id),
        ("x-amz-crc32", str(crc32(body))),
    )
    return Reply(status, headers, body)


Handler: TypeAlias = Callable[[Service, Request], object]
Precheck: TypeAlias = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation: request structure, handler, and a check that precedes all constraints.

    `headers` are added to the request.
    """

    shape: StructRule
    handler: Handler
    precheck: Precheck | None = None
    headers: tuple[str, ...] = ()


def _check_table_name(request: dict[str, Any]) -> None:
    """Report an empty table name before, and without, any other violation."""
    name = request.get("TableName")
    if name == "":
        (violation,) = TABLE_NAME.violations(name, Location().field("TableName"))
        raise errors.InvalidRequest(f"1 validation error detected: {violation}")


def _check_table(request: dict[str, Any]) -> None:
    if request.get("TableName") is None:
        raise errors.InvalidRequest(
            "The parameter 'TableName' is required but was not present in the request"
        )
    _check_table_name(request)


def _check_update_item(request: dict[str, Any]) -> None:
    """Report an invalid ReturnValues before, and without, any other violation."""
    _check_table_name(request)
    return_values = request.get("ReturnValues")
    rule = shapes.UPDATE_ITEM.members["ReturnValues"].rule
    if return_values is not None and not rule.admits(return_values):
        (violation,) = rule.violations(return_values, Location().field("ReturnValues"))
        raise errors.InvalidRequest(f"1 validation error detected: {violation}")


def _check_request_items(name: str) -> Precheck:
    def check(request: dict[str, Any]) -> None:
        if not request.get("RequestItems"):
            raise errors.InvalidRequest(f"The requestItems parameter is required for {name}")

    return check


def _check_resource(request: dict[str, Any]) -> None:
    if request.get("ResourceArn") is None:
        raise errors.InvalidRequest("Invalid TableArn")


_ITEM_OPERATIONS: Final = {
    "PutItem": ApiOperation(shapes.PUT_ITEM, item_ops.put_item, _check_table_name),
    "GetItem": ApiOperation(shapes.GET_ITEM, item_ops.get_item, _check_table_name),
    "UpdateItem": ApiOperation(shapes.UPDATE_ITEM, item_ops.update_item, _check_update_item),
    "DeleteItem": ApiOperation(shapes.DELETE_ITEM, item_ops.delete_item, _check_table_name),
    "Query": ApiOperation(shapes.QUERY, query_ops.query, _check_table_name),
    "Scan": ApiOperation(shapes.SCAN, query_ops.scan, _check_table_name),
    "BatchGetItem": ApiOperation(
        shapes.BATCH_GET_ITEM, item_ops.batch_get_item, _check_request_items("BatchGetItem")
    ),
    "BatchWriteItem": ApiOperation(
        shapes.BATCH_WRITE_ITEM, item_ops.batch_write_item, _check_request_items("BatchWriteItem")
    ),
    "TransactWriteItems": ApiOperation(shapes.TRANSACT_WRITE_ITEMS, item_ops.transact_write_items),
    "TransactGetItems": ApiOperation(shapes.TRANSACT_GET_ITEMS, item_ops.transact_get_items),
}
_TABLE_OPERATIONS: Final = {
    "CreateTable": ApiOperation(shapes.CREATE_TABLE, table_ops.create_table, _check_table),
    "UpdateTable": ApiOperation(shapes.UPDATE_TABLE, table_ops.update_table, _check_table),
    "DescribeTable": ApiOperation(shapes.ONE_TABLE, table_ops.describe_table, _check_table),
    "DeleteTable": ApiOperation(shapes.ONE_TABLE, table_ops.delete_table, _check_table),
    "ListTables": ApiOperation(shapes.LIST_TABLES, table_ops.list_tables),
    "UpdateTimeToLive": ApiOperation(
        shapes.UPDATE_TIME_TO_LIVE, table_ops.update_time_to_live, _check_table_name
    ),
    "DescribeTimeToLive": ApiOperation(
        shapes.ONE_TABLE, table_ops.describe_time_to_live, _check_table_name
    ),
    "TagResource": ApiOperation(shapes.TAG_RESOURCE, table_ops.tag_resource, _check_resource),
    "UntagResource": ApiOperation(shapes.UNTAG_RESOURCE, table_ops.untag_resource, _check_resource),
    "ListTagsOfResource": ApiOperation(
        shapes.LIST_TAGS, table_ops.list_tags_of_resource, _check_resource
    ),
    "DescribeLimits": ApiOperation(shapes.EMPTY, table_ops.describe_limits),
    "DescribeEndpoints": ApiOperation(
        shapes.EMPTY, table_ops.describe_endpoints, headers=("host",)
    ),
    "DescribeContinuousBackups": ApiOperation(
        shapes.ONE_TABLE, table_ops.describe_continuous_backups, _check_table_name
    ),
    "UpdateContinuousBackups": ApiOperation(
        shapes.UPDATE_CONTINUOUS_BACKUPS, table_ops.update_continuous_backups, _check_table_name
    ),
}
_STREAM_OPERATIONS: Final = {
    "ListStreams": ApiOperation(shapes.LIST_STREAMS, stream_ops.list_streams),
    "DescribeStream": ApiOperation(shapes.DESCRIBE_STREAM, stream_ops.describe_stream),
    "GetShardIterator": ApiOperation(shapes.GET_SHARD_ITERATOR, stream_ops.get_shard_iterator),
    "GetRecords": ApiOperation(shapes.GET_RECORDS, stream_ops.get_records),
}
# By the X-Amz-Target header.
OPERATIONS: Final[dict[str, ApiOperation]] = {
    f"{service}_20120810.{name}": operation
    for service, operations in (
        ("DynamoDB", _ITEM_OPERATIONS | _TABLE_OPERATIONS),
        ("DynamoDBStreams", _STREAM_OPERATIONS),
    )
    for name, operation in operations.items()
}


MAX_BODY: Final = 16 * 1024 * 1024
_TOO_LARGE: Final = "Request size exceeds the limit of 16 MB"
# Clients send one member; each costs a copy of everything after it.
_MAX_GZIP_MEMBERS: Final = 16

_decode: Final = msgspec.json.Decoder().decode


class DynamoDbServer:
    """Serves the DynamoDB protocol on top of a table engine.

    Without access keys any complete signature is accepted.

    Example:
        >>> server = DynamoDbServer(engine, clock=SystemClock())
        >>> reply = server.handle({"X-Amz-Target": "DynamoDB_20120810.ListTables"}, b"{}")
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        region: str = "local",
        access_keys: Mapping[str, str] | None = None,
        chance: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._service = Service(engine, clock, region)
        self._access_keys = access_keys
        self._chance = chance

    @property
    def region(self) -> str:
        """The region of this server."""
        return self._service.region

    def handle(self, headers: Mapping[str, str], body: bytes) -> Reply:
        """Execute one request and return the reply. Never raises."""
        request_id = self._chance(26).hex().upper()
        try:
            content = self._execute(headers, body)
            return _reply(200, b"" if content is None else _encode(content), request_id)
        except GrandstandError as error:
            return error_reply(error, request_id)
        except Exception as error:  # noqa: BLE001 - last handler before the network
            get_logger("dynamodb_server").exception("request_failed", request_id=request_id)
            return error_reply(Broken(f"Internal error: {type(error).__name__}"), request_id)

    def sweep(self) -> int:
        """Delete some expired items of every table and return how many were deleted.

        DynamoDB does this in the background; the process that runs the server calls it regularly.
        """
        engine, deleted = self._service.engine, 0
        for name in engine.list_tables():
            # A table may have been deleted in the meantime.
            with suppress(errors.TableNotFound):
                if engine.schema_of(name).ttl is not None:
                    deleted += engine.sweep(name, limit=1000)
        return deleted

    def _execute(self, headers: Mapping[str, str], body: bytes) -> object:
        lowercase = {name.lower(): value for name, value in headers.items()}
        if len(body) > MAX_BODY:
            raise RequestRefused("RequestEntityTooLargeException", _TOO_LARGE)
        data = _parse_body(lowercase, _decompress(lowercase, body))
        target = lowercase.get("x-amz-target", "")
        operation = OPERATIONS.get(target)
        if operation is None:
            name = target.partition(".")[2]
            hint = ""
            if name in ("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"):
                hint = f"{name}: PartiQL is not supported. Use the item operations, Query or Scan."
            raise RequestRefused("UnknownOperationException", hint)
        self._authenticate(lowercase, body)
        if data is None:
            raise WireFault("")
        for name in operation.headers:
            data[name] = lowercase.get(name)
        request = validate_request(operation, data)
        try:
            return operation.handler(self._service, request)
        except errors.TableNotFound as error:
            # Only operations on tables and streams name the table that is missing.
            if operation in _ITEM_OPERATIONS.values():
                raise errors.TableNotFound(NOT_FOUND) from error
            raise
        except errors.InvalidRequest:
            # A wrong JSON type anywhere takes precedence over any other error.
            operation.shape.cast(data)
            raise

    def _authenticate(self, headers: Mapping[str, str], body: bytes) -> None:
        check_signature_present(headers)
        if self._access_keys is not None:
            verify_signature(
                headers,
                body,
                secrets=self._access_keys,
                region=self._service.region,
                now=self._service.clock.now(),
            )


def _decompress(headers: Mapping[str, str], body: bytes) -> bytes:
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise Unavailable(f"The content encoding {encoding} is not supported")
    decompressed, rest = b"", body
    for _ in range(_MAX_GZIP_MEMBERS):
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            decompressed += member.decompress(rest, MAX_BODY + 1 - len(decompressed))
        except zlib.error as error:
            raise Unavailable("The body is not gzip") from error
        if len(decompressed) > MAX_BODY:
            raise RequestRefused("RequestEntityTooLargeException", _TOO_LARGE)
        if not member.eof:
            raise Unavailable("The gzip body ends too early")
        rest = member.unused_data
        if decompressed and not rest:
            return decompressed
    raise Unavailable("The gzip body has too many members")


def _parse_body(headers: Mapping[str, str], body: bytes) -> dict[str, Any] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    if body and kind not in (JSON_TYPE, "application/json"):
        raise RequestRefused("UnknownOperationException", "")
    if not body:
        return None
    try:
        data = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireFault("") from error
    if not isinstance(data, dict):
        raise WireFault("")
    return data


def validate_request(operation: ApiOperation, data: dict[str, Any]) -> dict[str, Any]:
    """Return the parsed request.

    Raises:
        WireFault: if a value has the wrong JSON type.
        InvalidRequest: with all violations, up to 10.
    """
    shape = operation.shape
    if shape.admits(data):
        return data
    request: dict[str, Any] = shape.cast(data)
    if operation.precheck is not None:
        operation.precheck(request)
    violations = [*islice(shape.violations(request, Location()), 10)]
    if violations:
        number = len(violations)
        prefix = f"{number} validation error{'s' if number > 1 else ''} detected: "
        raise errors.InvalidRequest(prefix + "; ".join(violations))
    return request
