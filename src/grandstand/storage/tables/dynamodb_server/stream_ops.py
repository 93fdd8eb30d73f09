"""DynamoDB Streams operations."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec

from grandstand.storage.tables.dynamodb_server.service import Request, Response, Service
from grandstand.storage.tables.dynamodb_server.table_ops import STREAM_VIEW, get_setting
from grandstand.storage.tables.dynamodb_server.validation import invalid_parameter
from grandstand.storage.tables.encoding import item_to_wire
from grandstand.storage.tables.errors import InvalidRequest, IteratorExpired, TableNotFound
from grandstand.storage.tables.requests import Change
from grandstand.storage.tables.schema import TableDescription, key_schema

_STREAM_ARN: Final = re.compile(r"(arn:.+:table/([a-zA-Z0-9_.-]{3,255}))/stream/([^/]+)")


def list_streams(service: Service, request: Request) -> Response:
    """Return one page of the streams of one table or of all.

    Raises TableNotFound.
    """
    if request.get("TableName") is not None:
        tables = [service.describe(request["TableName"])]
    else:
        tables = [service.engine.describe_table(name) for name in service.engine.list_tables()]
    streams = [_stream_summary(service, table) for table in tables if table.stream_label]
    start = request.get("ExclusiveStartStreamArn")
    arns = [stream["StreamArn"] for stream in streams]
    if start is not None:
        streams = streams[arns.index(start) + 1 :] if start in arns else []
    limit = request.get("Limit") or 100
    response: Response = {"Streams": streams[:limit]}
    if len(streams) > limit:
        response["LastEvaluatedStreamArn"] = streams[limit - 1]["StreamArn"]
    return response


def _stream_summary(service: Service, table: TableDescription) -> Response:
    return {
        "StreamArn": _stream_arn(service, table),
        "TableName": table.schema.name,
        "StreamLabel": table.stream_label,
    }


def _stream_arn(service: Service, table: TableDescription) -> str:
    return f"{service.table_arn(table.schema.name)}/stream/{table.stream_label}"


def describe_stream(service: Service, request: Request) -> Response:
    """Describe a stream and its only shard.

    Raises TableNotFound or InvalidRequest.
    """
    table = _find_stream_table(service, request["StreamArn"])
    schema, shard = table.schema, _shard_id(table)
    sort = () if schema.sort is None else (schema.sort,)
    numbers: Response = {"StartingSequenceNumber": _format_sequence("1")}
    if schema.stream is None:
        last = service.engine.latest_position(schema.name)
        numbers["EndingSequenceNumber"] = _format_sequence(last)
    shards = [{"ShardId": shard, "SequenceNumberRange": numbers}]
    return {
        "StreamDescription": {
            **_stream_summary(service, table),
            "StreamStatus": "DISABLED" if schema.stream is None else "ENABLED",
            "StreamViewType": _view_type(table),
            "CreationRequestDateTime": _enabled_at(table),
            "KeySchema": key_schema((schema.partition,), sort),
            "Shards": [] if request.get("ExclusiveStartShardId") == shard else shards,
        }
    }


def get_shard_iterator(service: Service, request: Request) -> Response:
    """Return a shard iterator.

    Raises TableNotFound or InvalidRequest.
    """
    table = _find_stream_table(service, request["StreamArn"])
    if request["ShardId"] != _shard_id(table):
        raise TableNotFound(
            f"Requested resource not found: Shard: {request['ShardId']} in Stream: "
            f"{request['StreamArn']} not found"
        )
    kind, number = request["ShardIteratorType"], request.get("SequenceNumber")
    if kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        if number is None:
            raise invalid_parameter("SequenceNumber must be passed for this iterator type")
    elif number is not None:
        raise invalid_parameter("SequenceNumber should not be passed for this iterator type")
    position: str | None = None
    if number is not None:
        if not (number.isascii() and number.isdecimal()):
            raise invalid_parameter("Invalid SequenceNumber")
        position = str(max(0, int(number) - (kind == "AT_SEQUENCE_NUMBER")))
    elif kind == "LATEST":
        position = service.engine.latest_position(table.schema.name)
    return {"ShardIterator": _encode_iterator(service, table, position)}


def get_records(service: Service, request: Request) -> Response:
    """Return the changes after a shard iterator.

    Raises InvalidRequest, IteratorExpired or ChangesLost.
    """
    arn, position, issued = _decode_iterator(request["ShardIterator"])
    if service.clock.epoch() - issued > 15 * 60:
        raise IteratorExpired(
            "Iterator expired. The iterator was created more than 15 minutes ago and cannot be used"
        )
    table = _find_stream_table(service, arn)
    limit = request.get("Limit") or 1000
    batch = service.engine.changes(table.schema.name, position, limit)
    view = _view_type(table)
    response: Response = {
        "Records": [_stream_record(service, change, view) for change in batch.changes]
    }
    if table.schema.stream is not None or not batch.caught_up:
        response["NextShardIterator"] = _encode_iterator(service, table, batch.position)
    return response


def _find_stream_table(service: Service, arn: str) -> TableDescription:
    not_found = TableNotFound(f"Requested resource not found: Stream: {arn} not found")
    match = _STREAM_ARN.fullmatch(arn)
    if match is None:
        raise InvalidRequest(f"Invalid StreamArn: {arn}")
    try:
        table = service.engine.describe_table(service.table_name(match[1]))
    except TableNotFound:
        raise not_found from None
    if table.stream_label != match[3]:
        raise not_found
    return table


def _view_type(table: TableDescription) -> str:
    """Return the view type of the stream, also after it was disabled."""
    return table.schema.stream or get_setting(table, STREAM_VIEW) or "KEYS_ONLY"


def _enabled_at(table: TableDescription) -> float:
    """Return when the stream was enabled, which is its label."""
    enabled = datetime.fromisoformat(str(table.stream_label)).replace(tzinfo=UTC)
    return round(enabled.timestamp(), 3)


def _shard_id(table: TableDescription) -> str:
    enabled_ms = int(_enabled_at(table) * 1000)
    digest = sha256(f"{table.schema.name}/{table.stream_label}".encode()).hexdigest()[:8]
    return f"shardId-{enabled_ms:020d}-{digest}"


def _format_sequence(sequence: str) -> str:
    # A sequence number has at least 21 digits on the wire.
    return sequence.rjust(21, "0")


def _encode_iterator(service: Service, table: TableDescription, position: str | None) -> str:
    payload = msgspec.msgpack.encode((position, service.clock.epoch()))
    return f"{_stream_arn(service, table)}|1|{urlsafe_b64encode(payload).decode()}"


def _decode_iterator(iterator: str) -> tuple[str, str | None, float]:
    arn, _, payload = iterator.rpartition("|1|")
    try:
        position, issued = msgspec.msgpack.decode(
            urlsafe_b64decode(payload), type=tuple[str | None, float]
        )
    except (ValueError, msgspec.MsgspecError) as error:
        raise InvalidRequest("Invalid ShardIterator") from error
    return arn, position, issued


def _stream_record(service: Service, change: Change, view: str) -> dict[str, Any]:
    response: Response = {
        "ApproximateCreationDateTime": int(change.at.timestamp()),
        "Keys": item_to_wire(change.keys, text_binary=True),
        "SequenceNumber": _format_sequence(change.sequence),
        "SizeBytes": change.size_bytes,
        "StreamViewType": view,
    }
    if change.new is not None:
        response["NewImage"] = item_to_wire(change.new, text_binary=True)
    if change.old is not None:
        response["OldImage"] = item_to_wire(change.old, text_binary=True)
    record: Response = {
        "eventID": sha256(f"{service.region}/{change.sequence}".encode()).hexdigest()[:32],
        "eventName": change.kind,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": service.region,
        "dynamodb": response,
    }
    if change.expired:
        record["userIdentity"] = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    return record
