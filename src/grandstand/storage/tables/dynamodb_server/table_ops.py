"""Table operations: create, describe, update, list, delete, tags, TTL and backups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast

import msgspec

from grandstand.storage.tables.dynamodb_server.request_shapes import ARN
from grandstand.storage.tables.dynamodb_server.service import ACCOUNT, Request, Response, Service
from grandstand.storage.tables.dynamodb_server.validation import invalid_parameter
from grandstand.storage.tables.errors import InvalidRequest, TableInUse, TableNotFound, TooMany
from grandstand.storage.tables.schema import (
    Capacity,
    IndexSchema,
    KeyType,
    TableDescription,
    TableSchema,
    attribute_definitions,
    billing_shape,
    index_shape,
    key_schema,
    schema_from_shape,
    stream_shape,
)

Shape: TypeAlias = Mapping[str, Any]

MAX_GLOBAL_INDEXES: Final = 20
_MAX_LOCAL_INDEXES: Final = 5
_MAX_KEY_ATTRIBUTES: Final = 4
_MAX_INCLUDED_ATTRIBUTES: Final = 100


def check_new_table(request: Request) -> None:
    """Raise InvalidRequest for the first violated rule of a new table."""
    on_demand = request.get("BillingMode") == "PAY_PER_REQUEST"
    _check_capacity(request, on_demand=on_demand)
    definitions = check_definitions(request["AttributeDefinitions"])
    _check_table_key(request, definitions)
    names: set[str] = set()
    _check_local_indexes(request, definitions, names)
    _check_global_indexes(request, definitions, names, on_demand=on_demand)
    check_definitions_used(request, definitions)
    _check_included_count(request)
    _check_stream(request.get("StreamSpecification"))


def _check_capacity(request: Request, *, on_demand: bool) -> None:
    units = request.get("ProvisionedThroughput")
    if on_demand:
        if units:
            raise invalid_parameter(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                "BillingMode is PAY_PER_REQUEST"
            )
        return
    if not units:
        raise invalid_parameter(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED"
        )
    check_units(units)


def check_units(units: Shape) -> None:
    """Raise InvalidRequest if the capacity is above the maximum."""
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if units[name] > 1_000_000_000_000:
            raise InvalidRequest(f"Given value {units[name]} for {name} is out of bounds")


def check_definitions(declared: Sequence[Shape]) -> dict[str, str]:
    """Return the type of each defined attribute.

    Raises InvalidRequest if one is defined twice.
    """
    definitions: dict[str, str] = {}
    for definition in declared:
        name = definition["AttributeName"]
        if name in definitions:
            raise invalid_parameter(f"Duplicate AttributeName in AttributeDefinitions: {name}")
        definitions[name] = definition["AttributeType"]
    return definitions


def _check_table_key(request: Request, definitions: Mapping[str, str]) -> None:
    elements = request["KeySchema"]
    if len(elements) > len(definitions):
        raise InvalidRequest("Invalid KeySchema: Some index key attribute have no definition")
    _check_defined(elements, definitions)
    check_key_schema(elements)
    indexed = "LocalSecondaryIndexes" in request or "GlobalSecondaryIndexes" in request
    if not indexed and len(elements) != len(definitions):
        raise invalid_parameter(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )


def _check_defined(elements: Sequence[Shape], definitions: Mapping[str, str]) -> None:
    names = [element["AttributeName"] for element in elements]
    if any(name not in definitions for name in names):
        raise invalid_parameter(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(names)}], AttributeDefinitions: [{', '.join(definitions)}]"
        )


def check_key_schema(elements: Sequence[Shape]) -> None:
    """Raise InvalidRequest unless the key is a partition key and an optional sort key."""
    if len(elements) == 2 and elements[0]["AttributeName"] == elements[1]["AttributeName"]:
        raise InvalidRequest(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    if elements[0]["KeyType"] != "HASH":
        raise InvalidRequest("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(elements) == 2 and elements[1]["KeyType"] != "RANGE":
        raise InvalidRequest(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
        )


def _check_multi_key(elements: Sequence[Shape]) -> None:
    """Check a multi-attribute key: up to four attributes of each type, partition keys first."""
    kinds = [element["KeyType"] for element in elements]
    names = [element["AttributeName"] for element in elements]
    if len(set(names)) != len(names):
        raise InvalidRequest("Invalid KeySchema: Attribute names in the KeySchema must be distinct")
    if kinds[0] != "HASH":
        raise InvalidRequest("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if kinds != sorted(kinds):
        raise InvalidRequest("Invalid KeySchema: HASH key elements must come before RANGE elements")
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > _MAX_KEY_ATTRIBUTES:
            raise InvalidRequest(
                f"Invalid KeySchema: At most {_MAX_KEY_ATTRIBUTES} {kind} key elements are allowed"
            )


def _check_local_indexes(request: Request, definitions: Mapping[str, str], names: set[str]) -> None:
    indexes = request.get("LocalSecondaryIndexes")
    if indexes is None:
        return
    if not indexes:
        raise invalid_parameter("List of LocalSecondaryIndexes is empty")
    if len(request["KeySchema"]) != 2:
        raise invalid_parameter(
            "Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex"
        )
    partition = request["KeySchema"][0]["AttributeName"]
    for index in indexes:
        elements, name = index["KeySchema"], index["IndexName"]
        _check_defined(elements, definitions)
        check_key_schema(elements)
        if len(elements) != 2:
            raise invalid_parameter(f"Index KeySchema does not have a range key for index: {name}")
        index_partition = elements[0]["AttributeName"]
        if index_partition != partition:
            raise invalid_parameter(
                "Index KeySchema does not have the same leading hash key as table KeySchema for "
                f"index: {name}. index hash key: {index_partition}, table hash key: {partition}"
            )
        check_projection(index["Projection"])
        _check_unique_name(name, names)
    if len(indexes) > _MAX_LOCAL_INDEXES:
        raise invalid_parameter(
            f"Number of LocalSecondaryIndexes exceeds per-table limit of {_MAX_LOCAL_INDEXES}"
        )


def _check_global_indexes(
    request: Request, definitions: Mapping[str, str], names: set[str], *, on_demand: bool
) -> None:
    indexes = request.get("GlobalSecondaryIndexes")
    if indexes is None:
        return
    if not indexes:
        raise invalid_parameter("List of GlobalSecondaryIndexes is empty")
    for index in indexes:
        check_global_index(index, definitions, on_demand=on_demand)
        _check_unique_name(index["IndexName"], names)
    if len(indexes) > MAX_GLOBAL_INDEXES:
        raise invalid_parameter(
            f"GlobalSecondaryIndex count exceeds the per-table limit of {MAX_GLOBAL_INDEXES}"
        )


def check_global_index(index: Shape, definitions: Mapping[str, str], *, on_demand: bool) -> None:
    """Raise InvalidRequest for the first violated rule of a new global index."""
    elements = index["KeySchema"]
    _check_defined(elements, definitions)
    kinds = [element["KeyType"] for element in elements]
    if len(elements) > 2 or kinds == ["HASH", "HASH"]:
        _check_multi_key(elements)
    else:
        check_key_schema(elements)
    check_projection(index["Projection"])
    units = index.get("ProvisionedThroughput")
    if on_demand and units:
        raise invalid_parameter(
            f"ProvisionedThroughput should not be specified for index: {index['IndexName']} when "
            "BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand and not units:
        raise invalid_parameter(
            f"ProvisionedThroughput must be specified for index: {index['IndexName']}"
        )


def _check_unique_name(name: str, names: set[str]) -> None:
    if name in names:
        raise invalid_parameter(f"Duplicate index name: {name}")
    names.add(name)


def check_projection(projection: Shape) -> None:
    """Raise InvalidRequest if the projection of an index is inconsistent."""
    kind, included = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise invalid_parameter("Unknown ProjectionType: null")
    if included and kind != "INCLUDE":
        raise invalid_parameter(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and not included:
        raise invalid_parameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if included and len(set(included)) != len(included):
        name = next(name for at, name in enumerate(included) if name in included[:at])
        raise invalid_parameter(f"Duplicate NonKeyAttribute: {name}")


def check_definitions_used(request: Request, definitions: Mapping[str, str]) -> None:
    """Raise InvalidRequest if a defined attribute is not used by any key."""
    used = {element["AttributeName"] for element in request["KeySchema"]}
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        for index in request.get(kind) or ():
            used.update(element["AttributeName"] for element in index["KeySchema"])
    if used != set(definitions):
        raise invalid_parameter(
            "Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"[{', '.join(definitions)}], keys used: [{', '.join(sorted(used))}]"
        )


def _check_included_count(request: Request) -> None:
    total = sum(
        len(index["Projection"].get("NonKeyAttributes") or ())
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in request.get(kind) or ()
    )
    if total > _MAX_INCLUDED_ATTRIBUTES:
        raise invalid_parameter(
            f"Number of NonKeyAttributes exceeds the limit of {_MAX_INCLUDED_ATTRIBUTES}: {total}"
        )


def _check_stream(stream: Shape | None) -> None:
    if stream is None:
        return
    if not stream["StreamEnabled"] and stream.get("StreamViewType"):
        raise invalid_parameter(
            "Table is being created with a stream disabled, UpdateViewType should not be specified"
        )
    if stream["StreamEnabled"] and not stream.get("StreamViewType"):
        raise invalid_parameter(
            "Table is being created with a stream enabled, UpdateViewType should be specified"
        )


# Names of settings stored by the engine. Values are JSON; an empty text means none.
TAGS: Final = "tags"
TABLE_CLASS: Final = "tableClass"
DELETION_PROTECTION: Final = "deletionProtection"
ENCRYPTION: Final = "encryption"
ON_DEMAND_LIMITS: Final = "onDemandThroughput"
WARM_THROUGHPUT: Final = "warmThroughput"
ON_DEMAND_SINCE: Final = "onDemandSince"
THROUGHPUT_INCREASED_AT: Final = "throughputIncreased"
THROUGHPUT_DECREASED_AT: Final = "throughputDecreased"
STREAM_VIEW: Final = "streamView"
POINT_IN_TIME_RECOVERY: Final = "pointInTimeRecovery"


def get_setting(table: TableDescription, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return a stored setting; None if it is not set."""
    text = table.settings.get(name)
    return msgspec.json.decode(text) if text else None


def store_settings(
    service: Service, table: TableDescription, changes: Mapping[str, object]
) -> None:
    """Store settings in addition to the existing ones; None removes a setting."""
    settings = dict(table.settings)
    for name, value in changes.items():
        settings[name] = "" if value is None else msgspec.json.encode(value).decode()
    service.engine.put_settings(table.schema.name, settings)


def describe(service: Service, table: TableDescription, status: str = "ACTIVE") -> Response:
    """Return the description of a table with the given status."""
    schema = table.schema
    sort = () if schema.sort is None else (schema.sort,)
    response: Response = {
        "AttributeDefinitions": attribute_definitions(schema),
        "TableName": schema.name,
        "KeySchema": key_schema((schema.partition,), sort),
        "TableStatus": status,
        "CreationDateTime": _created_at(table),
        "ProvisionedThroughput": _throughput(schema.capacity, table),
        "TableSizeBytes": table.size_bytes,
        "ItemCount": table.items,
        "TableArn": service.table_arn(schema.name),
        "TableId": service.table_id(table),
        "DeletionProtectionEnabled": bool(get_setting(table, DELETION_PROTECTION)),
    }
    response.update(_billing(table))
    response.update(_indexes(service, table, status))
    response.update(_stream(service, table))
    response.update(_options(service, table))
    return response


def _created_at(table: TableDescription) -> float:
    return round(table.created_at.timestamp(), 3)


def _throughput(capacity: Capacity | None, table: TableDescription | None = None) -> Response:
    response: Response = {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }
    if capacity is not None:
        response["ReadCapacityUnits"] = capacity.read_units
        response["WriteCapacityUnits"] = capacity.write_units
    if table is not None:
        for name, setting in (
            ("LastIncreaseDateTime", THROUGHPUT_INCREASED_AT),
            ("LastDecreaseDateTime", THROUGHPUT_DECREASED_AT),
        ):
            moment = get_setting(table, setting)
            if moment is not None:
                response[name] = moment
    return response


def _billing(table: TableDescription) -> Response:
    since = get_setting(table, ON_DEMAND_SINCE)
    if table.schema.capacity is None:
        mode = "PAY_PER_REQUEST"
        since = since or _created_at(table)
    elif since:
        mode = "PROVISIONED"
    else:
        return {}
    return {"BillingModeSummary": {"BillingMode": mode, "LastUpdateToPayPerRequestDateTime": since}}


def _indexes(service: Service, table: TableDescription, status: str) -> Response:
    local = [_index(service, table, index) for index in table.schema.indexes if index.local]
    global_ = [
        {
            **_index(service, table, index),
            "IndexStatus": "CREATING" if status == "CREATING" else "ACTIVE",
            "ProvisionedThroughput": _throughput(index.capacity or table.schema.capacity),
        }
        for index in table.schema.indexes
        if not index.local
    ]
    response: Response = {}
    if local:
        response["LocalSecondaryIndexes"] = local
    if global_ and status != "DELETING":
        response["GlobalSecondaryIndexes"] = global_
    return response


def _index(service: Service, table: TableDescription, index: IndexSchema) -> Response:
    response: Response = {
        **index_shape(index),
        "IndexArn": f"{service.table_arn(table.schema.name)}/index/{index.name}",
    }
    if index.name in table.index_counts:
        response["ItemCount"], response["IndexSizeBytes"] = table.index_counts[index.name]
    elif not table.items:
        response["ItemCount"], response["IndexSizeBytes"] = 0, 0
    return response


def _stream(service: Service, table: TableDescription) -> Response:
    response: Response = {}
    if table.stream_label:
        arn = service.table_arn(table.schema.name)
        response["LatestStreamLabel"] = table.stream_label
        response["LatestStreamArn"] = f"{arn}/stream/{table.stream_label}"
    if table.schema.stream is not None:
        response["StreamSpecification"] = stream_shape(table.schema.stream)
    return response


def _options(service: Service, table: TableDescription) -> Response:
    response: Response = {}
    for name, setting in (
        ("OnDemandThroughput", ON_DEMAND_LIMITS),
        ("WarmThroughput", WARM_THROUGHPUT),
    ):
        value = get_setting(table, setting)
        if value is not None:
            response[name] = value
    table_class = get_setting(table, TABLE_CLASS)
    if table_class is not None:
        response["TableClassSummary"] = {"TableClass": table_class}
    if get_setting(table, ENCRYPTION):
        response["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": (
                f"arn:aws:kms:{service.region}:{ACCOUNT}:key/{service.table_id(table)}"
            ),
        }
    return response


_MAX_TAGS: Final = 50
_TAG_PATTERN: Final = re.compile(r"[\w\s.:/=+@-]*")


def tag_resource(service: Service, request: Request) -> None:
    """Add or replace tags of a table.

    Raises InvalidRequest or TableNotFound.
    """
    table = _find_resource(service, request)
    if not request["Tags"]:
        raise InvalidRequest("Atleast one Tag needs to be provided as Input.")
    store_settings(
        service, table, {TAGS: validate_tags(request["Tags"], get_setting(table, TAGS) or {})}
    )


def untag_resource(service: Service, request: Request) -> None:
    """Remove tags of a table.

    Raises InvalidRequest or TableNotFound.
    """
    table = _find_resource(service, request)
    if not request["TagKeys"]:
        raise InvalidRequest("Atleast one Tag Key needs to be provided as Input.")
    removed = set(request["TagKeys"])
    tags = get_setting(table, TAGS) or {}
    store_settings(
        service, table, {TAGS: {key: value for key, value in tags.items() if key not in removed}}
    )


def list_tags_of_resource(service: Service, request: Request) -> Response:
    """List the tags of a table.

    Raises InvalidRequest or TableNotFound.
    """
    tags = get_setting(_find_resource(service, request), TAGS) or {}
    return {"Tags": [{"Key": key, "Value": tags[key]} for key in sorted(tags)]}


def validate_tags(new: Sequence[Mapping[str, Any]], existing: Mapping[str, str]) -> dict[str, str]:
    """Return the existing tags updated with the new ones.

    Raises InvalidRequest if a tag is invalid or there are too many.
    """
    keys = [tag["Key"] for tag in new]
    if len(set(keys)) != len(keys):
        raise invalid_parameter("Duplicate tag keys are not allowed")
    for tag in new:
        if not (_TAG_PATTERN.fullmatch(tag["Key"]) and _TAG_PATTERN.fullmatch(tag["Value"])):
            raise invalid_parameter(
                "Tags may hold letters, digits, white space and the characters . : / = + @ _ -; "
                f"Tag: {tag['Key']}"
            )
    tags = {**existing, **{tag["Key"]: tag["Value"] for tag in new}}
    if len(tags) > _MAX_TAGS:
        raise invalid_parameter(f"Too many tags: at most {_MAX_TAGS} are allowed on a resource")
    return tags


def _find_resource(service: Service, request: Request) -> TableDescription:
    arn = request["ResourceArn"]
    if not arn.startswith(ARN):
        raise InvalidRequest(f"Invalid TableArn: ARNs must start with 'arn:': {arn}")
    name = service.table_name(arn)
    try:
        return service.engine.describe_table(name)
    except TableNotFound as error:
        raise TableNotFound(f"Requested resource not found: ResourcArn: {arn} not found") from error


def create_table(service: Service, request: Request) -> Response:
    """Create a table.

    Raises InvalidRequest or TableInUse.
    """
    check_new_table(request)
    settings = settings_of(request)
    tags = request.get("Tags")
    if tags is not None:
        settings[TAGS] = validate_tags(tags, {})
    name = service.table_name(request["TableName"])
    try:
        table = service.engine.create_table(schema_from_shape({**request, "TableName": name}))
    except TableInUse as error:
        raise TableInUse(f"Table already exists: {name}") from error
    if settings:
        store_settings(service, table, settings)
        table = service.describe(name)
    return {"TableDescription": describe(service, table, "CREATING")}


def settings_of(request: Request) -> dict[str, Any]:
    """Return the settings of a request that are only stored and returned."""
    settings: dict[str, Any] = {}
    for name, setting in (
        ("TableClass", TABLE_CLASS),
        ("DeletionProtectionEnabled", DELETION_PROTECTION),
        ("OnDemandThroughput", ON_DEMAND_LIMITS),
        ("WarmThroughput", WARM_THROUGHPUT),
    ):
        if request.get(name) is not None:
            settings[setting] = request[name]
    encryption: Mapping[str, Any] | None = request.get("SSESpecification")
    if encryption is not None:
        settings[ENCRYPTION] = bool(encryption.get("Enabled"))
    return settings


def describe_table(service: Service, request: Request) -> Response:
    """Describe a table.

    Raises TableNotFound.
    """
    return {"Table": describe(service, service.describe(request["TableName"]))}


def delete_table(service: Service, request: Request) -> Response:
    """Delete a table with its items.

    Raises TableNotFound, or InvalidRequest if the table is protected.
    """
    table = service.describe(request["TableName"])
    if get_setting(table, DELETION_PROTECTION):
        raise InvalidRequest(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    service.engine.delete_table(table.schema.name)
    return {"TableDescription": describe(service, table, "DELETING")}


def list_tables(service: Service, request: Request) -> Response:
    """Return one page of the table names."""
    start = request.get("ExclusiveStartTableName")
    names = [name for name in service.engine.list_tables() if start is None or name > start]
    limit = request.get("Limit") or 100
    response: Response = {"TableNames": names[:limit]}
    if len(names) > limit:
        response["LastEvaluatedTableName"] = names[limit - 1]
    return response


_UPDATES: Final = (
    "BillingMode",
    "GlobalSecondaryIndexUpdates",
    "OnDemandThroughput",
    "ProvisionedThroughput",
    "SSESpecification",
    "StreamSpecification",
    "TableClass",
    "WarmThroughput",
)


def update_table(service: Service, request: Request) -> Response:
    """Update a table.

    Raises InvalidRequest, TableNotFound or TooMany before anything is changed.
    """
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    if request.get("DeletionProtectionEnabled") is None and not any(map(request.get, _UPDATES)):
        raise InvalidRequest(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
        )
    _check_update(request, updates)
    table = service.describe(request["TableName"])
    schema, settings = _update_capacity(service, table, request, updates)
    schema = _update_stream(schema, request.get("StreamSpecification"))
    if schema.stream is None and table.schema.stream is not None:
        settings[STREAM_VIEW] = table.schema.stream
    schema = _update_indexes(schema, request, updates)
    settings.update(settings_of(request))
    if schema != table.schema:
        service.engine.alter_table(schema)
    if settings:
        store_settings(service, table, settings)
    response = describe(service, service.describe(schema.name), "UPDATING")
    created = {update["Create"]["IndexName"] for update in updates if update.get("Create")}
    for index in response.get("GlobalSecondaryIndexes", ()):
        if index["IndexName"] in created:
            index["IndexStatus"], index["Backfilling"] = "CREATING", True
    return {"TableDescription": response}


def _check_update(request: Request, updates: Any) -> None:  # noqa: ANN401 - a list of shapes
    if request.get("BillingMode") == "PROVISIONED" and not request.get("ProvisionedThroughput"):
        raise invalid_parameter(
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
        )
    if request.get("ProvisionedThroughput"):
        check_units(request["ProvisionedThroughput"])
    seen: set[str] = set()
    for update in updates:
        actions = [update[kind] for kind in ("Update", "Create", "Delete") if update.get(kind)]
        if not actions:
            raise invalid_parameter(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        name = actions[0]["IndexName"]
        if name in seen:
            raise invalid_parameter(
                "Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {name}"
            )
        seen.add(name)
    if sum(1 for update in updates if not update.get("Update")) > 1:
        raise TooMany(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted "
            "simultaneously per table"
        )


def _update_capacity(
    service: Service,
    table: TableDescription,
    request: Request,
    updates: Any,  # noqa: ANN401 - a list of shapes
) -> tuple[TableSchema, dict[str, Any]]:
    """Return the schema with the requested capacity, and the settings to store."""
    schema, units = table.schema, request.get("ProvisionedThroughput")
    mode = request.get("BillingMode")
    now = round(service.clock.epoch(), 3)
    if units and (mode == "PAY_PER_REQUEST" or (mode is None and schema.capacity is None)):
        raise invalid_parameter(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if mode == "PAY_PER_REQUEST":
        if schema.capacity is None:
            return schema, {}
        indexes = tuple(replace(index, capacity=None) for index in schema.indexes)
        return replace(schema, capacity=None, indexes=indexes), {ON_DEMAND_SINCE: now}
    settings: dict[str, Any] = {}
    if units:
        requested = Capacity(units["ReadCapacityUnits"], units["WriteCapacityUnits"])
        _check_capacity_differs(schema.capacity, requested)
        if schema.capacity is None:
            _check_index_capacities(schema, updates)
            settings[ON_DEMAND_SINCE] = round(table.created_at.timestamp(), 3)
        elif requested.read_units > schema.capacity.read_units or (
            requested.write_units > schema.capacity.write_units
        ):
            settings[THROUGHPUT_INCREASED_AT] = now
        else:
            settings[THROUGHPUT_DECREASED_AT] = now
        # Indexes that shared the capacity of the table keep the previous one.
        indexes = tuple(
            index if index.local else replace(index, capacity=index.capacity or schema.capacity)
            for index in schema.indexes
        )
        schema = replace(schema, capacity=requested, indexes=indexes)
    return schema, settings


def _check_capacity_differs(current: Capacity | None, requested: Capacity) -> None:
    if current == requested:
        raise InvalidRequest(
            "The provisioned throughput for the table will not change. The requested value equals "
            "the current value. Current ReadCapacityUnits provisioned for the table: "
            f"{current.read_units}. Requested ReadCapacityUnits: {requested.read_units}. Current "
            f"WriteCapacityUnits provisioned for the table: {current.write_units}. Requested "
            f"WriteCapacityUnits: {requested.write_units}. Refer to the Amazon DynamoDB Developer "
            "Guide for current limits and how to request higher limits."
        )


def _check_index_capacities(schema: TableSchema, updates: Any) -> None:  # noqa: ANN401
    updated = {update["Update"]["IndexName"] for update in updates if update.get("Update")}
    missing = [
        index.name for index in schema.indexes if not index.local and index.name not in updated
    ]
    if missing:
        raise invalid_parameter(
            f"ProvisionedThroughput must be specified for index: {','.join(missing)}"
        )


def _update_stream(schema: TableSchema, stream: Shape | None) -> TableSchema:
    if stream is None:
        return schema
    if not stream["StreamEnabled"]:
        if stream.get("StreamViewType"):
            raise invalid_parameter(
                "StreamViewType should not be specified when a stream is disabled"
            )
        if schema.stream is None:
            raise InvalidRequest(f"Table has no stream to disable: TableName: {schema.name}")
        return replace(schema, stream=None)
    if not stream.get("StreamViewType"):
        raise invalid_parameter("StreamViewType must be specified when a stream is enabled")
    if schema.stream is not None:
        raise InvalidRequest(f"Table already has an enabled stream: TableName: {schema.name}")
    return replace(schema, stream=stream["StreamViewType"])


def _update_indexes(schema: TableSchema, request: Request, updates: Any) -> TableSchema:  # noqa: ANN401
    definitions = check_definitions(request.get("AttributeDefinitions") or ())
    for name, kind in definitions.items():
        if schema.types.get(name, kind) != kind:
            raise invalid_parameter(
                f"Attribute {name} is already defined as {schema.types[name]} and cannot become "
                f"{kind}"
            )
    for update in updates:
        if update.get("Create"):
            schema = _with_index(schema, update["Create"], definitions)
        elif update.get("Delete"):
            schema = _without_index(schema, update["Delete"]["IndexName"])
        else:
            schema = _with_index_capacity(schema, update["Update"])
    unused = [name for name in definitions if name not in schema.types]
    if unused:
        raise invalid_parameter(
            "Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"[{', '.join(definitions)}], keys used: [{', '.join(sorted(schema.types))}]"
        )
    return schema


def _with_index(schema: TableSchema, create: Shape, given: Mapping[str, str]) -> TableSchema:
    definitions: dict[str, str] = {**schema.types, **given}
    check_global_index(create, definitions, on_demand=schema.capacity is None)
    if schema.index(create["IndexName"]) is not None:
        raise InvalidRequest("Attempting to create an index which already exists")
    if sum(1 for index in schema.indexes if not index.local) >= MAX_GLOBAL_INDEXES:
        raise TooMany(
            f"Subscriber limit exceeded: GlobalSecondaryIndex count exceeds the per-table limit of "
            f"{MAX_GLOBAL_INDEXES}"
        )
    index = _parse_index(schema, create, definitions)
    types = {name: definitions[name] for name in (*schema.types, *index.key_names)}
    return replace(
        schema,
        indexes=(*schema.indexes, index),
        types=cast("Mapping[str, KeyType]", types),
    )


def _parse_index(schema: TableSchema, create: Shape, definitions: Mapping[str, str]) -> IndexSchema:
    table: dict[str, Any] = {
        "TableName": schema.name,
        "KeySchema": [{"AttributeName": schema.partition, "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in definitions.items()
        ],
        "GlobalSecondaryIndexes": [create],
        **billing_shape(schema.capacity),
    }
    return schema_from_shape(table).indexes[0]


def _without_index(schema: TableSchema, name: str) -> TableSchema:
    index = schema.index(name)
    if index is None or index.local:
        raise TableNotFound("Requested resource not found")
    remaining = tuple(other for other in schema.indexes if other.name != name)
    used = set(schema.key_names).union(*(other.key_names for other in remaining))
    types = {name: kind for name, kind in schema.types.items() if name in used}
    return replace(schema, indexes=remaining, types=types)


def _with_index_capacity(schema: TableSchema, update: Shape) -> TableSchema:
    index = schema.index(update["IndexName"])
    if index is None or index.local:
        raise TableNotFound("Requested resource not found")
    units = update.get("ProvisionedThroughput")
    if not units:
        return schema
    if schema.capacity is None:
        raise invalid_parameter(
            f"ProvisionedThroughput should not be specified for index: {index.name} when "
            "BillingMode is PAY_PER_REQUEST"
        )
    requested = Capacity(units["ReadCapacityUnits"], units["WriteCapacityUnits"])
    _check_capacity_differs(index.capacity or schema.capacity, requested)
    changed = replace(index, capacity=requested)
    return replace(
        schema,
        indexes=tuple(changed if other.name == index.name else other for other in schema.indexes),
    )


# The default quotas of an AWS account.
_ACCOUNT_UNITS: Final = 80_000
_TABLE_UNITS: Final = 40_000


def update_time_to_live(service: Service, request: Request) -> Response:
    """Enable or disable the time to live of a table.

    Raises InvalidRequest or TableNotFound.
    """
    table = service.describe(request["TableName"])
    specification = request["TimeToLiveSpecification"]
    current, name = table.schema.ttl, specification["AttributeName"]
    enabled = specification["Enabled"]
    if current == (name if enabled else None):
        raise InvalidRequest(f"TimeToLive is already {'enabled' if enabled else 'disabled'}")
    if current not in (None, name):
        raise InvalidRequest(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        )
    service.engine.alter_table(replace(table.schema, ttl=name if enabled else None))
    return {"TimeToLiveSpecification": dict(specification)}


def describe_time_to_live(service: Service, request: Request) -> Response:
    """Describe the time to live of a table.

    Raises TableNotFound.
    """
    ttl = service.describe(request["TableName"]).schema.ttl
    if ttl is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": ttl}}


def describe_continuous_backups(service: Service, request: Request) -> Response:
    """Describe the point-in-time recovery setting of a table.

    Raises TableNotFound.
    """
    table = service.describe(request["TableName"])
    return {
        "ContinuousBackupsDescription": _recovery_description(
            enabled=bool(get_setting(table, POINT_IN_TIME_RECOVERY))
        )
    }


def update_continuous_backups(service: Service, request: Request) -> Response:
    """Store the point-in-time recovery setting. No backup is made."""
    table = service.describe(request["TableName"])
    enabled = request["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
    store_settings(service, table, {POINT_IN_TIME_RECOVERY: enabled})
    return {"ContinuousBackupsDescription": _recovery_description(enabled=enabled)}


def _recovery_description(*, enabled: bool) -> Response:
    response: Response = {"PointInTimeRecoveryStatus": "ENABLED" if enabled else "DISABLED"}
    if enabled:
        response["RecoveryPeriodInDays"] = 35
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": response}


def describe_limits(service: Service, request: Request) -> Response:  # noqa: ARG001
    """Return the capacity limits of the account and its tables."""
    return {
        "AccountMaxReadCapacityUnits": _ACCOUNT_UNITS,
        "AccountMaxWriteCapacityUnits": _ACCOUNT_UNITS,
        "TableMaxReadCapacityUnits": _TABLE_UNITS,
        "TableMaxWriteCapacityUnits": _TABLE_UNITS,
    }


def describe_endpoints(service: Service, request: Request) -> Response:
    """Return the endpoint the request was sent to."""
    host = request.get("host") or f"dynamodb.{service.region}.amazonaws.com"
    return {"Endpoints": [{"Address": host, "CachePeriodInMinutes": 1440}]}
