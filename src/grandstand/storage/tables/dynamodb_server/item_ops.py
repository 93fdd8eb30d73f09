"""Item operations: single items, batches and transactions, with consumed capacity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from grandstand.storage.tables.attribute_values import (
    MAX_ITEM_BYTES,
    Item,
    Key,
    Value,
    item_size,
)
from grandstand.storage.tables.capacity import index_write_units, read_units, total, write_units
from grandstand.storage.tables.dynamodb_server.legacy_parameters import (
    attribute_paths,
    attribute_updates,
    expected_condition,
)
from grandstand.storage.tables.dynamodb_server.service import Request, Response, Service
from grandstand.storage.tables.encoding import (
    from_wire,
    item_from_wire,
    item_to_wire,
    to_wire,
)
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import (
    Condition,
    KeyCondition,
    Literal,
    Path,
    UpdateNode,
)
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
)
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    QueryRequest,
    Returning,
    Transaction,
    UpdateItem,
    WriteAction,
    Written,
)
from grandstand.storage.tables.schema import TableDescription, TableSchema

_EXPRESSION_NAMES: Final = "ExpressionAttributeNames"
_EXPRESSION_VALUES: Final = "ExpressionAttributeValues"


def check_parameter_mix(
    request: Request, expressions: Sequence[str], legacy: Sequence[str]
) -> None:
    """Raise InvalidRequest if legacy and expression parameters are mixed or placeholders unused."""
    used = [name for name in expressions if request.get(name) is not None]
    legacy_used = [name for name in legacy if request.get(name) is not None]
    if used and legacy_used:
        raise InvalidRequest(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(legacy_used)}}} "
            f"Expression parameters: {{{', '.join(used)}}}"
        )
    if request.get(_EXPRESSION_NAMES) is not None and not used:
        raise InvalidRequest(f"{_EXPRESSION_NAMES} can only be specified when using expressions")
    with_values = [name for name in expressions if name != "ProjectionExpression"]
    if request.get(_EXPRESSION_VALUES) is not None and not any(
        name in used for name in with_values
    ):
        verb = "are" if len(with_values) > 1 else "is"
        raise InvalidRequest(
            f"{_EXPRESSION_VALUES} can only be specified when using expressions: "
            f"{' and '.join(with_values)} {verb} null"
        )


def placeholders(request: Request) -> Placeholders:
    """Return the expression names and values of a request.

    Raises InvalidRequest, with the key of the invalid value.
    """
    names, values = request.get(_EXPRESSION_NAMES), request.get(_EXPRESSION_VALUES)
    if names is None and values is None:
        return Placeholders()
    parsed = None if values is None else _parse_values(values)
    return Placeholders(names, parsed)


def _parse_values(wire: Request) -> dict[str, Value]:
    parsed: dict[str, Value] = {}
    for key, attribute in wire.items():
        try:
            parsed[key] = from_wire(attribute, text_binary=True)
        except InvalidRequest as error:
            raise InvalidRequest(
                f"{_EXPRESSION_VALUES} contains invalid value: {error} for key {key}"
            ) from error
    return parsed


_GIGABYTE: Final = 1024**3
_CAPACITY_OPTIONS: Final = ("TOTAL", "INDEXES")


def wants_capacity(request: Request) -> bool:
    """Return whether the request asks for the consumed capacity."""
    return request.get("ReturnConsumedCapacity") in _CAPACITY_OPTIONS


def read_report(
    request: Request, table: str, units: Decimal, *, index: str | None = None, local: bool = False
) -> Response:
    """Return the consumed capacity of a read of a table or index."""
    response: Response = {"TableName": table, "CapacityUnits": float(units)}
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        response["Table"] = {"CapacityUnits": 0.0 if index else float(units)}
        if index:
            kind = "LocalSecondaryIndexes" if local else "GlobalSecondaryIndexes"
            response[kind] = {index: {"CapacityUnits": float(units)}}
    return response


def write_report(
    request: Request,
    table: str,
    written: Sequence[Written],
    *,
    local: frozenset[str] = frozenset(),
    transactional: bool = False,
) -> Response:
    """Return the consumed capacity of writes to a table and its indexes."""
    base = total(
        write_units(write.old_bytes, write.new_bytes, transactional=transactional)
        for write in written
    )
    indexes: dict[str, Decimal] = {}
    for write in written:
        for change in write.indexes:
            units = index_write_units(change, transactional=transactional)
            indexes[change.index] = indexes.get(change.index, Decimal(0)) + units
    response: Response = {"TableName": table}
    response.update(_capacity_units(base + total(indexes.values()), transactional=transactional))
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        response["Table"] = _capacity_units(base, transactional=transactional)
        for kind, names in (
            ("LocalSecondaryIndexes", [name for name in indexes if name in local]),
            ("GlobalSecondaryIndexes", [name for name in indexes if name not in local]),
        ):
            consumed = {
                name: _capacity_units(indexes[name], transactional=transactional)
                for name in names
                if indexes[name]
            }
            if consumed:
                response[kind] = consumed
    return response


def transact_read_report(request: Request, table: str, units: Decimal) -> Response:
    """Return the consumed capacity of transactional reads of a table."""
    read = {"CapacityUnits": float(units), "ReadCapacityUnits": float(units)}
    response: Response = {"TableName": table, **read}
    if request.get("ReturnConsumedCapacity") == "INDEXES":
        response["Table"] = read
    return response


def _capacity_units(units: Decimal, *, transactional: bool) -> Response:
    # Only transactions distinguish read and write units.
    if transactional:
        return {"CapacityUnits": float(units), "WriteCapacityUnits": float(units)}
    return {"CapacityUnits": float(units)}


def local_names(schema: TableSchema) -> frozenset[str]:
    """Return the names of the local indexes of a table."""
    return frozenset(index.name for index in schema.indexes if index.local)


def wants_collection_metrics(request: Request) -> bool:
    """Return whether the request asks for item collection metrics."""
    return bool(request.get("ReturnItemCollectionMetrics") == "SIZE")


def collection_metrics(service: Service, table: str, keys: Iterable[Key]) -> list[Response]:
    """Return item collection metrics for keys; none if the table has no local index."""
    described = service.engine.describe_table(table)
    schema = described.schema
    if not local_names(schema):
        return []
    partitions: list[Value] = []
    for key in keys:
        if key[schema.partition] not in partitions:
            partitions.append(key[schema.partition])
    return [
        {
            "ItemCollectionKey": {schema.partition: to_wire(partition, text_binary=True)},
            "SizeEstimateRangeGB": _size_range(service, described, partition),
        }
        for partition in partitions
    ]


def all_collection_metrics(service: Service, actions: Iterable[WriteAction]) -> Response:
    """Return item collection metrics of several writes, by table."""
    keys: dict[str, list[Key]] = {}
    for action in actions:
        key = action.item if isinstance(action, PutItem) else action.key
        keys.setdefault(action.table, []).append(key)
    metrics = {
        table: collection_metrics(service, table, of_table) for table, of_table in keys.items()
    }
    return {table: of_table for table, of_table in metrics.items() if of_table}


def _size_range(service: Service, table: TableDescription, partition: Value) -> list[float]:
    """Return the size range of a collection in GB; only tables above 1 GB are measured."""
    size, start = 0, None
    while table.size_bytes >= _GIGABYTE:
        where = KeyCondition(((table.schema.partition, partition),))
        page = service.engine.query(QueryRequest(table.schema.name, where, start=start))
        size, start = size + page.read_bytes, page.last_key
        if start is None:
            break
    low = size // _GIGABYTE
    return [float(low), float(low + 1)]


_PLAIN_WRITE_PARAMETERS: Final = frozenset(
    (
        "Item",
        "Key",
        "ReturnConsumedCapacity",
        "ReturnItemCollectionMetrics",
        "ReturnValues",
        "TableName",
    )
)
_PLAIN_READ_PARAMETERS: Final = frozenset(
    ("ConsistentRead", "Key", "ReturnConsumedCapacity", "TableName")
)
# Overhead of an update in bytes: a fixed part, and a part per action.
_UPDATE_OVERHEAD: Final = 3
_SET_OVERHEAD: Final = 19
_REMOVE_OVERHEAD: Final = 2
_WRONG_OPERAND: Final = "An operand in the update expression has an incorrect data type"
_SIZED_TYPES: Final = (str, bytes, list, dict, frozenset)


def put_item(service: Service, request: Request) -> Response:
    """Put one item.

    Raises InvalidRequest, TableNotFound or ConditionFailed.
    """
    is_plain = request.keys() <= _PLAIN_WRITE_PARAMETERS
    if not is_plain:
        check_parameter_mix(request, ("ConditionExpression",), ("Expected",))
    item = item_from_wire(request["Item"], text_binary=True)
    returning = _parse_return_values(request)
    condition = None if is_plain else _parse_condition(request)
    table = service.table_name(request["TableName"])
    written = service.engine.put(
        PutItem(table, item, condition, returning, wants_old_item(request))
    )
    return _write_response(service, request, table, item, written)


def delete_item(service: Service, request: Request) -> Response:
    """Delete one item.

    Raises InvalidRequest, TableNotFound or ConditionFailed.
    """
    is_plain = request.keys() <= _PLAIN_WRITE_PARAMETERS
    if not is_plain:
        check_parameter_mix(request, ("ConditionExpression",), ("Expected",))
    key = item_from_wire(request["Key"], text_binary=True)
    returning = _parse_return_values(request)
    condition = None if is_plain else _parse_condition(request)
    table = service.table_name(request["TableName"])
    written = service.engine.delete(
        DeleteItem(table, key, condition, returning, wants_old_item(request))
    )
    return _write_response(service, request, table, key, written)


def update_item(service: Service, request: Request) -> Response:
    """Update or create one item.

    Raises InvalidRequest, TableNotFound or ConditionFailed.
    """
    check_parameter_mix(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected"),
    )
    key = item_from_wire(request["Key"], text_binary=True)
    legacy = attribute_updates(request.get("AttributeUpdates"))
    expected = expected_condition(request.get("Expected"), request.get("ConditionalOperator"))
    shared = placeholders(request)
    update, condition = legacy, expected
    if request.get("UpdateExpression") is not None:
        update = parse_update(request["UpdateExpression"], shared)
    if request.get("ConditionExpression") is not None:
        condition = parse_condition(request["ConditionExpression"], shared)
    shared.check_used()
    table = service.table_name(request["TableName"])
    check_update_bytes(update)
    returning: Returning = request.get("ReturnValues") or "NONE"
    action = UpdateItem(table, key, update, condition, returning, wants_old_item(request))
    try:
        written = service.engine.update(action)
    except InvalidRequest as error:
        if legacy.paths and str(error) == _WRONG_OPERAND:
            raise InvalidRequest("Type mismatch for attribute to update") from error
        raise
    return _write_response(service, request, table, key, written)


def get_item(service: Service, request: Request) -> Response:
    """Get one item.

    Raises InvalidRequest or TableNotFound.
    """
    projection: tuple[Path, ...] = ()
    if not request.keys() <= _PLAIN_READ_PARAMETERS:
        check_parameter_mix(request, ("ProjectionExpression",), ("AttributesToGet",))
        projection = read_projection(request)
    key = item_from_wire(request["Key"], text_binary=True)
    table = service.table_name(request["TableName"])
    consistent = bool(request.get("ConsistentRead"))
    result = service.engine.get(GetItem(table, key, projection, consistent))
    response: Response = {}
    if result.item is not None:
        response["Item"] = item_to_wire(result.item, text_binary=True)
    if wants_capacity(request):
        units = read_units(result.read_bytes, consistent=consistent)
        response["ConsumedCapacity"] = read_report(request, table, units)
    return response


def _parse_return_values(request: Request) -> Returning:
    returning: Returning = request.get("ReturnValues") or "NONE"
    if returning not in ("NONE", "ALL_OLD"):
        raise InvalidRequest("ReturnValues can only be ALL_OLD or NONE")
    return returning


def read_projection(request: Request) -> tuple[Path, ...]:
    """Return the projection of a request.

    Raises InvalidRequest.
    """
    legacy = attribute_paths(request.get("AttributesToGet"))
    text = request.get("ProjectionExpression")
    shared = placeholders(request)
    projection = legacy if text is None else parse_projection(text, shared)
    shared.check_used()
    return projection


def wants_old_item(request: Request) -> bool:
    """Return whether a failed condition returns the item."""
    return bool(request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD")


def read_condition(request: Request, shared: Placeholders) -> Condition | None:
    """Return the ConditionExpression of a request, if any.

    Raises InvalidRequest.
    """
    text = request.get("ConditionExpression")
    return None if text is None else parse_condition(text, shared)


def _parse_condition(request: Request) -> Condition | None:
    condition = expected_condition(request.get("Expected"), request.get("ConditionalOperator"))
    shared = placeholders(request)
    condition = read_condition(request, shared) or condition
    shared.check_used()
    return condition


def check_update_bytes(update: UpdateNode) -> None:
    """Raise InvalidRequest if an update writes more than the maximum item size.

    Measured on DynamoDB: the names and values written, plus an overhead per action, count toward
    the limit regardless of the size of the resulting item.
    """
    size = _UPDATE_OVERHEAD + _REMOVE_OVERHEAD * (len(update.removes) + len(update.deletes))
    for path, value in (*update.sets, *update.adds):
        size += _SET_OVERHEAD
        if isinstance(value, Literal) and isinstance(value.value, _SIZED_TYPES):
            size += item_size({path.root: value.value})
    if size > MAX_ITEM_BYTES:
        raise InvalidRequest("Item size to update has exceeded the maximum allowed size")


def _write_response(
    service: Service, request: Request, table: str, key: Key | Item, written: Written
) -> Response:
    response: Response = {}
    if written.attributes:
        response["Attributes"] = item_to_wire(written.attributes, text_binary=True)
    if wants_capacity(request):
        local = local_names(service.schema(table)) if written.indexes else frozenset[str]()
        response["ConsumedCapacity"] = write_report(request, table, (written,), local=local)
    if wants_collection_metrics(request):
        metrics = collection_metrics(service, table, (key,))
        if metrics:
            response["ItemCollectionMetrics"] = metrics[0]
    return response


def batch_get_item(service: Service, request: Request) -> Response:
    """Get items of one or more tables.

    Raises InvalidRequest or TableNotFound.
    """
    tables = request["RequestItems"]
    _check_projections(tables.values())
    reads: list[GetItem] = []
    for reference, block in tables.items():
        reads += _parse_reads(service, reference, block)
    names = {service.table_name(reference): reference for reference in tables}
    result = service.engine.batch_get(reads)
    responses: dict[str, list[object]] = {reference: [] for reference in tables}
    for table, item in result.found:
        responses[names[table]].append(item_to_wire(item, text_binary=True))
    unprocessed: dict[str, Any] = {}
    for read in result.left:
        reference = names[read.table]
        block = unprocessed.setdefault(reference, {**tables[reference], "Keys": []})
        block["Keys"].append(item_to_wire(read.key, text_binary=True))
    response: Response = {"Responses": responses, "UnprocessedKeys": unprocessed}
    if wants_capacity(request):
        response["ConsumedCapacity"] = [
            read_report(request, table, _batch_read_units(sizes, tables[names[table]]))
            for table, sizes in result.read_bytes.items()
        ]
    return response


def _check_projections(blocks: Iterable[Request]) -> None:
    """Raise InvalidRequest if legacy and expression projections are mixed, even across tables."""
    merged: dict[str, Any] = {}
    for block in blocks:
        check_parameter_mix(block, ("ProjectionExpression",), ("AttributesToGet",))
        merged.update({name: value for name, value in block.items() if value is not None})
    merged.pop("ExpressionAttributeNames", None)
    check_parameter_mix(merged, ("ProjectionExpression",), ("AttributesToGet",))


def _parse_reads(service: Service, reference: str, block: Request) -> list[GetItem]:
    projection = read_projection(block)
    table = service.table_name(reference)
    keys = [item_from_wire(wire, text_binary=True) for wire in block["Keys"]]
    consistent = bool(block.get("ConsistentRead"))
    return [GetItem(table, key, projection, consistent) for key in keys]


def _batch_read_units(sizes: Iterable[int], block: Request) -> Decimal:
    consistent = bool(block.get("ConsistentRead"))
    return total(read_units(size, consistent=consistent) for size in sizes)


def batch_write_item(service: Service, request: Request) -> Response:
    """Put and delete items of one or more tables.

    Raises InvalidRequest or TableNotFound; then nothing is written.
    """
    tables = request["RequestItems"]
    writes: list[PutItem | DeleteItem] = []
    for reference, requests in tables.items():
        table = service.table_name(reference)
        writes += [_parse_write(table, write) for write in requests]
    names = {service.table_name(reference): reference for reference in tables}
    result = service.engine.batch_write(writes)
    unprocessed: dict[str, list[Any]] = {}
    for write in result.left:
        unprocessed.setdefault(names[write.table], []).append(_encode_write(write))
    response: Response = {"UnprocessedItems": unprocessed}
    if wants_capacity(request):
        response["ConsumedCapacity"] = [
            write_report(request, table, written, local=local_names(service.schema(table)))
            for table, written in _group_by_table(result.written).items()
        ]
    if wants_collection_metrics(request):
        response["ItemCollectionMetrics"] = all_collection_metrics(service, writes)
    return response


def _parse_write(table: str, request: Request) -> PutItem | DeleteItem:
    put, delete = request.get("PutRequest"), request.get("DeleteRequest")
    if (put is None) == (delete is None):
        raise InvalidRequest(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    if put is not None:
        item = item_from_wire(put["Item"], text_binary=True)
        return PutItem(table, item)
    return DeleteItem(table, item_from_wire(request["DeleteRequest"]["Key"], text_binary=True))


def _encode_write(write: PutItem | DeleteItem) -> Response:
    if isinstance(write, PutItem):
        return {"PutRequest": {"Item": item_to_wire(write.item, text_binary=True)}}
    return {"DeleteRequest": {"Key": item_to_wire(write.key, text_binary=True)}}


def _group_by_table(written: Iterable[tuple[str, Written]]) -> dict[str, list[Written]]:
    by_table: dict[str, list[Written]] = {}
    for table, result in written:
        by_table.setdefault(table, []).append(result)
    return by_table


def transact_write_items(service: Service, request: Request) -> Response:
    """Write all items or none.

    Raises InvalidRequest, TableNotFound or TransactionCancelled.
    """
    actions = tuple(_parse_action(service, action) for action in request["TransactItems"])
    written = service.engine.transact_write(Transaction(actions, request.get("ClientRequestToken")))
    response: Response = {}
    if wants_capacity(request):
        by_table: dict[str, list[Written]] = {}
        for action, result in zip(actions, written, strict=True):
            by_table.setdefault(action.table, []).append(result)
        response["ConsumedCapacity"] = [
            write_report(
                request,
                table,
                of_table,
                local=local_names(service.schema(table)),
                transactional=True,
            )
            for table, of_table in by_table.items()
        ]
    if wants_collection_metrics(request):
        response["ItemCollectionMetrics"] = all_collection_metrics(service, actions)
    return response


def _parse_action(service: Service, request: Request) -> WriteAction:
    actions = [(kind, request[kind]) for kind in _ACTIONS if request.get(kind) is not None]
    if len(actions) != 1:
        raise InvalidRequest("TransactItems can only contain one of Check, Put, Update or Delete")
    kind, parameters = actions[0]
    shared = placeholders(parameters)
    table = service.table_name(parameters["TableName"])
    action = _ACTIONS[kind](table, parameters, shared)
    shared.check_used()
    return action


def _parse_put(table: str, parameters: Request, shared: Placeholders) -> PutItem:
    check_parameter_mix(parameters, ("ConditionExpression",), ())
    item = item_from_wire(parameters["Item"], text_binary=True)
    condition = read_condition(parameters, shared)
    return PutItem(table, item, condition, show_conflict=wants_old_item(parameters))


def _parse_delete(table: str, parameters: Request, shared: Placeholders) -> DeleteItem:
    check_parameter_mix(parameters, ("ConditionExpression",), ())
    key = item_from_wire(parameters["Key"], text_binary=True)
    condition = read_condition(parameters, shared)
    return DeleteItem(table, key, condition, show_conflict=wants_old_item(parameters))


def _parse_update(table: str, parameters: Request, shared: Placeholders) -> UpdateItem:
    key = item_from_wire(parameters["Key"], text_binary=True)
    update = parse_update(parameters["UpdateExpression"], shared)
    condition = read_condition(parameters, shared)
    return UpdateItem(table, key, update, condition, show_conflict=wants_old_item(parameters))


def _parse_check(table: str, parameters: Request, shared: Placeholders) -> CheckItem:
    key = item_from_wire(parameters["Key"], text_binary=True)
    condition = parse_condition(parameters["ConditionExpression"], shared)
    return CheckItem(table, key, condition, wants_old_item(parameters))


_ACTIONS: Final[dict[str, Callable[[str, Any, Placeholders], WriteAction]]] = {
    "ConditionCheck": _parse_check,
    "Put": _parse_put,
    "Delete": _parse_delete,
    "Update": _parse_update,
}


def transact_get_items(service: Service, request: Request) -> Response:
    """Get several items as of one moment.

    Raises the same errors as `transact_write_items`.
    """
    reads = tuple(_parse_get(service, get["Get"]) for get in request["TransactItems"])
    results = service.engine.transact_get(reads)
    response: Response = {"Responses": [_get_response(result) for result in results]}
    if wants_capacity(request):
        by_table: dict[str, list[int]] = {}
        for read, result in zip(reads, results, strict=True):
            by_table.setdefault(read.table, []).append(result.read_bytes)
        response["ConsumedCapacity"] = [
            transact_read_report(
                request, table, total(read_units(size, transactional=True) for size in sizes)
            )
            for table, sizes in by_table.items()
        ]
    return response


def _parse_get(service: Service, parameters: Request) -> GetItem:
    check_parameter_mix(parameters, ("ProjectionExpression",), ())
    projection = read_projection(parameters)
    table = service.table_name(parameters["TableName"])
    key = item_from_wire(parameters["Key"], text_binary=True)
    return GetItem(table, key, projection, consistent=True)


def _get_response(result: Found) -> Response:
    if result.item is None:
        return {}
    return {"Item": item_to_wire(result.item, text_binary=True)}
