"""Kept here: the four calls that read a table's changes as DynamoDB Streams."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec

from grandstand.storage.tables.encoding.attributes import item_to_wire
from grandstand.storage.tables.encoding.shapes import key_schema
from grandstand.storage.tables.errors import InvalidRequest, IteratorExpired, TableNotFound
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.front.tables.describing import STREAM_VIEW, setting
from grandstand.storage.tables.requests import Change
from grandstand.storage.tables.schema import TableDescription
from grandstand.storage.tables.values import Item

_PAGE: Final = 100
_MOST_RECORDS: Final = 1000
_ITERATOR_SECONDS: Final = 15 * 60
# A sequence number has at least 21 digits on the wire.
_DIGITS: Final = 21
_STREAM: Final = re.compile(r"(arn:.+:table/([a-zA-Z0-9_.-]{3,255}))/stream/([^/]+)")


def list_streams(service: Service, request: Request) -> Answer:
    """List streams, of one table or of all, a page at a time; raise TableNotFound."""
    if request.get("TableName") is not None:
        tables = [service.describe(request["TableName"])]
    else:
        tables = [service.engine.describe_table(name) for name in service.engine.list_tables()]
    streams = [_listed(service, table) for table in tables if table.stream_label]
    start = request.get("ExclusiveStartStreamArn")
    arns = [stream["StreamArn"] for stream in streams]
    if start is not None:
        streams = streams[arns.index(start) + 1 :] if start in arns else []
    limit = request.get("Limit") or _PAGE
    told: Answer = {"Streams": streams[:limit]}
    if len(streams) > limit:
        told["LastEvaluatedStreamArn"] = streams[limit - 1]["StreamArn"]
    return told


def _listed(service: Service, table: TableDescription) -> Answer:
    return {
        "StreamArn": _arn(service, table),
        "TableName": table.schema.name,
        "StreamLabel": table.stream_label,
    }


def _arn(service: Service, table: TableDescription) -> str:
    return f"{service.table_arn(table.schema.name)}/stream/{table.stream_label}"


def describe_stream(service: Service, request: Request) -> Answer:
    """Describe a stream and its one shard; raise TableNotFound or InvalidRequest."""
    table = _streaming(service, request["StreamArn"])
    schema, shard = table.schema, _shard(table)
    sort = () if schema.sort is None else (schema.sort,)
    numbers: Answer = {"StartingSequenceNumber": _shown("1")}
    if schema.stream is None:
        last = service.engine.latest_position(schema.name)
        numbers["EndingSequenceNumber"] = _shown(last)
    shards = [{"ShardId": shard, "SequenceNumberRange": numbers}]
    return {
        "StreamDescription": {
            **_listed(service, table),
            "StreamStatus": "DISABLED" if schema.stream is None else "ENABLED",
            "StreamViewType": _view(table),
            "CreationRequestDateTime": _begun(table),
            "KeySchema": key_schema((schema.partition,), sort),
            "Shards": [] if request.get("ExclusiveStartShardId") == shard else shards,
        }
    }


def get_shard_iterator(service: Service, request: Request) -> Answer:
    """Answer a place to read from; raise TableNotFound or InvalidRequest."""
    table = _streaming(service, request["StreamArn"])
    if request["ShardId"] != _shard(table):
        raise TableNotFound(
            f"Requested resource not found: Shard: {request['ShardId']} in Stream: "
            f"{request['StreamArn']} not found"
        )
    kind, number = request["ShardIteratorType"], request.get("SequenceNumber")
    if kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        if number is None:
            raise invalid("SequenceNumber must be passed for this iterator type")
    elif number is not None:
        raise invalid("SequenceNumber should not be passed for this iterator type")
    position: str | None = None
    if number is not None:
        position = _position(number, before=kind == "AT_SEQUENCE_NUMBER")
    elif kind == "LATEST":
        position = service.engine.latest_position(table.schema.name)
    return {"ShardIterator": _iterator(service, table, position)}


def get_records(service: Service, request: Request) -> Answer:
    """Read changes from a place; raise InvalidRequest, IteratorExpired or ChangesLost."""
    arn, position, issued = _read_iterator(request["ShardIterator"])
    if service.clock.epoch() - issued > _ITERATOR_SECONDS:
        raise IteratorExpired(
            "Iterator expired. The iterator was created more than 15 minutes ago and cannot be used"
        )
    table = _streaming(service, arn)
    limit = request.get("Limit") or _MOST_RECORDS
    batch = service.engine.changes(table.schema.name, position, limit)
    view = _view(table)
    told: Answer = {"Records": [_record(service, change, view) for change in batch.changes]}
    if table.schema.stream is not None or not batch.caught_up:
        told["NextShardIterator"] = _iterator(service, table, batch.position)
    return told


def _streaming(service: Service, arn: str) -> TableDescription:
    missing = TableNotFound(f"Requested resource not found: Stream: {arn} not found")
    found = _STREAM.fullmatch(arn)
    if found is None:
        raise InvalidRequest(f"Invalid StreamArn: {arn}")
    try:
        table = service.engine.describe_table(service.table_name(found[1]))
    except TableNotFound:
        raise missing from None
    if table.stream_label != found[3]:
        raise missing
    return table


def _view(table: TableDescription) -> str:
    """Answer what the stream shows, or showed until it was switched off."""
    return table.schema.stream or setting(table, STREAM_VIEW) or "KEYS_ONLY"


def _begun(table: TableDescription) -> float:
    """Answer when the stream was switched on, which is what its label says."""
    began = datetime.fromisoformat(str(table.stream_label)).replace(tzinfo=UTC)
    return round(began.timestamp(), 3)


def _shard(table: TableDescription) -> str:
    made = int(_begun(table) * 1000)
    mark = sha256(f"{table.schema.name}/{table.stream_label}".encode()).hexdigest()[:8]
    return f"shardId-{made:020d}-{mark}"


def _shown(sequence: str) -> str:
    return sequence.rjust(_DIGITS, "0")


def _position(number: str, *, before: bool) -> str:
    if not (number.isascii() and number.isdecimal()):
        raise invalid("Invalid SequenceNumber")
    return str(max(0, int(number) - before))


def _iterator(service: Service, table: TableDescription, position: str | None) -> str:
    inner = msgspec.msgpack.encode((position, service.clock.epoch()))
    return f"{_arn(service, table)}|1|{urlsafe_b64encode(inner).decode()}"


def _read_iterator(iterator: str) -> tuple[str, str | None, float]:
    arn, _, inner = iterator.rpartition("|1|")
    try:
        position, issued = msgspec.msgpack.decode(
            urlsafe_b64decode(inner), type=tuple[str | None, float]
        )
    except (ValueError, msgspec.MsgspecError) as fault:
        raise InvalidRequest("Invalid ShardIterator") from fault
    return arn, position, issued


def _record(service: Service, change: Change, view: str) -> dict[str, Any]:
    told: Answer = {
        "ApproximateCreationDateTime": int(change.at.timestamp()),
        "Keys": _wire(change.keys),
        "SequenceNumber": _shown(change.sequence),
        "SizeBytes": change.size_bytes,
        "StreamViewType": view,
    }
    if change.new is not None:
        told["NewImage"] = _wire(change.new)
    if change.old is not None:
        told["OldImage"] = _wire(change.old)
    record: Answer = {
        "eventID": sha256(f"{service.region}/{change.sequence}".encode()).hexdigest()[:32],
        "eventName": change.kind,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": service.region,
        "dynamodb": told,
    }
    if change.expired:
        record["userIdentity"] = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    return record


def _wire(item: Item) -> object:
    return item_to_wire(item, text_binary=True)
