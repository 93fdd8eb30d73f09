"""Item operations: single items, batches and transactions, with consumed capacity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import MAX_ITEM_BYTES, Item, Key, Value, item_size
from grandstand.storage.tables.capacity import index_write_units, read_units, total, write_units
from grandstand.storage.tables.dynamodb_server.legacy_parameters import (
    attribute_paths,
    attribute_updates,
    expected_condition,
)
from grandstand.storage.tables.dynamodb_server.service import Request, Response, Service
from grandstand.storage.tables.encoding import from_wire, item_from_wire, item_to_wire, to_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.evaluate import WRONG_OPERAND
from grandstand.storage.tables.expressions.parse import (
    Placeholders,
    parse_condition,
    parse_projection,
    parse_update,
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


def wants_capacity(request: Request) -> bool:
    """Return whether the request asks for the consumed capacity."""
    return request.get("ReturnConsumedCapacity") in ("TOTAL", "INDEXES")


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
    written: Sequence[requests.Written],
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


def all_collection_metrics(service: Service, actions: Iterable[requests.WriteAction]) -> Response:
    """Return item collection metrics of several writes, by table."""
    keys: dict[str, list[Key]] = {}
    for action in actions:
        key = action.item if isinstance(action, requests.PutItem) else action.key
        keys.setdefault(action.table, []).append(key)
    metrics = {
        table: collection_metrics(service, table, of_table) for table, of_table in keys.items()
    }
    return {table: of_table for table, of_table in metrics.items() if of_table}


def _size_range(service: Service, table: TableDescription, partition: Value) -> list[float]:
    """Return the size range of a collection in GB; only tables above 1 GB are measured."""
    size, start = 0, None
    while table.size_bytes >= _GIGABYTE:
        where = nodes.KeyCondition(((table.schema.partition, partition),))
        page = service.engine.query(requests.QueryRequest(table.schema.name, where, start=start))
        size, start = size + page.read_bytes, page.last_key
        if start is None:
            break
    low = size // _GIGABYTE
    return [float(low), float(low + 1)]


# Requests with only these parameters need no expressions to be parsed.
_PLAIN_READ_PARAMETERS: Final = frozenset(
    ("ConsistentRead", "Key", "ReturnConsumedCapacity", "TableName")
)
_PLAIN_WRITE_PARAMETERS: Final = _PLAIN_READ_PARAMETERS | {
    *("Item", "ReturnItemCollectionMetrics", "ReturnValues")
}


def put_item(service: Service, request: Request) -> Response:
    """Put one item.

    Raises InvalidRequest, TableNotFound or ConditionFailed.
    """
    item, options = _parse_put_or_delete(request, "Item")
    table = service.table_name(request["TableName"])
    written = service.engine.put(requests.PutItem(table, item, *options))
    return _write_response(service, request, table, item, written)


def delete_item(service: Service, request: Request) -> Response:
    """Delete one item.

    Raises InvalidRequest, TableNotFound or ConditionFailed.
    """
    key, options = _parse_put_or_delete(request, "Key")
    table = service.table_name(request["TableName"])
    written = service.engine.delete(requests.DeleteItem(table, key, *options))
    return _write_response(service, request, table, key, written)


def _parse_put_or_delete(
    request: Request, name: str
) -> tuple[Item, tuple[nodes.Condition | None, requests.Returning, bool]]:
    """Return the item or key, the condition, what to return, and whether to show a conflict."""
    is_plain = request.keys() <= _PLAIN_WRITE_PARAMETERS
    if not is_plain:
        check_parameter_mix(request, ("ConditionExpression",), ("Expected",))
    item = item_from_wire(request[name], text_binary=True)
    returning: requests.Returning = request.get("ReturnValues") or "NONE"
    if returning not in ("NONE", "ALL_OLD"):
        raise InvalidRequest("ReturnValues can only be ALL_OLD or NONE")
    condition = None
    if not is_plain:
        condition = expected_condition(request.get("Expected"), request.get("ConditionalOperator"))
        shared = placeholders(request)
        condition = read_condition(request, shared) or condition
        shared.check_used()
    return item, (condition, returning, wants_old_item(request))


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
    returning: requests.Returning = request.get("ReturnValues") or "NONE"
    action = requests.UpdateItem(table, key, update, condition, returning, wants_old_item(request))
    try:
        written = service.engine.update(action)
    except InvalidRequest as error:
        if legacy.paths and str(error) == WRONG_OPERAND:
            raise InvalidRequest("Type mismatch for attribute to update") from error
        raise
    return _write_response(service, request, table, key, written)


def get_item(service: Service, request: Request) -> Response:
    """Get one item.

    Raises InvalidRequest or TableNotFound.
    """
    projection: tuple[nodes.Path, ...] = ()
    if not request.keys() <= _PLAIN_READ_PARAMETERS:
        check_parameter_mix(request, ("ProjectionExpression",), ("AttributesToGet",))
        projection = read_projection(request)
    key = item_from_wire(request["Key"], text_binary=True)
    table = service.table_name(request["TableName"])
    consistent = bool(request.get("ConsistentRead"))
    result = service.engine.get(requests.GetItem(table, key, projection, consistent))
    response = _found(result)
    if wants_capacity(request):
        units = read_units(result.read_bytes, consistent=consistent)
        response["ConsumedCapacity"] = read_report(request, table, units)
    return response


def read_projection(request: Request) -> tuple[nodes.Path, ...]:
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


def read_condition(request: Request, shared: Placeholders) -> nodes.Condition | None:
    """Return the ConditionExpression of a request, if any.

    Raises InvalidRequest.
    """
    text = request.get("ConditionExpression")
    return None if text is None else parse_condition(text, shared)


def check_update_bytes(update: nodes.UpdateNode) -> None:
    """Raise InvalidRequest if an update writes more than the maximum item size.

    Measured on DynamoDB: the names and values written, plus an overhead per action, count toward
    the limit regardless of the size of the resulting item.
    """
    size = 3 + 2 * (len(update.removes) + len(update.deletes))
    for path, value in (*update.sets, *update.adds):
        size += 19
        if isinstance(value, nodes.Literal) and isinstance(
            value.value, str | bytes | list | dict | frozenset
        ):
            size += item_size({path.root: value.value})
    if size > MAX_ITEM_BYTES:
        raise InvalidRequest("Item size to update has exceeded the maximum allowed size")


def _write_response(
    service: Service, request: Request, table: str, key: Key | Item, written: requests.Written
) -> Response:
    response: Response = {}
    if written.attributes:
        response["Attributes"] = item_to_wire(written.attributes, text_binary=True)
    if wants_capacity(request):
        local = (
            local_names(service.engine.schema_of(table)) if written.indexes else frozenset[str]()
        )
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
    reads: list[requests.GetItem] = []
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
            read_report(
                request, table, total(read_units(size, consistent=consistent) for size in sizes)
            )
            for table, sizes in result.read_bytes.items()
            for consistent in [bool(tables[names[table]].get("ConsistentRead"))]
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


def _parse_reads(service: Service, reference: str, block: Request) -> list[requests.GetItem]:
    projection = read_projection(block)
    table = service.table_name(reference)
    keys = [item_from_wire(wire, text_binary=True) for wire in block["Keys"]]
    consistent = bool(block.get("ConsistentRead"))
    return [requests.GetItem(table, key, projection, consistent) for key in keys]


def batch_write_item(service: Service, request: Request) -> Response:
    """Put and delete items of one or more tables.

    Raises InvalidRequest or TableNotFound; then nothing is written.
    """
    tables = request["RequestItems"]
    writes: list[requests.PutItem | requests.DeleteItem] = []
    for reference, block in tables.items():
        table = service.table_name(reference)
        writes += [_parse_write(table, write) for write in block]
    names = {service.table_name(reference): reference for reference in tables}
    result = service.engine.batch_write(writes)
    unprocessed: dict[str, list[Any]] = {}
    for write in result.left:
        if isinstance(write, requests.PutItem):
            wire = {"PutRequest": {"Item": item_to_wire(write.item, text_binary=True)}}
        else:
            wire = {"DeleteRequest": {"Key": item_to_wire(write.key, text_binary=True)}}
        unprocessed.setdefault(names[write.table], []).append(wire)
    response: Response = {"UnprocessedItems": unprocessed}
    if wants_capacity(request):
        response["ConsumedCapacity"] = _write_reports(service, request, result.written)
    if wants_collection_metrics(request):
        response["ItemCollectionMetrics"] = all_collection_metrics(service, writes)
    return response


def _parse_write(table: str, request: Request) -> requests.PutItem | requests.DeleteItem:
    put, delete = request.get("PutRequest"), request.get("DeleteRequest")
    if (put is None) == (delete is None):
        raise InvalidRequest(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported datatypes"
        )
    if put is not None:
        item = item_from_wire(put["Item"], text_binary=True)
        return requests.PutItem(table, item)
    return requests.DeleteItem(
        table, item_from_wire(request["DeleteRequest"]["Key"], text_binary=True)
    )


def _write_reports(
    service: Service,
    request: Request,
    written: Iterable[tuple[str, requests.Written]],
    *,
    transactional: bool = False,
) -> list[Response]:
    by_table: dict[str, list[requests.Written]] = {}
    for table, result in written:
        by_table.setdefault(table, []).append(result)
    return [
        write_report(
            request,
            table,
            results,
            local=local_names(service.engine.schema_of(table)),
            transactional=transactional,
        )
        for table, results in by_table.items()
    ]


def transact_write_items(service: Service, request: Request) -> Response:
    """Write all items or none.

    Raises InvalidRequest, TableNotFound or TransactionCancelled.
    """
    actions = tuple(_parse_action(service, action) for action in request["TransactItems"])
    written = service.engine.transact_write(
        requests.Transaction(actions, request.get("ClientRequestToken"))
    )
    response: Response = {}
    if wants_capacity(request):
        results = zip((action.table for action in actions), written, strict=True)
        response["ConsumedCapacity"] = _write_reports(service, request, results, transactional=True)
    if wants_collection_metrics(request):
        response["ItemCollectionMetrics"] = all_collection_metrics(service, actions)
    return response


def _parse_action(service: Service, request: Request) -> requests.WriteAction:
    actions = [
        (kind, request[kind])
        for kind in ("ConditionCheck", "Put", "Delete", "Update")
        if request.get(kind) is not None
    ]
    if len(actions) != 1:
        raise InvalidRequest("TransactItems can only contain one of Check, Put, Update or Delete")
    kind, parameters = actions[0]
    shared = placeholders(parameters)
    table = service.table_name(parameters["TableName"])
    if kind in ("Put", "Delete"):
        check_parameter_mix(parameters, ("ConditionExpression",), ())
    item = item_from_wire(parameters["Item" if kind == "Put" else "Key"], text_binary=True)
    show = wants_old_item(parameters)
    action: requests.WriteAction
    match kind:
        case "Put":
            condition = read_condition(parameters, shared)
            action = requests.PutItem(table, item, condition, show_conflict=show)
        case "Delete":
            condition = read_condition(parameters, shared)
            action = requests.DeleteItem(table, item, condition, show_conflict=show)
        case "Update":
            update = parse_update(parameters["UpdateExpression"], shared)
            condition = read_condition(parameters, shared)
            action = requests.UpdateItem(table, item, update, condition, show_conflict=show)
        case _:
            check = parse_condition(parameters["ConditionExpression"], shared)
            action = requests.CheckItem(table, item, check, show)
    shared.check_used()
    return action


def transact_get_items(service: Service, request: Request) -> Response:
    """Get several items as of one moment.

    Raises the same errors as `transact_write_items`.
    """
    reads = tuple(_parse_get(service, get["Get"]) for get in request["TransactItems"])
    results = service.engine.transact_get(reads)
    response: Response = {"Responses": [_found(result) for result in results]}
    if wants_capacity(request):
        by_table: dict[str, list[int]] = {}
        for read, result in zip(reads, results, strict=True):
            by_table.setdefault(read.table, []).append(result.read_bytes)
        response["ConsumedCapacity"] = []
        for table, sizes in by_table.items():
            units = float(total(read_units(size, transactional=True) for size in sizes))
            consumed = {"CapacityUnits": units, "ReadCapacityUnits": units}
            tables = {"Table": consumed} if request["ReturnConsumedCapacity"] == "INDEXES" else {}
            response["ConsumedCapacity"].append({"TableName": table, **consumed, **tables})
    return response


def _parse_get(service: Service, parameters: Request) -> requests.GetItem:
    check_parameter_mix(parameters, ("ProjectionExpression",), ())
    projection = read_projection(parameters)
    table = service.table_name(parameters["TableName"])
    key = item_from_wire(parameters["Key"], text_binary=True)
    return requests.GetItem(table, key, projection, consistent=True)


def _found(result: requests.Found) -> Response:
    return {} if result.item is None else {"Item": item_to_wire(result.item, text_binary=True)}
