"""Kept here: every operation by its name on the wire, with what its request is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.faults import OperationUnknown
from grandstand.storage.tables.front.items import batches, reads, single, transactions
from grandstand.storage.tables.front.members import items as item_members
from grandstand.storage.tables.front.members import streams as stream_members
from grandstand.storage.tables.front.members import tables as table_members
from grandstand.storage.tables.front.members.common import TABLE_NAME
from grandstand.storage.tables.front.members.kinds import Struct
from grandstand.storage.tables.front.members.scalars import Place
from grandstand.storage.tables.front.service import Request, Service
from grandstand.storage.tables.front.tables import changing, making, streams, tagging, upkeep

Carried: TypeAlias = Callable[[Service, Request], object]
Precheck: TypeAlias = Callable[[dict[str, Any]], None]

_TABLES: Final = "DynamoDB_20120810."
_STREAMS: Final = "DynamoDBStreams_20120810."
_STATEMENTS: Final = frozenset(("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"))


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its request's structure, what is told before all else, and what it does.

    `headers` are given to it beside the request's own members. An operation that `manages` tables
    names the one that is missing.
    """

    members: Struct
    carry_out: Carried
    check_first: Precheck
    headers: tuple[str, ...] = ()
    manages: bool = True


def unknown(target: str) -> OperationUnknown:
    """Say that there is no such operation, and what to use instead of PartiQL."""
    name = target.partition(".")[2]
    if name in _STATEMENTS:
        return OperationUnknown(
            f"{name}: PartiQL is not supported here; use the item operations, Query or Scan"
        )
    return OperationUnknown("")


def _named_table(request: dict[str, Any]) -> None:
    """Tell an empty table name before all else, alone."""
    name = request.get("TableName")
    if name == "":
        (fault,) = TABLE_NAME.faults(name, Place().named("TableName"))
        raise InvalidRequest(f"1 validation error detected: {fault}")


def _required_table(request: dict[str, Any]) -> None:
    if request.get("TableName") is None:
        raise InvalidRequest(
            "The parameter 'TableName' is required but was not present in the request"
        )
    _named_table(request)


def _update_item(request: dict[str, Any]) -> None:
    """Tell a wrong ReturnValues before all else, alone."""
    _named_table(request)
    wanted = request.get("ReturnValues")
    member = item_members.UPDATE_ITEM.members["ReturnValues"].kind
    if wanted is not None and not member.admits(wanted):
        (fault,) = member.faults(wanted, Place().named("ReturnValues"))
        raise InvalidRequest(f"1 validation error detected: {fault}")


def _request_items(name: str) -> Precheck:
    def check(request: dict[str, Any]) -> None:
        if not request.get("RequestItems"):
            raise InvalidRequest(f"The requestItems parameter is required for {name}")

    return check


def _resource(request: dict[str, Any]) -> None:
    if request.get("ResourceArn") is None:
        raise InvalidRequest("Invalid TableArn")


def _nothing(request: dict[str, Any]) -> None:
    """Leave all to the constraints."""


def _on_items(**named: Operation) -> dict[str, Operation]:
    return {_TABLES + name: replace(operation, manages=False) for name, operation in named.items()}


def _on_tables(**named: Operation) -> dict[str, Operation]:
    return {_TABLES + name: operation for name, operation in named.items()}


def _on_streams(**named: Operation) -> dict[str, Operation]:
    return {_STREAMS + name: operation for name, operation in named.items()}


OPERATIONS: Final[dict[str, Operation]] = {
    **_on_items(
        PutItem=Operation(item_members.PUT_ITEM, single.put_item, _named_table),
        GetItem=Operation(item_members.GET_ITEM, single.get_item, _named_table),
        UpdateItem=Operation(item_members.UPDATE_ITEM, single.update_item, _update_item),
        DeleteItem=Operation(item_members.DELETE_ITEM, single.delete_item, _named_table),
        Query=Operation(item_members.QUERY, reads.query, _named_table),
        Scan=Operation(item_members.SCAN, reads.scan, _named_table),
        BatchGetItem=Operation(
            item_members.BATCH_GET_ITEM, batches.batch_get_item, _request_items("BatchGetItem")
        ),
        BatchWriteItem=Operation(
            item_members.BATCH_WRITE_ITEM,
            batches.batch_write_item,
            _request_items("BatchWriteItem"),
        ),
        TransactWriteItems=Operation(
            item_members.TRANSACT_WRITE_ITEMS, transactions.transact_write_items, _nothing
        ),
        TransactGetItems=Operation(
            item_members.TRANSACT_GET_ITEMS, transactions.transact_get_items, _nothing
        ),
    ),
    **_on_tables(
        CreateTable=Operation(table_members.CREATE_TABLE, making.create_table, _required_table),
        UpdateTable=Operation(table_members.UPDATE_TABLE, changing.update_table, _required_table),
        DescribeTable=Operation(table_members.ONE_TABLE, making.describe_table, _required_table),
        DeleteTable=Operation(table_members.ONE_TABLE, making.delete_table, _required_table),
        ListTables=Operation(table_members.LIST_TABLES, making.list_tables, _nothing),
        UpdateTimeToLive=Operation(
            table_members.UPDATE_TIME_TO_LIVE, upkeep.update_time_to_live, _named_table
        ),
        DescribeTimeToLive=Operation(
            table_members.ONE_TABLE, upkeep.describe_time_to_live, _named_table
        ),
        TagResource=Operation(table_members.TAG_RESOURCE, tagging.tag_resource, _resource),
        UntagResource=Operation(table_members.UNTAG_RESOURCE, tagging.untag_resource, _resource),
        ListTagsOfResource=Operation(
            table_members.LIST_TAGS, tagging.list_tags_of_resource, _resource
        ),
        DescribeLimits=Operation(table_members.NOTHING, upkeep.describe_limits, _nothing),
        DescribeEndpoints=Operation(
            table_members.NOTHING, upkeep.describe_endpoints, _nothing, headers=("host",)
        ),
        DescribeContinuousBackups=Operation(
            table_members.ONE_TABLE, upkeep.describe_continuous_backups, _named_table
        ),
        UpdateContinuousBackups=Operation(
            table_members.UPDATE_BACKUPS, upkeep.update_continuous_backups, _named_table
        ),
    ),
    **_on_streams(
        ListStreams=Operation(stream_members.LIST_STREAMS, streams.list_streams, _nothing),
        DescribeStream=Operation(stream_members.DESCRIBE_STREAM, streams.describe_stream, _nothing),
        GetShardIterator=Operation(
            stream_members.GET_SHARD_ITERATOR, streams.get_shard_iterator, _nothing
        ),
        GetRecords=Operation(stream_members.GET_RECORDS, streams.get_records, _nothing),
    ),
}
