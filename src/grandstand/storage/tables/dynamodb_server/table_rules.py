"""Rules for new tables and indexes, in the order and wording of DynamoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from grandstand.storage.tables.dynamodb_server.service import Request
from grandstand.storage.tables.dynamodb_server.validation import invalid_parameter
from grandstand.storage.tables.errors import InvalidRequest

Shape: TypeAlias = Mapping[str, Any]

MAX_UNITS: Final = 1_000_000_000_000
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
        if units[name] > MAX_UNITS:
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
        raise invalid_parameter(f"Duplicate NonKeyAttribute: {_first_duplicate(included)}")


def _first_duplicate(names: Sequence[str]) -> str:
    return next(name for at, name in enumerate(names) if name in names[:at])


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
